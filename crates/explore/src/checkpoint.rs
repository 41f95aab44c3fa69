//! A search between two runs, as data: it can be written to a file and gone on with later.
//!
//! The current execution is kept as its schedule: running that again gives the trace, and what is derived from it.

use std::collections::{BTreeMap, BTreeSet};

use model::{Event, Schedule, SiteId, Step, ThreadPath, ThreadSet};
use serde::{Deserialize, Serialize};

use crate::events::EventNumber;
use crate::findings::Found;
use crate::options::ReductionName;
use crate::outcome::{Statistics, StopReason};
use crate::wakeup::Branch;

/// A search between two runs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The reduction asked for.
    pub(crate) asked: ReductionName,
    /// The reduction at work: another one where that does not cover the program.
    pub(crate) at_work: ReductionName,
    pub(crate) max_preemptions: Option<u32>,
    pub(crate) state: Saved,
    pub(crate) found: Found,
    pub(crate) statistics: Statistics,
    pub(crate) uncovered: BTreeSet<Schedule>,
    pub(crate) stopped: Option<StopReason>,
}

impl Checkpoint {
    /// What was executed before it.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// The reduction that was asked for.
    pub fn reduction(&self) -> ReductionName {
        self.asked
    }

    /// The bound on preemptions that was asked for.
    pub fn max_preemptions(&self) -> Option<u32> {
        self.max_preemptions
    }
}

/// A reduction between two runs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Saved {
    /// The current execution.
    pub(crate) schedule: Schedule,
    pub(crate) rest: Rest,
}

/// A [frame](crate::stack::Frame) but for what its state tells.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct SavedFrame {
    pub(crate) backtrack: ThreadSet,
    pub(crate) done: ThreadSet,
    pub(crate) asleep: Vec<Event>,
    pub(crate) variants: Vec<Event>,
}

/// What a reduction knows beyond the current execution.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Rest {
    /// A frame for each state that has one.
    Backtracking(Vec<SavedFrame>),
    Optimal {
        /// Threads by number.
        paths: Vec<ThreadPath>,
        /// Number of events that count.
        counted: u32,
        /// Who sleeps from a state on, up to the next entry's; and the number of states.
        sleeps: (Vec<(u32, Vec<EventNumber>, ThreadSet)>, u32),
        /// Events by number.
        events: Vec<Event>,
        trees: BTreeMap<Step, Vec<Branch>>,
        /// The events after which something was left out that may interfere with them.
        threatened: BTreeSet<Step>,
        exchanges: BTreeSet<SiteId>,
    },
    Preemptions(crate::preemptions::Open),
}
