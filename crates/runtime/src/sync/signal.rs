//! Signals that are blocked: they stay pending until somebody waits for them.

use super::SyncObjects;
use crate::sched::Thread;

/// A set of signals, signal `n` as bit `n - 1`, as the kernel has it.
pub type SignalSet = u64;

/// The set with one signal; empty for what is no signal.
pub fn only(signal: i32) -> SignalSet {
    if (1..=64).contains(&signal) { 1 << (signal - 1) } else { 0 }
}

impl SyncObjects {
    /// Makes a signal pending for a thread that blocks it; `false` if it does not, and would act on it at once.
    pub fn send(&mut self, target: Thread, signal: i32) -> bool {
        let thread = self.threads.get_mut(target);
        let blocks = thread.blocked_signals & only(signal) != 0;
        if blocks {
            thread.pending_signals |= only(signal);
        }
        blocks
    }

    /// Makes a signal pending for a thread that will handle it.
    pub fn send_to_handler(&mut self, target: Thread, signal: i32) {
        let thread = self.threads.get_mut(target);
        if !thread.finished {
            thread.pending_signals |= only(signal);
        }
    }

    /// The signals whose handlers a thread could run now: pending or of a timer that may expire, and not blocked.
    pub fn interrupts_of(&self, thread: Thread) -> SignalSet {
        self.may_take(thread) & self.unblocked(thread)
    }

    /// Those of them that are pending.
    pub fn pending_interrupts_of(&self, thread: Thread) -> SignalSet {
        self.pending_for(thread) & self.unblocked(thread)
    }

    /// The signals whose handlers interrupt a thread.
    fn unblocked(&self, thread: Thread) -> SignalSet {
        self.handled_signals & !self.threads.get(thread).blocked_signals
    }

    /// The signals that a thread can take, now or when a timer expires.
    pub fn may_take(&self, thread: Thread) -> SignalSet {
        self.pending_for(thread) | self.timers.signals()
    }

    /// The signals that a thread can take.
    pub fn pending_for(&self, thread: Thread) -> SignalSet {
        self.threads.get(thread).pending_signals | self.pending_signals
    }

    /// Takes the first pending signal of a set, if there is one: one of the thread's own before one of the process.
    pub fn take_signal(&mut self, thread: Thread, set: SignalSet) -> Option<i32> {
        let first = self.pending_for(thread) & set;
        (first != 0).then(|| {
            let lowest = first & first.wrapping_neg();
            let own = &mut self.threads.get_mut(thread).pending_signals;
            let pending = if *own & lowest != 0 { own } else { &mut self.pending_signals };
            *pending &= !lowest;
            first.trailing_zeros() as i32 + 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::Blocker;

    #[test]
    fn a_blocked_signal_waits_to_be_taken() {
        let mut objects = SyncObjects::new();
        let wait = Blocker::Signal { set: only(10) | only(12) };
        assert!(!objects.send(1, 10), "it is not blocked");
        objects.threads.get_mut(1).blocked_signals = only(10) | only(12) | only(64);
        assert!(objects.send(1, 12) && objects.send(1, 10) && objects.send(1, 10) && objects.send(1, 64));
        assert!(!objects.blocked(1, &wait) && objects.blocked(0, &wait));
        assert_eq!([10, 12].map(|_| objects.take_signal(1, only(10) | only(12))), [Some(10), Some(12)]);
        assert!(objects.blocked(1, &wait));
        assert_eq!(objects.take_signal(1, only(10)), None);
        assert_eq!(objects.take_signal(1, only(64)), Some(64));
        assert_eq!((only(0), only(65), only(-1)), (0, 0, 0));
    }
}
