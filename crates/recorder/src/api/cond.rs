//! Condition variables.
//!
//! A signal is logged and sent under the recorder's lock of the condition variable, and so is the start of a wait: a
//! signal logged before a wait did not wake it. Between the record of a wait's start and the wait itself a signal may
//! come that is lost; then the wake-up is explained by a later one, which is as good an order as any.

use core::ffi::{c_int, c_void};

use libc::{clockid_t, timespec};
use wire::Tag;
use wire::record::wake;

use crate::log::{append, here, number, site};
use crate::real::{self, Object};
use crate::stripes;

/// `thrd_timedout` of C11.
const THRD_TIMEDOUT: c_int = 4;

fn waits(cond: Object, mutex: Object) {
    let stripe = stripes::of(cond as u64);
    stripe.lock();
    append(Tag::WaitBegin as u8, 0, cond as u64, site(), 0, [number(), mutex as u64]);
    stripe.unlock();
}

fn woke(cond: Object, mutex: Object, result: c_int) -> c_int {
    let timed_out = matches!(result, libc::ETIMEDOUT | THRD_TIMEDOUT);
    here(Tag::WaitEnd, if timed_out { wake::TIMED_OUT } else { wake::SIGNALLED }, cond, 0);
    here(Tag::Acquire, 0, mutex, 0);
    result
}

fn signal(tag: Tag, cond: Object, send: unsafe fn(Object) -> c_int) -> c_int {
    let stripe = stripes::of(cond as u64);
    stripe.lock();
    here(tag, 0, cond, 0);
    // SAFETY: the program calls a function that takes a condition variable, and this is one of those.
    let result = unsafe { send(cond) };
    stripe.unlock();
    result
}

export! {
    fn pthread_cond_init(cond: Object, attributes: *const c_void) -> c_int {
        here(Tag::Init, 0, cond, 0);
        real::pthread_cond_init(cond, attributes)
    }
    fn pthread_cond_destroy(cond: Object) -> c_int {
        here(Tag::Destroy, 0, cond, 0);
        real::pthread_cond_destroy(cond)
    }
    fn pthread_cond_wait(cond: Object, mutex: Object) -> c_int {
        waits(cond, mutex);
        woke(cond, mutex, real::pthread_cond_wait(cond, mutex))
    }
    fn pthread_cond_timedwait(cond: Object, mutex: Object, time: *const timespec) -> c_int {
        waits(cond, mutex);
        woke(cond, mutex, real::pthread_cond_timedwait(cond, mutex, time))
    }
    fn pthread_cond_clockwait(cond: Object, mutex: Object, clock: clockid_t, time: *const timespec) -> c_int {
        waits(cond, mutex);
        woke(cond, mutex, real::pthread_cond_clockwait(cond, mutex, clock, time))
    }
    fn pthread_cond_signal(cond: Object) -> c_int { signal(Tag::Signal, cond, real::pthread_cond_signal) }
    fn pthread_cond_broadcast(cond: Object) -> c_int { signal(Tag::Broadcast, cond, real::pthread_cond_broadcast) }

    fn cnd_init(cond: Object) -> c_int {
        here(Tag::Init, 0, cond, 0);
        real::cnd_init(cond)
    }
    fn cnd_destroy(cond: Object) {
        here(Tag::Destroy, 0, cond, 0);
        real::cnd_destroy(cond);
    }
    fn cnd_wait(cond: Object, mutex: Object) -> c_int {
        waits(cond, mutex);
        woke(cond, mutex, real::cnd_wait(cond, mutex))
    }
    fn cnd_timedwait(cond: Object, mutex: Object, time: *const timespec) -> c_int {
        waits(cond, mutex);
        woke(cond, mutex, real::cnd_timedwait(cond, mutex, time))
    }
    fn cnd_signal(cond: Object) -> c_int { signal(Tag::Signal, cond, real::cnd_signal) }
    fn cnd_broadcast(cond: Object) -> c_int { signal(Tag::Broadcast, cond, real::cnd_broadcast) }
}
