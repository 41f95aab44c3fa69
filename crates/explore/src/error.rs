//! Why a search ended without an outcome.

use model::{SiteId, Step};

use crate::findings::RaceWithoutSite;

/// Why a search ended without an outcome.
#[derive(Debug, thiserror::Error)]
pub enum Error<E: std::error::Error> {
    /// The executor failed.
    #[error(transparent)]
    Executor(E),
    /// The checkpoint belongs to another search.
    #[error("this checkpoint does not fit the search: {what}; start the search without it")]
    Checkpoint {
        /// What does not match.
        what: String,
    },
    /// Two accesses race and one of them has no site in the code.
    #[error(
        "raceproof bug: the access in event {step} races with one at {other:?} and has no site; please send us the program"
    )]
    AccessWithoutSite {
        /// The access's event.
        step: Step,
        /// The other's site.
        other: Option<SiteId>,
    },
}

impl<E: std::error::Error> From<RaceWithoutSite> for Error<E> {
    fn from(race: RaceWithoutSite) -> Self {
        Self::AccessWithoutSite { step: race.step, other: race.other }
    }
}
