//! Synchronisation objects: which operations are enabled with their observed result, and what they change.
//!
//! The rules are those of [`model::Op`]. An [`ObjectOp`] is what one event does to one object, with its result.

use model::{LockMode, ThreadId, WakeCause};
use smallvec::SmallVec;

/// What an event does to an object, with the observed result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ObjectOp {
    /// Acquires a lock.
    Acquire(LockMode),
    /// Fails to acquire a lock with a try-operation.
    AcquireFailed(LockMode),
    /// Releases one level of a lock.
    Release(LockMode),
    /// Releases all levels of a mutex in order to wait; the next `Acquire` restores them.
    ReleaseToWait,
    /// Starts to wait on a condition variable.
    Wait,
    /// Stops waiting.
    Wake(WakeCause),
    /// Wakes one waiter.
    Signal,
    /// Wakes all waiters.
    Broadcast,
    /// Arrives at a barrier; `last` if it completes the generation.
    Arrive { last: bool },
    /// Leaves a barrier.
    Leave,
    /// Adds one to a semaphore.
    Post,
    /// Decrements the semaphore.
    Down,
    /// Fails to decrement the semaphore with a try-operation.
    DownFailed,
    /// Reads this value of the semaphore.
    ReadValue(u32),
    /// Runs a once-routine.
    RunOnce,
    /// Finds the routine finished.
    PassOnce,
    /// Finishes the routine.
    EndOnce,
    /// Joins, tries to join, or detaches a thread.
    Reap,
    /// Initialises the object.
    Init,
    /// Ends the object's life: destroys, frees or re-initialises it.
    Destroy,
}

/// A lock and its holders.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Lock {
    exclusive: Option<(ThreadId, u32)>,
    shared: SmallVec<[(ThreadId, u32); 2]>,
    /// Waiting threads and the number of levels they will restore.
    given_up: SmallVec<[(ThreadId, u32); 1]>,
}

impl Lock {
    fn can_take(&self, thread: ThreadId, mode: LockMode) -> bool {
        match (mode, self.exclusive) {
            (LockMode::Exclusive, Some((holder, _))) => holder == thread,
            (LockMode::Exclusive, None) => self.shared.is_empty(),
            (LockMode::Shared, holder) => holder.is_none(),
        }
    }

    /// Whether a try-operation by the thread must fail. It also fails if the thread itself holds the lock, unless the
    /// lock is recursive, in which case the trace shows no failure.
    fn refuses(&self, thread: ThreadId, mode: LockMode) -> bool {
        !self.can_take(thread, mode) || self.holds(thread, LockMode::Exclusive)
    }

    pub(crate) fn holds(&self, thread: ThreadId, mode: LockMode) -> bool {
        match mode {
            LockMode::Exclusive => self.exclusive.is_some_and(|(holder, _)| holder == thread),
            LockMode::Shared => self.shared.iter().any(|(holder, _)| *holder == thread),
        }
    }

    /// The threads that hold the lock.
    pub(crate) fn holders(&self) -> impl Iterator<Item = ThreadId> + '_ {
        self.exclusive.iter().chain(&self.shared).map(|(holder, _)| *holder)
    }

    fn take(&mut self, thread: ThreadId, mode: LockMode) {
        let waited = self.given_up.iter().position(|(waiter, _)| *waiter == thread);
        let levels = waited.map_or(1, |at| self.given_up.remove(at).1);
        match mode {
            LockMode::Exclusive => {
                let held = self.exclusive.filter(|(holder, _)| *holder == thread).map_or(0, |(_, n)| n);
                self.exclusive = Some((thread, held + levels));
            }
            LockMode::Shared => match self.shared.iter_mut().find(|(holder, _)| *holder == thread) {
                Some((_, held)) => *held += levels,
                None => {
                    let at = self.shared.partition_point(|(holder, _)| *holder < thread);
                    self.shared.insert(at, (thread, levels));
                }
            },
        }
    }

    fn give(&mut self, thread: ThreadId, mode: LockMode) {
        match mode {
            LockMode::Exclusive => {
                self.exclusive = match self.exclusive {
                    Some((holder, levels)) if holder == thread => (levels > 1).then_some((holder, levels - 1)),
                    other => other,
                }
            }
            LockMode::Shared => {
                if let Some(at) = self.shared.iter().position(|(holder, _)| *holder == thread) {
                    self.shared[at].1 -= 1;
                    if self.shared[at].1 == 0 {
                        self.shared.remove(at);
                    }
                }
            }
        }
    }

    fn give_up(&mut self, thread: ThreadId) {
        if let Some((_, levels)) = self.exclusive.take_if(|(holder, _)| *holder == thread) {
            self.given_up.push((thread, levels));
        }
    }
}

/// An entry in the queue of a condition variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum QueueEntry {
    Waiter(ThreadId),
    /// A signal that any earlier waiter may consume.
    Permit,
}

/// A condition variable: waiters and permits in order of arrival; adjacent waiters, whose order does not matter, are
/// sorted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Cond {
    queue: SmallVec<[QueueEntry; 4]>,
}

impl Cond {
    fn wait(&mut self, thread: ThreadId) {
        let before = |entry: &QueueEntry| !matches!(entry, QueueEntry::Waiter(other) if *other > thread);
        let at = self.queue.iter().rposition(before).map_or(0, |last| last + 1);
        self.queue.insert(at, QueueEntry::Waiter(thread));
    }

    /// The thread's position in the queue, and the oldest permit it may consume.
    fn find(&self, thread: ThreadId) -> Option<(usize, Option<usize>)> {
        let at = self.queue.iter().position(|p| *p == QueueEntry::Waiter(thread))?;
        let permit = self.queue[at..].iter().position(|p| *p == QueueEntry::Permit);
        Some((at, permit.map(|offset| at + offset)))
    }

    /// Adds up to `most` permits, but no more than there are waiters without one.
    fn signal(&mut self, most: usize) {
        let permits = self.queue.iter().filter(|p| **p == QueueEntry::Permit).count();
        let waiters = self.queue.len() - permits;
        let sent = waiters.saturating_sub(permits).min(most);
        self.queue.extend(std::iter::repeat_n(QueueEntry::Permit, sent));
    }

    fn wake(&mut self, thread: ThreadId) {
        if let Some((at, permit)) = self.find(thread) {
            permit.map(|permit| self.queue.remove(permit));
            self.queue.remove(at);
            self.sort();
        }
    }

    /// Sorts adjacent waiters again after a removal.
    fn sort(&mut self) {
        let number = |entry: &QueueEntry| match entry {
            QueueEntry::Waiter(thread) => thread.0,
            QueueEntry::Permit => u32::MAX,
        };
        for run in self.queue.split_mut(|p| *p == QueueEntry::Permit) {
            run.sort_unstable_by_key(number);
        }
    }
}

/// A barrier.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Barrier {
    count: Option<u32>,
    /// Threads of the incomplete generation, sorted.
    waiting: SmallVec<[ThreadId; 4]>,
}

impl Barrier {
    pub(crate) fn arrived(&self) -> u32 {
        self.waiting.len() as u32
    }
    /// Whether one more arrival completes the generation.
    pub(crate) fn is_last(&self) -> bool {
        self.count.is_some_and(|count| self.arrived() + 1 >= count)
    }
    fn arrive(&mut self, thread: ThreadId, last: bool) {
        if last {
            self.waiting.clear();
        } else {
            let at = self.waiting.partition_point(|other| *other < thread);
            self.waiting.insert(at, thread);
        }
    }
}

/// The progress of a once-control.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Once {
    #[default]
    Fresh,
    Running(ThreadId),
    Done,
}

/// The state of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Object {
    Lock(Lock),
    Cond(Cond),
    Barrier(Barrier),
    Semaphore(u32),
    Once(Once),
    /// The end of a thread, which others may join or detach.
    Life,
    /// Not used yet, so its kind is not known.
    Unused,
}

/// What the operations on an object do not show.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ObjectParameters {
    /// Initial value of a semaphore.
    pub(crate) value: u32,
    /// Arrivals that complete a barrier's generation; `None` if no generation of the trace was complete.
    pub(crate) count: Option<u32>,
    /// Whether its operations keep their order.
    pub(crate) rigid: bool,
}

impl Object {
    /// The object before this operation, its first.
    pub(crate) fn fresh(op: ObjectOp, parameters: &ObjectParameters) -> Self {
        match op {
            ObjectOp::Acquire(_) | ObjectOp::AcquireFailed(_) | ObjectOp::Release(_) | ObjectOp::ReleaseToWait => {
                Self::Lock(Lock::default())
            }
            ObjectOp::Wait | ObjectOp::Wake(_) | ObjectOp::Signal | ObjectOp::Broadcast => Self::Cond(Cond::default()),
            ObjectOp::Arrive { .. } | ObjectOp::Leave => {
                Self::Barrier(Barrier { count: parameters.count, waiting: SmallVec::new() })
            }
            ObjectOp::Post | ObjectOp::Down | ObjectOp::DownFailed | ObjectOp::ReadValue(_) => {
                Self::Semaphore(parameters.value)
            }
            ObjectOp::RunOnce | ObjectOp::PassOnce | ObjectOp::EndOnce => Self::Once(Once::Fresh),
            ObjectOp::Reap => Self::Life,
            ObjectOp::Init | ObjectOp::Destroy => Self::Unused,
        }
    }

    /// Whether the thread can execute this operation now, with this result.
    pub(crate) fn allows(&self, thread: ThreadId, op: ObjectOp) -> bool {
        match (self, op) {
            (_, ObjectOp::Init | ObjectOp::Destroy) => true,
            (Self::Lock(lock), ObjectOp::Acquire(mode)) => lock.can_take(thread, mode),
            (Self::Lock(lock), ObjectOp::AcquireFailed(mode)) => lock.refuses(thread, mode),
            (Self::Lock(lock), ObjectOp::Release(mode)) => lock.holds(thread, mode),
            (Self::Lock(lock), ObjectOp::ReleaseToWait) => lock.holds(thread, LockMode::Exclusive),
            (Self::Cond(cond), ObjectOp::Wait) => cond.find(thread).is_none(),
            (Self::Cond(cond), ObjectOp::Wake(cause)) => {
                cond.find(thread).is_some_and(|(_, permit)| permit.is_some() == (cause == WakeCause::Signalled))
            }
            (Self::Cond(_), ObjectOp::Signal | ObjectOp::Broadcast) => true,
            (Self::Barrier(barrier), ObjectOp::Arrive { last }) => {
                !barrier.waiting.contains(&thread) && last == barrier.is_last()
            }
            (Self::Barrier(barrier), ObjectOp::Leave) => !barrier.waiting.contains(&thread),
            (Self::Semaphore(_), ObjectOp::Post) => true,
            (Self::Semaphore(value), ObjectOp::Down) => *value > 0,
            (Self::Semaphore(value), ObjectOp::DownFailed) => *value == 0,
            (Self::Semaphore(value), ObjectOp::ReadValue(seen)) => *value == seen,
            (Self::Once(once), ObjectOp::RunOnce) => *once == Once::Fresh,
            (Self::Once(once), ObjectOp::PassOnce) => *once == Once::Done,
            (Self::Once(once), ObjectOp::EndOnce) => *once == Once::Running(thread),
            (Self::Life, ObjectOp::Reap) => true,
            _ => false,
        }
    }

    /// Executes the operation. One that is not allowed changes as little as possible.
    pub(crate) fn perform(&mut self, thread: ThreadId, op: ObjectOp) {
        match (self, op) {
            (Self::Lock(lock), ObjectOp::Acquire(mode)) => lock.take(thread, mode),
            (Self::Lock(lock), ObjectOp::Release(mode)) => lock.give(thread, mode),
            (Self::Lock(lock), ObjectOp::ReleaseToWait) => lock.give_up(thread),
            (Self::Cond(cond), ObjectOp::Wait) => cond.wait(thread),
            (Self::Cond(cond), ObjectOp::Wake(_)) => cond.wake(thread),
            (Self::Cond(cond), ObjectOp::Signal) => cond.signal(1),
            (Self::Cond(cond), ObjectOp::Broadcast) => cond.signal(usize::MAX),
            (Self::Barrier(barrier), ObjectOp::Arrive { last }) => barrier.arrive(thread, last),
            (Self::Semaphore(value), ObjectOp::Post) => *value = value.saturating_add(1),
            (Self::Semaphore(value), ObjectOp::Down) => *value = value.saturating_sub(1),
            (Self::Once(once), ObjectOp::RunOnce) => *once = Once::Running(thread),
            (Self::Once(once), ObjectOp::EndOnce) => *once = Once::Done,
            _ => {}
        }
    }

    /// Appends what the order of past operations left behind, beyond their set: equal for equal futures.
    pub(crate) fn write_key(&self, key: &mut Vec<u32>) {
        match self {
            Self::Cond(cond) => {
                key.push(cond.queue.len() as u32);
                key.extend(cond.queue.iter().map(|entry| match entry {
                    QueueEntry::Waiter(thread) => thread.0,
                    QueueEntry::Permit => u32::MAX,
                }));
            }
            Self::Barrier(barrier) => {
                key.push(barrier.arrived());
                key.extend(barrier.waiting.iter().map(|thread| thread.0));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ThreadId = ThreadId(1);
    const B: ThreadId = ThreadId(2);

    #[test]
    fn permits_are_for_those_who_waited_before() {
        let mut cond = Object::Cond(Cond::default());
        cond.perform(B, ObjectOp::Signal);
        cond.perform(A, ObjectOp::Wait);
        assert!(
            !cond.allows(A, ObjectOp::Wake(WakeCause::Signalled))
                && cond.allows(A, ObjectOp::Wake(WakeCause::TimedOut))
        );
        cond.perform(B, ObjectOp::Signal);
        cond.perform(B, ObjectOp::Signal);
        cond.perform(B, ObjectOp::Wait);
        assert!(
            cond.allows(A, ObjectOp::Wake(WakeCause::Signalled))
                && !cond.allows(A, ObjectOp::Wake(WakeCause::TimedOut))
        );
        assert!(!cond.allows(B, ObjectOp::Wake(WakeCause::Signalled)));
        cond.perform(A, ObjectOp::Wake(WakeCause::Signalled));
        assert!(!cond.allows(B, ObjectOp::Wake(WakeCause::Signalled)), "the second signal was lost");
    }

    #[test]
    fn a_wait_gives_all_levels_back_and_takes_as_many() {
        let mut lock = Object::Lock(Lock::default());
        let (take, give) = (ObjectOp::Acquire(LockMode::Exclusive), ObjectOp::Release(LockMode::Exclusive));
        lock.perform(A, take);
        lock.perform(A, take);
        lock.perform(A, ObjectOp::ReleaseToWait);
        assert!(lock.allows(B, take));
        lock.perform(A, take);
        lock.perform(A, give);
        assert!(!lock.allows(B, take) && lock.allows(B, ObjectOp::AcquireFailed(LockMode::Shared)));
        lock.perform(A, give);
        assert!(lock.allows(B, take));
    }

    #[test]
    fn the_last_to_arrive_is_known() {
        let mut barrier = Object::Barrier(Barrier { count: Some(2), ..Barrier::default() });
        barrier.perform(A, ObjectOp::Arrive { last: false });
        assert!(!barrier.allows(A, ObjectOp::Leave) && !barrier.allows(B, ObjectOp::Arrive { last: false }));
        barrier.perform(B, ObjectOp::Arrive { last: true });
        assert!(barrier.allows(A, ObjectOp::Leave) && barrier.allows(B, ObjectOp::Leave));
    }
}
