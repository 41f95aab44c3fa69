//! Clocks. Each thread has its own: a fixed base, plus a tick for every time the thread reads it, plus the time that
//! the thread slept or waited until a time limit ended the wait. So the time that a thread sees does not depend on
//! other threads or on the machine, and it advances in loops that wait for it.

use alloc::vec::Vec;
use core::ffi::{c_int, c_long};

use libc::{clock_t, clockid_t, time_t, timespec, timeval, tms};

use super::program_memory::Out;
use super::{fail, me};
use crate::cell::Global;

/// How far the clock advances when a thread reads it, in nanoseconds.
const TICK: u64 = 1_000;
const SECOND: u64 = 1_000_000_000;
/// What the clocks show at first: the calendar (1 January 2026), and the time since the machine started.
const CALENDAR: u64 = 1_767_225_600 * SECOND;
const UPTIME: u64 = 1_000 * SECOND;

/// Nanoseconds since the clocks started, by thread.
static ELAPSED: Global<Vec<u64>> = Global::new(Vec::new());

/// Advances the clocks of the running thread.
pub fn advance(nanoseconds: u64) {
    advance_and_read(nanoseconds);
}

/// Advances the clocks of the running thread; the nanoseconds since they started.
fn advance_and_read(nanoseconds: u64) -> u64 {
    let thread = me() as usize;
    ELAPSED.with(|elapsed| {
        if elapsed.len() <= thread {
            elapsed.resize(thread + 1, 0);
        }
        elapsed[thread] = elapsed[thread].saturating_add(nanoseconds);
        elapsed[thread]
    })
}

/// Advances the running thread's clocks until one of them shows `time`. (Which one follows from the number: they are
/// decades apart.)
///
/// # Safety
/// `time` points to a valid time.
pub unsafe fn reach(time: *const timespec) {
    // SAFETY: promised by the caller. The copy does not depend on what other threads do to it later.
    let time = unsafe { time.read() };
    let time = (time.tv_sec.max(0) as u64).saturating_mul(SECOND).saturating_add(time.tv_nsec.max(0) as u64);
    let base = if time >= CALENDAR { CALENDAR } else { UPTIME };
    advance(time.saturating_sub(base).saturating_sub(advance_and_read(0)));
}

/// Nanoseconds since the running thread's clocks started.
pub fn elapsed() -> u64 {
    advance_and_read(0)
}

/// Advances the running thread's clocks until this many nanoseconds have passed since they started.
pub fn reach_elapsed(nanoseconds: u64) {
    advance(nanoseconds.saturating_sub(elapsed()));
}

/// How many nanoseconds after the start a clock shows a time, which is given in nanoseconds, too.
pub fn since_start(clock: clockid_t, time: u64) -> u64 {
    time.saturating_sub(base(clock).unwrap_or(0))
}

/// How many nanoseconds after the start the clock shows a time that goes with the number.
pub fn after_start(time: u64) -> u64 {
    time.saturating_sub(if time >= CALENDAR { CALENDAR } else { UPTIME })
}

/// Reads the clock with this base, which takes a tick.
fn now(base: u64) -> u64 {
    base.saturating_add(advance_and_read(TICK))
}

fn base(clock: clockid_t) -> Option<u64> {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI | libc::CLOCK_REALTIME_ALARM => {
            Some(CALENDAR)
        }
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_BOOTTIME
        | libc::CLOCK_BOOTTIME_ALARM => Some(UPTIME),
        libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID => Some(0),
        // Clocks of threads and processes have negative numbers.
        _ if clock < 0 => Some(0),
        _ => None,
    }
}

fn split(nanoseconds: u64) -> timespec {
    timespec { tv_sec: (nanoseconds / SECOND) as time_t, tv_nsec: (nanoseconds % SECOND) as c_long }
}

fn microseconds(nanoseconds: u64) -> timeval {
    let time = split(nanoseconds);
    timeval { tv_sec: time.tv_sec, tv_usec: time.tv_nsec / 1000 }
}

export! {
    /// Seconds of the calendar.
    fn time(to: Out<'_, time_t>) -> time_t {
        let now = (now(CALENDAR) / SECOND) as time_t;
        to.write_if_given(now);
        now
    }
    /// The calendar's clock in microseconds.
    fn gettimeofday(to: Out<'_, timeval>, zone: Out<'_, [c_int; 2]>) -> c_int {
        to.write_if_given(microseconds(now(CALENDAR)));
        zone.write_if_given([0; 2]);
        0
    }
    /// A clock in nanoseconds.
    fn clock_gettime(clock: clockid_t, to: Out<'_, timespec>) -> c_int {
        let Some(base) = base(clock) else { return fail(libc::EINVAL) as c_int };
        to.write(split(now(base)));
        0
    }
    /// C11's clock.
    fn timespec_get(to: Out<'_, timespec>, base: c_int) -> c_int {
        if base != 1 {
            return 0;
        }
        to.write(split(now(CALENDAR)));
        base
    }
    /// Processor time.
    fn clock() -> clock_t {
        (now(0) / 1000) as clock_t
    }
    /// Processor times, in ticks of a hundredth of a second.
    fn times(to: Out<'_, tms>) -> clock_t {
        let now = (now(0) / 10_000_000) as clock_t;
        to.write_if_given(tms { tms_utime: now, tms_stime: 0, tms_cutime: 0, tms_cstime: 0 });
        (UPTIME / 10_000_000) as clock_t + now
    }
    /// Resource use: processor time, and nothing else.
    fn getrusage(_who: c_int, to: Out<'_, libc::rusage>) -> c_int {
        // SAFETY: `rusage` is a structure of numbers, for which zero is a value.
        let zero: libc::rusage = unsafe { core::mem::zeroed() };
        to.write(libc::rusage { ru_utime: microseconds(now(0)), ..zero });
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_and_sleeping_advance_the_clock() {
        let mut first = split(0);
        let mut second = split(0);
        // SAFETY: the results are stored where references point to.
        unsafe {
            assert_eq!(clock_gettime(libc::CLOCK_MONOTONIC, Out::from(&mut first)), 0);
            advance(5 * SECOND);
            assert_eq!(clock_gettime(libc::CLOCK_MONOTONIC, Out::from(&mut second)), 0);
            assert_eq!(clock_gettime(99, Out::from(&mut second)), -1);
        }
        assert_eq!((second.tv_sec - first.tv_sec, second.tv_nsec - first.tv_nsec), (5, 1000));
    }
}
