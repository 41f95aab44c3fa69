//! Cancellation and cleanup handlers.
//!
//! | function | semantics |
//! |---|---|
//! | `pthread_cancel` | `Cancel`: the request stays until a cancellation point of the thread acts on it |
//! | `pthread_testcancel` | `Cancelled` if a request is pending; else no event |
//! | `pthread_setcancelstate` | no event |
//! | `pthread_setcanceltype` | no event; the asynchronous type is not modelled |
//! | `__pthread_register_cancel`, `__pthread_unregister_cancel` (and `_defer`, `_restore`) | `pthread_cleanup_push`, `_pop` in C |
//! | `__pthread_unwind_next` | a cleanup handler has run; on to the next |
//! | `_pthread_cleanup_push`, `_pop` (and `_defer`, `_restore`) | the same in old binaries |
//!
//! Cancellation points are the functions defined with `cancellable!`. A pending request enables them, and their
//! event becomes `Cancelled`. A thread sees requests right after its event before, so `Cancel` does not commute
//! with any event of the thread it asks.

use core::ffi::{c_int, c_void};

use libc::pthread_t;
use wire::Tag;

use super::step::{Call, Step, me, misuse, set_errno, unmodelled};
use super::unwind;
use crate::sched::{self, Thread};
use crate::sync::{Blocker, SyncObjects, ThreadState};
use crate::{interrupts, memory};

const ENABLE: c_int = 0;
const DISABLE: c_int = 1;
const DEFERRED: c_int = 0;
const ASYNCHRONOUS: c_int = 1;
/// What joining a cancelled thread gives (`PTHREAD_CANCELED`).
const CANCELED: u64 = u64::MAX;

/// The outcome of a cancellation point.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// What the function returns.
    value: i64,
    /// Not 0: the thread acts on a request; the function does not return.
    cancelled: u64,
}

impl Outcome {
    /// The thread acts on a request.
    pub const CANCELLED: Self = Self { value: 0, cancelled: 1 };

    /// The function returns this number, as wide as a pointer.
    pub fn word(value: isize) -> Self {
        Self { value: value as i64, cancelled: 0 }
    }

    /// As [`until`](super::step::until), for a call that is a cancellation point.
    pub fn until(self, limit: *const libc::timespec) -> Self {
        if let Some(value) = self.value() {
            super::step::until(limit, value);
        }
        self
    }

    /// As a result that code for C11 looks at: `None` if the thread acts on a request.
    pub fn value(self) -> Option<c_int> {
        (self.cancelled == 0).then_some(self.value as c_int)
    }
}

impl From<c_int> for Outcome {
    fn from(value: c_int) -> Self {
        Self { value: value.into(), cancelled: 0 }
    }
}

/// Defines functions of the C library that are cancellation points. The body gives an [`Outcome`]; when the thread is
/// cancelled the frames of the program are left as if it had called `pthread_exit` in place of the function, so
/// none of this library's own frames are unwound.
macro_rules! cancellable {
    ($($(#[$meta:meta])* $(unsafe)? fn $name:ident($($arg:ident: $type:ty),* $(,)?) $body:block)*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// As for the C function, whose arguments it takes.
        #[unsafe(naked)]
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C" fn $name() {
            extern "C" fn body($($arg: $type),*) -> $crate::api::cancel::Outcome $body
            $crate::api::unwind::cancellation_point!(body)
        }
    )*};
}
pub(crate) use cancellable;

/// Lends what the model keeps of the calling thread.
pub fn with_thread<R>(use_it: impl FnOnce(&mut ThreadState) -> R) -> R {
    sched::with_objects(|objects| use_it(objects.threads.get_mut(me())))
}

/// If a request is due, makes this event `Cancelled` and starts the thread's end.
pub fn act(objects: &mut SyncObjects, thread: Thread, step: &mut Step) -> bool {
    let due = objects.cancel_due(thread);
    if due {
        (step.tag, step.flags, step.address, step.argument, step.extra) = (Tag::Cancelled, 0, 0, 0, None);
        let thread = objects.threads.get_mut(thread);
        thread.ending = true;
        thread.result = CANCELED;
    }
    due
}

/// What a call gives that a signal interrupted.
pub fn interrupted() -> Outcome {
    set_errno(libc::EINTR);
    (-1).into()
}

/// A cancellation point without an event of its own.
pub fn point(call: &Call) -> Outcome {
    let is_interrupted = interrupts::take_interrupted_call();
    if !sched::with_objects(|objects| objects.cancel_due(me())) {
        return if is_interrupted { interrupted() } else { 0.into() };
    }
    call.step(Tag::Cancelled, 0).run(Blocker::None, act);
    Outcome::CANCELLED
}

cancellable! {
    /// Acts on a pending request.
    fn pthread_testcancel() {
        point(&Call::here())
    }
}

export! {
    /// Asks a thread to cancel itself.
    fn pthread_cancel(thread: pthread_t) -> c_int {
        let Some(target) = sched::with_objects(|objects| objects.threads.by_handle(thread)) else {
            misuse(thread, "cancels a thread that does not exist");
            return libc::ESRCH;
        };
        Call::here().step(Tag::Cancel, 0).argument(target).run(Blocker::None, |objects, _, _| {
            objects.threads.get_mut(target).cancel_requested = true;
        });
        if sched::with_objects(|objects| objects.threads.get(target).cancel_asynchronous) {
            unmodelled("cancels a thread whose cancellation is asynchronous");
        }
        0
    }
    /// Enables or disables acting on requests.
    fn pthread_setcancelstate(new: c_int, old: *mut c_int) -> c_int {
        if new != ENABLE && new != DISABLE {
            return libc::EINVAL;
        }
        let was = with_thread(|thread| core::mem::replace(&mut thread.cancel_disabled, new == DISABLE));
        memory::write_if_wanted(old, if was { DISABLE } else { ENABLE });
        0
    }
    /// Chooses when requests are acted on.
    fn pthread_setcanceltype(new: c_int, old: *mut c_int) -> c_int {
        if new != DEFERRED && new != ASYNCHRONOUS {
            return libc::EINVAL;
        }
        let was = with_thread(|thread| core::mem::replace(&mut thread.cancel_asynchronous, new == ASYNCHRONOUS));
        memory::write_if_wanted(old, if was { ASYNCHRONOUS } else { DEFERRED });
        if new == ASYNCHRONOUS && sched::with_objects(|objects| objects.cancel_due(me())) {
            unmodelled("makes cancellation asynchronous while a request is pending");
        }
        0
    }
    /// A cleanup handler is in place no more.
    fn __pthread_unregister_cancel(buffer: *mut unwind::CleanupBuffer) {
        let previous = memory::read(buffer).previous;
        with_thread(|thread| thread.cleanup = previous);
    }
    /// A cleanup handler is in place no more.
    fn __pthread_unregister_cancel_restore(buffer: *mut unwind::CleanupBuffer) {
        __pthread_unregister_cancel(buffer);
    }
    /// Puts a cleanup handler in place.
    fn _pthread_cleanup_push(
        buffer: *mut unwind::OldCleanupBuffer, routine: *const c_void, arg: *mut c_void,
    ) {
        let previous = with_thread(|thread| core::mem::replace(&mut thread.old_cleanup, buffer as u64));
        memory::write(buffer, unwind::OldCleanupBuffer { routine, arg, cancel_type: 0, previous });
    }
    /// Takes a cleanup handler away and calls it if asked.
    fn _pthread_cleanup_pop(buffer: *mut unwind::OldCleanupBuffer, execute: c_int) {
        let buffer = memory::read(buffer);
        with_thread(|thread| thread.old_cleanup = buffer.previous);
        if execute != 0 {
            buffer.call();
        }
    }
    /// Puts a cleanup handler in place.
    fn _pthread_cleanup_push_defer(
        buffer: *mut unwind::OldCleanupBuffer, routine: *const c_void, arg: *mut c_void,
    ) {
        _pthread_cleanup_push(buffer, routine, arg);
    }
    /// Takes a cleanup handler away and calls it if asked.
    fn _pthread_cleanup_pop_restore(buffer: *mut unwind::OldCleanupBuffer, execute: c_int) {
        _pthread_cleanup_pop(buffer, execute);
    }
}
