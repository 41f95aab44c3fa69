//! Which thread held which lock when, in the current execution.

use model::{Addr, Event, LockMode, Op, Step, ThreadId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A thread's hold of a lock after one of its operations on it.
#[derive(Clone, Copy)]
struct Entry {
    step: Step,
    mode: LockMode,
    /// How many times the thread holds the lock; 0 if it does not.
    level: u32,
    /// How many times it will hold the lock again after the wait it has started.
    given_up: u32,
    /// The operation since which it has held the lock.
    since: Step,
}

/// A thread that holds a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Holder {
    pub(crate) thread: ThreadId,
    pub(crate) mode: LockMode,
    /// The operation since which it has held the lock.
    pub(crate) since: Step,
}

/// The lock operations among an execution's first events. Correct only while no lock is misused.
#[derive(Default)]
pub(crate) struct LockHistory {
    locks: FxHashMap<Addr, Vec<Lane>>,
}

/// One thread's operations on a lock.
struct Lane {
    thread: ThreadId,
    entries: Vec<Entry>,
}

impl LockHistory {
    /// Adds the next event.
    pub(crate) fn push(&mut self, event: &Event, step: Step) {
        let thread = event.id.thread;
        let Some((lock, mode)) = operand(event) else { return };
        let lanes = self.locks.entry(lock).or_default();
        let at = lanes.iter().position(|lane| lane.thread == thread).unwrap_or_else(|| {
            lanes.push(Lane { thread, entries: Vec::new() });
            lanes.len() - 1
        });
        let entries = &mut lanes[at].entries;
        let before = entries.last();
        let since = before.filter(|e| e.level > 0).map_or(step, |e| e.since);
        let (level, given_up) = before.map_or((0, 0), |e| (e.level, e.given_up));
        let (level, given_up) = match event.op {
            Op::Release { .. } => (level.saturating_sub(1), 0),
            Op::WaitBegin { .. } => (0, level),
            _ => (level + given_up.max(1), 0),
        };
        entries.push(Entry { step, mode, level, given_up, since });
    }

    /// Removes the last event.
    pub(crate) fn pop(&mut self, event: &Event) {
        let Some((lock, _)) = operand(event) else { return };
        let mut lanes = self.locks.get_mut(&lock).into_iter().flatten();
        if let Some(lane) = lanes.find(|lane| lane.thread == event.id.thread) {
            lane.entries.pop();
        }
    }

    /// For an operation with which the thread took the lock: the operation since which it held it.
    pub(crate) fn held_since(&self, lock: Addr, thread: ThreadId, step: Step) -> Option<Step> {
        let lane = self.locks.get(&lock)?.iter().find(|lane| lane.thread == thread)?;
        let at = lane.entries.binary_search_by_key(&step, |e| e.step).ok()?;
        Some(lane.entries[at].since)
    }

    /// The threads that hold the lock after the events for which `counts` is true. Of each thread's events, these are
    /// the first ones.
    pub(crate) fn holders(&self, lock: Addr, counts: impl Fn(Step) -> bool) -> SmallVec<[Holder; 2]> {
        let lanes = self.locks.get(&lock).into_iter().flatten();
        let held = lanes.filter_map(|lane| {
            let last = lane.entries[..lane.entries.partition_point(|e| counts(e.step))].last()?;
            (last.level > 0).then_some(Holder { thread: lane.thread, mode: last.mode, since: last.since })
        });
        let mut held: SmallVec<[Holder; 2]> = held.collect();
        held.sort_unstable_by_key(|holder| holder.thread);
        held
    }
}

/// The lock that the event acquires or releases.
fn operand(event: &Event) -> Option<(Addr, LockMode)> {
    match event.op {
        Op::Acquire { lock, mode } | Op::TryAcquire { lock, mode, success: true } | Op::Release { lock, mode } => {
            Some((lock, mode))
        }
        Op::WaitBegin { lock, .. } => Some((lock, LockMode::Exclusive)),
        _ => None,
    }
}
