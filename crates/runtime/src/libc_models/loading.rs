//! Libraries that the program loads while it runs. Their code is not instrumented, which the table of library functions says;
//! each thread has its own of their thread-local storage all the same.

use core::ffi::{c_char, c_int, c_void};

use super::library_function::LibraryFunction;
use crate::{library_tls, objects, sched};

type Load = unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void;

// SAFETY: the type is that of the C library's function.
static LOAD: LibraryFunction<Load> = unsafe { LibraryFunction::new(c"dlopen") };

/// The libraries that are loaded by now have thread-local storage, and those that have any stay loaded: threads that are
/// suspended keep copies of it.
fn give_storage() {
    // SAFETY: the dynamic linker named an object that is loaded; naming it again runs none of its code.
    let keep = |name| unsafe {
        LOAD.get()(name, libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE);
    };
    objects::make_tls(keep);
    library_tls::locate();
}

export! {
    /// Loads a library; the next run needs a new process.
    fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void {
        sched::spoil_process();
        // SAFETY: the program calls this function with these arguments.
        let handle = unsafe { LOAD.get()(name, flags) };
        if sched::running() && !handle.is_null() {
            give_storage();
        }
        handle
    }
}
