//! Why there is no recording.

use std::io;
use std::path::PathBuf;

/// The recording failed. (What the program does wrong is in its trace.)
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are the parts of the messages")]
pub enum Error {
    /// The program could not be started.
    #[error("cannot start `{}`: {source}", program.display())]
    Launch { program: PathBuf, source: io::Error },
    /// The trace file could not be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    /// The operating system refused something else.
    #[error("cannot {action}: {source}")]
    System { action: &'static str, source: io::Error },
    /// The process ended before its `main`.
    #[error("the program's process ended before recording began ({status})")]
    Died { status: String },
    /// The executable cannot be read.
    #[error(transparent)]
    Symbols(#[from] symbols::Error),
}

/// The error of a system call.
pub(crate) fn system(action: &'static str) -> impl Fn(io::Error) -> Error {
    move |source| Error::System { action, source }
}
