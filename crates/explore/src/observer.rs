//! Watching a search.

use model::{Step, Trace};

use crate::checkpoint::Checkpoint;
use crate::outcome::Statistics;

/// How far a search has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// What was executed so far.
    pub statistics: Statistics,
    /// Number of events of the current execution: the depth of the search's stack.
    pub depth: usize,
    /// Racing pairs found so far.
    pub races: usize,
    /// Deadlocks, failed assertions, crashes and misuses found so far.
    pub failures: usize,
    /// How many executions the whole search seems to need, if that can be told.
    pub expected: Option<u64>,
}

/// Most examples of accesses, different by thread or cell, that are kept of a site.
pub const EXAMPLES: usize = 8;

/// Gets told what a search does. All methods do nothing by default.
pub trait Observer {
    /// After every execution.
    fn progress(&mut self, progress: &Progress) {
        let _ = progress;
    }
    /// Executions' traces, before they are examined. Its events before `from` are those of the trace before it. Left out
    /// are those by helpers that show nothing new, and have no access that is, among its site's, one of the first
    /// [`EXAMPLES`].
    fn trace(&mut self, trace: &Trace, from: Step) {
        let _ = (trace, from);
    }
    /// Whether to be given a checkpoint now. Asked after executions; `last` says that the search stops before it has covered
    /// everything.
    fn wants_checkpoint(&mut self, last: bool) -> bool {
        let _ = last;
        false
    }
    /// All that is needed to go on from here.
    fn checkpoint(&mut self, checkpoint: &Checkpoint) {
        let _ = checkpoint;
    }
}

/// Watches nothing.
impl Observer for () {}
