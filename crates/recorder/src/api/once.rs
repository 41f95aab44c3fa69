//! Once-controls and guards of function-local statics.

use core::ffi::c_int;

use wire::Tag;
use wire::record::flag::SUCCESS;

use crate::log::here;
use crate::real::{self, Object};
use crate::thread::state;

/// Runs the routine of the thread's innermost once-control, and says so.
unsafe extern "C" fn run() {
    let (control, routine) = state().once;
    // The routine may use other once-controls.
    here(Tag::OnceBegin, SUCCESS, control, 0);
    if let Some(routine) = routine {
        // Safety: the program's routine.
        unsafe { routine() };
    }
    here(Tag::OnceEnd, 0, control, 0);
    state().once = (core::ptr::null_mut(), None);
}

type Routine = unsafe extern "C" fn();

fn once(control: Object, routine: Option<Routine>) -> c_int {
    let outer = core::mem::replace(&mut state().once, (control, routine));
    // Safety: the program's control.
    let result = unsafe { real::pthread_once(control, run) };
    let ran = state().once.0.is_null();
    state().once = outer;
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
