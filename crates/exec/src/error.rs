//! Why there is no trace.

use std::io;
use std::path::PathBuf;

use decode::Garbled;

/// The executor itself failed. (What the program does wrong is in the trace.)
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are the parts of the messages")]
pub enum Error {
    /// The program could not be started.
    #[error("cannot start `{}`: {source}", program.display())]
    Launch { program: PathBuf, source: io::Error },
    /// The operating system refused something else.
    #[error("cannot {action}: {source}")]
    System { action: &'static str, source: io::Error },
    /// The process went away without an answer.
    #[error("the program's process ended without an answer ({status}){}", after(stderr))]
    Died { status: String, stderr: String },
    /// The runtime in the program cannot go on.
    #[error("the runtime in the program cannot go on: {message}")]
    Runtime { message: String },
    /// The prefix is too long.
    #[error("a schedule of {segments} segments is too long: at most {most} are possible")]
    ScheduleTooLong { segments: usize, most: usize },
    /// The schedule decides too many values.
    #[error("a schedule that decides {choices} values is too long: at most {most} are possible")]
    TooManyChoices { choices: usize, most: usize },
    /// The records make no sense: the program wrote into the trace, or versions differ.
    #[error(transparent)]
    Garbled(#[from] Garbled),
    /// A backend outside this crate failed.
    #[error("{source}")]
    Elsewhere { source: Box<dyn std::error::Error + Send + Sync>, help: Option<&'static str> },
    /// The executable cannot be read.
    #[error(transparent)]
    Symbols(#[from] symbols::Error),
}

impl Error {
    /// What the user can do about it, where the message does not say.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Elsewhere { help, .. } => *help,
            _ => None,
        }
    }

    /// The error of a system call that was to do this.
    pub fn system(action: &'static str) -> impl Fn(io::Error) -> Self {
        move |source| Self::System { action, source }
    }
}

fn after(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        text => format!("; it said: {text}"),
    }
}
