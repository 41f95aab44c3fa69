//! C11 threads: the objects and events of the POSIX functions, with C11's results.
//!
//! | function | as |
//! |---|---|
//! | `thrd_create`, `_join`, `_detach`, `_current`, `_equal` | `pthread_create` and so on; `thrd_exit`, `_yield`, `_sleep` are with their POSIX kin |
//! | `mtx_init`, `_destroy`, `_lock`, `_trylock`, `_timedlock`, `_unlock` | `pthread_mutex_*` |
//! | `cnd_init`, `_destroy`, `_wait`, `_timedwait`, `_signal`, `_broadcast` | `pthread_cond_*` |
//! | `tss_create`, `_delete`, `_get`, `_set` | `pthread_key_*`, `pthread_getspecific`, `pthread_setspecific` |
//! | `call_once` | `pthread_once` |

use core::ffi::{c_int, c_uint, c_void};

use libc::{pthread_key_t, pthread_t, timespec};
use wire::Tag;

use super::cancel::{Outcome, cancellable};
use super::step::{Call, Wait, is_time, until};
use super::{cond, key, mutex, once, thread};
use crate::memory;
use crate::sched::StartRoutine;

const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const NO_MEMORY: c_int = 3;
const TIMED_OUT: c_int = 4;

/// `mtx_recursive`; the other bit is `mtx_timed`, which every mutex is.
const RECURSIVE: c_int = 1;

/// A C11 result for an error number.
fn result(error: c_int) -> c_int {
    match error {
        0 => SUCCESS,
        libc::EBUSY => BUSY,
        libc::ETIMEDOUT => TIMED_OUT,
        libc::ENOMEM | libc::EAGAIN => NO_MEMORY,
        _ => ERROR,
    }
}

fn outcome(outcome: Outcome) -> Outcome {
    outcome.value().map_or(outcome, |error| result(error).into())
}

cancellable! {
    /// Waits for a thread's end.
    fn thrd_join(handle: pthread_t, code: *mut c_int) {
        let mut value = 0;
        let joined = thread::join(handle, &mut value, Wait::Block);
        if joined.value() == Some(0) {
            memory::write_if_wanted(code, value as c_int);
        }
        outcome(joined)
    }
    /// Waits for a signal.
    fn cnd_wait(cond: *mut c_void, lock: *mut c_void) {
        outcome(cond::wait(cond as u64, lock as u64, Wait::Block))
    }
    /// Waits for a signal or gives up.
    fn cnd_timedwait(cond: *mut c_void, lock: *mut c_void, limit: *const timespec) {
        if !is_time(limit) {
            return ERROR.into();
        }
        outcome(cond::wait(cond as u64, lock as u64, Wait::Timed).until(limit))
    }
}

export! {
    /// Creates a thread. Of the start routine's result the low half counts.
    fn thrd_create(handle: *mut pthread_t, start: StartRoutine, arg: *mut c_void) -> c_int {
        result(thread::create(handle, start, arg, thread::Attributes::default()))
    }
    /// Detaches a thread.
    fn thrd_detach(handle: pthread_t) -> c_int {
        result(thread::detach(handle))
    }
    /// The calling thread.
    fn thrd_current() -> pthread_t {
        thread::pthread_self()
    }
    /// Whether two handles name the same thread.
    fn thrd_equal(left: pthread_t, right: pthread_t) -> c_int {
        (left == right).into()
    }
    /// Initialises a mutex.
    fn mtx_init(lock: *mut c_void, kind: c_int) -> c_int {
        if !(0..4).contains(&kind) {
            return ERROR;
        }
        let kind = if kind & RECURSIVE != 0 { mutex::Kind::Recursive } else { mutex::Kind::Normal };
        mutex::init(lock as u64, kind);
        SUCCESS
    }
    /// Destroys a mutex.
    fn mtx_destroy(lock: *mut c_void) {
        mutex::destroy(lock as u64);
    }
    /// Takes a mutex.
    fn mtx_lock(lock: *mut c_void) -> c_int {
        result(mutex::lock(&Call::here(), lock as u64, Wait::Block))
    }
    /// Takes a mutex if it is free.
    fn mtx_trylock(lock: *mut c_void) -> c_int {
        result(mutex::lock(&Call::here(), lock as u64, Wait::Try))
    }
    /// Takes a mutex or gives up.
    fn mtx_timedlock(lock: *mut c_void, limit: *const timespec) -> c_int {
        if !is_time(limit) {
            return ERROR;
        }
        result(until(limit, mutex::lock(&Call::here(), lock as u64, Wait::Timed)))
    }
    /// Gives a mutex back.
    fn mtx_unlock(lock: *mut c_void) -> c_int {
        result(mutex::unlock(&Call::here(), lock as u64))
    }
    /// Initialises a condition variable.
    fn cnd_init(cond: *mut c_void) -> c_int {
        cond::init(cond as u64);
        SUCCESS
    }
    /// Destroys a condition variable.
    fn cnd_destroy(cond: *mut c_void) {
        cond::destroy(cond as u64);
    }
    /// Wakes one waiter.
    fn cnd_signal(cond: *mut c_void) -> c_int {
        result(cond::wake(cond as u64, Tag::Signal, 1))
    }
    /// Wakes all waiters.
    fn cnd_broadcast(cond: *mut c_void) -> c_int {
        result(cond::wake(cond as u64, Tag::Broadcast, usize::MAX))
    }
    /// A new key.
    fn tss_create(new: *mut pthread_key_t, destructor: *const c_void) -> c_int {
        result(key::pthread_key_create(new, destructor))
    }
    /// Ends a key.
    fn tss_delete(old: c_uint) {
        key::pthread_key_delete(old);
    }
    /// The calling thread's value.
    fn tss_get(key: c_uint) -> *mut c_void {
        key::pthread_getspecific(key)
    }
    /// Sets the calling thread's value.
    fn tss_set(key: c_uint, value: *const c_void) -> c_int {
        result(key::pthread_setspecific(key, value))
    }
}

/// Runs a routine once.
///
/// # Safety
/// As for the C function, which takes a control and a routine.
#[unsafe(naked)]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn call_once() {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!("jmp {once}", once = sym once::pthread_once);
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!("b {once}", once = sym once::pthread_once);
}
