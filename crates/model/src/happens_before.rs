//! Happens-before: which events are ordered by synchronisation.
//!
//! The order is the transitive closure of program order and these edges:
//!
//! | from | to |
//! |---|---|
//! | exclusive release of a lock, `WaitBegin` for its mutex | every later successful acquisition of the lock |
//! | shared release of a lock | every later successful exclusive acquisition of the lock |
//! | `BarrierArrive` | every `BarrierLeave` of the same generation |
//! | `SemPost` | every later successful wait on the semaphore |
//! | `OnceEnd` | every later `OnceBegin` of the control |
//! | `Create` | the child's events |
//! | the child's events | a successful join of it |
//! | release store or read-modify-write, or release fence before a relaxed one | acquire load or read-modify-write (or acquire fence after a relaxed one) that reads from it or from its release sequence |
//!
//! A release sequence is continued by read-modify-writes and ended by every other write, plain ones included.
//! `SeqCst` is `AcqRel` here. Signals, broadcasts, failed tries, `SemGet`, `Init`, `Destroy`, `Cancel` and relaxed
//! operations give no edge. In interleaving semantics a load reads from the last write of its bytes.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::clock::Clock;
use crate::shadow::{mask, pieces};
use crate::{Access, Addr, Cell, IndexVec, LockMode, Op, Order, Step, ThreadId, Trace};

/// What one thread knows.
#[derive(Clone, Debug, Default)]
struct ThreadClocks {
    /// All that happened before the thread's last event, and that event.
    now: Clock,
    /// What its last release fence published.
    fence_released: Clock,
    /// What its relaxed loads read from; an acquire fence makes it known.
    fence_acquirable: Clock,
    /// What the barrier generation it arrived in published, once that is complete.
    generation: Clock,
}

#[derive(Clone, Debug, Default)]
struct LockClocks {
    exclusive: Clock,
    shared: Clock,
}

/// Arrivals of the generation that is not complete yet.
#[derive(Clone, Debug, Default)]
struct Arrivals {
    threads: Vec<ThreadId>,
    clock: Clock,
}

/// Follows a trace event by event and tells what happened before each.
#[derive(Clone, Debug, Default)]
pub struct HappensBefore {
    threads: IndexVec<ThreadId, ThreadClocks>,
    locks: FxHashMap<Addr, LockClocks>,
    barriers: FxHashMap<Addr, Arrivals>,
    /// What posts to a semaphore, or the end of a once-routine, have published.
    published: FxHashMap<Addr, Clock>,
    stores: Stores,
}

impl HappensBefore {
    /// Before the first event.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the next event of the trace and returns its clock: the events that happened before it, and itself.
    ///
    /// Steps must come in order from 0.
    pub fn step(&mut self, trace: &Trace, step: Step) -> &Clock {
        let event = &trace.events[step];
        let thread = event.id.thread;
        self.thread(thread).now.learn(event.id);
        match &event.op {
            Op::Access(_) | Op::Accesses(_) => self.accesses(thread, event.op.accesses()),
            Op::Fence(order) => self.fence(thread, *order),
            Op::Acquire { lock, mode } | Op::TryAcquire { lock, mode, success: true } => {
                if let Some(clocks) = self.locks.get(lock) {
                    let now = &mut self.threads[thread].now;
                    now.join(&clocks.exclusive);
                    if *mode == LockMode::Exclusive {
                        now.join(&clocks.shared);
                    }
                }
            }
            Op::Release { lock, mode } => self.release(thread, *lock, *mode),
            Op::WaitBegin { lock, .. } => self.release(thread, *lock, LockMode::Exclusive),
            Op::BarrierArrive { barrier } => {
                let arrivals = self.barriers.entry(*barrier).or_default();
                arrivals.threads.push(thread);
                arrivals.clock.join(&self.threads[thread].now);
                // The thread's next event is its leave, enabled when all have arrived.
                let next = Step(step.0 + 1);
                if !trace.runnable.is_empty() && trace.runnable_at(next).contains(thread) {
                    self.complete_generation(*barrier);
                }
            }
            Op::BarrierLeave { barrier } => {
                if self.barriers.get(barrier).is_some_and(|a| a.threads.contains(&thread)) {
                    self.complete_generation(*barrier);
                }
                let clocks = &mut self.threads[thread];
                clocks.now.join(&clocks.generation);
            }
            Op::SemPost { sem: object } | Op::OnceEnd { once: object } => {
                self.published.entry(*object).or_default().join(&self.threads[thread].now);
            }
            Op::SemWait { sem: object }
            | Op::SemTryWait { sem: object, success: true }
            | Op::OnceBegin { once: object, .. } => {
                if let Some(published) = self.published.get(object) {
                    self.threads[thread].now.join(published);
                }
            }
            Op::Create { child } => {
                let now = self.threads[thread].now.clone();
                self.thread(*child).now.join(&now);
            }
            Op::Join { child } | Op::TryJoin { child, success: true } => {
                let known = self.thread(*child).now.clone();
                self.threads[thread].now.join(&known);
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

    fn release(&mut self, thread: ThreadId, lock: Addr, mode: LockMode) {
        let clocks = self.locks.entry(lock).or_default();
        let published = match mode {
            LockMode::Exclusive => &mut clocks.exclusive,
            LockMode::Shared => &mut clocks.shared,
        };
        published.join(&self.threads[thread].now);
    }

    fn complete_generation(&mut self, barrier: Addr) {
        let arrivals = self.barriers.remove(&barrier).unwrap_or_default();
        for thread in arrivals.threads {
            self.threads[thread].generation = arrivals.clock.clone();
        }
    }

    fn fence(&mut self, thread: ThreadId, order: Order) {
        let clocks = &mut self.threads[thread];
        if order.acquires() {
            clocks.now.join(&clocks.fence_acquirable);
        }
        if order.releases() {
            clocks.fence_released.clone_from(&clocks.now);
        }
    }

    /// An event's accesses are one step: all of them acquire before any releases.
    fn accesses(&mut self, thread: ThreadId, accesses: &[Access]) {
        let clocks = &mut self.threads[thread];
        for access in accesses.iter().filter(|a| a.kind.reads()) {
            let Some(order) = access.atomic else { continue };
            let target = if order.acquires() { &mut clocks.now } else { &mut clocks.fence_acquirable };
            self.stores.read(access.cell, target);
        }
        for access in accesses.iter().filter(|a| a.kind.writes()) {
            let Some(order) = access.atomic else {
                self.stores.overwrite(access.cell);
                continue;
            };
            if !access.kind.reads() {
                self.stores.overwrite(access.cell);
            }
            self.stores.publish(access.cell, if order.releases() { &clocks.now } else { &clocks.fence_released });
        }
    }
}

/// What the last write of each byte published: its release sequence. Bytes written last by a plain access, and those
/// whose last write published nothing, have no entry.
#[derive(Clone, Debug, Default)]
struct Stores {
    granules: BTreeMap<u64, SmallVec<[(u8, Clock); 1]>>,
}

impl Stores {
    fn read(&self, cell: Cell, into: &mut Clock) {
        for (granule, bytes) in pieces(cell) {
            let entries = self.granules.get(&granule).into_iter().flatten();
            entries.filter(|(at, _)| at & bytes != 0).for_each(|(_, clock)| into.join(clock));
        }
    }

    fn overwrite(&mut self, cell: Cell) {
        if self.granules.is_empty() || cell.len == 0 {
            return;
        }
        let (start, end) = (cell.start.0, cell.end());
        for (&granule, entries) in self.granules.range_mut(start / 8..=(end - 1) / 8) {
            let bytes = mask(granule, start, end);
            entries.retain(|(at, _)| {
                *at &= !bytes;
                *at != 0
            });
        }
    }

    /// Adds to what the bytes' last write published.
    fn publish(&mut self, cell: Cell, clock: &Clock) {
        for (granule, bytes) in pieces(cell) {
            let entries = self.granules.entry(granule).or_default();
            let mut new = bytes;
            for at in 0..entries.len() {
                let covered = entries[at].0 & bytes;
                if covered != 0 {
                    let mut joined = entries[at].1.clone();
                    joined.join(clock);
                    entries[at].0 &= !covered;
                    entries.push((covered, joined));
                    new &= !covered;
                }
            }
            entries.retain(|(at, _)| *at != 0);
            if new != 0 {
                entries.push((new, clock.clone()));
            }
        }
    }
}
