//! The model of synchronisation objects: what they are now, and who has to wait for them.
//!
//! Nothing here schedules or reports. The thread API ([`crate::api`]) changes the model when it is a thread's
//! turn; the scheduler asks [`SyncObjects::blocked`] who can run. Objects are named by their address in the
//! program's memory.
//!
//! | file | objects |
//! |---|---|
//! | [`lock`] | mutexes, spin locks |
//! | [`rwlock`] | reader-writer locks |
//! | [`cond`] | condition variables and futex words |
//! | [`barrier`] | barriers |
//! | [`sem`] | semaphores |
//! | [`once`] | once-controls |
//! | [`thread`] | threads: ends, results, cancellation |
//! | [`key`] | thread-specific data |
//! | [`exit`] | exit handlers |
//! | [`fd`] | descriptors |
//! | [`limits`] | time limits of waits |
//! | [`signal`] | pending signals |
//! | [`timer`] | timers that send signals |
//! | [`table`] | the map from addresses to objects |

pub mod barrier;
pub mod cond;
pub mod exit;
pub mod fd;
pub mod key;
pub mod limits;
pub mod lock;
pub mod once;
pub mod rwlock;
pub mod sem;
pub mod signal;
pub mod table;
pub mod thread;
pub mod timer;

pub use barrier::{Arrival, Barrier};
pub use cond::{Waits, Wake};
pub use limits::{Ended, TimeLimits};
pub use lock::{Mutex, Released, Repair, Spin};
pub use once::Once;
pub use rwlock::Rwlock;
pub use sem::Semaphore;
pub use thread::ThreadState;

use alloc::vec::Vec;

use crate::sched::Thread;
use exit::Handlers;
use key::Keys;
use rwlock::SharedHolds;
use signal::SignalSet;
use table::Table;
use thread::Threads;

/// How a lock is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Together with other shared holders.
    Shared,
    /// Alone.
    Exclusive,
}

/// What a thread waits for. It is asked for again whenever anything may have changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocker {
    /// Nothing.
    None,
    /// A lock that can be acquired in this mode.
    Lock {
        /// The lock.
        lock: u64,
        /// How it is wanted.
        mode: Mode,
    },
    /// A signal; the thread is among the waiters.
    Wait {
        /// The condition variable.
        cond: u64,
        /// It may wake without one by its time limit.
        timed: bool,
        /// It may wake without one and without a cause; fixed when the wait begins.
        spurious: bool,
    },
    /// All others' arrival.
    Barrier {
        /// The barrier.
        barrier: u64,
        /// The round in which the thread arrived.
        round: u64,
    },
    /// A change of something the thread read in the last round of a loop.
    Change,
    /// A semaphore above zero.
    Sem {
        /// The semaphore.
        sem: u64,
    },
    /// That nobody runs the routine.
    Once {
        /// The once-control.
        once: u64,
    },
    /// A thread's end.
    Join {
        /// The thread.
        thread: Thread,
    },
    /// A descriptor's readiness.
    Fd {
        /// The descriptor.
        fd: i32,
        /// Events as for `poll`.
        events: i16,
    },
    /// A child process that has ended.
    Child {
        /// Its number; any if it is not positive.
        pid: i32,
    },
    /// A pending signal.
    Signal {
        /// Which ones will do.
        set: signal::SignalSet,
    },
    /// Nothing that can come.
    Never,
}

impl Blocker {
    /// Whether a call that waits for this goes on after a handler with `SA_RESTART`. Those that wait for signals or for
    /// several descriptors never do.
    pub fn goes_on_after_signals(&self) -> bool {
        !matches!(self, Self::Signal { .. } | Self::Fd { fd: ..-1, .. })
    }
}

/// A synchronisation object in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Object {
    /// A mutex.
    Mutex(Mutex),
    /// A spin lock.
    Spin(Spin),
    /// A reader-writer lock.
    Rwlock(Rwlock),
    /// A barrier.
    Barrier(Barrier),
    /// A semaphore.
    Semaphore(Semaphore),
    /// A once-control whose routine runs.
    Once(Once),
    /// What was destroyed: a kind of object that has no mark for that in its own memory.
    Destroyed(&'static str),
}

/// A kind of object.
pub trait Model: Copy {
    /// What people call it.
    const NAME: &'static str;
    /// As an entry of the table.
    fn wrap(self) -> Object;
    /// The entry, if it is of this kind.
    fn of(object: &mut Object) -> Option<&mut Self>;
}

/// All synchronisation objects of the run.
#[derive(Clone, Debug, Default)]
pub struct SyncObjects {
    objects: Table<Object>,
    shared: SharedHolds,
    rounds: u64,
    /// Who waits for a signal.
    pub waits: Waits,
    /// How often waits ended by their time limits.
    pub limits: TimeLimits,
    /// The threads.
    pub threads: Threads,
    /// Thread-specific data.
    pub keys: Keys,
    /// Exit handlers.
    pub handlers: Handlers,
    /// Semaphores with names.
    pub names: sem::Names,
    /// Signals that were sent to the process and that every thread blocks.
    pub pending_signals: SignalSet,
    /// Signals whose handlers interrupt threads.
    pub handled_signals: SignalSet,
    /// Timers that send signals.
    pub timers: timer::SignalTimers,
}

impl SyncObjects {
    /// No objects.
    pub const fn new() -> Self {
        Self {
            objects: Table::new(),
            shared: SharedHolds::new(),
            rounds: 0,
            waits: Waits::new(),
            limits: TimeLimits::new(),
            threads: Threads::new(),
            keys: Keys::new(),
            handlers: Handlers::new(),
            names: sem::Names::new(),
            pending_signals: 0,
            handled_signals: 0,
            timers: timer::SignalTimers::new(),
        }
    }

    /// Whether `thread` has to wait, and no signal is pending whose handler it would run meanwhile.
    pub fn blocked(&self, thread: Thread, blocker: &Blocker) -> bool {
        self.waits_for(thread, blocker) && (*blocker == Blocker::Never || self.interrupts_of(thread) == 0)
    }

    /// Whether what `thread` waits for has not come. A cancellation request ends the waiting at cancellation points.
    pub fn waits_for(&self, thread: Thread, blocker: &Blocker) -> bool {
        match *blocker {
            Blocker::None => false,
            Blocker::Never => true,
            Blocker::Change => !crate::rounds::is_changed(thread),
            Blocker::Lock { lock, mode } => !self.available(lock, mode),
            Blocker::Barrier { barrier, round } => {
                matches!(self.objects.get(barrier), Some(Object::Barrier(b)) if b.round() == round)
            }
            Blocker::Once { once } => matches!(self.objects.get(once), Some(Object::Once(_))),
            Blocker::Wait { timed, spurious, .. } => {
                !timed && !spurious && !self.has_cause_to_wake(thread) && !self.limits.is_released(thread)
            }
            Blocker::Sem { sem } => {
                matches!(self.objects.get(sem), Some(Object::Semaphore(s)) if s.value == 0)
                    && !self.cancel_due(thread)
                    && !self.limits.is_released(thread)
            }
            Blocker::Child { pid } => !self.cancel_due(thread) && !crate::libc_models::children::table::is_ready(pid),
            Blocker::Signal { set } => self.may_take(thread) & set == 0 && !self.cancel_due(thread),
            Blocker::Join { thread: joined } => !self.threads.get(joined).finished && !self.cancel_due(thread),
            Blocker::Fd { fd, events } => {
                !self.cancel_due(thread) && !self.limits.is_released(thread) && !fd::ready(fd, events)
            }
        }
    }

    /// Whether `thread` could continue, but only by a spurious wake-up.
    pub fn reluctant(&self, thread: Thread, blocker: &Blocker) -> bool {
        matches!(blocker, Blocker::Wait { timed: false, spurious: true, .. }) && !self.has_cause_to_wake(thread)
    }

    /// Whether something ends the wait of `thread` for a signal, its time limit aside.
    fn has_cause_to_wake(&self, thread: Thread) -> bool {
        self.waits.signalled(thread) || self.cancel_due(thread)
    }

    /// Whether a cancellation point of `thread` acts on a request now.
    pub fn cancel_due(&self, thread: Thread) -> bool {
        self.threads.get(thread).cancel_due()
    }

    /// Whether the lock can be acquired in this mode. A lock not seen before is free.
    pub fn available(&self, lock: u64, mode: Mode) -> bool {
        match self.objects.get(lock) {
            Some(Object::Mutex(mutex) | Object::Spin(Spin(mutex))) => mutex.owner().is_none(),
            Some(Object::Rwlock(rwlock)) => rwlock.available(mode),
            _ => true,
        }
    }

    /// Who holds a lock alone.
    pub fn owner_of(&self, lock: u64) -> Option<Thread> {
        match self.objects.get(lock)? {
            Object::Mutex(mutex) | Object::Spin(Spin(mutex)) => mutex.owner(),
            Object::Rwlock(rwlock) => rwlock.writer(),
            _ => None,
        }
    }

    /// The object of this kind at `address`.
    pub fn find<M: Model>(&mut self, address: u64) -> Option<&mut M> {
        self.objects.get_mut(address).and_then(M::of)
    }

    /// The object of this kind at `address`, made where there is none (a static initialiser). One of another
    /// kind that was there is gone: its memory has been reused.
    pub fn ensure<M: Model + Default>(&mut self, address: u64) -> &mut M {
        if self.find::<M>(address).is_none() {
            self.put(address, M::default());
        }
        self.find(address).expect("raceproof bug: an object is not of its own kind")
    }

    /// Makes this the object at `address`.
    pub fn put<M: Model>(&mut self, address: u64, object: M) {
        self.shared.forget(address);
        self.objects.insert(address, object.wrap());
    }

    /// Drops the object at `address`.
    pub fn remove(&mut self, address: u64) {
        self.shared.forget(address);
        self.objects.remove(address);
    }

    /// Marks what is at `address` as destroyed.
    pub fn destroy(&mut self, address: u64, name: &'static str) {
        self.shared.forget(address);
        self.objects.insert(address, Object::Destroyed(name));
    }

    /// Whether a `name` at this address was destroyed.
    pub fn destroyed(&self, address: u64, name: &'static str) -> bool {
        matches!(self.objects.get(address), Some(Object::Destroyed(found)) if *found == name)
    }

    /// What is at `address`, if it must not be destroyed, freed or initialised now.
    pub fn in_use(&self, address: u64) -> Option<&'static str> {
        match self.objects.get(address) {
            Some(Object::Mutex(mutex)) if mutex.owner().is_some() => Some("a mutex that is held"),
            Some(Object::Spin(spin)) if spin.0.owner().is_some() => Some("a spin lock that is held"),
            Some(Object::Rwlock(rwlock)) if rwlock.held() => Some("a reader-writer lock that is held"),
            Some(Object::Barrier(barrier)) if barrier.waited_on() => Some("a barrier that threads wait at"),
            Some(Object::Once(_)) => Some("a once-control whose routine runs"),
            _ if self.waits.waited_on(address) => Some("a condition variable that threads wait on"),
            _ => None,
        }
    }

    /// Drops the objects in memory that is freed; freeing one in use is a misuse.
    pub fn forget_range(&mut self, start: u64, len: u64) {
        self.forget(start, len, |address, what| {
            crate::sched::misuse(address, crate::text::text!("frees the memory of {what}").as_str());
        });
    }

    /// Drops the objects in a range and reports those in use, with their addresses.
    fn forget(&mut self, start: u64, len: u64, mut report: impl FnMut(u64, &'static str)) {
        if let Some(cond) = self.waits.waited_on_in(start, len) {
            report(cond, "a condition variable that threads wait on");
        }
        while let Some(address) = self.objects.first_in(start, len) {
            if let Some(what) = self.in_use(address) {
                report(address, what);
            }
            self.remove(address);
        }
    }

    /// The lock with the smallest address that `thread` holds, and its kind's name.
    pub fn held_by(&self, thread: Thread) -> Option<(u64, &'static str)> {
        let owned = self.objects.iter().filter_map(|(address, object)| match object {
            Object::Mutex(mutex) if mutex.owner() == Some(thread) => Some((address, Mutex::NAME)),
            Object::Spin(spin) if spin.0.owner() == Some(thread) => Some((address, Spin::NAME)),
            Object::Rwlock(lock) if lock.writer() == Some(thread) => Some((address, Rwlock::NAME)),
            _ => None,
        });
        owned.chain(self.shared.first_of(thread).map(|address| (address, Rwlock::NAME))).min()
    }

    /// The locks that `thread` holds exclusively.
    pub fn locks_of(&self, thread: Thread) -> Vec<u64> {
        let is_held = |object: &Object| match object {
            Object::Mutex(mutex) | Object::Spin(Spin(mutex)) => mutex.owner() == Some(thread),
            Object::Rwlock(lock) => lock.writer() == Some(thread),
            _ => false,
        };
        self.objects.iter().filter(|(_, object)| is_held(object)).map(|(address, _)| address).collect()
    }

    /// `thread` stops waiting for a signal: cancelled if a request is due, else by a signal, else for the
    /// reason given.
    pub fn end_wait(&mut self, thread: Thread, otherwise: Wake) -> Wake {
        if self.cancel_due(thread) {
            self.waits.cancel(thread);
            return Wake::Cancelled;
        }
        self.waits.end(thread, otherwise)
    }

    /// A wait with a time limit ends, by it or otherwise. Says whether it ended the wait although it had ended as many as it
    /// may ([`limits`]).
    pub fn end_limited(&mut self, thread: Thread, by_limit: bool) -> bool {
        let alone = self.threads.is_alone(thread);
        self.limits.end(thread, if by_limit { Ended::ByLimit { alone } } else { Ended::Otherwise })
    }

    fn next_round(&mut self) -> u64 {
        self.rounds += 1;
        self.rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_blocks_its_owner_too() {
        let mut objects = SyncObjects::new();
        let wanted = Blocker::Lock { lock: 0x10, mode: Mode::Exclusive };
        assert!(!objects.blocked(1, &wanted));
        objects.ensure::<Mutex>(0x10).acquire(1);
        assert!(objects.blocked(1, &wanted) && objects.blocked(2, &wanted));
        assert_eq!(objects.held_by(1), Some((0x10, "mutex")));
        assert_eq!(objects.ensure::<Mutex>(0x10).release(1), Released::Free);
        assert_eq!((objects.held_by(1), objects.blocked(2, &wanted)), (None, false));
    }

    #[test]
    fn once_blocks_while_the_routine_runs() {
        let mut objects = SyncObjects::new();
        let once = Blocker::Once { once: 0x10 };
        assert!(!objects.blocked(1, &once));
        objects.put(0x10, Once { runner: 2 });
        assert!(objects.blocked(1, &once));
        objects.remove(0x10);
        assert!(!objects.blocked(1, &once));
    }

    #[test]
    fn freed_memory_holds_no_objects_and_reports_those_in_use() {
        let mut objects = SyncObjects::new();
        objects.ensure::<Mutex>(0x100).acquire(1);
        objects.ensure::<Mutex>(0x128);
        objects.ensure::<Mutex>(0x150).acquire(1);
        objects.waits.begin(0x110, 3, 0x128);
        let mut reported = Vec::new();
        objects.forget(0x100, 0x50, |address, what| reported.push((address, what)));
        assert_eq!(reported, [(0x110, "a condition variable that threads wait on"), (0x100, "a mutex that is held")]);
        assert_eq!(objects.held_by(1), Some((0x150, "mutex")));
        assert!(objects.find::<Mutex>(0x128).is_none());
    }

    #[test]
    fn memory_used_for_another_kind_of_object() {
        let mut objects = SyncObjects::new();
        objects.acquire_rwlock(0x10, 1, Mode::Shared);
        objects.ensure::<Mutex>(0x10).acquire(2);
        assert_eq!(objects.held_by(1), None);
        objects.destroy(0x10, Spin::NAME);
        assert!(objects.destroyed(0x10, Spin::NAME) && !objects.destroyed(0x10, Barrier::NAME));
    }

    #[test]
    fn descriptors() {
        let _alone = crate::libc_models::tests::alone();
        let mut ends = [0; 2];
        // SAFETY: the array has room for both ends.
        assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
        let readable = Blocker::Fd { fd: ends[0], events: libc::POLLIN };
        let objects = SyncObjects::new();
        assert!(objects.blocked(0, &readable));
        // SAFETY: writes one byte that is there.
        assert_eq!(unsafe { libc::write(ends[1], [1u8].as_ptr().cast(), 1) }, 1);
        assert!(!objects.blocked(0, &readable));
        // SAFETY: nothing else uses the two descriptors.
        unsafe { (libc::close(ends[0]), libc::close(ends[1])) };
    }
}
