//! Why proofs do not count.
//!
//! Proofs assume that the program uses memory and synchronisation as the standards allow (A10). A run that misuses the thread
//! API or leaves an object voids them all. A run that shows a race which a proof excludes, without either, is a bug of ours:
//! it voids what that engine proved.

use std::path::PathBuf;

use model::Engine;
use report::Code;

use crate::bundle;
use crate::gap::Gap;
use crate::ledger::Contradiction;
use crate::stray::Stray;

/// Why proofs do not count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Doubt {
    /// A run misused the thread API.
    Misuse,
    /// An access left its object, in a run that contradicts a proof.
    Stray(Stray),
    /// An engine proved absent what a run shows.
    Bug {
        /// What contradicts what.
        contradiction: Contradiction,
        /// The folder with all that is needed to find the bug, or why it could not be written.
        bundle: Result<PathBuf, String>,
    },
}

impl Doubt {
    /// Whether what the engine proved does not count.
    pub(crate) fn concerns(&self, engine: Engine) -> bool {
        match self {
            Self::Misuse | Self::Stray(_) => matches!(engine, Engine::Static | Engine::Verify),
            Self::Bug { contradiction, .. } => contradiction.proved == engine,
        }
    }

    /// What the report says of it.
    pub(crate) fn gap(&self) -> Gap {
        match self {
            Self::Misuse => {
                let reason = "the program misuses the thread API, and the proofs assume that it does not (A10)";
                Gap::new(Code::MISUSE, reason, "repair the misuse first")
            }
            Self::Stray(Stray { site, what }) => {
                let reason = format!("after a race the program {what}, and the proofs assume that it does not (A10)");
                Gap::new(Code::MISUSE, reason, "repair the races first").at(*site)
            }
            Self::Bug { contradiction: Contradiction { proved, shown, .. }, bundle } => {
                let reason = format!(
                    "raceproof bug: `{proved}` proved absent what a run of `{shown}` shows; its other proofs do not count here"
                );
                Gap::new(Code::CONTRADICTION, reason, bundle::settle(bundle))
            }
        }
    }
}
