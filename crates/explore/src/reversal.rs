//! Race reversal: which events to run so that an operation comes before an earlier event.
//!
//! Let `a` be an event of an execution. Let thread `q` execute, or wait in vain to execute, an operation that `a`
//! interferes with, while `a` does not lead to what `q` did before. To let `q` go first, everything after `a` that `a`
//! leads to is omitted. The rest can be executed without `a`, and then `q`'s operation, if it is enabled there.
//!
//! A blocking operation (on a lock, a semaphore, a once-control, the end of a wait) may be disabled right after `a`
//! because of `a`, and be executed later or never. Then it does not suffice to look at the events right before it: an
//! operation that disables it (a *taker*) is reversed with it unless another taker comes between. If one thread takes a
//! lock several times, the first time counts. A call that moves data (a pipe, a socket) may also block on the object,
//! and its footprint does not show what enables or disables it: every call on the object is reversed with it.
//!
//! Whether the operation is enabled after the reversal, and with what result, follows from the trace for locks,
//! once-controls and joins, and whenever the thread was already about to execute it. In all other cases the plan marks
//! it as not [seen](crate::wakeup::Planned), and running it gives the answer.

use std::collections::BTreeSet;

use model::dependence::{Resource, Use, footprint, may_be_coenabled};
use model::{AccessKind, Addr, Cell, Event, EventId, LockMode, Op, SiteId, Step, ThreadId, Trace, work};
use smallvec::{SmallVec, smallvec};

use crate::causality::{Causality, Entry};
use crate::lock_history::{Holder, LockHistory};

/// Whether a use may disable the object for threads that wait for it.
fn takes(how: Use) -> bool {
    use Use::{Change, Critical, Take, TakeShared, TryTake, TryTakeShared, Wait};
    matches!(how, Take | TryTake | TakeShared | TryTakeShared | Critical | Wait | Change)
}

/// Whether the operation is a call on an object of the library or the kernel, such as a file or a socket: a set of
/// accesses of which some are atomic. Whether it blocks, how much memory it touches and what it returns depend on
/// earlier calls.
fn is_call(op: &Op) -> bool {
    matches!(op, Op::Accesses(accesses) if accesses.iter().any(|access| access.atomic.is_some()))
}

/// Whether the operation may block.
pub(crate) fn waits(op: &Op) -> bool {
    is_call(op)
        || matches!(
            op,
            Op::Acquire { .. }
                | Op::Critical(_)
                | Op::SemWait { .. }
                | Op::WaitEnd { .. }
                | Op::OnceBegin { .. }
                | Op::Join { .. }
                | Op::BarrierLeave { .. }
                | Op::Await { .. }
        )
}

/// The lock that the operation waits for.
fn acquired(op: &Op) -> Option<Addr> {
    match op {
        Op::Acquire { lock, .. } => Some(*lock),
        Op::Critical(critical) => Some(critical.lock),
        _ => None,
    }
}

/// A few steps, ascending.
pub(crate) type Steps = SmallVec<[Step; 4]>;

/// The events before the state `until` that `next`, which comes later, may have to be reversed with, assuming that
/// nothing between that state and `next` has to be reversed first. Ascending.
pub(crate) fn reversible(
    causality: &Causality,
    locks: &LockHistory,
    trace: &Trace,
    next: &Event,
    until: Step,
) -> Steps {
    let thread = next.id.thread;
    let last = next.id.position.checked_sub(1).map(|position| EventId { position, ..next.id });
    let known = last.map(|last| causality.clock(causality.step_of(last)));
    let (waiting, call) = (waits(&next.op), is_call(&next.op));
    let acquired = acquired(&next.op);
    let acquires = acquired.is_some();
    let mut found: SmallVec<[(Step, bool); 8]> = SmallVec::new();
    // The lifetime of `next`'s thread involves only its creation, which is never reversed, and cancellation, which is
    // not covered.
    for (resource, how) in footprint(next).filter(|(_, how)| *how != Use::Step) {
        // A critical section waits for its lock, and not for what it touches.
        let waiting = waiting && (how == Use::Critical || !matches!(next.op, Op::Critical(_)));
        let meets = |theirs| !how.commutes_with(theirs) && how.coenabled_with(theirs);
        causality.visit_lanes_of(resource, meets, |other, theirs, entries| {
            if other == thread {
                return;
            }
            let entries = &entries[..entries.partition_point(|e| e.step < until)];
            let unknown = entries.iter().rev().take_while(|e| known.map_or(0, |k| k.count(other)) <= e.position);
            let taker = takes(theirs) || ((call || acquires) && theirs == Use::Write);
            let few = if theirs == Use::Change || (call && taker) { usize::MAX } else { 1 };
            // Only an event that changes an object can use a second object that excludes the other event.
            let changes = how == Use::Change && theirs == Use::Change;
            let coenabled = |e: &&Entry| !changes || may_be_coenabled(&trace.events[e.step], next);
            let coenabled = unknown.take(few).inspect(|_| work::count(1)).filter(coenabled);
            found.extend(coenabled.map(|e| (e.step, waiting && taker)));
        });
    }
    if found.is_empty() {
        return Steps::new();
    }
    // An event that both reads and writes the object is a taker.
    found.sort_unstable_by_key(|(step, taker)| (*step, !*taker));
    found.dedup_by_key(|(step, _)| *step);
    let leads = |one: Step, other: Step| causality.clock(other).contains(trace.events[one].id);
    let between = |(step, taker): (Step, bool), (other, other_takes): (Step, bool)| {
        other > step && (!taker || other_takes) && leads(step, other)
    };
    let all_changes = call || matches!(next.op, Op::WaitEnd { .. });
    let direct = found.iter().filter(|a| (a.1 && all_changes) || !found.iter().any(|c| between(**a, *c)));
    let mut direct: Steps = direct.map(|(step, _)| *step).collect();
    if let Some(lock) = acquired {
        let since = |step: &Step| locks.held_since(lock, trace.events[*step].id.thread, *step);
        let outermost = direct.iter().filter_map(since);
        let unknown = |step: &Step| known.is_none_or(|known| !known.contains(trace.events[*step].id));
        let outermost: Steps = outermost.filter(unknown).collect();
        direct.extend(outermost);
        direct.sort_unstable();
        direct.dedup();
    }
    direct
}

/// A reversal being built.
pub(crate) struct Reversal<'a> {
    trace: &'a Trace,
    causality: &'a Causality,
    locks: &'a LockHistory,
    /// The event that will come later.
    first: Step,
    /// The events that are omitted together with everything they lead to.
    left_out: SmallVec<[EventId; 2]>,
}

impl<'a> Reversal<'a> {
    /// Starts a reversal that omits the event at `first`.
    pub(crate) fn new(trace: &'a Trace, causality: &'a Causality, locks: &'a LockHistory, first: Step) -> Self {
        Self { trace, causality, locks, first, left_out: smallvec![trace.events[first].id] }
    }

    /// Omits another event, which comes after the one that goes first.
    pub(crate) fn leave_out(&mut self, step: Step) {
        self.left_out.push(self.trace.events[step].id);
    }

    /// Whether the event is executed before the one that goes first.
    pub(crate) fn keeps(&self, step: Step) -> bool {
        step < self.first || self.left_out.iter().all(|id| !self.causality.clock(step).contains(*id))
    }

    /// Visits the events after the first one that are executed before the one that goes first.
    pub(crate) fn for_each_kept(&self, f: impl FnMut(Step)) {
        self.causality.for_each_unrelated(&self.left_out, self.first, f);
    }

    /// The form `next`, an event of the execution or a pending one, is expected to have after the reversal, and whether
    /// that is certain. `None` if it is disabled. `exchanges` are the known compare-exchange sites.
    pub(crate) fn expect(&mut self, next: &Event, exchanges: &BTreeSet<SiteId>) -> Option<(Event, bool)> {
        let executed = (next.id.position as usize) < self.causality.count(next.id.thread);
        let mut event = next.clone();
        let certain = match &mut event.op {
            Op::Acquire { .. } | Op::Critical(_) => {
                let (lock, mode) = match &next.op {
                    Op::Acquire { lock, mode } => (*lock, *mode),
                    Op::Critical(critical) => (critical.lock, LockMode::Exclusive),
                    _ => return None,
                };
                while let Some(holder) = self.obstacle(next, lock, mode) {
                    if holder.thread == next.id.thread {
                        return executed.then_some((event, true));
                    }
                    if holder.since < self.first {
                        return None;
                    }
                    self.left_out.push(self.trace.events[holder.since].id);
                    if self.last_before(next).is_some_and(|last| !self.keeps(last)) {
                        return None;
                    }
                }
                !self.is_updated(lock)
            }
            Op::TryAcquire { lock, mode, success } => {
                let holder = self.obstacle(next, *lock, *mode);
                if holder.is_none_or(|h| h.thread != next.id.thread) {
                    *success = holder.is_none();
                }
                true
            }
            Op::OnceBegin { once, run } => {
                if self.runner(*once).is_some_and(|thread| thread != next.id.thread) {
                    return None;
                }
                *run = *run || matches!(self.trace.events[self.first].op, Op::OnceBegin { run: true, .. });
                true
            }
            Op::SemTryWait { success, .. } => {
                *success = *success || takes_from_semaphore(&self.trace.events[self.first].op);
                false
            }
            Op::SemWait { .. } if takes_from_semaphore(&self.trace.events[self.first].op) => true,
            Op::Join { child } => {
                let last = self.causality.last_of(*child);
                let over = last.is_some_and(|s| self.trace.events[s].op == Op::Exit && self.keeps(s));
                return over.then_some((event, true));
            }
            Op::SemWait { .. } | Op::WaitEnd { .. } | Op::BarrierLeave { .. } | Op::Await { .. } => {
                if !self.was_pending(next) {
                    false
                } else if self.trace.runnable_at(self.first).contains(next.id.thread) {
                    !matches!(next.op, Op::WaitEnd { .. })
                } else if self.kept_posts(next) {
                    false
                } else {
                    return None;
                }
            }
            Op::Access(access) => {
                if access.atomic.is_some() && next.site.is_some_and(|site| exchanges.contains(&site)) {
                    access.kind = AccessKind::ReadModifyWrite;
                }
                access.atomic.is_none()
            }
            // What a section or a call does depends on the values it finds.
            op if is_call(op) => false,
            Op::TryJoin { .. } | Op::Section { .. } => false,
            _ => true,
        };
        Some((event, certain))
    }

    /// A thread that keeps `next` from acquiring the lock after the reversal.
    fn obstacle(&self, next: &Event, lock: Addr, mode: LockMode) -> Option<Holder> {
        let holders = self.locks.holders(lock, |step| self.keeps(step));
        let own = holders.iter().find(|h| h.thread == next.id.thread).copied();
        let excludes = |h: &&Holder| mode == LockMode::Exclusive || h.mode == LockMode::Exclusive;
        own.or_else(|| holders.iter().find(excludes).copied())
    }

    /// Whether a thread updates a lock without taking it: a writer that is preferred announces itself, and then keeps readers
    /// out although nobody holds the lock.
    fn is_updated(&self, lock: Addr) -> bool {
        let mut updated = false;
        self.causality.visit_lanes(Resource::Bytes(Cell { start: lock, len: 1 }), |_, how, _| {
            updated |= how == Use::Write;
        });
        updated
    }

    /// The thread that runs the routine of a once-control after the kept events.
    fn runner(&self, once: Addr) -> Option<ThreadId> {
        let mut last: Option<Step> = None;
        let runs = |how| matches!(how, Use::Take | Use::Give);
        self.causality.visit_lanes_of(Resource::Bytes(Cell { start: once, len: 1 }), runs, |_, _, entries| {
            let kept = entries.partition_point(|e| self.keeps(e.step));
            last = last.max(entries[..kept].last().map(|e| e.step));
        });
        let last = &self.trace.events[last?];
        matches!(last.op, Op::OnceBegin { run: true, .. }).then_some(last.id.thread)
    }

    /// Whether the thread was already about to execute this operation when the first event was executed.
    fn was_pending(&self, next: &Event) -> bool {
        self.last_before(next).is_some_and(|last| last < self.first)
    }

    /// The event of its thread before this one.
    fn last_before(&self, next: &Event) -> Option<Step> {
        let last = next.id.position.checked_sub(1).map(|position| EventId { position, ..next.id });
        last.map(|id| self.causality.step_of(id))
    }

    /// Whether a kept event may have enabled the operation since the first event.
    fn kept_posts(&self, next: &Event) -> bool {
        let mut kept = false;
        for (resource, how) in footprint(next) {
            let enables = |theirs| !how.commutes_with(theirs);
            self.causality.visit_lanes_of(resource, enables, |other, _, entries| {
                let since = entries.partition_point(|e| e.step <= self.first);
                let first = entries.get(since).filter(|_| other != next.id.thread);
                kept |= first.is_some_and(|e| self.keeps(e.step));
            });
        }
        kept
    }
}

fn takes_from_semaphore(op: &Op) -> bool {
    matches!(op, Op::SemWait { .. } | Op::SemTryWait { success: true, .. })
}
