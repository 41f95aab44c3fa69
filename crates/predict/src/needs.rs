//! Which events an event needs: those that come before it in every correct reordering that contains it.
//!
//! Program order, `Create` before the child's events, the child's events before a join, the write before the read that
//! reads from it. Further needs serve the [sync-preserving pass](crate::sync_preserving), which keeps the order of
//! synchronisation: an operation on any object but a lock needs the earlier operations on it; a failed try-lock needs
//! the acquisitions of the current holders; the end of an object's life needs all operations in that life, and those of
//! the next life need it; a cancellation request and the events of its thread keep their order. Lock order is left to
//! that pass.
//!
//! Only changes are stored: what the first `k` events of a thread need beyond their own thread, each time that grows.
//! So memory grows with communication, not with the length of the trace.

use model::{Access, Clock, Event, EventId, IndexVec, LockMode, Op, Step, ThreadId};
use smallvec::SmallVec;

use crate::clock_log::ClockLog;
use crate::last_writes::LastWrites;
use crate::object::ObjectOp;
use crate::tracker::{ObjectAction, ObjectId, Tracker};

/// A thread's critical section: its events while it holds a lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Hold {
    pub(crate) lock: ObjectId,
    pub(crate) mode: LockMode,
    /// Position of the acquisition.
    from: u32,
    /// Step of the acquisition.
    pub(crate) step: Step,
    /// Position of the release, [`NEVER`] if there is none.
    until: u32,
    /// The thread's holds in which this one is nested, by index.
    under: Box<[u32]>,
}

const NEVER: u32 = u32::MAX;

impl Hold {
    /// Position of the release, if there is one.
    pub(crate) fn until(&self) -> Option<u32> {
        (self.until != NEVER).then_some(self.until)
    }
}

/// Acquisitions of a lock by one thread in one mode: position and step of each.
type Takes = (ThreadId, LockMode, Vec<(u32, Step)>);

/// The effect of the operations on an object so far on later ones.
#[derive(Clone, Default, Debug)]
struct Past {
    birth: Option<EventId>,
    /// The last operation of each thread.
    last: SmallVec<[EventId; 2]>,
}

/// What the events of a trace need.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    /// By number of events: what the first ones of the thread need.
    known: IndexVec<ThreadId, ClockLog>,
    /// Each thread's holds in the order of acquisition. Rigid locks have none.
    holds: IndexVec<ThreadId, Vec<Hold>>,
    /// The same by lock, ordered by thread and mode.
    taken: IndexVec<ObjectId, Vec<Takes>>,
    /// Whether any lock is taken in shared mode.
    shares: bool,
    /// Holds not yet released, by thread.
    open: IndexVec<ThreadId, SmallVec<[u32; 2]>>,
    pasts: IndexVec<ObjectId, Past>,
    counts: IndexVec<ThreadId, u32>,
    writes: LastWrites,
    /// Whether plain reads may read from other writes.
    relaxed: bool,
}

impl Needs {
    pub(crate) fn new(relaxed: bool) -> Self {
        Self { relaxed, ..Self::default() }
    }

    /// Whether the thread's first `to` events need more than its first `from`, apart from each other.
    pub(crate) fn grow_between(&self, thread: ThreadId, from: u32, to: u32) -> bool {
        self.known.get(thread).is_some_and(|known| known.grows(from, to))
    }

    /// What the event needs, and the event itself.
    fn with(&self, event: EventId) -> Clock {
        self.first(event.thread, event.position + 1)
    }

    /// A thread's first `count` events and everything they need.
    pub(crate) fn first(&self, thread: ThreadId, count: u32) -> Clock {
        let mut clock = self.known.get(thread).map_or_else(Clock::new, |known| known.at(count));
        if let Some(position) = count.checked_sub(1) {
            clock.learn(EventId { thread, position });
        }
        clock
    }

    /// The holds that the thread has acquired and not released within its first `count` events. `known` is how many it had
    /// acquired when it was last asked for fewer events, and is brought up to date.
    pub(crate) fn open_after(&self, thread: ThreadId, count: u32, known: &mut usize) -> impl Iterator<Item = &Hold> {
        let holds = self.holds.get(thread).map_or(&[][..], Vec::as_slice);
        *known = partition_from(holds, *known, |hold| hold.from < count);
        let last = known.checked_sub(1).map(|at| &holds[at]);
        let under = last.into_iter().flat_map(|last| &last.under).map(|at| &holds[*at as usize]);
        under.chain(last).filter(move |hold| hold.until >= count)
    }

    /// Who acquires a lock in which mode.
    pub(crate) fn takers(&self, lock: ObjectId) -> &[Takes] {
        self.taken.get(lock).map_or(&[], Vec::as_slice)
    }

    /// The modes in which locks are taken.
    pub(crate) fn modes(&self) -> &'static [LockMode] {
        if self.shares { &[LockMode::Exclusive, LockMode::Shared] } else { &[LockMode::Exclusive] }
    }

    /// The step of the thread's last acquisition of the lock in this mode within its first `count` events.
    pub(crate) fn last_taken(&self, lock: ObjectId, thread: ThreadId, mode: LockMode, count: u32) -> Option<Step> {
        let takers = self.takers(lock);
        let at = takers.binary_search_by_key(&(thread, mode), |(thread, mode, _)| (*thread, *mode)).ok()?;
        let taken = &takers[at].2;
        let last = taken.partition_point(|(from, _)| *from < count).checked_sub(1)?;
        Some(taken[last].1)
    }

    fn take(&mut self, lock: ObjectId, thread: ThreadId, mode: LockMode, from: u32, step: Step) {
        self.shares |= mode == LockMode::Shared;
        while self.taken.len() <= lock.0 as usize {
            self.taken.push(Vec::new());
        }
        let takers = &mut self.taken[lock];
        match takers.binary_search_by_key(&(thread, mode), |(thread, mode, _)| (*thread, *mode)) {
            Ok(at) => takers[at].2.push((from, step)),
            Err(at) => takers.insert(at, (thread, mode, vec![(from, step)])),
        }
    }

    fn grow(&mut self, thread: ThreadId) {
        while self.known.len() <= thread.0 as usize {
            self.known.push(ClockLog::default());
            self.holds.push(Vec::new());
            self.open.push(SmallVec::new());
            self.counts.push(0);
        }
    }

    /// Records that the first `count` events of the thread need the event.
    fn need(&mut self, thread: ThreadId, count: u32, event: EventId) {
        self.grow(thread.max(event.thread));
        let known = |needs: &Self| needs.known[thread].newest().is_some_and(|clock| clock.contains(event));
        if event.thread != thread && !known(self) {
            let more = self.with(event);
            self.known[thread].join(count, &more);
        }
    }

    /// Adds the next event of the trace. The tracker has already processed it and returned its actions.
    pub(crate) fn step(&mut self, tracker: &Tracker<'_>, event: &Event, step: Step, actions: &[ObjectAction]) {
        let EventId { thread, position } = event.id;
        self.grow(thread);
        let count = position + 1;
        for access in event.op.accesses() {
            self.reads(event.id, access);
        }
        for access in event.op.accesses().iter().filter(|a| a.kind.writes()) {
            self.writes.write(access.cell, event.id, step);
        }
        for action in actions {
            self.action(tracker, event.id, step, action);
        }
        match event.op {
            Op::Create { child } => {
                self.grow(child);
                self.need(child, 0, event.id);
            }
            Op::Join { child } | Op::TryJoin { child, success: true } => self.need_all_of(thread, count, child),
            Op::TryJoin { child, success: false } => {
                // It failed although the thread had ended: the thread was detached or joined before.
                self.grow(child);
                if tracker.has_exited(child) {
                    self.need_all_of(thread, count, child);
                }
            }
            Op::Cancel { target } => {
                self.need_all_of(thread, count, target);
                let reached = self.counts[target];
                self.need(target, reached, event.id);
            }
            _ => {}
        }
        self.counts[thread] = count;
    }

    fn need_all_of(&mut self, thread: ThreadId, count: u32, other: ThreadId) {
        self.grow(other);
        if let Some(position) = self.counts[other].checked_sub(1) {
            self.need(thread, count, EventId { thread: other, position });
        }
    }

    fn reads(&mut self, event: EventId, access: &Access) {
        if !access.kind.reads() || (self.relaxed && access.atomic.is_none()) {
            return;
        }
        let mut sources = SmallVec::<[EventId; 2]>::new();
        self.writes.read(access.cell, |source| {
            if source.thread != event.thread && !sources.contains(&source) {
                sources.push(source);
            }
        });
        for source in sources {
            self.need(event.thread, event.position + 1, source);
        }
    }

    fn action(&mut self, tracker: &Tracker<'_>, event: EventId, step: Step, action: &ObjectAction) {
        while self.pasts.len() <= action.object.0 as usize {
            self.pasts.push(Past::default());
        }
        let (thread, count) = (event.thread, event.position + 1);
        let slot = &tracker.slots[action.object];
        let free = !slot.is_rigid() && slot.lock().is_some() && action.op != ObjectOp::Destroy;
        let mut needed = SmallVec::<[EventId; 4]>::new();
        let past = &mut self.pasts[action.object];
        needed.extend(past.birth);
        if action.op == ObjectOp::Init {
            past.birth = Some(event);
        } else if !free {
            needed.extend(past.last.iter().copied());
        }
        match past.last.iter_mut().find(|last| last.thread == thread) {
            Some(last) => *last = event,
            None => past.last.push(event),
        }
        if free {
            match action.op {
                ObjectOp::Acquire(mode) if action.outermost => {
                    let from = event.position;
                    let under = self.open[thread].as_slice().into();
                    self.open[thread].push(self.holds[thread].len() as u32);
                    self.holds[thread].push(Hold { lock: action.object, mode, from, step, until: NEVER, under });
                    self.take(action.object, thread, mode, from, step);
                }
                ObjectOp::Release(_) | ObjectOp::ReleaseToWait if action.outermost => {
                    let mode = if let ObjectOp::Release(mode) = action.op { mode } else { LockMode::Exclusive };
                    let holds = &mut self.holds[thread];
                    let open = &mut self.open[thread];
                    let ends = |at: &u32| (holds[*at as usize].lock, holds[*at as usize].mode) == (action.object, mode);
                    if let Some(place) = open.iter().rposition(ends) {
                        holds[open.remove(place) as usize].until = event.position;
                    }
                }
                ObjectOp::AcquireFailed(_) => {
                    let holders: SmallVec<[ThreadId; 2]> = slot.lock().into_iter().flat_map(|l| l.holders()).collect();
                    for holder in holders {
                        let holds = &self.holds[holder];
                        let open = self.open[holder].iter().map(|at| &holds[*at as usize]);
                        let hold = open.rev().find(|hold| hold.lock == action.object);
                        needed.extend(hold.map(|h| EventId { thread: holder, position: h.from }));
                    }
                }
                _ => {}
            }
        }
        for other in needed {
            self.need(thread, count, other);
        }
    }
}

/// As [`slice::partition_point`], with most of the cost saved where the point is shortly after `from`.
fn partition_from<T>(values: &[T], from: usize, is_before: impl Fn(&T) -> bool) -> usize {
    let (mut start, mut width) = (from, 1);
    while values.get(start + width - 1).is_some_and(&is_before) {
        start += width;
        width *= 2;
    }
    let end = values.len().min(start + width);
    start + values[start..end].partition_point(is_before)
}
