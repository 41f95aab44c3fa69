//! Yielding and sleeping.
//!
//! | function | semantics |
//! |---|---|
//! | `sched_yield`, `pthread_yield`, `thrd_yield` | `Yield` |
//! | `sleep`, `usleep`, `nanosleep`, `clock_nanosleep`, `thrd_sleep` | `Yield`; cancellation points |
//! | `_ZNSt11this_thread11__sleep_forE…` | `std::this_thread::sleep_for`: `Yield` |
//!
//! A handler that interrupts a sleep ends it.
//!
//! Sleeping lets the thread's own clock go on ([`clock`]); how long a thread sleeps says nothing about what others do
//! meanwhile.

use core::ffi::{c_int, c_long, c_uint};

use libc::{clockid_t, timespec};
use wire::Tag;

use super::cancel::{self, Outcome, cancellable};
use super::step::{Call, is_time, set_errno};
use crate::libc_models::clock;
use crate::sync::Blocker;
use crate::{interrupts, memory};

const SECOND: u64 = 1_000_000_000;

/// A length of time in nanoseconds.
pub fn length(time: *const timespec) -> u64 {
    let time = memory::read(time);
    (time.tv_sec.max(0) as u64).saturating_mul(SECOND).saturating_add(time.tv_nsec as u64)
}

fn offer() {
    Call::here().step(Tag::Yield, 0).run(Blocker::None, |_, _, _| ());
}

/// Offers to let others run, or acts on a cancellation request.
fn sleep_or_cancel(nanoseconds: u64) -> Outcome {
    clock::advance(nanoseconds);
    let outcome: Outcome = Call::here().step(Tag::Yield, 0).run(Blocker::None, |objects, thread, step| {
        if cancel::act(objects, thread, step) { Outcome::CANCELLED } else { 0.into() }
    });
    let goes_on = outcome.value().is_some();
    if goes_on && interrupts::interrupt_call().is_some() { cancel::interrupted() } else { outcome }
}

/// How long an interrupted sleep had still to go: the schedule does not say, so all of it.
fn note_left(outcome: Outcome, time: *const timespec, left: *mut timespec) -> Outcome {
    if outcome.value() == Some(-1) {
        memory::write_if_wanted(left, memory::read(time));
    }
    outcome
}

/// The outcome of a call that returns error numbers.
fn or_error(outcome: Outcome, error: c_int) -> Outcome {
    if outcome.value() == Some(-1) { error.into() } else { outcome }
}

cancellable! {
    /// Sleeps for seconds.
    fn sleep(seconds: c_uint) {
        let outcome = sleep_or_cancel(u64::from(seconds) * SECOND);
        // It says how much was left.
        if outcome.value() == Some(-1) { (seconds as c_int).into() } else { outcome }
    }
    /// Sleeps for microseconds.
    fn usleep(microseconds: c_uint) {
        sleep_or_cancel(u64::from(microseconds) * 1000)
    }
    /// Sleeps.
    fn nanosleep(time: *const timespec, left: *mut timespec) {
        if !is_time(time) {
            set_errno(libc::EINVAL);
            return (-1).into();
        }
        note_left(sleep_or_cancel(length(time)), time, left)
    }
    /// Sleeps.
    fn clock_nanosleep(_clock: clockid_t, flags: c_int, time: *const timespec, left: *mut timespec) {
        if !is_time(time) {
            return libc::EINVAL.into();
        }
        if flags & libc::TIMER_ABSTIME != 0 {
            // SAFETY: the program gave the time to a function that reads it, and `is_time` has read it.
            unsafe { clock::reach(time) };
            return or_error(sleep_or_cancel(0), libc::EINTR);
        }
        or_error(note_left(sleep_or_cancel(length(time)), time, left), libc::EINTR)
    }
    /// Sleeps.
    fn thrd_sleep(time: *const timespec, left: *mut timespec) {
        if !is_time(time) {
            return (-2).into();
        }
        note_left(sleep_or_cancel(length(time)), time, left)
    }
}

export! {
    /// Lets others run.
    fn sched_yield() -> c_int {
        offer();
        0
    }
    /// Lets others run.
    fn pthread_yield() -> c_int {
        offer();
        0
    }
    /// Lets others run.
    fn thrd_yield() {
        offer();
    }
    /// `std::this_thread::__sleep_for(seconds, nanoseconds)`.
    fn _ZNSt11this_thread11__sleep_forENSt6chrono8durationIlSt5ratioILl1ELl1EEEENS1_IlS2_ILl1ELl1000000000EEEE(
        seconds: c_long, nanoseconds: c_long,
    ) {
        clock::advance((seconds.max(0) as u64).saturating_mul(SECOND).saturating_add(nanoseconds.max(0) as u64));
        offer();
    }
}
