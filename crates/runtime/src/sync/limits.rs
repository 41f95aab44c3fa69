//! Waits with time limits. A loop around such a wait would have runs without end. So a thread's waits end by their limits a
//! few times in a row; the next one waits like one without a limit, and its limit ends it only when no thread can do
//! anything else (assumption A18). How often they did is the thread's own past, so what is enabled does not depend on the
//! order of independent events, but for the last case, which makes the verdict *unknown*.

use alloc::vec::Vec;

use crate::sched::Thread;

/// How often in a row a thread's waits end by their time limits.
const MOST_EXPIRED: u32 = 5;

/// What a thread does that waits beyond that: reported if the limit ends its wait all the same.
pub const WAITED_LONG: &str = "waits until its time limit more than five times in a row";

/// The limits of a thread's waits.
#[derive(Clone, Copy, Default, Debug)]
pub struct Limited {
    /// How often in a row they ended a wait.
    expired: u32,
    /// The wait has a limit that may not end it any more.
    is_overdue: bool,
    /// It ends the wait all the same, since no thread can do anything else.
    is_released: bool,
}

/// How a wait with a limit ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// By what it waited for, or cancelled.
    Otherwise,
    /// By its limit. `alone`: there was no other thread, so nothing else could have ended it and it does not count.
    ByLimit {
        /// Whether the thread was the only one.
        alone: bool,
    },
}

/// The limits of all threads' waits.
#[derive(Clone, Debug, Default)]
pub struct TimeLimits {
    threads: Vec<Limited>,
}

impl TimeLimits {
    /// Nobody waits.
    pub const fn new() -> Self {
        Self { threads: Vec::new() }
    }

    fn of(&mut self, thread: Thread) -> &mut Limited {
        let needed = thread as usize + 1;
        if self.threads.len() < needed {
            self.threads.resize(needed, Limited::default());
        }
        &mut self.threads[thread as usize]
    }

    /// A wait with a limit begins. Says whether the limit may end it at any time.
    pub fn begin(&mut self, thread: Thread) -> bool {
        let limited = self.of(thread);
        limited.is_overdue = limited.expired >= MOST_EXPIRED;
        !limited.is_overdue
    }

    /// A wait ends. Says whether its limit ended it although it should not have.
    pub fn end(&mut self, thread: Thread, how: Ended) -> bool {
        let limited = self.of(thread);
        let was_released = limited.is_released && how != Ended::Otherwise;
        let expired = if how == (Ended::ByLimit { alone: false }) { limited.expired + 1 } else { 0 };
        *limited = Limited { expired, ..Limited::default() };
        was_released
    }

    /// Whether the limit of the thread's wait may end it although it is overdue.
    pub fn is_released(&self, thread: Thread) -> bool {
        self.threads.get(thread as usize).is_some_and(|limited| limited.is_released)
    }

    /// No thread can do anything: the first of those whose waits are overdue goes on. Says whether there is one.
    pub fn release(&mut self) -> bool {
        let overdue = self.threads.iter_mut().find(|limited| limited.is_overdue && !limited.is_released);
        overdue.map(|limited| limited.is_released = true).is_some()
    }

    /// The thread's wait goes on if it is overdue. Says whether it is.
    pub fn release_wait_of(&mut self, thread: Thread) -> bool {
        let limited = self.of(thread);
        let is_new = limited.is_overdue && !limited.is_released;
        limited.is_released |= is_new;
        is_new
    }

    /// Takes out the limits of a thread's waits, while a handler runs in it.
    pub fn set_aside(&mut self, thread: Thread) -> Limited {
        core::mem::take(self.of(thread))
    }

    /// Puts back what [`set_aside`](Self::set_aside) took out.
    pub fn put_back(&mut self, thread: Thread, limited: Limited) {
        *self.of(thread) = limited;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BY_LIMIT: Ended = Ended::ByLimit { alone: false };

    fn expired(times: u32) -> TimeLimits {
        let mut limits = TimeLimits::new();
        for _ in 0..times {
            assert!(limits.begin(1));
            assert!(!limits.end(1, BY_LIMIT));
        }
        limits
    }

    #[test]
    fn a_limit_ends_five_waits_in_a_row() {
        let mut limits = expired(5);
        assert!(!limits.begin(1) && !limits.is_released(1));
        assert!(limits.begin(2));
    }

    #[test]
    fn a_wait_that_ends_otherwise_starts_the_row_again() {
        let mut limits = expired(4);
        assert!(limits.begin(1));
        limits.end(1, Ended::Otherwise);
        for _ in 0..5 {
            assert!(limits.begin(1));
            limits.end(1, BY_LIMIT);
        }
        assert!(!limits.begin(1));
    }

    #[test]
    fn a_thread_that_is_alone_may_wait_as_often_as_it_likes() {
        let mut limits = TimeLimits::new();
        for _ in 0..20 {
            assert!(limits.begin(1));
            limits.end(1, Ended::ByLimit { alone: true });
        }
    }

    #[test]
    fn an_overdue_wait_is_released_once_and_that_is_told() {
        let mut limits = expired(5);
        assert!(!limits.release(), "nobody waits");
        limits.begin(1);
        assert!(limits.release() && limits.is_released(1) && !limits.release());
        assert!(limits.end(1, BY_LIMIT));
        assert!(!limits.begin(1), "it waits again as long");
        assert!(!limits.end(1, Ended::Otherwise));
    }

    #[test]
    fn a_handler_has_limits_of_its_own() {
        let mut limits = expired(5);
        limits.begin(1);
        let aside = limits.set_aside(1);
        assert!(limits.begin(1));
        limits.end(1, Ended::Otherwise);
        limits.put_back(1, aside);
        assert!(limits.release());
    }
}
