//! Timers that send signals (`alarm`, `setitimer`, `timer_create`). An armed timer may expire at any time: threads that would
//! handle or take its signal find that out when they look for signals, and the schedule decides (decision 93).

use alloc::vec::Vec;

use super::signal::{SignalSet, only};
use crate::sched::Thread;

/// How often a timer that repeats expires by itself. After that it does so only when no thread can do anything else (A23).
const MOST_REPEATED: u32 = 2;

/// What a timer does that expires more often: reported where it is let.
pub const REPEATED_OFTEN: &str = "waits for a timer that has expired more than twice";

/// The number of a timer.
pub type TimerId = usize;

/// The timers that every process has: of real time, of processor time, of both.
pub const INTERVAL_TIMERS: usize = 3;

/// A timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SignalTimer {
    /// The signal that it sends; 0 for none.
    pub signal: i32,
    /// The value that goes with it.
    pub value: usize,
    /// Who armed it, and when on that thread's clock it is due.
    armed: Option<(Thread, u64)>,
    interval: u64,
    /// How often it may still expire by itself.
    left: u32,
    is_released: bool,
}

/// A timer that has expired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Expired {
    /// Its signal.
    pub signal: i32,
    /// The value that goes with it.
    pub value: usize,
    /// Its number.
    pub timer: TimerId,
    /// When it was due.
    pub due: u64,
    /// It had expired as often as it may by itself.
    pub was_released: bool,
}

impl SignalTimer {
    /// A timer that is not armed.
    pub const fn new(signal: i32, value: usize) -> Self {
        Self { signal, value, armed: None, interval: 0, left: 0, is_released: false }
    }
    /// Arms it for a time on a thread's clock, or disarms it.
    pub fn arm(&mut self, by: Thread, due: Option<u64>, interval: u64) {
        let left = if interval > 0 { MOST_REPEATED } else { 1 };
        *self = Self { armed: due.map(|due| (by, due)), interval, left, ..Self::new(self.signal, self.value) };
    }
    /// When it expires next, and how long after that again.
    pub fn setting(&self) -> (Option<u64>, u64) {
        (self.armed.map(|(_, due)| due), self.interval)
    }
    fn may_expire(&self) -> bool {
        self.armed.is_some() && (self.left > 0 || self.is_released)
    }
}

/// The timers of the process.
#[derive(Clone, Debug)]
pub struct SignalTimers {
    list: Vec<Option<SignalTimer>>,
}

impl Default for SignalTimers {
    fn default() -> Self {
        Self::new()
    }
}

impl SignalTimers {
    /// None was used.
    pub const fn new() -> Self {
        Self { list: Vec::new() }
    }

    /// A timer that exists.
    pub fn get(&mut self, id: TimerId) -> Option<&mut SignalTimer> {
        const SIGNALS: [i32; INTERVAL_TIMERS] = [libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF];
        if self.list.is_empty() {
            self.list.extend(SIGNALS.map(|signal| Some(SignalTimer::new(signal, 0))));
        }
        self.list.get_mut(id).and_then(Option::as_mut)
    }

    /// Adds a timer.
    pub fn add(&mut self, timer: SignalTimer) -> TimerId {
        self.get(0);
        self.list.push(Some(timer));
        self.list.len() - 1
    }

    /// Removes a timer; its number is not used again.
    pub fn remove(&mut self, id: TimerId) {
        if let Some(timer) = self.list.get_mut(id) {
            *timer = None;
        }
    }

    /// The signals that timers may send now.
    pub fn signals(&self) -> SignalSet {
        let armed = self.list.iter().flatten().filter(|timer| timer.may_expire());
        armed.fold(0, |set, timer| set | only(timer.signal))
    }

    /// The signals of timers whose time has come on the clock of a thread that armed them.
    pub fn overdue(&self, thread: Thread, now: u64) -> SignalSet {
        let is_over = |timer: &&SignalTimer| {
            timer.may_expire() && timer.armed.is_some_and(|(by, due)| by == thread && due <= now)
        };
        self.list.iter().flatten().filter(is_over).fold(0, |set, timer| set | only(timer.signal))
    }

    /// The first timer with a signal of the set expires.
    pub fn expire(&mut self, set: SignalSet) -> Option<Expired> {
        let is_wanted = |timer: &SignalTimer| timer.may_expire() && only(timer.signal) & set != 0;
        let wanted = (0..).zip(&mut self.list).filter_map(|(id, timer)| Some((id, timer.as_mut()?)));
        let (id, timer) =
            wanted.filter(|(_, timer)| is_wanted(timer)).min_by_key(|(_, timer)| timer.armed.map(|(_, due)| due))?;
        let (by, due) = timer.armed?;
        let expired =
            Expired { signal: timer.signal, value: timer.value, timer: id, due, was_released: timer.is_released };
        timer.armed = (timer.interval > 0).then(|| (by, due.saturating_add(timer.interval)));
        (timer.left, timer.is_released) = (timer.left.saturating_sub(1), false);
        Some(expired)
    }

    /// No thread can do anything: the first timer that has expired as often as it may does so once more. Says whether there
    /// is one.
    pub fn release(&mut self) -> bool {
        let first =
            self.list.iter_mut().flatten().find(|timer| timer.armed.is_some() && timer.left == 0 && !timer.is_released);
        first.map(|timer| timer.is_released = true).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_expires_once() {
        let mut timers = SignalTimers::new();
        timers.get(0).unwrap().arm(1, Some(100), 0);
        assert_eq!(timers.signals(), only(libc::SIGALRM));
        assert_eq!((timers.overdue(1, 99), timers.overdue(0, 100)), (0, 0));
        assert_eq!(timers.overdue(1, 100), only(libc::SIGALRM));
        assert_eq!(timers.expire(only(libc::SIGPROF)), None);
        assert_eq!(timers.expire(!0).map(|expired| expired.due), Some(100));
        assert_eq!((timers.signals(), timers.expire(!0), timers.release()), (0, None, false));
    }

    #[test]
    fn one_that_repeats_is_released_after_two_times() {
        let mut timers = SignalTimers::new();
        let id = timers.add(SignalTimer::new(libc::SIGUSR1, 7));
        assert_eq!(id, INTERVAL_TIMERS);
        timers.get(id).unwrap().arm(0, Some(10), 5);
        assert!(!timers.release());
        assert_eq!([0; 2].map(|_| timers.expire(!0).map(|expired| expired.due)), [Some(10), Some(15)]);
        assert_eq!(timers.signals(), 0);
        assert!(timers.release() && !timers.release());
        let expired = timers.expire(!0).unwrap();
        assert!(expired.was_released && expired.value == 7 && expired.timer == id);
        timers.remove(id);
        assert!(timers.get(id).is_none() && !timers.release());
    }
}
