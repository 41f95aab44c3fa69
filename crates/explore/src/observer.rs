//! Watching a search.

use model::{Step, Trace};

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
}

/// Gets told what a search does. Both methods do nothing by default.
pub trait Observer {
    /// After every execution.
    fn progress(&mut self, progress: &Progress) {
        let _ = progress;
    }
    /// Every execution's trace, before it is examined. Its events before `from` are those of the trace before it.
    fn trace(&mut self, trace: &Trace, from: Step) {
        let _ = (trace, from);
    }
}

/// Watches nothing.
impl Observer for () {}
