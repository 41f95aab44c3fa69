//! What was decided: the choices that reproduce a run.

use serde::{Deserialize, Serialize};

use crate::ThreadId;

/// Let `thread` run until it is about to execute its event number `until`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Segment {
    /// Who runs.
    pub thread: ThreadId,
    /// The position (from 0, in the thread's own events) before which it stops. The thread must be able
    /// to get there without blocking; otherwise the run has diverged.
    pub until: u32,
}

/// A schedule prefix: segments in order. After the last one the fixed policy decides: the running thread
/// goes on while it can, then the runnable thread with the smallest [`ThreadId`] runs; after a yield, or a
/// quantum of events without a switch, the next runnable thread in cyclic order gets its turn. A thread that
/// could only wake without a cause is passed over while another can run.
///
/// Positions count all events of a thread, whether or not a search regards them as scheduling points, so one
/// schedule means the same to every engine.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schedule {
    /// The segments. Normal form: neighbours have different threads.
    pub segments: Vec<Segment>,
}

impl Schedule {
    /// The empty prefix: the policy decides everything.
    pub const fn new() -> Self {
        Self { segments: Vec::new() }
    }

    /// Lets `thread` run until `until`, joining with the last segment where it is the same thread.
    #[inline]
    pub fn push(&mut self, thread: ThreadId, until: u32) {
        match self.segments.last_mut() {
            Some(last) if last.thread == thread => last.until = last.until.max(until),
            _ => self.segments.push(Segment { thread, until }),
        }
    }

    /// Number of times the running thread changes.
    pub fn switches(&self) -> usize {
        self.segments.len().saturating_sub(1)
    }
}
