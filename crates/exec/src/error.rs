//! Why there is no trace.

use std::io;
use std::path::PathBuf;

/// The executor itself failed. (What the program does wrong is in the trace.)
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
    #[error("the trace is garbled at record {record}: {what}; the program may have written over it")]
    Garbled { record: usize, what: String },
    /// The executable cannot be read.
    #[error("cannot read the symbols of `{}`: {what}", program.display())]
    Symbols { program: PathBuf, what: String },
}

fn after(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        text => format!("; it said: {text}"),
    }
}
