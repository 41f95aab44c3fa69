//! The model of synchronisation objects.

use crate::sched::Thread;

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocker {
    /// Nothing.
    None,
}

/// All synchronisation objects of the run.
#[derive(Clone, Debug, Default)]
pub struct State {}

impl State {
    /// No objects.
    pub fn new() -> Self {
        Self::default()
    }
    /// Whether `thread` has to wait.
    pub fn blocked(&self, _thread: Thread, blocker: &Blocker) -> bool {
        match blocker {
            Blocker::None => false,
        }
    }
    /// Drops the objects in memory that is freed.
    pub fn forget_range(&mut self, _start: u64, _len: u64) {}
}
