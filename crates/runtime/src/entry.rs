//! Where the process and its threads begin.

use core::ffi::{c_char, c_int};

use crate::cell::Global;
use crate::run::{self, RUN};
use crate::slots::{self, Slot};
use crate::threads::Entry;
use crate::{api, crash, exceptions, kept, link, objects, sched, sys};

/// The running thread's thread-locals.
#[cfg_attr(not(test), unsafe(export_name = "__rp_tls_base"))]
pub static TLS_BASE: Global<*mut u8> = Global::new(core::ptr::null_mut());

/// What the instrumented program defines.
mod program {
    use super::{c_char, c_int};
    unsafe extern "C" {
        pub(super) fn __rp_user_main(argc: c_int, argv: *mut *mut c_char, envp: *mut *mut c_char) -> c_int;
        pub(super) fn __rp_user_ctors();
        pub(super) static __rp_tls_image: u8;
        pub(super) static __rp_tls_size: u64;
    }
}

/// The program's arguments and environment, copied to the initial thread's slot.
struct Arguments {
    argc: c_int,
    argv: *mut *mut c_char,
    envp: *mut *mut c_char,
}

static ARGUMENTS: Global<Arguments> =
    Global::new(Arguments { argc: 0, argv: core::ptr::null_mut(), envp: core::ptr::null_mut() });

/// Gives a new thread its thread-locals.
pub fn fill_thread_locals(slot: Slot) {
    // Safety: the image has that size, and the slot's memory is mapped.
    unsafe {
        let size = program::__rp_tls_size as usize;
        if size > slots::TLS_CAPACITY {
            run::fail("the program has too many thread-local variables");
        }
        core::ptr::copy_nonoverlapping(&raw const program::__rp_tls_image, slot.tls(), size);
    }
}

/// The first function on every thread's stack.
pub extern "C" fn thread_main(thread: usize) -> ! {
    sched::commit(Entry::START, None);
    // Safety: no borrow outlives the expression.
    let routine = unsafe { (&(*RUN.get()).threads)[thread].routine };
    match routine {
        // Safety: the routine and its argument are the program's.
        Some((start, arg)) => unsafe { api::thread::run(start, arg) },
        None => {
            // Safety: the program's own functions.
            let code = unsafe {
                program::__rp_user_ctors();
                let arguments = ARGUMENTS.get();
                program::__rp_user_main((*arguments).argc, (*arguments).argv, (*arguments).envp)
            };
            api::process::exit(code)
        }
    }
}

/// Copies strings and an array of them to `*at`, which moves on.
///
/// # Safety
/// `list` ends with null; the room at `*at` suffices.
unsafe fn copy_list(list: *const *const c_char, at: &mut usize, end: usize) -> Option<*mut *mut c_char> {
    let mut count = 0;
    // Safety: the caller's.
    unsafe {
        while !(*list.add(count)).is_null() {
            count += 1;
        }
        let copy = at.next_multiple_of(align_of::<*mut c_char>()) as *mut *mut c_char;
        *at = copy.add(count + 1) as usize;
        for i in 0..count {
            let len = libc::strlen(*list.add(i)) + 1;
            if end.saturating_sub(*at) < len {
                return None;
            }
            core::ptr::copy_nonoverlapping(*list.add(i), *at as *mut c_char, len);
            copy.add(i).write(*at as *mut c_char);
            *at += len;
        }
        copy.add(count).write(core::ptr::null_mut());
        Some(copy)
    }
}

/// The value of an environment variable that only the runtime uses; it is removed.
///
/// # Safety
/// `envp` ends with null.
unsafe fn take_variable(envp: *mut *mut c_char, name: &str) -> Option<*const c_char> {
    // Safety: the caller's.
    unsafe {
        let mut at = envp;
        while !(*at).is_null() {
            let entry = *at;
            let same = libc::strncmp(entry, name.as_ptr().cast(), name.len()) == 0;
            if same && *entry.add(name.len()) == b'=' as c_char {
                loop {
                    *at = *at.add(1);
                    if (*at).is_null() {
                        return Some(entry.add(name.len() + 1));
                    }
                    at = at.add(1);
                }
            }
            at = at.add(1);
        }
    }
    None
}

/// The shared memory's descriptor.
///
/// # Safety
/// `envp` ends with null.
unsafe fn wire_descriptor(envp: *mut *mut c_char) -> Option<c_int> {
    // Safety: the caller's; the values are C strings.
    unsafe {
        if let Some(number) = take_variable(envp, wire::FD_VARIABLE) {
            return Some(libc::atoi(number));
        }
        let file = take_variable(envp, wire::FILE_VARIABLE)?;
        let flags = libc::O_RDWR | libc::O_CLOEXEC;
        let fd = sys::sys!(SYS_openat, libc::AT_FDCWD, file, flags);
        (fd >= 0).then_some(fd as c_int)
    }
}

fn refuse(message: &str) -> ! {
    sys::complain("raceproof: ");
    sys::complain(message);
    sys::complain("\n");
    sys::leave(2)
}

/// The process starts here; the program's own `main` becomes its initial thread.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn main(argc: c_int, argv: *mut *mut c_char, envp: *mut *mut c_char) -> c_int {
    unsafe extern "C" {
        static mut environ: *mut *mut c_char;
    }
    // Safety: arguments and environment are the process's.
    unsafe {
        let Some(fd) = wire_descriptor(envp) else {
            refuse("this program is instrumented: run it with `raceproof`, or build it without")
        };
        if let Err(message) = link::attach(fd) {
            refuse(message);
        }
        // Huge pages would make every checkpoint a copy of two megabytes.
        libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0);
        if kept::map().is_err() || Slot::MAIN.map().is_err() {
            refuse("cannot reserve memory: the limit on address space (ulimit -v) is too low");
        }
        link::wait();
        let load_base = objects::locate();
        link::started(load_base as u64);
        exceptions::locate();
        let room = Slot::MAIN.arguments();
        let mut at = room.start;
        let copies = (
            copy_list(argv.cast_const().cast(), &mut at, room.end),
            copy_list(envp.cast_const().cast(), &mut at, room.end),
        );
        let (Some(argv), Some(envp)) = copies else { run::fail("the arguments and the environment are too large") };
        *ARGUMENTS.get() = Arguments { argc, argv, envp };
        environ = envp;
        crash::install();
    }
    run::serve()
}
