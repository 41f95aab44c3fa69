//! Races to which a part of the trace, in its own order, leads.
//!
//! After Mathur, Pavlogiannis and Viswanathan, "Optimal prediction of synchronization-preserving races" (POPL 2021). A
//! set of events is *closed* when it contains, with an event, everything [the event needs](crate::needs), and, with two
//! acquisitions of the same lock, the release before the later one. The events of a closed set, in the order of the
//! trace, are a correct reordering. Two accesses race if the smallest closed set that brings both threads to them
//! contains neither.
//!
//! *Linear*: the set only grows. For two lanes of accesses, each in program order, an access that the set contains is
//! skipped for good, and the set for the next access contains the set so far. To close a set, only the holds that are
//! open at its border matter: holds that end within it satisfy the rule.
//!
//! *Deviations*: operations on objects other than locks keep their order entirely; reader-writer locks, where only an
//! exclusive hold excludes; failed try-operations. Accesses whose footprint may change when they read another value are
//! left to the [exact search](crate::exact).
//!
//! *Can miss*: races that need critical sections, or other synchronisation, in another order than observed. *Never
//! wrong*: its result is a correct reordering, with reads-from.

use model::{Clock, EventId, LockMode, Step, ThreadId, Trace};

use crate::needs::{Hold, Needs};

/// Two accesses and the closed set that leads to both.
#[derive(Clone, Debug)]
pub(crate) struct SyncPreservingRace {
    pub(crate) first: EventId,
    pub(crate) second: EventId,
    pub(crate) set: Clock,
}

/// No closed set leads to these accesses, or to later ones.
struct Impossible;

/// A closed set that grows.
struct Closure<'a> {
    needs: &'a Needs,
    threads: u32,
    set: Clock,
}

impl Closure<'_> {
    /// Adds everything that leads to the event.
    fn lead_to(&mut self, event: EventId) -> Result<(), Impossible> {
        self.set.join(&self.needs.before(event));
        while let Some((thread, until)) = self.first_to_end() {
            let given_back = EventId { thread, position: until.ok_or(Impossible)? };
            self.set.join(&self.needs.with(given_back));
        }
        Ok(())
    }

    /// A hold that must end within the set but does not: its thread and its end.
    fn first_to_end(&self) -> Option<(ThreadId, Option<u32>)> {
        (0..self.threads).map(ThreadId).find_map(|thread| {
            let mut open = self.needs.open_after(thread, self.set.count(thread));
            open.find(|hold| self.is_taken_after(thread, hold)).map(|hold| (thread, hold.until))
        })
    }

    /// Whether another thread acquires the lock after this hold began, in modes that exclude each other.
    fn is_taken_after(&self, thread: ThreadId, hold: &Hold) -> bool {
        let modes = match hold.mode {
            LockMode::Exclusive => &[LockMode::Exclusive, LockMode::Shared][..],
            LockMode::Shared => &[LockMode::Exclusive],
        };
        (0..self.threads).map(ThreadId).filter(|other| *other != thread).any(|other| {
            let taken = |mode: &LockMode| self.needs.last_taken(hold.lock, other, *mode, self.set.count(other));
            modes.iter().filter_map(taken).any(|step| step > hold.step)
        })
    }
}

/// The first race between two lanes: accesses of two threads, given by their steps in ascending order.
pub(crate) fn race(trace: &Trace, needs: &Needs, one: &[Step], other: &[Step]) -> Option<SyncPreservingRace> {
    let id = |step: &Step| trace.events[*step].id;
    let (mut ones, mut others) = (one.iter().map(id), other.iter().map(id));
    let (mut first, mut second) = (ones.next()?, others.next()?);
    let mut closure = Closure { needs, threads: trace.threads.len() as u32, set: Clock::new() };
    closure.lead_to(first).ok()?;
    closure.lead_to(second).ok()?;
    loop {
        if closure.set.contains(first) {
            first = ones.find(|event| !closure.set.contains(*event))?;
            closure.lead_to(first).ok()?;
        } else if closure.set.contains(second) {
            second = others.find(|event| !closure.set.contains(*event))?;
            closure.lead_to(second).ok()?;
        } else {
            return Some(SyncPreservingRace { first, second, set: closure.set });
        }
    }
}
