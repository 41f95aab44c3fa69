//! Who held which lock when, in the current execution.

use std::collections::BTreeMap;

use model::{Addr, Event, LockMode, Op, Step, ThreadId};

/// What a thread has of a lock after one of its operations on it.
#[derive(Clone, Copy)]
struct Entry {
    step: Step,
    thread: ThreadId,
    mode: LockMode,
    /// How often it holds it; 0 if not.
    level: u32,
    /// How often it will hold it again when a wait it has begun is over.
    given_up: u32,
    /// The operation since which it holds it at all.
    since: Step,
}

/// A thread that holds a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Holder {
    pub(crate) thread: ThreadId,
    pub(crate) mode: LockMode,
    /// The operation since which it holds it.
    pub(crate) since: Step,
}

/// The operations on locks of an execution's first events. Right while no lock is misused.
#[derive(Default)]
pub(crate) struct Holding {
    locks: BTreeMap<Addr, Vec<Entry>>,
}

impl Holding {
    /// Takes in the next event.
    pub(crate) fn push(&mut self, event: &Event, step: Step) {
        let thread = event.id.thread;
        let Some((lock, mode)) = operand(event) else { return };
        let entries = self.locks.entry(lock).or_default();
        let before = entries.iter().rev().find(|e| e.thread == thread);
        let since = before.filter(|e| e.level > 0).map_or(step, |e| e.since);
        let (level, given_up) = before.map_or((0, 0), |e| (e.level, e.given_up));
        let (level, given_up) = match event.op {
            Op::Release { .. } => (level.saturating_sub(1), 0),
            Op::WaitBegin { .. } => (0, level),
            _ => (level + given_up.max(1), 0),
        };
        entries.push(Entry { step, thread, mode, level, given_up, since });
    }

    /// Forgets the last event.
    pub(crate) fn pop(&mut self, event: &Event) {
        if let Some((lock, _)) = operand(event) {
            self.locks.get_mut(&lock).and_then(Vec::pop);
        }
    }

    /// For an operation that took the lock: the one since which its thread held it.
    pub(crate) fn held_since(&self, lock: Addr, step: Step) -> Option<Step> {
        let entries = self.locks.get(&lock)?;
        let at = entries.partition_point(|e| e.step < step);
        entries.get(at).filter(|e| e.step == step).map(|e| e.since)
    }

    /// Who holds the lock after those events that count. Of each thread's events the first ones count.
    pub(crate) fn holders(&self, lock: Addr, counts: impl Fn(Step) -> bool) -> Vec<Holder> {
        let mut last = BTreeMap::new();
        for entry in self.locks.get(&lock).into_iter().flatten().filter(|e| counts(e.step)) {
            last.insert(entry.thread, entry);
        }
        let held = last.values().filter(|e| e.level > 0);
        held.map(|e| Holder { thread: e.thread, mode: e.mode, since: e.since }).collect()
    }
}

/// The lock that the event takes or gives back.
fn operand(event: &Event) -> Option<(Addr, LockMode)> {
    match event.op {
        Op::Acquire { lock, mode } | Op::TryAcquire { lock, mode, success: true } | Op::Release { lock, mode } => {
            Some((lock, mode))
        }
        Op::WaitBegin { lock, .. } => Some((lock, LockMode::Exclusive)),
        _ => None,
    }
}
