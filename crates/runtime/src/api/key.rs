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
use crate::{memory, sched};

export! {
    /// A new key.
    fn pthread_key_create(key: *mut pthread_key_t, destructor: *const c_void) -> c_int {
        match sched::with_objects(|objects| objects.keys.create(destructor as u64)) {
            Some(new) => {
                memory::write(key, new);
                0
            }
            None => libc::EAGAIN,
        }
    }
    /// A new key.
    fn __pthread_key_create(key: *mut pthread_key_t, destructor: *const c_void) -> c_int {
        pthread_key_create(key, destructor)
    }
    /// Ends a key.
    fn pthread_key_delete(key: pthread_key_t) -> c_int {
        if sched::with_objects(|objects| objects.keys.delete(key)) { 0 } else { libc::EINVAL }
    }
    /// The calling thread's value.
    fn pthread_getspecific(key: pthread_key_t) -> *mut c_void {
        sched::with_objects(|objects| objects.keys.get(me(), key)) as *mut c_void
    }
    /// Sets the calling thread's value.
    fn pthread_setspecific(key: pthread_key_t, value: *const c_void) -> c_int {
        let kept = sched::with_objects(|objects| objects.keys.set(me(), key, value as u64));
        if kept { 0 } else { libc::EINVAL }
    }
}
