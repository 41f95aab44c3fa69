//! Observing a search.

use model::{Pair, Step, Trace};

use crate::checkpoint::Checkpoint;
use crate::outcome::Statistics;

/// The progress of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Counts of everything executed so far.
    pub statistics: Statistics,
    /// Number of events of the current execution, which is the depth of the search.
    pub depth: usize,
    /// Racing pairs found so far.
    pub races: usize,
    /// Deadlocks, failed assertions, crashes and misuses found so far.
    pub failures: usize,
    /// Estimated number of executions of the whole search, if it can be estimated.
    pub expected: Option<u64>,
}

/// Limit on the example accesses, distinct by thread or cell, kept for a site.
pub const EXAMPLES: usize = 8;

/// Callbacks from a search. All methods do nothing by default.
pub trait Observer {
    /// Called after every execution.
    fn progress(&mut self, progress: &Progress) {
        let _ = progress;
    }
    /// Called once for each pair that an execution shows to race, right after it.
    fn race(&mut self, pair: Pair) {
        let _ = pair;
    }
    /// Called with the trace of an execution before it is examined. Its events before `from` are those of the previous
    /// trace. Executions by helpers are omitted unless they show something new or contain one of the first [`EXAMPLES`]
    /// accesses of a site.
    fn trace(&mut self, trace: &Trace, from: Step) {
        let _ = (trace, from);
    }
    /// Whether to pass a checkpoint now. Called after executions; `last` means that the search is about to stop before
    /// it is complete.
    fn wants_checkpoint(&mut self, last: bool) -> bool {
        let _ = last;
        false
    }
    /// Receives everything needed to resume from here.
    fn checkpoint(&mut self, checkpoint: &Checkpoint) {
        let _ = checkpoint;
    }
}

/// Observes nothing.
impl Observer for () {}
