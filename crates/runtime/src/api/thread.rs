//! A thread's life.

use core::ffi::c_void;

use wire::{Record, Tag};

use crate::sched;

/// Runs a start routine to its end. `Start` has been committed.
///
/// # Safety
/// `start` can be called with `arg`.
pub unsafe fn run(start: sched::StartRoutine, arg: *mut c_void) -> ! {
    unsafe { start(arg) };
    let exit = Record::new(Tag::Exit, 0, 0, sched::site(), 0);
    sched::arrive(exit, None, crate::sync::Blocker::None);
    sched::commit(exit, None);
    sched::exit_thread()
}
