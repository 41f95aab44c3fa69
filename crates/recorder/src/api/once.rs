//! Once-controls and guards of function-local statics.

use core::ffi::c_int;

use wire::Tag;
use wire::record::flag::SUCCESS;

use crate::log::here;
use crate::real::{self, Object};
use crate::thread::state;

/// Runs the routine of the thread's innermost once-control, and says so.
extern "C" fn run() {
    let (control, routine) = state().once.get();
    // The routine may use other once-controls.
    here(Tag::OnceBegin, SUCCESS, control, 0);
    if let Some(routine) = routine {
        // SAFETY: the program passed it to be called once.
        unsafe { routine() };
    }
    here(Tag::OnceEnd, 0, control, 0);
    state().once.set((core::ptr::null_mut(), None));
}

type Routine = unsafe extern "C" fn();

fn once(control: Object, routine: Option<Routine>) -> c_int {
    let outer = state().once.replace((control, routine));
    // SAFETY: the program calls a function that takes a control, and this is one of those.
    let result = unsafe { real::pthread_once(control, run) };
    let ran = state().once.replace(outer).0.is_null();
    if !ran {
        here(Tag::OnceBegin, 0, control, 0);
    }
    result
}

export! {
    fn pthread_once(control: Object, routine: Option<Routine>) -> c_int { once(control, routine) }
    fn call_once(control: Object, routine: Option<Routine>) { once(control, routine); }
    fn __cxa_guard_acquire(guard: Object) -> c_int {
        let run = real::__cxa_guard_acquire(guard);
        here(Tag::OnceBegin, if run != 0 { SUCCESS } else { 0 }, guard, 0);
        run
    }
    fn __cxa_guard_release(guard: Object) {
        here(Tag::OnceEnd, 0, guard, 0);
        real::__cxa_guard_release(guard);
    }
    fn __cxa_guard_abort(guard: Object) {
        here(Tag::OnceEnd, 0, guard, 0);
        real::__cxa_guard_abort(guard);
    }
}
