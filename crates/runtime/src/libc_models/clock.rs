//! Clocks. A thread's clock is its own: a fixed base, plus a tick for each time it looks, plus what it slept or waited
//! until it gave up. So what a thread sees does not depend on other threads or on the machine, and time goes on in loops that wait for it.

use alloc::vec::Vec;
use core::ffi::{c_int, c_long};

use libc::{clock_t, clockid_t, time_t, timespec, timeval, tms};

use super::{fail, me};
use crate::cell::Global;

/// What one look at the clock takes, in nanoseconds.
const TICK: u64 = 1_000;
const SECOND: u64 = 1_000_000_000;
/// What the clocks show at first: the calendar's (1 January 2026) and those counting from the machine's start.
const CALENDAR: u64 = 1_767_225_600 * SECOND;
const UPTIME: u64 = 1_000 * SECOND;

/// Nanoseconds by thread.
static ELAPSED: Global<Vec<u64>> = Global::new(Vec::new());

/// Lets time go on for the running thread.
pub fn advance(nanoseconds: u64) {
    let thread = me() as usize;
    // Safety: no borrow outlives the block.
    let elapsed = unsafe { &mut *ELAPSED.get() };
    if elapsed.len() <= thread {
        elapsed.resize(thread + 1, 0);
    }
    elapsed[thread] = elapsed[thread].saturating_add(nanoseconds);
}

/// Lets the running thread's clocks reach a time that one of them shows. (Which one follows from the number: they are
/// decades apart.)
///
/// # Safety
/// `time` points to a valid time.
pub unsafe fn reach(time: *const timespec) {
    let time = unsafe { &*time };
    let time = (time.tv_sec.max(0) as u64).saturating_mul(SECOND).saturating_add(time.tv_nsec.max(0) as u64);
    let base = if time >= CALENDAR { CALENDAR } else { UPTIME };
    advance(0);
    // Safety: no borrow outlives the expression; `advance` made room.
    let elapsed = unsafe { (&(*ELAPSED.get()))[me() as usize] };
    advance(time.saturating_sub(base).saturating_sub(elapsed));
}

/// Looks at a clock with this base.
fn look(base: u64) -> u64 {
    advance(TICK);
    // Safety: no borrow outlives the expression; `advance` made room.
    base.saturating_add(unsafe { (&(*ELAPSED.get()))[me() as usize] })
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

export! {
    /// Seconds of the calendar.
    fn time(to: *mut time_t) -> time_t {
        let now = (look(CALENDAR) / SECOND) as time_t;
        if !to.is_null() {
            unsafe { *to = now };
        }
        now
    }
    /// The calendar's clock in microseconds.
    fn gettimeofday(to: *mut timeval, zone: *mut [c_int; 2]) -> c_int {
        let now = split(look(CALENDAR));
        unsafe {
            if !to.is_null() {
                *to = timeval { tv_sec: now.tv_sec, tv_usec: now.tv_nsec / 1000 };
            }
            if !zone.is_null() {
                *zone = [0; 2];
            }
        }
        0
    }
    /// A clock in nanoseconds.
    fn clock_gettime(clock: clockid_t, to: *mut timespec) -> c_int {
        let Some(base) = base(clock) else { return fail(libc::EINVAL) as c_int };
        unsafe { *to = split(look(base)) };
        0
    }
    /// C11's clock.
    fn timespec_get(to: *mut timespec, base: c_int) -> c_int {
        if base != 1 {
            return 0;
        }
        unsafe { *to = split(look(CALENDAR)) };
        base
    }
    /// Processor time.
    fn clock() -> clock_t {
        (look(0) / 1000) as clock_t
    }
    /// Processor times, in ticks of a hundredth of a second.
    fn times(to: *mut tms) -> clock_t {
        let now = (look(0) / 10_000_000) as clock_t;
        if !to.is_null() {
            unsafe { *to = tms { tms_utime: now, tms_stime: 0, tms_cutime: 0, tms_cstime: 0 } };
        }
        (UPTIME / 10_000_000) as clock_t + now
    }
    /// Resource use: processor time, and nothing else.
    fn getrusage(_who: c_int, to: *mut libc::rusage) -> c_int {
        let now = split(look(0));
        unsafe {
            *to = core::mem::zeroed();
            (*to).ru_utime = timeval { tv_sec: now.tv_sec, tv_usec: now.tv_nsec / 1000 };
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_by_looks_and_sleeps() {
        let mut first = split(0);
        let mut second = split(0);
        unsafe {
            assert_eq!(clock_gettime(libc::CLOCK_MONOTONIC, &raw mut first), 0);
            advance(5 * SECOND);
            assert_eq!(clock_gettime(libc::CLOCK_MONOTONIC, &raw mut second), 0);
            assert_eq!(clock_gettime(99, &raw mut second), -1);
        }
        assert_eq!((second.tv_sec - first.tv_sec, second.tv_nsec - first.tv_nsec), (5, 1000));
    }
}
