//! Mutexes, reader-writer locks and spin locks.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering};

use libc::{clockid_t, timespec};
use wire::Tag;
use wire::record::flag::{SHARED, SUCCESS};

use super::handover::{START, acquire_cell, cell, mix, release_cell};
use crate::log::here;
use crate::real::{self, Object};
use crate::thread::state;

/// `thrd_busy` and `thrd_timedout` of C11.
const THRD_BUSY: c_int = 1;
const THRD_TIMEDOUT: c_int = 4;

/// Whether a result says that the lock was acquired.
fn had(result: c_int) -> bool {
    result == 0 || result == libc::EOWNERDEAD
}

/// Whether the program has locks that outlive their holders.
static ROBUST: AtomicBool = AtomicBool::new(false);

/// What threads that ended hand over to those who get their locks.
fn inheritance() -> u64 {
    cell(mix(START, b"locks of the dead"))
}

/// The calling thread ends. The kernel gives its robust locks to others.
pub fn thread_ends() {
    if ROBUST.load(Ordering::Relaxed) {
        release_cell(inheritance());
    }
}

fn acquired(lock: Object, flags: u8, result: c_int) -> c_int {
    inherited(result);
    if had(result) {
        here(Tag::Acquire, flags, lock, 0);
    }
    result
}

/// After a lock was acquired whose holder had ended.
fn inherited(result: c_int) {
    if result == libc::EOWNERDEAD {
        acquire_cell(inheritance());
    }
}

/// After a try, or a lock with a limit of time.
fn tried(lock: Object, flags: u8, result: c_int) -> c_int {
    inherited(result);
    if had(result) {
        here(Tag::TryAcquire, flags | SUCCESS, lock, 0);
    } else if matches!(result, libc::EBUSY | libc::ETIMEDOUT | THRD_BUSY | THRD_TIMEDOUT) {
        here(Tag::TryAcquire, flags, lock, 0);
    }
    result
}

fn shared(lock: Object, flags: u8, result: c_int) -> c_int {
    if had(result) {
        state().hold(lock as u64, flags);
    }
    result
}

fn made(object: Object, result: c_int) -> c_int {
    if result == 0 {
        here(Tag::Init, 0, object, 0);
    }
    result
}

/// Logs the end of an object before it comes.
fn gone(object: Object) {
    here(Tag::Destroy, 0, object, 0);
}

fn released(lock: Object) {
    here(Tag::Release, 0, lock, 0);
}

export! {
    fn pthread_mutexattr_setrobust(attributes: *mut c_void, robust: c_int) -> c_int {
        ROBUST.store(true, Ordering::Relaxed);
        real::pthread_mutexattr_setrobust(attributes, robust)
    }
    fn pthread_mutex_init(mutex: Object, attributes: *const c_void) -> c_int {
        made(mutex, real::pthread_mutex_init(mutex, attributes))
    }
    fn pthread_mutex_destroy(mutex: Object) -> c_int {
        gone(mutex);
        real::pthread_mutex_destroy(mutex)
    }
    fn pthread_mutex_lock(mutex: Object) -> c_int { acquired(mutex, 0, real::pthread_mutex_lock(mutex)) }
    fn pthread_mutex_trylock(mutex: Object) -> c_int { tried(mutex, 0, real::pthread_mutex_trylock(mutex)) }
    fn pthread_mutex_timedlock(mutex: Object, time: *const timespec) -> c_int {
        tried(mutex, 0, real::pthread_mutex_timedlock(mutex, time))
    }
    fn pthread_mutex_clocklock(mutex: Object, clock: clockid_t, time: *const timespec) -> c_int {
        tried(mutex, 0, real::pthread_mutex_clocklock(mutex, clock, time))
    }
    fn pthread_mutex_unlock(mutex: Object) -> c_int {
        released(mutex);
        real::pthread_mutex_unlock(mutex)
    }

    fn mtx_init(mutex: Object, kind: c_int) -> c_int { made(mutex, real::mtx_init(mutex, kind)) }
    fn mtx_destroy(mutex: Object) {
        gone(mutex);
        real::mtx_destroy(mutex);
    }
    fn mtx_lock(mutex: Object) -> c_int { acquired(mutex, 0, real::mtx_lock(mutex)) }
    fn mtx_trylock(mutex: Object) -> c_int { tried(mutex, 0, real::mtx_trylock(mutex)) }
    fn mtx_timedlock(mutex: Object, time: *const timespec) -> c_int { tried(mutex, 0, real::mtx_timedlock(mutex, time)) }
    fn mtx_unlock(mutex: Object) -> c_int {
        released(mutex);
        real::mtx_unlock(mutex)
    }

    fn pthread_spin_init(lock: Object, across: c_int) -> c_int { made(lock, real::pthread_spin_init(lock, across)) }
    fn pthread_spin_destroy(lock: Object) -> c_int {
        gone(lock);
        real::pthread_spin_destroy(lock)
    }
    fn pthread_spin_lock(lock: Object) -> c_int { acquired(lock, 0, real::pthread_spin_lock(lock)) }
    fn pthread_spin_trylock(lock: Object) -> c_int { tried(lock, 0, real::pthread_spin_trylock(lock)) }
    fn pthread_spin_unlock(lock: Object) -> c_int {
        released(lock);
        real::pthread_spin_unlock(lock)
    }

    fn pthread_rwlock_init(lock: Object, attributes: *const c_void) -> c_int {
        made(lock, real::pthread_rwlock_init(lock, attributes))
    }
    fn pthread_rwlock_destroy(lock: Object) -> c_int {
        gone(lock);
        real::pthread_rwlock_destroy(lock)
    }
    fn pthread_rwlock_rdlock(lock: Object) -> c_int {
        shared(lock, SHARED, acquired(lock, SHARED, real::pthread_rwlock_rdlock(lock)))
    }
    fn pthread_rwlock_wrlock(lock: Object) -> c_int {
        shared(lock, 0, acquired(lock, 0, real::pthread_rwlock_wrlock(lock)))
    }
    fn pthread_rwlock_tryrdlock(lock: Object) -> c_int {
        shared(lock, SHARED, tried(lock, SHARED, real::pthread_rwlock_tryrdlock(lock)))
    }
    fn pthread_rwlock_trywrlock(lock: Object) -> c_int {
        shared(lock, 0, tried(lock, 0, real::pthread_rwlock_trywrlock(lock)))
    }
    fn pthread_rwlock_timedrdlock(lock: Object, time: *const timespec) -> c_int {
        shared(lock, SHARED, tried(lock, SHARED, real::pthread_rwlock_timedrdlock(lock, time)))
    }
    fn pthread_rwlock_timedwrlock(lock: Object, time: *const timespec) -> c_int {
        shared(lock, 0, tried(lock, 0, real::pthread_rwlock_timedwrlock(lock, time)))
    }
    fn pthread_rwlock_clockrdlock(lock: Object, clock: clockid_t, time: *const timespec) -> c_int {
        shared(lock, SHARED, tried(lock, SHARED, real::pthread_rwlock_clockrdlock(lock, clock, time)))
    }
    fn pthread_rwlock_clockwrlock(lock: Object, clock: clockid_t, time: *const timespec) -> c_int {
        shared(lock, 0, tried(lock, 0, real::pthread_rwlock_clockwrlock(lock, clock, time)))
    }
    fn pthread_rwlock_unlock(lock: Object) -> c_int {
        let flags = state().let_go(lock as u64);
        here(Tag::Release, flags, lock, 0);
        real::pthread_rwlock_unlock(lock)
    }
}
