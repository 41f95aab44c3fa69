//! Synchronisation objects: which operations are possible with the result they had, and what they change.
//!
//! The rules are those of [`model::Op`]. A [`Deed`] is what one event does to one object, with its result.

use model::{LockMode, ThreadId, WakeCause};
use smallvec::SmallVec;

/// What an event does to an object, with the result it had in the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Deed {
    /// Takes a lock.
    Take(LockMode),
    /// Tried to take a lock and did not get it.
    NotTaken(LockMode),
    /// Gives back one level of a lock.
    Give(LockMode),
    /// Gives back a mutex, however often it is held, to wait; the next `Take` takes it as often.
    GiveUp,
    /// Starts to wait on a condition variable.
    Wait,
    /// Stops waiting.
    Wake(WakeCause),
    /// Wakes one.
    Signal,
    /// Wakes all.
    Broadcast,
    /// Arrives at a barrier; the last of a generation learns that it is.
    Arrive { last: bool },
    /// Leaves a barrier.
    Leave,
    /// Adds one to a semaphore.
    Post,
    /// Takes one from it.
    Down,
    /// Tried to take one and did not get it.
    NotDown,
    /// Saw this value of the semaphore.
    Look(u32),
    /// Runs a once-routine.
    RunOnce,
    /// Finds the routine done.
    PassOnce,
    /// Is done with the routine.
    EndOnce,
    /// Joins, or tries to join, or detaches a thread.
    Reap,
    /// The object comes into being, by initialisation.
    Birth,
    /// The object's life ends: destroyed, freed, or initialised anew.
    End,
}

/// A lock: who holds it how often.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Lock {
    exclusive: Option<(ThreadId, u32)>,
    shared: SmallVec<[(ThreadId, u32); 2]>,
    /// Waiting threads, with how often they held the lock.
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

    /// Whether a try by the thread must fail. A try of a lock the thread holds itself fails too, unless the lock is
    /// recursive, in which case the trace shows no failure.
    fn refuses(&self, thread: ThreadId, mode: LockMode) -> bool {
        !self.can_take(thread, mode) || self.holds(thread, LockMode::Exclusive)
    }

    pub(crate) fn holds(&self, thread: ThreadId, mode: LockMode) -> bool {
        match mode {
            LockMode::Exclusive => self.exclusive.is_some_and(|(holder, _)| holder == thread),
            LockMode::Shared => self.shared.iter().any(|(holder, _)| *holder == thread),
        }
    }

    /// The threads that hold it.
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

/// Something in the queue of a condition variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Waiter(ThreadId),
    /// A signal that any waiter before it may consume.
    Permit,
}

/// A condition variable: waiters and permits in the order in which they came; neighbouring waiters, whose order does not
/// matter, are sorted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Cond {
    queue: SmallVec<[Place; 4]>,
}

impl Cond {
    fn wait(&mut self, thread: ThreadId) {
        let before = |place: &Place| !matches!(place, Place::Waiter(other) if *other > thread);
        let at = self.queue.iter().rposition(before).map_or(0, |last| last + 1);
        self.queue.insert(at, Place::Waiter(thread));
    }

    /// Where the thread waits, and the oldest permit it may consume.
    fn find(&self, thread: ThreadId) -> Option<(usize, Option<usize>)> {
        let at = self.queue.iter().position(|p| *p == Place::Waiter(thread))?;
        let permit = self.queue[at..].iter().position(|p| *p == Place::Permit);
        Some((at, permit.map(|offset| at + offset)))
    }

    /// Sends up to `most` permits, no more than there are waiters without one.
    fn signal(&mut self, most: usize) {
        let permits = self.queue.iter().filter(|p| **p == Place::Permit).count();
        let waiters = self.queue.len() - permits;
        let sent = waiters.saturating_sub(permits).min(most);
        self.queue.extend(std::iter::repeat_n(Place::Permit, sent));
    }

    fn wake(&mut self, thread: ThreadId) {
        if let Some((at, permit)) = self.find(thread) {
            permit.map(|permit| self.queue.remove(permit));
            self.queue.remove(at);
            self.sort();
        }
    }

    /// Puts neighbouring waiters in order again after a removal.
    fn sort(&mut self) {
        let number = |place: &Place| match place {
            Place::Waiter(thread) => thread.0,
            Place::Permit => u32::MAX,
        };
        for run in self.queue.split_mut(|p| *p == Place::Permit) {
            run.sort_unstable_by_key(number);
        }
    }
}

/// A barrier.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Barrier {
    count: Option<u32>,
    /// Threads of the generation that is not complete, sorted.
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

/// How far a once-control is.
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
    /// What becomes of a thread after its end.
    Life,
    /// Not used yet, so that its kind is not known.
    Unused,
}

/// What has to be known about an object beyond its operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Facts {
    /// First value of a semaphore.
    pub(crate) value: u32,
    /// Arrivals that complete a barrier's generation; `None` when none of the trace was complete.
    pub(crate) count: Option<u32>,
    /// Whether its operations keep their order.
    pub(crate) rigid: bool,
}

impl Object {
    /// The object on which a deed is the first.
    pub(crate) fn fresh(deed: Deed, facts: &Facts) -> Self {
        match deed {
            Deed::Take(_) | Deed::NotTaken(_) | Deed::Give(_) | Deed::GiveUp => Self::Lock(Lock::default()),
            Deed::Wait | Deed::Wake(_) | Deed::Signal | Deed::Broadcast => Self::Cond(Cond::default()),
            Deed::Arrive { .. } | Deed::Leave => {
                Self::Barrier(Barrier { count: facts.count, waiting: SmallVec::new() })
            }
            Deed::Post | Deed::Down | Deed::NotDown | Deed::Look(_) => Self::Semaphore(facts.value),
            Deed::RunOnce | Deed::PassOnce | Deed::EndOnce => Self::Once(Once::Fresh),
            Deed::Reap => Self::Life,
            Deed::Birth | Deed::End => Self::Unused,
        }
    }

    /// Whether the thread can do this now, with this result.
    pub(crate) fn allows(&self, thread: ThreadId, deed: Deed) -> bool {
        match (self, deed) {
            (_, Deed::Birth | Deed::End) => true,
            (Self::Lock(lock), Deed::Take(mode)) => lock.can_take(thread, mode),
            (Self::Lock(lock), Deed::NotTaken(mode)) => lock.refuses(thread, mode),
            (Self::Lock(lock), Deed::Give(mode)) => lock.holds(thread, mode),
            (Self::Lock(lock), Deed::GiveUp) => lock.holds(thread, LockMode::Exclusive),
            (Self::Cond(cond), Deed::Wait) => cond.find(thread).is_none(),
            (Self::Cond(cond), Deed::Wake(cause)) => {
                cond.find(thread).is_some_and(|(_, permit)| permit.is_some() == (cause == WakeCause::Signalled))
            }
            (Self::Cond(_), Deed::Signal | Deed::Broadcast) => true,
            (Self::Barrier(barrier), Deed::Arrive { last }) => {
                !barrier.waiting.contains(&thread) && last == barrier.is_last()
            }
            (Self::Barrier(barrier), Deed::Leave) => !barrier.waiting.contains(&thread),
            (Self::Semaphore(_), Deed::Post) => true,
            (Self::Semaphore(value), Deed::Down) => *value > 0,
            (Self::Semaphore(value), Deed::NotDown) => *value == 0,
            (Self::Semaphore(value), Deed::Look(seen)) => *value == seen,
            (Self::Once(once), Deed::RunOnce) => *once == Once::Fresh,
            (Self::Once(once), Deed::PassOnce) => *once == Once::Done,
            (Self::Once(once), Deed::EndOnce) => *once == Once::Running(thread),
            (Self::Life, Deed::Reap) => true,
            _ => false,
        }
    }

    /// Does it. What is not allowed changes as little as possible.
    pub(crate) fn perform(&mut self, thread: ThreadId, deed: Deed) {
        match (self, deed) {
            (Self::Lock(lock), Deed::Take(mode)) => lock.take(thread, mode),
            (Self::Lock(lock), Deed::Give(mode)) => lock.give(thread, mode),
            (Self::Lock(lock), Deed::GiveUp) => lock.give_up(thread),
            (Self::Cond(cond), Deed::Wait) => cond.wait(thread),
            (Self::Cond(cond), Deed::Wake(_)) => cond.wake(thread),
            (Self::Cond(cond), Deed::Signal) => cond.signal(1),
            (Self::Cond(cond), Deed::Broadcast) => cond.signal(usize::MAX),
            (Self::Barrier(barrier), Deed::Arrive { last }) => barrier.arrive(thread, last),
            (Self::Semaphore(value), Deed::Post) => *value = value.saturating_add(1),
            (Self::Semaphore(value), Deed::Down) => *value = value.saturating_sub(1),
            (Self::Once(once), Deed::RunOnce) => *once = Once::Running(thread),
            (Self::Once(once), Deed::EndOnce) => *once = Once::Done,
            _ => {}
        }
    }

    /// Appends what the order of past operations left behind, beyond their set: equal for equal futures.
    pub(crate) fn write_key(&self, key: &mut Vec<u32>) {
        match self {
            Self::Cond(cond) => {
                key.push(cond.queue.len() as u32);
                key.extend(cond.queue.iter().map(|place| match place {
                    Place::Waiter(thread) => thread.0,
                    Place::Permit => u32::MAX,
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
        cond.perform(B, Deed::Signal);
        cond.perform(A, Deed::Wait);
        assert!(!cond.allows(A, Deed::Wake(WakeCause::Signalled)) && cond.allows(A, Deed::Wake(WakeCause::TimedOut)));
        cond.perform(B, Deed::Signal);
        cond.perform(B, Deed::Signal);
        cond.perform(B, Deed::Wait);
        assert!(cond.allows(A, Deed::Wake(WakeCause::Signalled)) && !cond.allows(A, Deed::Wake(WakeCause::TimedOut)));
        assert!(!cond.allows(B, Deed::Wake(WakeCause::Signalled)));
        cond.perform(A, Deed::Wake(WakeCause::Signalled));
        assert!(!cond.allows(B, Deed::Wake(WakeCause::Signalled)), "the second signal was lost");
    }

    #[test]
    fn a_wait_gives_all_levels_back_and_takes_as_many() {
        let mut lock = Object::Lock(Lock::default());
        let (take, give) = (Deed::Take(LockMode::Exclusive), Deed::Give(LockMode::Exclusive));
        lock.perform(A, take);
        lock.perform(A, take);
        lock.perform(A, Deed::GiveUp);
        assert!(lock.allows(B, take));
        lock.perform(A, take);
        lock.perform(A, give);
        assert!(!lock.allows(B, take) && lock.allows(B, Deed::NotTaken(LockMode::Shared)));
        lock.perform(A, give);
        assert!(lock.allows(B, take));
    }

    #[test]
    fn the_last_to_arrive_is_known() {
        let mut barrier = Object::Barrier(Barrier { count: Some(2), ..Barrier::default() });
        barrier.perform(A, Deed::Arrive { last: false });
        assert!(!barrier.allows(A, Deed::Leave) && !barrier.allows(B, Deed::Arrive { last: false }));
        barrier.perform(B, Deed::Arrive { last: true });
        assert!(barrier.allows(A, Deed::Leave) && barrier.allows(B, Deed::Leave));
    }
}
