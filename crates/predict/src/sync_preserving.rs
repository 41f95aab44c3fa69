//! Races to which a part of the trace, in its own order, leads.
//!
//! After Mathur, Pavlogiannis and Viswanathan, "Optimal prediction of synchronization-preserving races" (POPL 2021). A
//! set of events is *closed* when it contains, with an event, everything [the event needs](crate::needs), and, with two
//! acquisitions of the same lock, the release before the later one. The events of a closed set, in the order of the
//! trace, are a correct reordering. Two accesses race if the smallest closed set that brings both threads to them
//! contains neither.
//!
//! *Incremental*: the set only grows. For two lanes of accesses, each in program order, an access that the set contains is
//! skipped for good, and the set for the next access contains the set so far. To close a set, only the holds that are
//! open at its border matter: holds that end within it satisfy the rule. When a thread's part of the set grows, its own
//! open holds are compared with what others have acquired, and others' open holds with what it has; nothing else can have
//! changed. Every comparison, and every clock that is read, counts as [work](Work), of which a trace has an amount that is
//! linear in its length.
//!
//! *Deviations*: operations on objects other than locks keep their order entirely; reader-writer locks, where only an
//! exclusive hold excludes; failed try-operations. Accesses whose footprint may change when they read another value are
//! left to the [exact search](crate::exact).
//!
//! *Can miss*: races that need critical sections, or other synchronisation, in another order than observed, and what is
//! left when the work is spent. *Never wrong*: its result is a correct reordering, with reads-from.

use model::{Clock, EventId, LockMode, Step, ThreadId, Trace};
use smallvec::SmallVec;

use crate::needs::{Hold, Needs};

/// Two accesses and the closed set that leads to both.
#[derive(Clone, Debug)]
pub(crate) struct SyncPreservingRace {
    /// Their steps.
    pub(crate) first: Step,
    pub(crate) second: Step,
    pub(crate) set: Clock,
}

/// How much may be done: comparisons of holds with acquisitions, and entries of clocks.
#[derive(Debug)]
pub(crate) struct Work {
    left: u64,
}

impl Work {
    pub(crate) fn new(left: u64) -> Self {
        Self { left }
    }

    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// A part of it, at most this much; what is left of the part comes [back](Self::put_back).
    pub(crate) fn take(&mut self, most: u64) -> Self {
        let part = self.left.min(most);
        self.left -= part;
        Self { left: part }
    }

    pub(crate) fn put_back(&mut self, part: Self) {
        self.left += part.left;
    }

    fn spend(&mut self, much: u64) -> Result<(), End> {
        self.left = self.left.checked_sub(much).ok_or(End)?;
        Ok(())
    }
}

/// No closed set leads to these accesses or to later ones, or the work is spent.
struct End;

/// The holds that are open at a thread's border.
type OpenHolds<'a> = SmallVec<[&'a Hold; 2]>;

/// A closed set that grows.
struct Closure<'a, 'w> {
    needs: &'a Needs,
    set: Clock,
    /// By thread: its holds at the border, as of when it was last looked at.
    open: Vec<OpenHolds<'a>>,
    /// By thread: how many locks it had acquired then.
    acquired: Vec<usize>,
    /// Threads whose part has grown since they were looked at.
    grown: Vec<ThreadId>,
    /// Whether a thread is among them.
    noted: Vec<bool>,
    work: &'w mut Work,
}

impl Closure<'_, '_> {
    /// Adds everything that leads to the event.
    fn lead_to(&mut self, event: EventId) -> Result<(), End> {
        self.include(event.thread, event.position)?;
        while let Some(thread) = self.grown.pop() {
            self.noted[thread.0 as usize] = false;
            self.look_at(thread)?;
        }
        Ok(())
    }

    /// Adds a thread's first `count` events and everything they need.
    fn include(&mut self, thread: ThreadId, count: u32) -> Result<(), End> {
        let known = self.set.count(thread);
        if known > 0 && count <= known {
            return Ok(());
        }
        if known > 0 && !self.needs.grow_between(thread, known, count) {
            self.work.spend(1)?;
            self.note(thread);
            self.set.learn(EventId { thread, position: count - 1 });
            return Ok(());
        }
        let clock = self.needs.first(thread, count);
        self.work.spend(1 + u64::from(clock.threads()))?;
        for thread in (0..clock.threads()).map(ThreadId) {
            if clock.count(thread) > self.set.count(thread) {
                self.note(thread);
            }
        }
        self.set.join(&clock);
        Ok(())
    }

    /// Notes that a thread's part grows.
    fn note(&mut self, thread: ThreadId) {
        let noted = &mut self.noted[thread.0 as usize];
        if !*noted {
            *noted = true;
            self.grown.push(thread);
        }
    }

    /// Closes the holds that have to end because of what a thread's part has become.
    fn look_at(&mut self, thread: ThreadId) -> Result<(), End> {
        let needs = self.needs;
        self.work.spend(1)?;
        let acquired = &mut self.acquired[thread.0 as usize];
        self.open[thread.0 as usize] = needs.open_after(thread, self.set.count(thread), acquired).collect();
        for hold in self.open[thread.0 as usize].clone() {
            for (other, mode, _) in needs.takers(hold.lock) {
                if *other != thread && self.is_taken_after(hold, *other, *mode)? {
                    self.end(thread, hold)?;
                    break;
                }
            }
        }
        for other in (0..self.open.len() as u32).map(ThreadId).filter(|other| *other != thread) {
            for at in 0..self.open[other.0 as usize].len() {
                let hold = self.open[other.0 as usize][at];
                for mode in needs.modes() {
                    if self.is_taken_after(hold, thread, *mode)? {
                        self.end(other, hold)?;
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether the set has an acquisition by the other thread, in this mode, after the hold began and excluded by it.
    fn is_taken_after(&mut self, hold: &Hold, other: ThreadId, mode: LockMode) -> Result<bool, End> {
        self.work.spend(1)?;
        let excludes = hold.mode == LockMode::Exclusive || mode == LockMode::Exclusive;
        let taken = || self.needs.last_taken(hold.lock, other, mode, self.set.count(other));
        Ok(excludes && taken().is_some_and(|step| step > hold.step))
    }

    /// Adds the end of a hold.
    fn end(&mut self, thread: ThreadId, hold: &Hold) -> Result<(), End> {
        self.include(thread, hold.until().ok_or(End)? + 1)
    }
}

/// The first race between two lanes: accesses of two threads, given by their steps in ascending order.
pub(crate) fn race(
    trace: &Trace,
    needs: &Needs,
    one: &[Step],
    other: &[Step],
    work: &mut Work,
) -> Option<SyncPreservingRace> {
    let id = |step: Step| trace.events[step].id;
    let (mut ones, mut others) = (one.iter().copied(), other.iter().copied());
    let (mut first, mut second) = (ones.next()?, others.next()?);
    let open = vec![OpenHolds::new(); trace.threads.len()];
    let (acquired, noted) = (vec![0; trace.threads.len()], vec![false; trace.threads.len()]);
    let mut closure = Closure { needs, set: Clock::new(), open, acquired, grown: Vec::new(), noted, work };
    closure.lead_to(id(first)).ok()?;
    closure.lead_to(id(second)).ok()?;
    loop {
        if closure.set.contains(id(first)) {
            first = ones.find(|step| !closure.set.contains(id(*step)))?;
            closure.lead_to(id(first)).ok()?;
        } else if closure.set.contains(id(second)) {
            second = others.find(|step| !closure.set.contains(id(*step)))?;
            closure.lead_to(id(second)).ok()?;
        } else {
            return Some(SyncPreservingRace { first, second, set: closure.set });
        }
    }
}
