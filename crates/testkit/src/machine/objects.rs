//! Synchronisation objects by address: when their operations are enabled and what they change.
//!
//! An object exists from its first use on, in the state a static initialiser gives. Entries equal to that state are
//! dropped, so that two histories that lead to the same state leave equal machines.

use std::collections::{BTreeMap, BTreeSet};

use model::{LockMode, ThreadId};

/// A mutex, spin lock or reader-writer lock.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Lock {
    pub(super) recursive: bool,
    /// The exclusive holder and its number of levels.
    pub(super) exclusive: Option<(ThreadId, u32)>,
    /// Shared holders, each with its number of levels.
    pub(super) shared: BTreeMap<ThreadId, u32>,
}

impl Lock {
    /// Whether the thread can acquire it in this mode now.
    pub(super) fn can_take(&self, thread: ThreadId, mode: LockMode) -> bool {
        match (mode, self.exclusive) {
            (LockMode::Exclusive, Some((holder, _))) => self.recursive && holder == thread,
            (LockMode::Exclusive, None) => self.shared.is_empty(),
            (LockMode::Shared, held) => held.is_none(),
        }
    }
    /// Acquires it, `depth` levels at once (a wait releases and restores all levels).
    pub(super) fn take(&mut self, thread: ThreadId, mode: LockMode, depth: u32) {
        match mode {
            LockMode::Exclusive => {
                let held = self.exclusive.map_or(0, |(_, n)| n);
                self.exclusive = Some((thread, held + depth));
            }
            LockMode::Shared => *self.shared.entry(thread).or_insert(0) += depth,
        }
    }
    /// The mode in which the thread holds it.
    pub(super) fn held_by(&self, thread: ThreadId) -> Option<LockMode> {
        if self.exclusive.is_some_and(|(holder, _)| holder == thread) {
            Some(LockMode::Exclusive)
        } else {
            self.shared.contains_key(&thread).then_some(LockMode::Shared)
        }
    }
    /// Releases one level; a mutex that another thread holds becomes free, as in glibc.
    pub(super) fn give_back(&mut self, thread: ThreadId) {
        match &mut self.exclusive {
            Some((holder, depth)) if *holder == thread => {
                *depth -= 1;
                if *depth == 0 {
                    self.exclusive = None;
                }
            }
            _ if !self.shared.contains_key(&thread) => self.exclusive = None,
            _ => {
                if let Some(depth) = self.shared.get_mut(&thread) {
                    *depth -= 1;
                    if *depth == 0 {
                        self.shared.remove(&thread);
                    }
                }
            }
        }
    }
    /// Whether a thread holds it.
    pub(super) fn is_held(&self) -> bool {
        self.exclusive.is_some() || !self.shared.is_empty()
    }
}

/// A condition variable.
///
/// A signal leaves a permit that any thread waiting at that moment may consume; it is lost when every waiter has a
/// permit already.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Cond {
    pub(super) waiters: BTreeSet<ThreadId>,
    /// The threads that may consume each permit, oldest first.
    permits: Vec<BTreeSet<ThreadId>>,
}

impl Cond {
    /// Wakes one waiter, any.
    pub(super) fn signal(&mut self) {
        if self.permits.len() < self.waiters.len() {
            self.permits.push(self.waiters.clone());
        }
    }
    /// Wakes all waiters.
    pub(super) fn broadcast(&mut self) {
        self.permits = self.waiters.iter().map(|w| BTreeSet::from([*w])).collect();
    }
    /// Whether there is a permit for the waiter.
    pub(super) fn may_wake(&self, waiter: ThreadId) -> bool {
        self.permits.iter().any(|eligible| eligible.contains(&waiter))
    }
    /// Ends the wait and consumes the oldest permit for the waiter, if there is one.
    pub(super) fn leave(&mut self, waiter: ThreadId) {
        if let Some(oldest) = self.permits.iter().position(|eligible| eligible.contains(&waiter)) {
            self.permits.remove(oldest);
        }
        self.waiters.remove(&waiter);
        for eligible in &mut self.permits {
            eligible.remove(&waiter);
        }
        self.permits.retain(|eligible| !eligible.is_empty());
    }
}

/// A barrier.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Barrier {
    pub(super) count: u32,
    /// Arrivals of the current generation.
    pub(super) arrived: u32,
    /// Complete generations so far.
    pub(super) generation: u32,
}

/// A once-control.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Once {
    /// The routine is being run by this thread.
    Running(ThreadId),
    /// The routine has returned.
    Done,
}

/// All synchronisation objects.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Objects {
    locks: BTreeMap<u64, Lock>,
    conds: BTreeMap<u64, Cond>,
    pub(super) barriers: BTreeMap<u64, Barrier>,
    pub(super) semaphores: BTreeMap<u64, u32>,
    pub(super) onces: BTreeMap<u64, Once>,
}

impl Objects {
    /// Whether the thread can acquire the lock now.
    pub(super) fn can_take(&self, lock: u64, thread: ThreadId, mode: LockMode) -> bool {
        self.locks.get(&lock).is_none_or(|l| l.can_take(thread, mode))
    }
    /// The mode in which the thread holds the lock.
    pub(super) fn held_by(&self, lock: u64, thread: ThreadId) -> Option<LockMode> {
        self.locks.get(&lock)?.held_by(thread)
    }
    /// The lock at this address.
    pub(super) fn lock(&self, lock: u64) -> Option<&Lock> {
        self.locks.get(&lock)
    }
    /// Changes a lock.
    pub(super) fn change_lock<R>(&mut self, lock: u64, change: impl FnOnce(&mut Lock) -> R) -> R {
        let entry = self.locks.entry(lock).or_default();
        let result = change(entry);
        if *entry == Lock::default() {
            self.locks.remove(&lock);
        }
        result
    }
    /// The condition variable at this address.
    pub(super) fn cond(&self, cond: u64) -> Option<&Cond> {
        self.conds.get(&cond)
    }
    /// Changes a condition variable.
    pub(super) fn change_cond(&mut self, cond: u64, change: impl FnOnce(&mut Cond)) {
        let entry = self.conds.entry(cond).or_default();
        change(entry);
        if *entry == Cond::default() {
            self.conds.remove(&cond);
        }
    }
    /// The locks that the thread holds.
    pub(super) fn locks_of(&self, thread: ThreadId) -> impl Iterator<Item = u64> + '_ {
        self.locks.iter().filter(move |(_, l)| l.held_by(thread).is_some()).map(|(address, _)| *address)
    }
    /// Drops the object at this address; returns whether it was held or waited on.
    pub(super) fn destroy(&mut self, address: u64) -> bool {
        let held = self.locks.remove(&address).is_some_and(|l| l.is_held());
        let waited = self.conds.remove(&address).is_some();
        let arrived = self.barriers.remove(&address).is_some_and(|b| b.arrived > 0);
        self.semaphores.remove(&address);
        self.onces.remove(&address);
        held || waited || arrived
    }
    /// Drops the objects in freed memory; returns those that were held or waited on.
    pub(super) fn forget(&mut self, start: u64, len: u64) -> Vec<u64> {
        let range = start..start.saturating_add(len);
        let inside: BTreeSet<u64> = self
            .locks
            .range(range.clone())
            .map(|e| *e.0)
            .chain(self.conds.range(range.clone()).map(|e| *e.0))
            .chain(self.barriers.range(range.clone()).map(|e| *e.0))
            .chain(self.semaphores.range(range.clone()).map(|e| *e.0))
            .chain(self.onces.range(range).map(|e| *e.0))
            .collect();
        inside.into_iter().filter(|address| self.destroy(*address)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ThreadId = ThreadId(1);
    const B: ThreadId = ThreadId(2);
    const C: ThreadId = ThreadId(3);

    #[test]
    fn a_permit_is_for_those_who_waited_when_it_was_sent() {
        let mut cond = Cond::default();
        cond.signal();
        cond.waiters.extend([A, B]);
        assert!(!cond.may_wake(A), "a signal without waiters is lost");
        cond.signal();
        cond.waiters.insert(C);
        assert!(cond.may_wake(A) && cond.may_wake(B) && !cond.may_wake(C));
        cond.leave(A);
        assert!(!cond.may_wake(B) && !cond.may_wake(C));
        cond.signal();
        cond.signal();
        cond.signal();
        cond.leave(C);
        assert!(cond.may_wake(B));
        cond.leave(B);
        assert_eq!(cond, Cond::default());
    }

    #[test]
    fn a_broadcast_wakes_each_waiter_once() {
        let mut cond = Cond::default();
        cond.waiters.extend([A, B]);
        cond.broadcast();
        cond.leave(A);
        cond.waiters.insert(A);
        assert!(cond.may_wake(B) && !cond.may_wake(A));
    }

    #[test]
    fn readers_share_and_writers_do_not() {
        let mut lock = Lock::default();
        lock.take(A, LockMode::Shared, 1);
        assert!(lock.can_take(B, LockMode::Shared) && !lock.can_take(B, LockMode::Exclusive));
        assert!(!lock.can_take(A, LockMode::Exclusive));
        lock.give_back(A);
        lock.take(B, LockMode::Exclusive, 1);
        assert!(!lock.can_take(B, LockMode::Exclusive) && !lock.can_take(A, LockMode::Shared));
        lock.recursive = true;
        assert!(lock.can_take(B, LockMode::Exclusive));
    }
}
