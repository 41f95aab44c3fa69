//! What a debugger asks about the threads of a run, by calling these functions in the stopped program.

use crate::hooks::HOT;
use crate::run::RUN;
use crate::threads::{Entry, Thread};

fn of<R>(thread: u32, answer: impl FnOnce(&Entry) -> R) -> Option<R> {
    RUN.threads.with(|threads| threads.get(thread as usize).map(answer))
}

fn is_current(thread: Thread) -> bool {
    RUN.in_thread.get() && RUN.current.get() == thread
}

/// The number of threads created so far.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn __rp_debug_threads() -> u32 {
    RUN.threads.with(|threads| threads.len() as u32)
}

/// The thread that runs.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn __rp_debug_current() -> u32 {
    RUN.current.get()
}

/// The number of a thread's next event.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn __rp_debug_position(thread: u32) -> u32 {
    if is_current(thread) { HOT.position.get() } else { of(thread, |entry| entry.position).unwrap_or(0) }
}

/// The stack pointer of a suspended thread, laid out as `context::switch` leaves it; 0 for the thread that runs, and for
/// those that execute nothing more.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn __rp_debug_context(thread: u32) -> usize {
    if is_current(thread) {
        return 0;
    }
    of(thread, |entry| if entry.over { 0 } else { entry.context.addr() }).unwrap_or(0)
}
