//! What was decided: the choices that reproduce a run.

use serde::{Deserialize, Serialize};

use crate::{Choice, Chosen, EventId, Op, ThreadId};

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
///
/// A value that the program leaves open is the one in `choices`; where there is none, the [usual](Choice::usual) one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
pub struct Schedule {
    /// The segments. Normal form: neighbours have different threads.
    pub segments: Vec<Segment>,
    /// The values chosen. Normal form: ascending by event and index, without the usual ones.
    pub choices: Vec<Chosen>,
}

impl Schedule {
    /// The empty prefix: the policy decides everything.
    pub const fn new() -> Self {
        Self { segments: Vec::new(), choices: Vec::new() }
    }

    /// Lets `thread` run until `until`, joining with the last segment where it is the same thread.
    #[inline]
    pub fn push(&mut self, thread: ThreadId, until: u32) {
        match self.segments.last_mut() {
            Some(last) if last.thread == thread => last.until = last.until.max(until),
            _ => self.segments.push(Segment { thread, until }),
        }
    }

    /// Lets the thread of `id` run until it has executed the event `id`, with the choices of `op`.
    pub fn execute(&mut self, id: EventId, op: &Op) {
        self.push(id.thread, id.position + 1);
        self.choose_all(id, op.choices());
    }

    /// Decides the choices of an event.
    pub fn choose_all(&mut self, event: EventId, choices: &[Choice]) {
        for (index, choice) in (0..).zip(choices) {
            if choice.value != Choice::usual(choice.lo, choice.hi) {
                self.choose(Chosen { event, index, value: choice.value });
            }
        }
    }

    /// Decides a value.
    pub fn choose(&mut self, chosen: Chosen) {
        let key = |c: &Chosen| (c.event, c.index);
        match self.choices.binary_search_by_key(&key(&chosen), key) {
            Ok(at) => self.choices[at] = chosen,
            Err(at) => self.choices.insert(at, chosen),
        }
    }

    /// The value of an event's choice out of `lo..=hi`. A decided value that is not possible does not count.
    pub fn value_of(&self, event: EventId, index: u32, lo: i64, hi: i64) -> i64 {
        let decided = self.choices.binary_search_by_key(&(event, index), |c| (c.event, c.index));
        let decided = decided.ok().map(|at| self.choices[at].value).filter(|value| (lo..=hi).contains(value));
        decided.unwrap_or_else(|| Choice::usual(lo, hi))
    }

    /// Number of times the running thread changes.
    pub fn switches(&self) -> usize {
        self.segments.len().saturating_sub(1)
    }
}
