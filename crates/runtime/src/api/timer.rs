//! Timers that send signals.
//!
//! | function | semantics |
//! |---|---|
//! | `alarm`, `ualarm`, `setitimer`, `getitimer` | the timers that every process has; those of processor time expire like that of real time |
//! | `timer_create`, `timer_settime`, `timer_gettime`, `timer_delete` | further ones; `SIGEV_THREAD` and `SIGEV_THREAD_ID` are not modelled |
//! | `timer_getoverrun` | no expiry is missed: 0 |
//!
//! When an armed timer expires is decided where threads look for signals ([`crate::interrupts`]). A timer that is disarmed may
//! have expired before, with its signal still blocked: the schedule decides that, too.

use core::ffi::{c_int, c_long, c_uint};

use libc::{clockid_t, itimerspec, itimerval, sigevent, timespec, timeval};
use wire::Tag;
use wire::record::order;

use super::signal::keep_for_all;
use super::step::{me, set_errno, unmodelled};
use crate::libc_models::event::{Access, operate};
use crate::libc_models::{clock, signal_files};
use crate::sync::signal::only;
use crate::sync::timer::{INTERVAL_TIMERS, SignalTimer, TimerId};
use crate::sync::{Blocker, SyncObjects};
use crate::{choice, interrupts, memory, sched};

const SECOND: u64 = 1_000_000_000;

/// Nanoseconds until the first expiry, and from each to the next.
type Setting = (u64, u64);

/// A call that asks about timers or changes them: their signals may be taken from now on, or not any more.
fn event<R>(act: impl FnOnce(&mut SyncObjects) -> R) -> R {
    let part = |offset| Access {
        tag: Tag::ReadModifyWrite,
        order: order::RELAXED,
        at: wire::PENDING_SIGNALS + offset,
        len: 4,
    };
    let known = [interrupts::process_cell(Tag::ReadModifyWrite), part(0), part(4)];
    let done = operate(&known, Blocker::None, |_| sched::with_objects(act));
    if sched::running() {
        interrupts::note_left();
    }
    done.expect("raceproof bug: a call that does not wait was interrupted")
}

fn left(timer: &SignalTimer, now: u64) -> Setting {
    let (due, interval) = timer.setting();
    (due.map_or(0, |due| due.saturating_sub(now).max(1000)), interval)
}

/// Arms a timer, or disarms it; what it was set to. `None` if there is none.
fn set(id: TimerId, (first, interval): Setting, due: impl Fn(u64) -> u64) -> Option<Setting> {
    let may_be_pending = sched::with_objects(|objects| {
        let signal = objects.timers.get(id).filter(|timer| timer.setting().0.is_some())?.signal;
        objects.threads.is_blocked_by_all(signal).then_some(signal)
    });
    if let Some(signal) = may_be_pending.filter(|signal| *signal != 0)
        && sched::running()
        && choice::choose(0, 1) == 1
    {
        keep_for_all(signal);
    }
    let (by, now) = (me(), clock::elapsed());
    let signal = sched::with_objects(|objects| objects.timers.get(id).map_or(0, |timer| timer.signal));
    signal_files::refuse(only(signal), signal_files::TIMER);
    event(|objects| {
        let timer = objects.timers.get(id)?;
        let before = left(timer, now);
        timer.arm(by, (first > 0).then(|| due(first)), interval);
        Some(before)
    })
}

/// Arms one of the timers that every process has; its signal is the one of their kind.
fn set_interval_timer(which: c_int, setting: Setting) -> Option<Setting> {
    let id = usize::try_from(which).ok().filter(|id| *id < INTERVAL_TIMERS)?;
    let now = clock::elapsed();
    set(id, setting, |first| now.saturating_add(first))
}

fn error(number: c_int) -> c_int {
    set_errno(number);
    -1
}

fn of_timeval(time: timeval) -> Option<u64> {
    let is_time = (0..1_000_000).contains(&time.tv_usec) && time.tv_sec >= 0;
    is_time.then(|| (time.tv_sec as u64).saturating_mul(SECOND).saturating_add(time.tv_usec as u64 * 1000))
}

fn of_timespec(time: timespec) -> Option<u64> {
    let is_time = (0..SECOND as c_long).contains(&time.tv_nsec) && time.tv_sec >= 0;
    is_time.then(|| (time.tv_sec as u64).saturating_mul(SECOND).saturating_add(time.tv_nsec as u64))
}

fn as_timeval(nanoseconds: u64) -> timeval {
    timeval { tv_sec: (nanoseconds / SECOND) as i64, tv_usec: (nanoseconds % SECOND / 1000) as i64 }
}

fn as_timespec(nanoseconds: u64) -> timespec {
    timespec { tv_sec: (nanoseconds / SECOND) as i64, tv_nsec: (nanoseconds % SECOND) as i64 }
}

fn as_itimerval((first, interval): Setting) -> itimerval {
    itimerval { it_interval: as_timeval(interval), it_value: as_timeval(first) }
}

fn as_itimerspec((first, interval): Setting) -> itimerspec {
    itimerspec { it_interval: as_timespec(interval), it_value: as_timespec(first) }
}

/// What a timer is to send; `None` where that is not modelled.
fn asked_for(how: *const sigevent) -> Option<(c_int, usize)> {
    const DEFAULT: (c_int, usize) = (libc::SIGALRM, 0);
    if how.is_null() {
        return Some(DEFAULT);
    }
    let how = memory::read(how);
    match how.sigev_notify {
        libc::SIGEV_SIGNAL => Some((how.sigev_signo, how.sigev_value.sival_ptr as usize)),
        libc::SIGEV_NONE => Some((0, 0)),
        _ => None,
    }
}

export! {
    /// Sends `SIGALRM` after some seconds.
    fn alarm(seconds: c_uint) -> c_uint {
        let before = set_interval_timer(libc::ITIMER_REAL, (u64::from(seconds) * SECOND, 0));
        before.map_or(0, |(first, _)| first.div_ceil(SECOND) as c_uint)
    }
    /// Sends `SIGALRM` after some microseconds.
    fn ualarm(microseconds: c_uint, interval: c_uint) -> c_uint {
        let setting = (u64::from(microseconds) * 1000, u64::from(interval) * 1000);
        set_interval_timer(libc::ITIMER_REAL, setting).map_or(0, |(first, _)| (first / 1000) as c_uint)
    }
    /// Arms a timer of the process.
    fn setitimer(which: c_int, new: *const itimerval, old: *mut itimerval) -> c_int {
        let new = memory::read(new);
        let times = of_timeval(new.it_value).zip(of_timeval(new.it_interval));
        let Some(before) = times.and_then(|setting| set_interval_timer(which, setting)) else {
            return error(libc::EINVAL);
        };
        memory::write_if_wanted(old, as_itimerval(before));
        0
    }
    /// How long a timer of the process still runs.
    fn getitimer(which: c_int, to: *mut itimerval) -> c_int {
        let now = clock::elapsed();
        let id = usize::try_from(which).ok().filter(|id| *id < INTERVAL_TIMERS);
        let Some(setting) = id.and_then(|id| event(|objects| objects.timers.get(id).map(|timer| left(timer, now)))) else {
            return error(libc::EINVAL);
        };
        memory::write(to, as_itimerval(setting));
        0
    }
    /// Makes a timer.
    fn timer_create(_clock: clockid_t, how: *mut sigevent, to: *mut libc::timer_t) -> c_int {
        let Some((signal, value)) = asked_for(how) else {
            unmodelled("makes a timer that runs a function in a thread of its own");
            return error(libc::ENOTSUP);
        };
        let id = event(|objects| {
            let id = objects.timers.add(SignalTimer::new(signal, value));
            if how.is_null() {
                // The value is the timer's own number.
                objects.timers.get(id).into_iter().for_each(|timer| timer.value = id);
            }
            id
        });
        memory::write(to, id as libc::timer_t);
        0
    }
    /// Arms a timer.
    fn timer_settime(timer: libc::timer_t, flags: c_int, new: *const itimerspec, old: *mut itimerspec) -> c_int {
        let new = memory::read(new);
        let Some(setting) = of_timespec(new.it_value).zip(of_timespec(new.it_interval)) else {
            return error(libc::EINVAL);
        };
        let (now, is_absolute) = (clock::elapsed(), flags & libc::TIMER_ABSTIME != 0);
        let due = |first| if is_absolute { clock::after_start(first) } else { now.saturating_add(first) };
        let Some(before) = set(timer as TimerId, setting, due) else { return error(libc::EINVAL) };
        memory::write_if_wanted(old, as_itimerspec(before));
        0
    }
    /// How long a timer still runs.
    fn timer_gettime(timer: libc::timer_t, to: *mut itimerspec) -> c_int {
        let now = clock::elapsed();
        let Some(setting) = event(|objects| objects.timers.get(timer as TimerId).map(|timer| left(timer, now))) else {
            return error(libc::EINVAL);
        };
        memory::write(to, as_itimerspec(setting));
        0
    }
    /// Removes a timer.
    fn timer_delete(timer: libc::timer_t) -> c_int {
        if set(timer as TimerId, (0, 0), |first| first).is_none() {
            return error(libc::EINVAL);
        }
        event(|objects| objects.timers.remove(timer as TimerId));
        0
    }
    /// How many expiries were missed.
    fn timer_getoverrun(_timer: libc::timer_t) -> c_int {
        0
    }
}
