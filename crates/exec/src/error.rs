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
    /// Nobody answers at a target's address.
    #[error("cannot reach a target at `{address}`: {source}")]
    NoTarget { address: String, source: io::Error },
    /// Something else answers there.
    #[error("what answers at `{address}` is not a raceproof target")]
    NotATarget { address: String },
    /// A target of another version.
    #[error("the target at `{address}` is of another version of raceproof (protocol {theirs:#x}, here {ours:#x})")]
    OtherTarget { address: String, theirs: u32, ours: u32 },
    /// A target answered before, and does so no more.
    #[error("the connection to the target at `{address}` is lost: {source}")]
    TargetLost { address: String, source: io::Error },
    /// A target says that something cannot be done.
    #[error("the target at `{address}` says: {message}")]
    AtTarget { address: String, message: String },
    /// The executable cannot be read.
    #[error("cannot read the symbols of `{}`: {what}", program.display())]
    Symbols { program: PathBuf, what: String },
}

impl Error {
    /// What the user can do about it, where the message does not say.
    pub fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoTarget { .. } => "start `raceproof target --listen` there, and check the address",
            Self::NotATarget { .. } => "give the address that `raceproof target` prints when it starts",
            Self::OtherTarget { .. } => "use the same version of raceproof at both ends",
            Self::TargetLost { .. } => {
                "see whether `raceproof target` still runs there; with `--checkpoint` a search can be resumed"
            }
            _ => return None,
        })
    }
}

fn after(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        text => format!("; it said: {text}"),
    }
}
