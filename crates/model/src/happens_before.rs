//! Happens-before: which events are ordered by synchronisation.
//!
//! The order is the transitive closure of program order and these edges:
//!
//! | from | to |
//! |---|---|
//! | exclusive release of a lock, `WaitBegin` for its mutex | every later successful acquisition of the lock |
//! | shared release of a lock | every later successful exclusive acquisition of the lock |
//! | [critical section](crate::shortcuts) | every later acquisition of its lock, and every later critical section of its lock that does not commute with it; an exclusive release comes before it as before any acquisition |
//! | `BarrierArrive` | every `BarrierLeave` of the same generation |
//! | `SemPost` | every later successful wait on the semaphore |
//! | `OnceEnd` | every later `OnceBegin` of the control |
//! | `Create` | the child's events |
//! | the child's events | a successful join of it |
//! | release store or read-modify-write, or release fence before a relaxed one | acquire load or read-modify-write (or acquire fence after a relaxed one) that reads from it or from its release sequence |
//!
//! A release sequence is continued by read-modify-writes, and in C by stores of the thread that heads it
//! ([`Order::Continuing`]). Every other write ends it, including plain ones. `SeqCst` is `AcqRel` here. Signals, broadcasts, failed try-operations, `SemGet`, `Init`, `Destroy`, `Cancel` and relaxed
//! operations give no edge. In interleaving semantics a load reads from the last write of its bytes.
//!
//! With a [history](HappensBefore::with_history) the last events can be undone, at a cost that does not depend on
//! earlier events: every change records the previous value.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::clock::Clock;
use crate::dependence::{Use, use_in_section};
use crate::shadow::{Shadow, mask, pieces};
use crate::{Access, Addr, Cell, Critical, EventId, IndexVec, LockMode, Op, Order, Step, ThreadId, Trace, work};

/// The clocks of one thread.
#[derive(Clone, Debug, Default)]
struct ThreadClocks {
    /// Everything that happened before the thread's last event, and that event.
    now: Clock,
    /// The clock its last release fence published.
    fence_released: Clock,
    /// The clocks its relaxed loads read from; an acquire fence joins them into `now`.
    fence_acquirable: Clock,
    /// The clock of the barrier generation it arrived in, once that is complete.
    generation: Clock,
}

#[derive(Clone, Debug, Default)]
struct LockClocks {
    exclusive: Clock,
    shared: Clock,
    /// What critical sections have published.
    sections: Clock,
}

/// Arrivals of the incomplete generation.
#[derive(Clone, Debug, Default)]
struct Arrivals {
    threads: Vec<ThreadId>,
    clock: Clock,
}

/// Names a clock that changes along a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Slot {
    Now(ThreadId),
    FenceReleased(ThreadId),
    FenceAcquirable(ThreadId),
    Generation(ThreadId),
    /// What releases of the lock, held in this mode, have published.
    Released(Addr, LockMode),
    /// What critical sections of the lock have published.
    Sections(Addr),
    /// What posts to a semaphore, or the end of a once-routine, have published.
    Published(Addr),
}

/// How to undo a change.
#[derive(Clone, Debug)]
enum Undo {
    /// The clock did not contain this event.
    Learnt(EventId),
    /// The clock contained this many events of the thread.
    Count(Slot, ThreadId, u32),
    Clock(Slot, Clock),
    Barrier(Addr, Option<Arrivals>),
    Store(u64, Option<Published>),
    /// The last critical section of the thread that used these bytes in this way.
    Section(Addr, Cell, ThreadId, Use, Clock),
}

/// The changes so far, and their number before each event.
#[derive(Clone, Debug, Default)]
struct History {
    changes: Vec<Undo>,
    before: IndexVec<Step, usize>,
}

/// Processes a trace event by event and computes what happened before each.
#[derive(Clone, Debug, Default)]
pub struct HappensBefore {
    threads: IndexVec<ThreadId, ThreadClocks>,
    locks: FxHashMap<Addr, LockClocks>,
    barriers: FxHashMap<Addr, Arrivals>,
    published: FxHashMap<Addr, Clock>,
    stores: Stores,
    /// For each lock: the last critical section of each thread that used bytes in a way.
    sections: FxHashMap<Addr, Shadow<Use, Clock>>,
    history: Option<History>,
    /// Number of events processed.
    taken: u32,
}

impl HappensBefore {
    /// The state before the first event.
    pub fn new() -> Self {
        Self::default()
    }

    /// The state before the first event, with support for [`rewind`](Self::rewind).
    pub fn with_history() -> Self {
        Self { history: Some(History::default()), ..Self::default() }
    }

    /// Undoes the events from `to` on, if there is a history.
    pub fn rewind(&mut self, to: Step) {
        let Some(mut history) = self.history.take() else { return };
        self.taken = self.taken.min(to.0);
        let kept = history.before.get(to).copied().unwrap_or(history.changes.len());
        history.before.truncate(to.0 as usize);
        for undo in history.changes.drain(kept..).rev() {
            match undo {
                Undo::Learnt(event) => self.thread(event.thread).now.forget(event),
                Undo::Count(slot, thread, count) => self.slot(slot).reset(thread, count),
                Undo::Clock(slot, clock) => *self.slot(slot) = clock,
                Undo::Barrier(barrier, Some(arrivals)) => drop(self.barriers.insert(barrier, arrivals)),
                Undo::Barrier(barrier, None) => drop(self.barriers.remove(&barrier)),
                Undo::Store(granule, Some(entries)) => drop(self.stores.granules.insert(granule, entries)),
                Undo::Store(granule, None) => drop(self.stores.granules.remove(&granule)),
                Undo::Section(lock, cell, thread, how, clock) => {
                    let sections = self.sections.entry(lock).or_default();
                    sections.update(cell, thread, how, |last| last.clone_from(&clock));
                }
            }
        }
        self.history = Some(history);
    }

    /// Processes the events up to `last` that have not been processed, and returns its clock.
    pub fn follow(&mut self, trace: &Trace, last: Step) -> &Clock {
        for step in (self.taken..=last.0).map(Step) {
            self.step(trace, step);
        }
        &self.threads[trace.events[last].id.thread].now
    }

    /// Processes the next event of the trace and returns its clock: the events that happened before it, and itself.
    ///
    /// Steps must come in order from 0.
    pub fn step(&mut self, trace: &Trace, step: Step) -> &Clock {
        let event = &trace.events[step];
        let thread = event.id.thread;
        self.taken = step.0 + 1;
        work::count(1);
        if let Some(history) = &mut self.history {
            history.before.push(history.changes.len());
            history.changes.push(Undo::Learnt(event.id));
        }
        self.thread(thread).now.learn(event.id);
        match &event.op {
            Op::Access(_) | Op::Accesses(_) => self.accesses(thread, event.op.accesses(), false),
            Op::Section { accesses, .. } => self.accesses(thread, accesses, true),
            Op::Fence(order) => self.fence(thread, *order),
            Op::Critical(critical) => self.critical(thread, critical),
            Op::Acquire { lock, mode } | Op::TryAcquire { lock, mode, success: true } => {
                self.join(Slot::Now(thread), Slot::Released(*lock, LockMode::Exclusive));
                self.join(Slot::Now(thread), Slot::Sections(*lock));
                if *mode == LockMode::Exclusive {
                    self.join(Slot::Now(thread), Slot::Released(*lock, LockMode::Shared));
                }
            }
            Op::Release { lock, mode } => self.join(Slot::Released(*lock, *mode), Slot::Now(thread)),
            Op::WaitBegin { lock, .. } => self.join(Slot::Released(*lock, LockMode::Exclusive), Slot::Now(thread)),
            Op::BarrierArrive { barrier } | Op::Meet { barrier } => {
                self.note_barrier(*barrier);
                let arrivals = self.barriers.entry(*barrier).or_default();
                arrivals.threads.push(thread);
                arrivals.clock.join(&self.threads[thread].now);
                // The thread's next event is its departure, enabled when all threads have arrived.
                let next = Step(step.0 + 1);
                if !trace.runnable.is_empty() && trace.runnable_at(next).contains(thread) {
                    self.complete_generation(*barrier);
                }
            }
            Op::BarrierLeave { barrier } => {
                if self.barriers.get(barrier).is_some_and(|a| a.threads.contains(&thread)) {
                    self.complete_generation(*barrier);
                }
                self.join(Slot::Now(thread), Slot::Generation(thread));
            }
            Op::SemPost { sem: object } | Op::OnceEnd { once: object } => {
                self.join(Slot::Published(*object), Slot::Now(thread));
            }
            Op::SemWait { sem: object }
            | Op::SemTryWait { sem: object, success: true }
            | Op::OnceBegin { once: object, .. } => self.join(Slot::Now(thread), Slot::Published(*object)),
            Op::Create { child } => self.join(Slot::Now(*child), Slot::Now(thread)),
            Op::Join { child } | Op::TryJoin { child, success: true } => {
                self.join(Slot::Now(thread), Slot::Now(*child));
            }
            Op::TryAcquire { success: false, .. }
            | Op::SemTryWait { success: false, .. }
            | Op::TryJoin { success: false, .. }
            | Op::SemGet { .. }
            | Op::Init(_)
            | Op::Destroy(_)
            | Op::WaitEnd { .. }
            | Op::Signal { .. }
            | Op::Broadcast { .. }
            | Op::Start
            | Op::Exit
            | Op::Detach { .. }
            | Op::Cancel { .. }
            | Op::Cancelled
            | Op::Choose(_)
            | Op::Await { .. }
            | Op::Yield => {}
        }
        &self.threads[thread].now
    }

    fn thread(&mut self, thread: ThreadId) -> &mut ThreadClocks {
        while self.threads.len() <= thread.0 as usize {
            self.threads.push(ThreadClocks::default());
        }
        &mut self.threads[thread]
    }

    fn slot(&mut self, slot: Slot) -> &mut Clock {
        match slot {
            Slot::Now(thread) => &mut self.thread(thread).now,
            Slot::FenceReleased(thread) => &mut self.thread(thread).fence_released,
            Slot::FenceAcquirable(thread) => &mut self.thread(thread).fence_acquirable,
            Slot::Generation(thread) => &mut self.thread(thread).generation,
            Slot::Released(lock, LockMode::Exclusive) => &mut self.locks.entry(lock).or_default().exclusive,
            Slot::Released(lock, LockMode::Shared) => &mut self.locks.entry(lock).or_default().shared,
            Slot::Sections(lock) => &mut self.locks.entry(lock).or_default().sections,
            Slot::Published(object) => self.published.entry(object).or_default(),
        }
    }

    /// Joins one clock into another.
    fn join(&mut self, to: Slot, from: Slot) {
        if to == from {
            return;
        }
        let known = std::mem::take(self.slot(from));
        self.learn(to, &known);
        *self.slot(from) = known;
    }

    fn learn(&mut self, to: Slot, known: &Clock) {
        let Some(mut history) = self.history.take() else { return self.slot(to).join(known) };
        let changes = &mut history.changes;
        self.slot(to).join_reporting(known, |thread, count| changes.push(Undo::Count(to, thread, count)));
        self.history = Some(history);
    }

    fn set(&mut self, to: Slot, clock: Clock) {
        let before = std::mem::replace(self.slot(to), clock);
        if let Some(history) = &mut self.history {
            history.changes.push(Undo::Clock(to, before));
        }
    }

    fn note_barrier(&mut self, barrier: Addr) {
        if let Some(history) = &mut self.history {
            history.changes.push(Undo::Barrier(barrier, self.barriers.get(&barrier).cloned()));
        }
    }

    fn complete_generation(&mut self, barrier: Addr) {
        self.note_barrier(barrier);
        let arrivals = self.barriers.remove(&barrier).unwrap_or_default();
        for thread in arrivals.threads {
            self.set(Slot::Generation(thread), arrivals.clock.clone());
        }
    }

    fn critical(&mut self, thread: ThreadId, critical: &Critical) {
        let lock = critical.lock;
        self.join(Slot::Now(thread), Slot::Released(lock, LockMode::Exclusive));
        self.join(Slot::Now(thread), Slot::Released(lock, LockMode::Shared));
        let uses = || {
            let how = |(access, update): (&Access, &Option<_>)| (access.cell, use_in_section(access, *update));
            critical.accesses.iter().zip(&critical.updates).map(how)
        };
        let mut sections = self.sections.remove(&lock).unwrap_or_default();
        for (cell, how) in uses() {
            sections.visit_uses(cell, |theirs, users| {
                if !how.commutes_with(theirs) {
                    users.iter().for_each(|(_, clock)| self.learn(Slot::Now(thread), clock));
                }
            });
        }
        for (cell, how) in uses() {
            let now = self.threads[thread].now.clone();
            let mut before = None;
            // One lane for each granule, all with the same content.
            sections.update(cell, thread, how, |last| before = Some(std::mem::replace(last, now.clone())));
            if let (Some(history), Some(before)) = (&mut self.history, before) {
                history.changes.push(Undo::Section(lock, cell, thread, how, before));
            }
            if how != Use::Read {
                self.stores.overwrite(cell, self.history.as_mut().map(|history| &mut history.changes));
            }
        }
        self.sections.insert(lock, sections);
        self.join(Slot::Sections(lock), Slot::Now(thread));
    }

    fn fence(&mut self, thread: ThreadId, order: Order) {
        if order.acquires() {
            self.join(Slot::Now(thread), Slot::FenceAcquirable(thread));
        }
        if order.releases() {
            let now = self.threads[thread].now.clone();
            self.set(Slot::FenceReleased(thread), now);
        }
    }

    /// An event's accesses are one step: all of them acquire before any releases. With `in_order`, the event reads the
    /// values it has stored before.
    fn accesses(&mut self, thread: ThreadId, accesses: &[Access], in_order: bool) {
        for (at, access) in accesses.iter().enumerate().filter(|(_, a)| a.kind.reads()) {
            let Some(order) = access.atomic else { continue };
            let target = if order.acquires() { Slot::Now(thread) } else { Slot::FenceAcquirable(thread) };
            let before = if in_order { &accesses[..at] } else { &[] };
            let own = before.iter().filter(|a| a.kind.writes() && !a.kind.reads());
            for (granule, mut bytes) in pieces(access.cell) {
                own.clone().for_each(|a| bytes &= !mask(granule, a.cell.start.0, a.cell.end()));
                let Some(entries) = self.stores.granules.get_mut(&granule).map(std::mem::take) else { continue };
                let read = entries.iter().filter(|(at, _)| at & bytes != 0);
                read.flat_map(|(_, heads)| heads).for_each(|(_, clock)| self.learn(target, clock));
                self.stores.granules.insert(granule, entries);
            }
        }
        for access in accesses.iter().filter(|a| a.kind.writes()) {
            let changes = self.history.as_mut().map(|history| &mut history.changes);
            let clocks = &self.threads[thread];
            let released = access.atomic.map(|o| if o.releases() { &clocks.now } else { &clocks.fence_released });
            match released {
                None => self.stores.overwrite(access.cell, changes),
                Some(clock) => {
                    let continues = match access.atomic {
                        _ if access.kind.reads() => Continues::Any,
                        Some(Order::Continuing) => Continues::Own,
                        _ => Continues::Nothing,
                    };
                    self.stores.publish(access.cell, thread, clock, continues, changes);
                }
            }
        }
    }
}

/// Which release sequences a write continues.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Continues {
    /// All that it reads from.
    Any,
    /// Those that its thread heads.
    Own,
    /// None.
    Nothing,
}

/// What the heads of a release sequence published, at most one entry for each thread.
type Heads = SmallVec<[(ThreadId, Clock); 1]>;

/// What the last writes of a granule's bytes published.
type Published = SmallVec<[(u8, Heads); 1]>;

/// What the last write of each byte published: its release sequence. Bytes last written by a plain access, or by one
/// that published nothing, have no entry.
#[derive(Clone, Debug, Default)]
struct Stores {
    granules: BTreeMap<u64, Published>,
}

impl Stores {
    /// Ends the release sequences of the bytes.
    fn overwrite(&mut self, cell: Cell, mut changes: Option<&mut Vec<Undo>>) {
        if self.granules.is_empty() || cell.len == 0 {
            return;
        }
        let (start, end) = (cell.start.0, cell.end());
        for (&granule, entries) in self.granules.range_mut(start / 8..=(end - 1) / 8) {
            let bytes = mask(granule, start, end);
            if entries.iter().any(|(at, _)| at & bytes != 0) {
                if let Some(changes) = &mut changes {
                    changes.push(Undo::Store(granule, Some(entries.clone())));
                }
                end_sequences(entries, bytes);
            }
        }
    }

    /// Starts release sequences, or continues those of the bytes' last writes.
    fn publish(
        &mut self,
        cell: Cell,
        thread: ThreadId,
        clock: &Clock,
        continues: Continues,
        mut changes: Option<&mut Vec<Undo>>,
    ) {
        for (granule, bytes) in pieces(cell) {
            if let Some(changes) = &mut changes {
                changes.push(Undo::Store(granule, self.granules.get(&granule).cloned()));
            }
            let entries = self.granules.entry(granule).or_default();
            if continues == Continues::Nothing {
                end_sequences(entries, bytes);
            }
            let mut new = bytes;
            for at in 0..entries.len() {
                let covered = entries[at].0 & bytes;
                if covered != 0 {
                    let mut heads = entries[at].1.clone();
                    if continues == Continues::Own {
                        heads.retain(|(head, _)| *head == thread);
                    }
                    match heads.iter_mut().find(|(head, _)| *head == thread) {
                        Some((_, published)) => published.join(clock),
                        None => heads.push((thread, clock.clone())),
                    }
                    entries[at].0 &= !covered;
                    entries.push((covered, heads));
                    new &= !covered;
                }
            }
            entries.retain(|(at, _)| *at != 0);
            if new != 0 {
                entries.push((new, smallvec![(thread, clock.clone())]));
            }
        }
    }
}

fn end_sequences(entries: &mut Published, bytes: u8) {
    entries.retain(|(at, _)| {
        *at &= !bytes;
        *at != 0
    });
}
