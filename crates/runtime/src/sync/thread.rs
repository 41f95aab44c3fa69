//! Threads as the thread API sees them: handles, ends, results, joining, cancellation.

use alloc::vec::Vec;

use super::signal::{SignalSet, only};
use crate::sched::Thread;

/// Longest name of a thread, with its terminating zero.
pub const NAME_SIZE: usize = 16;

/// What is known of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ThreadState {
    /// Its `pthread_t`.
    pub handle: u64,
    /// It has executed its last event.
    pub finished: bool,
    /// It cannot be joined.
    pub detached: bool,
    /// It has been joined.
    pub joined: bool,
    /// What its start routine returned or `pthread_exit` was given.
    pub result: u64,
    /// `pthread_cancel` was called for it.
    pub cancel_requested: bool,
    /// Requests are not acted on (`PTHREAD_CANCEL_DISABLE`).
    pub cancel_disabled: bool,
    /// `PTHREAD_CANCEL_ASYNCHRONOUS`.
    pub cancel_asynchronous: bool,
    /// It is ending: on its way out no request is acted on.
    pub ending: bool,
    /// Innermost cleanup buffer of `pthread_cleanup_push`, 0 without one.
    pub cleanup: u64,
    /// Innermost buffer of the old `_pthread_cleanup_push`, 0 without one.
    pub old_cleanup: u64,
    /// The signals it blocks; inherited by the threads it creates.
    pub blocked_signals: SignalSet,
    /// Those that were sent to it and wait to be taken.
    pub pending_signals: SignalSet,
    /// Where on its stack the innermost handler of a signal began that has not returned, 0 without one.
    pub handler: u64,
    /// Its name, ended by zero.
    pub name: [u8; NAME_SIZE],
}

impl ThreadState {
    /// Whether a cancellation point acts on a request now.
    pub fn cancel_due(&self) -> bool {
        self.cancel_requested && !self.cancel_disabled && !self.ending
    }
}

/// Why a thread cannot be joined or detached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unjoinable {
    /// It is detached.
    Detached,
    /// It has been joined.
    Joined,
}

/// All threads by number.
#[derive(Clone, Debug, Default)]
pub struct Threads(Vec<ThreadState>);

impl Threads {
    /// None yet; the initial thread needs no entry of its own before it is changed.
    pub const fn new() -> Self {
        Self(Vec::new())
    }
    /// Number of threads ever created, the initial one included.
    pub fn count(&self) -> u32 {
        self.0.len().max(1) as u32
    }
    /// The thread.
    pub fn get(&self, thread: Thread) -> ThreadState {
        self.0.get(thread as usize).copied().unwrap_or_default()
    }
    /// The thread, mutable; an entry is made where there is none.
    pub fn get_mut(&mut self, thread: Thread) -> &mut ThreadState {
        let index = thread as usize;
        if self.0.len() <= index {
            self.0.resize(index + 1, ThreadState::default());
        }
        &mut self.0[index]
    }
    /// The thread with this handle.
    pub fn by_handle(&self, handle: u64) -> Option<Thread> {
        self.0.iter().position(|t| t.handle == handle && handle != 0).map(|index| index as Thread)
    }
    /// Whether all threads but `thread` have ended.
    pub fn is_last(&self, thread: Thread) -> bool {
        self.0.iter().enumerate().all(|(index, t)| t.finished || index == thread as usize)
    }
    /// The first thread but `thread` that nobody has joined.
    pub fn unjoined_but(&self, thread: Thread) -> Option<Thread> {
        let mut others = (0..).zip(&self.0).filter(|(index, _)| *index != thread);
        others.find(|(_, t)| !t.joined).map(|(index, _)| index)
    }
    /// Whether all threads but `thread` have been joined: what they did happens before what it does next.
    pub fn is_alone(&self, thread: Thread) -> bool {
        self.0.iter().enumerate().all(|(index, t)| t.joined || index == thread as usize)
    }
    /// Whether every thread that has not ended blocks a signal.
    pub fn is_blocked_by_all(&self, signal: i32) -> bool {
        self.0.iter().all(|t| t.finished || t.blocked_signals & only(signal) != 0)
    }
    /// Whether the thread can be joined or detached.
    pub fn joinable(&self, thread: Thread) -> Result<(), Unjoinable> {
        match self.get(thread) {
            ThreadState { joined: true, .. } => Err(Unjoinable::Joined),
            ThreadState { detached: true, .. } => Err(Unjoinable::Detached),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{Blocker, SyncObjects, Wake};

    #[test]
    fn joining_waits_for_the_end() {
        let mut objects = SyncObjects::new();
        objects.threads.get_mut(1).handle = 0x7000;
        assert_eq!(objects.threads.by_handle(0x7000), Some(1));
        assert_eq!(objects.threads.by_handle(0), None);
        let join = Blocker::Join { thread: 1 };
        assert!(objects.blocked(0, &join) && !objects.threads.is_last(0));
        objects.threads.get_mut(1).finished = true;
        assert!(!objects.blocked(0, &join) && objects.threads.is_last(0));
        assert_eq!(objects.threads.joinable(1), Ok(()));
        objects.threads.get_mut(1).detached = true;
        assert_eq!(objects.threads.joinable(1), Err(Unjoinable::Detached));
    }

    #[test]
    fn a_request_enables_cancellation_points_unless_disabled() {
        let mut objects = SyncObjects::new();
        objects.waits.begin(0x10, 1, 0x20);
        objects.threads.get_mut(2).finished = false;
        let points = [
            Blocker::Wait { cond: 0x10, timed: false, spurious: false },
            Blocker::Sem { sem: 0x30 },
            Blocker::Join { thread: 2 },
        ];
        objects.put(0x30, crate::sync::Semaphore { value: 0 });
        assert!(points.iter().all(|p| objects.blocked(1, p)));
        objects.threads.get_mut(1).cancel_requested = true;
        assert!(points.iter().all(|p| !objects.blocked(1, p)));
        objects.ensure::<crate::sync::Mutex>(0x40).acquire(5);
        let lock = Blocker::Lock { lock: 0x40, mode: crate::sync::Mode::Exclusive };
        assert!(objects.blocked(1, &lock), "taking a mutex is no cancellation point");
        objects.threads.get_mut(1).cancel_disabled = true;
        assert!(points.iter().all(|p| objects.blocked(1, p)));
        assert_eq!(objects.end_wait(1, Wake::TimedOut), Wake::TimedOut);
    }

    #[test]
    fn a_cancelled_wait_ends_as_cancelled_even_when_signalled() {
        let mut objects = SyncObjects::new();
        objects.waits.begin(0x10, 1, 0x20);
        objects.waits.signal(0x10, 1);
        objects.threads.get_mut(1).cancel_requested = true;
        assert_eq!(objects.end_wait(1, Wake::TimedOut), Wake::Cancelled);
        assert!(!objects.waits.waited_on(0x10));
    }
}
