//! Thread-specific data.
//!
//! | function | semantics |
//! |---|---|
//! | `pthread_key_create`, `__pthread_key_create` | a new key, whose number depends on which are in use: an access to that cell |
//! | `pthread_key_delete` | the same; no destructor is called |
//! | `pthread_getspecific`, `pthread_setspecific` | the calling thread's own value, so no event (to use a key while it is deleted is not defined) |
//!
//! Destructors are called when a thread ends, see [`super::thread`].

use core::ffi::{c_int, c_void};

use libc::pthread_key_t;
use wire::Tag;
use wire::record::order;

use super::step::me;
use crate::libc_models::event::{Access, operate};
use crate::sync::Blocker;
use crate::sync::key::Keys;
use crate::{memory, sched};

/// Changes which keys are in use, as one event.
fn change<R>(change: impl FnOnce(&mut Keys) -> R) -> R {
    let at = wire::LIBRARY_STATE + 8 * u64::from(wire::KEYS);
    let access = Access { tag: Tag::ReadModifyWrite, order: order::RELAXED, at, len: 8 };
    operate(&[access], Blocker::None, |_| sched::with_objects(|objects| change(&mut objects.keys)))
        .expect("raceproof bug: a call that does not wait was cancelled")
}

export! {
    /// A new key.
    fn pthread_key_create(key: *mut pthread_key_t, destructor: *const c_void) -> c_int {
        match change(|keys| keys.create(destructor as u64)) {
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
        if change(|keys| keys.delete(key)) { 0 } else { libc::EINVAL }
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
