//! The decisions that reproduce a run.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::{Choice, Chosen, EventId, Op, ThreadId};

/// Lets `thread` run until it is about to execute its event number `until`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Segment {
    /// The thread to run.
    pub thread: ThreadId,
    /// The position (from 0, among the thread's own events) before which it stops. If the thread cannot get there
    /// without blocking, the run has diverged.
    pub until: u32,
}

/// A schedule prefix: segments in order. After the last one a fixed policy decides: the running thread continues while
/// it can, then the runnable thread with the smallest [`ThreadId`] runs; after a yield, or a quantum of events without
/// a switch, the next runnable thread in cyclic order runs. A thread that could only wake up spuriously is skipped
/// while another can run.
///
/// Positions count all events of a thread, whether or not a search regards them as scheduling points, so a schedule
/// means the same to every engine.
///
/// A value that the program leaves open is the one in `choices`, otherwise the [default](Choice::default_value).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
pub struct Schedule {
    /// The segments. Normal form: adjacent segments have different threads.
    pub segments: Vec<Segment>,
    /// The chosen values. Normal form: ascending by event and index, without defaults.
    pub choices: Vec<Chosen>,
}

impl Schedule {
    /// The empty prefix: the policy decides everything.
    pub const fn new() -> Self {
        Self { segments: Vec::new(), choices: Vec::new() }
    }

    /// Lets `thread` run until `until`, extending the last segment if it has the same thread.
    #[inline]
    pub fn push(&mut self, thread: ThreadId, until: u32) {
        match self.segments.last_mut() {
            Some(last) if last.thread == thread => last.until = last.until.max(until),
            _ => self.segments.push(Segment { thread, until }),
        }
    }

    /// Lets the thread of `id` run until it has executed the operation whose first event is `id`, with its choices.
    pub fn execute(&mut self, id: EventId, op: &Op) {
        self.push(id.thread, id.position + op.events());
        self.choose_all(id, op.choices());
    }

    /// Fixes the choices of an event.
    pub fn choose_all(&mut self, event: EventId, choices: &[Choice]) {
        for (index, choice) in (0..).zip(choices) {
            if choice.value != Choice::default_value(choice.lo, choice.hi) {
                self.choose(Chosen { event, index, value: choice.value });
            }
        }
    }

    /// Fixes a value.
    pub fn choose(&mut self, chosen: Chosen) {
        let key = |c: &Chosen| (c.event, c.index);
        match self.choices.binary_search_by_key(&key(&chosen), key) {
            Ok(at) => self.choices[at] = chosen,
            Err(at) => self.choices.insert(at, chosen),
        }
    }

    /// The value of an event's choice from `lo..=hi`. A fixed value outside the range is ignored.
    pub fn value_of(&self, event: EventId, index: u32, lo: i64, hi: i64) -> i64 {
        let decided = self.choices.binary_search_by_key(&(event, index), |c| (c.event, c.index));
        let decided = decided.ok().map(|at| self.choices[at].value).filter(|value| (lo..=hi).contains(value));
        decided.unwrap_or_else(|| Choice::default_value(lo, hi))
    }

    /// Number of thread switches.
    pub fn switches(&self) -> usize {
        self.segments.len().saturating_sub(1)
    }
}

/// Where the threads of a run are, counted in the run's events, while operations are executed that may be [more than
/// one](Op::events). Schedules count these, whatever a search takes as one.
#[derive(Clone, Default, Debug)]
pub struct Positions(SmallVec<[u32; 32]>);

impl Positions {
    /// The thread executes its next operation. Returns the operation's first event.
    #[inline]
    pub fn execute(&mut self, thread: ThreadId, op: &Op) -> EventId {
        let at = thread.0 as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        let position = self.0[at];
        self.0[at] += op.events();
        EventId { thread, position }
    }
}
