//! Races that a part of the trace, in its own order, leads to.
//!
//! After Mathur, Pavlogiannis and Viswanathan, "Optimal prediction of synchronization-preserving races" (POPL 2021). A
//! set of events is *closed* when with an event it has all that [it needs](crate::needs), and when of two events that
//! take the same lock it has the one that gives the lock back before the later one takes it. The events of a closed set,
//! in the order of the trace, are a correct reordering. Two accesses race if the smallest closed set that brings both
//! threads to them has neither.
//!
//! *Linear*: the set only grows. For two lanes of accesses, each in the order of its thread, an access that the set has
//! is passed over for good, and the set for the next one contains the set so far.
//!
//! *Deviations*: operations on objects other than locks keep their order altogether; reader-writer locks, where only an
//! exclusive hold excludes; failed tries. Accesses that may turn out otherwise when they read something else are left to
//! the [exact search](crate::exact).
//!
//! *Can miss*: races that need sections under a lock, or other synchronisation, in another order than observed.
//! *Never wrong*: what it finds is a correct reordering, with reads-from.

use std::collections::BTreeMap;

use model::{Clock, EventId, LockMode, Step, ThreadId, Trace};
use smallvec::SmallVec;

use crate::needs::{Hold, Needs};
use crate::tracker::ObjectId;

/// Two accesses and the closed set that leads to both.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) first: EventId,
    pub(crate) second: EventId,
    pub(crate) set: Clock,
}

/// No closed set leads to the accesses, nor to any later ones.
struct Impossible;

/// A closed set under construction.
struct Closure<'a> {
    needs: &'a Needs,
    threads: u32,
    set: Clock,
    /// Per thread: how many of its holds have been looked at.
    looked_at: Vec<usize>,
    /// Per lock: each thread's last hold in the set, by mode.
    last: BTreeMap<ObjectId, SmallVec<[(ThreadId, Hold); 4]>>,
}

impl<'a> Closure<'a> {
    fn new(needs: &'a Needs, threads: usize) -> Self {
        let looked_at = vec![0; threads];
        Self { needs, threads: threads as u32, set: Clock::new(), looked_at, last: BTreeMap::new() }
    }

    /// Adds what leads to the event.
    fn lead_to(&mut self, event: EventId) -> Result<(), Impossible> {
        self.set.join(&self.needs.before(event));
        self.close()
    }

    fn close(&mut self) -> Result<(), Impossible> {
        loop {
            let mut changed = false;
            for thread in (0..self.threads).map(ThreadId) {
                let holds = self.needs.holds.get(thread).map_or(&[][..], Vec::as_slice);
                let at = &mut self.looked_at[thread.0 as usize];
                let Some(hold) = holds.get(*at).filter(|h| h.from < self.set.count(thread)) else { continue };
                *at += 1;
                changed = true;
                self.add(thread, *hold)?;
            }
            if !changed {
                return Ok(());
            }
        }
    }

    fn add(&mut self, thread: ThreadId, hold: Hold) -> Result<(), Impossible> {
        let lasts = self.last.entry(hold.lock).or_default();
        let excludes = |a: &Hold, b: &Hold| a.mode == LockMode::Exclusive || b.mode == LockMode::Exclusive;
        let mut ended = SmallVec::<[(ThreadId, Hold); 4]>::new();
        for (other, theirs) in lasts.iter().filter(|(other, theirs)| *other != thread && excludes(theirs, &hold)) {
            ended.push(if theirs.step < hold.step { (*other, *theirs) } else { (thread, hold) });
        }
        match lasts.iter_mut().find(|(other, theirs)| *other == thread && theirs.mode == hold.mode) {
            Some((_, last)) => *last = hold,
            None => lasts.push((thread, hold)),
        }
        for (thread, hold) in ended {
            let position = hold.until.ok_or(Impossible)?;
            let given_back = EventId { thread, position };
            if !self.set.contains(given_back) {
                self.set.join(&self.needs.with(given_back));
            }
        }
        Ok(())
    }
}

/// The first race between two lanes: accesses of two threads, given by their steps in ascending order.
pub(crate) fn race(trace: &Trace, needs: &Needs, one: &[Step], other: &[Step]) -> Option<Found> {
    let id = |step: &Step| trace.events[*step].id;
    let (mut ones, mut others) = (one.iter().map(id), other.iter().map(id));
    let (mut first, mut second) = (ones.next()?, others.next()?);
    let mut closure = Closure::new(needs, trace.threads.len());
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
            return Some(Found { first, second, set: closure.set });
        }
    }
}
