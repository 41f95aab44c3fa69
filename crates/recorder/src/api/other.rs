//! Barriers and semaphores.

use core::ffi::{c_int, c_void};

use libc::{clockid_t, timespec};
use wire::Tag;
use wire::record::flag::SUCCESS;

use crate::log::here;
use crate::real::{self, Object, errno, set_errno};

/// After a wait that may fail.
fn tried(sem: Object, result: c_int) -> c_int {
    let error = errno();
    if result == 0 {
        here(Tag::SemTryWait, SUCCESS, sem, 0);
    } else if matches!(error, libc::EAGAIN | libc::ETIMEDOUT) {
        here(Tag::SemTryWait, 0, sem, 0);
        set_errno(error);
    }
    result
}

export! {
    fn pthread_barrier_init(barrier: Object, attributes: *const c_void, count: u32) -> c_int {
        here(Tag::Init, 0, barrier, 0);
        real::pthread_barrier_init(barrier, attributes, count)
    }
    fn pthread_barrier_destroy(barrier: Object) -> c_int {
        here(Tag::Destroy, 0, barrier, 0);
        real::pthread_barrier_destroy(barrier)
    }
    fn pthread_barrier_wait(barrier: Object) -> c_int {
        here(Tag::BarrierArrive, 0, barrier, 0);
        let result = real::pthread_barrier_wait(barrier);
        here(Tag::BarrierLeave, 0, barrier, 0);
        result
    }

    fn sem_init(sem: Object, across: c_int, value: u32) -> c_int {
        here(Tag::Init, 0, sem, 0);
        real::sem_init(sem, across, value)
    }
    fn sem_destroy(sem: Object) -> c_int {
        here(Tag::Destroy, 0, sem, 0);
        real::sem_destroy(sem)
    }
    fn sem_post(sem: Object) -> c_int {
        here(Tag::SemPost, 0, sem, 0);
        real::sem_post(sem)
    }
    fn sem_wait(sem: Object) -> c_int {
        let result = real::sem_wait(sem);
        if result == 0 {
            here(Tag::SemWait, 0, sem, 0);
        }
        result
    }
    fn sem_trywait(sem: Object) -> c_int { tried(sem, real::sem_trywait(sem)) }
    fn sem_timedwait(sem: Object, time: *const timespec) -> c_int { tried(sem, real::sem_timedwait(sem, time)) }
    fn sem_clockwait(sem: Object, clock: clockid_t, time: *const timespec) -> c_int {
        tried(sem, real::sem_clockwait(sem, clock, time))
    }
    fn sem_getvalue(sem: Object, value: *mut c_int) -> c_int {
        here(Tag::SemGet, 0, sem, 0);
        real::sem_getvalue(sem, value)
    }
}
