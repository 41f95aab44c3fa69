//! A search between two runs, as data that can be written to a file and resumed later.
//!
//! The current execution is stored as its schedule: running it again yields the trace and everything derived from it.

use std::collections::{BTreeMap, BTreeSet};

use model::{Event, Schedule, SiteId, Step, ThreadPath, ThreadSet};
use serde::{Deserialize, Serialize};

use crate::events::EventNumber;
use crate::findings::Findings;
use crate::options::ReductionName;
use crate::outcome::{Statistics, StopReason};
use crate::thrift::Thrift;
use crate::wakeup::Branch;

/// A search between two runs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The requested reduction.
    pub(crate) asked: ReductionName,
    /// The reduction in use: a different one if the requested one does not cover the program.
    pub(crate) in_use: ReductionName,
    /// Whether shortcuts are taken.
    pub(crate) shortened: bool,
    pub(crate) max_preemptions: Option<u32>,
    pub(crate) state: SavedReduction,
    pub(crate) found: Findings,
    pub(crate) statistics: Statistics,
    pub(crate) unmasked: BTreeSet<Schedule>,
    pub(crate) stopped: Option<StopReason>,
}

impl Checkpoint {
    /// Counts of everything executed before the checkpoint.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// The requested reduction.
    pub fn reduction(&self) -> ReductionName {
        self.asked
    }

    /// The requested bound on preemptions.
    pub fn max_preemptions(&self) -> Option<u32> {
        self.max_preemptions
    }
}

/// A reduction between two runs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct SavedReduction {
    /// The current execution.
    pub(crate) schedule: Schedule,
    pub(crate) rest: ReductionState,
}

/// A [frame](crate::stack::Frame) without what the trace provides.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct SavedFrame {
    pub(crate) backtrack: ThreadSet,
    pub(crate) done: ThreadSet,
    pub(crate) asleep: Vec<Event>,
    pub(crate) variants: Vec<Event>,
}

/// What a reduction knows beyond the current execution.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum ReductionState {
    /// A frame for each state that has one.
    Backtracking(Vec<SavedFrame>),
    Optimal {
        /// Threads by number.
        paths: Vec<ThreadPath>,
        /// Number of events that count.
        counted: u32,
        /// Sleep sets: each entry holds from its state up to the next entry's; then the number of states.
        sleeps: (Vec<(u32, Vec<EventNumber>, ThreadSet)>, u32),
        /// Events by number.
        events: Vec<Event>,
        trees: BTreeMap<Step, Vec<Branch>>,
        /// The events after which something was pruned that may interfere with them.
        threatened: BTreeSet<Step>,
        exchanges: BTreeSet<SiteId>,
        /// When it asks what it may prune.
        thrift: Thrift,
    },
    Preemptions(crate::preemptions::Open),
}
