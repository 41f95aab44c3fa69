//! Yielding and sleeping.
//!
//! | function | semantics |
//! |---|---|
//! | `sched_yield`, `pthread_yield`, `thrd_yield` | `Yield` |
//! | `sleep`, `usleep`, `nanosleep`, `clock_nanosleep`, `thrd_sleep` | `Yield`; cancellation points |
//! | `_ZNSt11this_thread11__sleep_forE…` | `std::this_thread::sleep_for`: `Yield` |
//!
//! Time does not pass by sleeping: how long a thread sleeps says nothing about what others do meanwhile.

use core::ffi::{c_int, c_long, c_uint};

use libc::{clockid_t, timespec};
use wire::Tag;

use super::cancel::{self, Outcome, cancellable};
use super::step::{Call, is_time, set_errno};
use crate::sync::Blocker;

fn offer() {
    Call::here().step(Tag::Yield, 0).run(Blocker::None, |_, _, _| ());
}

/// Offers to let others run, or acts on a cancellation request.
pub fn sleep_or_cancel() -> Outcome {
    Call::here().step(Tag::Yield, 0).run(Blocker::None, |state, thread, step| {
        if cancel::act(state, thread, step) { Outcome::CANCELLED } else { 0.into() }
    })
}

cancellable! {
    /// Sleeps for seconds.
    unsafe fn sleep(_seconds: c_uint) {
        sleep_or_cancel()
    }
    /// Sleeps for microseconds.
    unsafe fn usleep(_microseconds: c_uint) {
        sleep_or_cancel()
    }
    /// Sleeps.
    unsafe fn nanosleep(time: *const timespec, _left: *mut timespec) {
        if !unsafe { is_time(time) } {
            set_errno(libc::EINVAL);
            return (-1).into();
        }
        sleep_or_cancel()
    }
    /// Sleeps.
    unsafe fn clock_nanosleep(_clock: clockid_t, _flags: c_int, time: *const timespec, _left: *mut timespec) {
        if !unsafe { is_time(time) } {
            return libc::EINVAL.into();
        }
        sleep_or_cancel()
    }
    /// Sleeps.
    unsafe fn thrd_sleep(time: *const timespec, _left: *mut timespec) {
        if !unsafe { is_time(time) } {
            return (-2).into();
        }
        sleep_or_cancel()
    }
}

export! {
    /// Lets others run.
    unsafe fn sched_yield() -> c_int {
        offer();
        0
    }
    /// Lets others run.
    unsafe fn pthread_yield() -> c_int {
        offer();
        0
    }
    /// Lets others run.
    unsafe fn thrd_yield() {
        offer();
    }
    /// `std::this_thread::__sleep_for(seconds, nanoseconds)`.
    unsafe fn _ZNSt11this_thread11__sleep_forENSt6chrono8durationIlSt5ratioILl1ELl1EEEENS1_IlS2_ILl1ELl1000000000EEEE(
        _seconds: c_long, _nanoseconds: c_long,
    ) {
        offer();
    }
}
