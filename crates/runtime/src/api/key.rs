//! Thread-specific data.
//!
//! | function | semantics |
//! |---|---|
//! | `pthread_key_create`, `__pthread_key_create` | a new key; no event |
//! | `pthread_key_delete` | no destructor is called |
//! | `pthread_getspecific`, `pthread_setspecific` | the calling thread's own value, so no event |
//!
//! Destructors are called when a thread ends, see [`super::thread`].

use core::ffi::{c_int, c_void};

use libc::pthread_key_t;

use super::step::me;
use crate::sched;

export! {
    /// A new key.
    unsafe fn pthread_key_create(key: *mut pthread_key_t, destructor: *const c_void) -> c_int {
        match sched::state().keys.create(destructor as u64) {
            Some(new) => {
                unsafe { *key = new };
                0
            }
            None => libc::EAGAIN,
        }
    }
    /// A new key.
    unsafe fn __pthread_key_create(key: *mut pthread_key_t, destructor: *const c_void) -> c_int {
        unsafe { pthread_key_create(key, destructor) }
    }
    /// Ends a key.
    unsafe fn pthread_key_delete(key: pthread_key_t) -> c_int {
        if sched::state().keys.delete(key) { 0 } else { libc::EINVAL }
    }
    /// The calling thread's value.
    unsafe fn pthread_getspecific(key: pthread_key_t) -> *mut c_void {
        sched::state().keys.get(me(), key) as *mut c_void
    }
    /// Sets the calling thread's value.
    unsafe fn pthread_setspecific(key: pthread_key_t, value: *const c_void) -> c_int {
        if sched::state().keys.set(me(), key, value as u64) { 0 } else { libc::EINVAL }
    }
}
