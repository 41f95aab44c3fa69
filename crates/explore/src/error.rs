//! Why a search ended without an outcome.

use model::{SiteId, Step};

use crate::findings::RaceWithoutSite;
use crate::reduction::Difference;

/// Why a search ended without an outcome.
#[derive(Debug, thiserror::Error)]
pub enum Error<E: std::error::Error> {
    /// The executor failed.
    #[error(transparent)]
    Executor(E),
    /// The program left a schedule that was derived from its own runs.
    #[error(
        "raceproof bug or nondeterministic program: the run left its schedule in segment {segment}: {message}. A program \
         whose threads depend on time, addresses or the outside world cannot be explored; `raceproof record` and \
         `predict` can still analyse single runs of it"
    )]
    Diverged {
        /// Which segment.
        segment: u32,
        /// What was found instead.
        message: String,
    },
    /// Two runs of the same prefix gave different traces.
    #[error(
        "raceproof bug or nondeterministic program: two runs of the same schedule differ at event {step}: {difference}. A \
         program whose threads depend on time, addresses or the outside world cannot be explored; `raceproof record` and \
         `predict` can still analyse single runs of it"
    )]
    Nondeterministic {
        /// The first event that differs.
        step: Step,
        /// Both sides of the difference.
        difference: String,
    },
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

impl<E: std::error::Error> From<Difference> for Error<E> {
    fn from(Difference { step, difference }: Difference) -> Self {
        Self::Nondeterministic { step, difference }
    }
}
