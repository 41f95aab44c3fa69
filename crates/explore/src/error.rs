//! Why a search ended without an outcome.

use model::{SiteId, Step};

use crate::findings::Unsited;
use crate::reduction::Difference;

/// Why a search ended without an outcome.
#[derive(Debug, thiserror::Error)]
pub enum Error<E: std::error::Error> {
    /// The executor failed.
    #[error(transparent)]
    Executor(E),
    /// The program could not follow a schedule made from its own runs.
    #[error(
        "raceproof bug or nondeterministic program: the run left its schedule in segment {segment}: {message}; a \
         program whose threads depend on time, addresses or the outside world cannot be explored"
    )]
    Diverged {
        /// Which segment.
        segment: u32,
        /// What was found instead.
        message: String,
    },
    /// The same prefix gave another trace.
    #[error(
        "raceproof bug or nondeterministic program: run twice with the same schedule, {difference} at event {step}; a \
         program whose threads depend on time, addresses or the outside world cannot be explored"
    )]
    Nondeterministic {
        /// The first event that differs.
        step: Step,
        /// Both sides of the difference.
        difference: String,
    },
    /// A checkpoint does not belong to the program.
    #[error("the checkpoint is not one of a search of this program with this version of raceproof: {what}")]
    Checkpoint {
        /// What does not fit.
        what: String,
    },
    /// Two accesses race and one of them does not say where in the code it is.
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

impl<E: std::error::Error> From<Unsited> for Error<E> {
    fn from(race: Unsited) -> Self {
        Self::AccessWithoutSite { step: race.step, other: race.other }
    }
}

impl<E: std::error::Error> From<Difference> for Error<E> {
    fn from(Difference { step, difference }: Difference) -> Self {
        Self::Nondeterministic { step, difference }
    }
}
