//! Waiting for signals: condition variables, and futex words, which wake the same way.
//!
//! Which waiter a signal wakes is decided by scheduling. A signal leaves a permit that any thread waiting at
//! that time may consume: a thread that began to wait later may not. So a permit is the moment of the signal,
//! and a waiter is eligible when it began before. The sets of eligible waiters are nested, and each waiter
//! consumes the oldest permit it is eligible for; hence what is left always suffices for those who are left:
//!
//! *Invariant*: for every permit, the permits up to it are no more than the waiters eligible for it.

use alloc::vec::Vec;

use crate::sched::Thread;

/// Why a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Wake {
    /// A signal or broadcast.
    Signalled = wire::record::wake::SIGNALLED,
    /// The time limit.
    TimedOut = wire::record::wake::TIMED_OUT,
    /// Nothing.
    Spurious = wire::record::wake::SPURIOUS,
    /// Cancelled while waiting.
    Cancelled = wire::record::wake::CANCELLED,
}

#[derive(Clone, Copy, Debug)]
struct Waiter {
    cond: u64,
    thread: Thread,
    lock: u64,
    since: u64,
}

#[derive(Clone, Copy, Debug)]
struct Permit {
    cond: u64,
    at: u64,
}

/// Who waits, and the signals not consumed yet, for all condition variables together: both are short lists.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// The moment: grows with every wait and signal.
    now: u64,
    waiters: Vec<Waiter>,
    /// Oldest first.
    permits: Vec<Permit>,
    /// Who woke without a cause, on what, and has not been signalled there since.
    spurious: Vec<(Thread, u64)>,
}

impl Waits {
    /// Nobody waits.
    pub const fn new() -> Self {
        Self { now: 0, waiters: Vec::new(), permits: Vec::new(), spurious: Vec::new() }
    }

    /// `thread` starts to wait; `lock` is the mutex it has released (0 for none).
    pub fn begin(&mut self, cond: u64, thread: Thread, lock: u64) {
        self.now += 1;
        self.waiters.push(Waiter { cond, thread, lock, since: self.now });
    }

    /// A mutex other than `lock` that threads wait on `cond` with.
    pub fn other_lock(&self, cond: u64, lock: u64) -> Option<u64> {
        self.waiters.iter().find(|w| w.cond == cond && w.lock != lock).map(|w| w.lock)
    }

    fn counts(&self, cond: u64) -> (usize, usize) {
        let waiters = self.waiters.iter().filter(|w| w.cond == cond).count();
        (waiters, self.permits.iter().filter(|p| p.cond == cond).count())
    }

    /// Whether a thread waits on `cond` that no signal has reached.
    pub fn waited_on(&self, cond: u64) -> bool {
        let (waiters, permits) = self.counts(cond);
        waiters > permits
    }

    /// A condition variable from `start` on, `len` bytes, that threads wait on.
    pub fn waited_on_in(&self, start: u64, len: u64) -> Option<u64> {
        let inside = |w: &&Waiter| w.cond.checked_sub(start).is_some_and(|offset| offset < len);
        self.waiters.iter().filter(inside).map(|w| w.cond).find(|cond| self.waited_on(*cond))
    }

    /// Wakes up to `most` waiters that no signal has reached yet; returns how many.
    pub fn signal(&mut self, cond: u64, most: usize) -> usize {
        self.now += 1;
        let (waiters, permits) = self.counts(cond);
        let woken = (waiters - permits).min(most);
        self.permits.extend((0..woken).map(|_| Permit { cond, at: self.now }));
        woken
    }

    fn waiter(&self, thread: Thread) -> Option<usize> {
        self.waiters.iter().position(|w| w.thread == thread)
    }

    fn permit_for(&self, waiter: &Waiter) -> Option<usize> {
        self.permits.iter().position(|p| p.cond == waiter.cond && waiter.since < p.at)
    }

    /// Whether a signal has reached `thread`.
    pub fn signalled(&self, thread: Thread) -> bool {
        self.waiter(thread).is_some_and(|at| self.permit_for(&self.waiters[at]).is_some())
    }

    /// `thread` stops waiting and consumes the oldest permit it is eligible for. Without one it wakes for the
    /// reason given.
    pub fn end(&mut self, thread: Thread, otherwise: Wake) -> Wake {
        let Some(at) = self.waiter(thread) else { return otherwise };
        let waiter = self.waiters.remove(at);
        match self.permit_for(&waiter) {
            Some(permit) => {
                self.permits.remove(permit);
                self.spurious.retain(|woken| *woken != (thread, waiter.cond));
                Wake::Signalled
            }
            None => {
                if otherwise == Wake::Spurious {
                    self.spurious.push((thread, waiter.cond));
                }
                otherwise
            }
        }
    }

    /// Whether `thread` may wake from `cond` without a cause: at most once until a signal has woken it there. This
    /// depends on the thread's own past alone, so events of others commute with it.
    pub fn may_be_spurious(&self, thread: Thread, cond: u64) -> bool {
        !self.spurious.contains(&(thread, cond))
    }

    /// `thread` stops waiting because it is cancelled. It takes no signal from the others: a permit goes only
    /// if too few eligible waiters are left for it.
    pub fn cancel(&mut self, thread: Thread) {
        let Some(at) = self.waiter(thread) else { return };
        let cond = self.waiters.remove(at).cond;
        let mut permits = 0;
        let excess = self.permits.iter().position(|p| {
            let eligible = self.waiters.iter().filter(|w| w.cond == cond && w.since < p.at).count();
            permits += usize::from(p.cond == cond);
            p.cond == cond && permits > eligible
        });
        if let Some(excess) = excess {
            self.permits.remove(excess);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: u64 = 0x1000;
    const D: u64 = 0x2000;

    fn waiting(threads: &[Thread]) -> Waits {
        let mut waits = Waits::new();
        threads.iter().for_each(|t| waits.begin(C, *t, 0x10));
        waits
    }
    fn signalled(waits: &Waits) -> Vec<Thread> {
        (0..8).filter(|t| waits.signalled(*t)).collect()
    }

    #[test]
    fn a_signal_without_waiters_is_lost() {
        let mut waits = Waits::new();
        assert_eq!(waits.signal(C, 1), 0);
        waits.begin(C, 1, 0x10);
        assert!(signalled(&waits).is_empty());
    }

    #[test]
    fn any_waiter_may_take_a_signal_and_then_no_other() {
        for lucky in [1, 2] {
            let mut waits = waiting(&[1, 2]);
            waits.signal(C, 1);
            assert_eq!(signalled(&waits), [1, 2]);
            assert_eq!(waits.end(lucky, Wake::Spurious), Wake::Signalled);
            assert!(signalled(&waits).is_empty());
        }
    }

    #[test]
    fn a_later_waiter_takes_no_earlier_signal() {
        let mut waits = waiting(&[1]);
        waits.signal(C, 1);
        waits.begin(C, 2, 0x10);
        assert_eq!(signalled(&waits), [1]);
        assert_eq!(waits.signal(C, 1), 1);
        assert_eq!(signalled(&waits), [1, 2]);
        // Thread 1 takes the older signal, so the newer is left for thread 2.
        assert_eq!(waits.end(1, Wake::Spurious), Wake::Signalled);
        assert_eq!(signalled(&waits), [2]);
    }

    #[test]
    fn more_signals_than_waiters_are_lost() {
        let mut waits = waiting(&[1]);
        assert_eq!((waits.signal(C, 1), waits.signal(C, 1)), (1, 0));
        waits.end(1, Wake::Spurious);
        waits.begin(C, 1, 0x10);
        assert!(signalled(&waits).is_empty());
    }

    #[test]
    fn a_broadcast_reaches_all_who_wait_and_nobody_else() {
        let mut waits = waiting(&[1, 2, 3]);
        waits.begin(D, 4, 0x10);
        waits.signal(C, 1);
        assert_eq!(waits.signal(C, usize::MAX), 2);
        waits.begin(C, 5, 0x10);
        assert_eq!(signalled(&waits), [1, 2, 3]);
        for thread in [2, 3, 1] {
            assert_eq!(waits.end(thread, Wake::TimedOut), Wake::Signalled);
        }
        assert!(signalled(&waits).is_empty());
        assert!(waits.waited_on(C) && waits.waited_on(D));
    }

    #[test]
    fn without_a_signal_the_wait_ends_for_the_other_reason() {
        let mut waits = waiting(&[1, 2]);
        waits.signal(D, 1);
        assert_eq!(waits.end(1, Wake::TimedOut), Wake::TimedOut);
        assert_eq!(waits.end(2, Wake::Spurious), Wake::Spurious);
        assert!(!waits.waited_on(C));
    }

    #[test]
    fn one_wake_up_without_a_cause_until_a_signal() {
        let mut waits = waiting(&[1]);
        assert!(waits.may_be_spurious(1, C));
        assert_eq!(waits.end(1, Wake::Spurious), Wake::Spurious);
        assert!(!waits.may_be_spurious(1, C) && waits.may_be_spurious(1, D) && waits.may_be_spurious(2, C));
        waits.begin(C, 1, 0x10);
        waits.signal(C, 1);
        assert_eq!(waits.end(1, Wake::Spurious), Wake::Signalled);
        assert!(waits.may_be_spurious(1, C));
        waits.begin(C, 1, 0x10);
        assert_eq!(waits.end(1, Wake::TimedOut), Wake::TimedOut);
        assert!(waits.may_be_spurious(1, C));
    }

    #[test]
    fn a_cancelled_waiter_leaves_the_signal_to_the_others() {
        let mut waits = waiting(&[1, 2]);
        waits.signal(C, 1);
        waits.cancel(1);
        assert_eq!(signalled(&waits), [2]);

        // With nobody left for it, the signal is lost: a later waiter must not find it.
        let mut waits = waiting(&[1]);
        waits.signal(C, 1);
        waits.begin(C, 2, 0x10);
        waits.cancel(1);
        assert!(signalled(&waits).is_empty());
        assert_eq!(waits.signal(C, 1), 1);
        assert_eq!(signalled(&waits), [2]);
    }

    #[test]
    fn destroying_is_fine_once_all_waiters_are_signalled() {
        let mut waits = waiting(&[1, 2]);
        waits.signal(C, 1);
        assert!(waits.waited_on(C));
        assert_eq!(waits.waited_on_in(C - 8, 9), Some(C));
        assert_eq!(waits.waited_on_in(C - 8, 8), None);
        waits.signal(C, usize::MAX);
        assert!(!waits.waited_on(C));
        assert_eq!(waits.other_lock(C, 0x10), None);
        assert_eq!(waits.other_lock(C, 0x20), Some(0x10));
    }
}
