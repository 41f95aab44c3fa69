//! Why a target cannot be used.

use std::io;

/// The target or the connection to it failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
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
}

impl From<Error> for exec::Error {
    fn from(error: Error) -> Self {
        Self::Elsewhere { help: error.help(), source: Box::new(error) }
    }
}

impl Error {
    /// What the user can do about it, where the message does not say.
    fn help(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoTarget { .. } => "start `raceproof target --listen` there, and check the address",
            Self::NotATarget { .. } => "give the address that `raceproof target` prints when it starts",
            Self::OtherTarget { .. } => "use the same version of raceproof at both ends",
            Self::TargetLost { .. } => {
                "see whether `raceproof target` still runs there; with `--checkpoint` a search can be resumed"
            }
            Self::AtTarget { .. } => return None,
        })
    }
}
