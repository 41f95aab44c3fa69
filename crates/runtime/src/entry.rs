//! Where the process and its threads begin.

use core::cell::Cell;
use core::ffi::{CStr, c_char, c_int};
use core::ops::Range;

use crate::cell::{Global, OneThread};
use crate::libc_models::children::results;
use crate::run::{self, RUN};
use crate::slots::{self, Slot};
use crate::threads::Entry;
use crate::{api, crash, descriptors, exceptions, kept, libc_models, library_tls, link, objects, sched, sys};

/// The running thread's thread-locals.
#[cfg_attr(not(test), unsafe(export_name = "__rp_tls_base"))]
pub static TLS_BASE: OneThread<Cell<*mut u8>> = OneThread::new(Cell::new(core::ptr::null_mut()));

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

/// The program's arguments and environment, copied to where a run may change them.
#[derive(Clone, Copy)]
struct Arguments {
    argc: c_int,
    argv: *mut *mut c_char,
    envp: *mut *mut c_char,
}

static ARGUMENTS: Global<Arguments> =
    Global::new(Arguments { argc: 0, argv: core::ptr::null_mut(), envp: core::ptr::null_mut() });

/// Gives a new thread its thread-locals.
pub fn fill_thread_locals(slot: Slot) {
    // SAFETY: the instrumented program defines image and size; the slot is mapped, with `TLS_CAPACITY` bytes for this.
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
    let routine = RUN.with_thread(thread as sched::Thread, |entry| entry.routine);
    match routine {
        Some((start, arg)) => api::thread::run(start, arg),
        None => {
            let Arguments { argc, argv, envp } = ARGUMENTS.value();
            // SAFETY: the instrumented program defines both functions, and calls its `main` with such arguments.
            let code = unsafe {
                program::__rp_user_ctors();
                program::__rp_user_main(argc, argv, envp)
            };
            api::process::exit(code)
        }
    }
}

/// Where the arguments and the environment are copied to, so that a run may change them.
const ARGUMENTS_BASE: usize = 0x3400_0000_0000;

/// Whether a string of the environment is one that the program was started with: their copies come last.
pub fn is_started_with(string: u64) -> bool {
    const MOST: u64 = 1 << 32;
    (ARGUMENTS.value().envp as u64..ARGUMENTS_BASE as u64 + MOST).contains(&string)
}

/// The strings of a list that ends with null.
///
/// # Safety
/// It does, and nothing changes it meanwhile.
unsafe fn strings(list: *mut *mut c_char) -> impl Iterator<Item = *mut c_char> {
    // SAFETY: by the caller, and no entry after the null is read.
    (0..).map(move |i| unsafe { *list.add(i) }).take_while(|string| !string.is_null())
}

/// Maps room for copies of lists of strings.
///
/// # Safety
/// The lists end with null.
unsafe fn reserve_arguments(lists: [*mut *mut c_char; 2]) -> Result<Range<usize>, i32> {
    // SAFETY: by the caller; the entries of such lists are C strings.
    let each = unsafe {
        let all = lists.into_iter().flat_map(|list| strings(list));
        // Each string with its end and its place in the array, which ends with null and is aligned.
        all.map(|string| libc::strlen(string) + 1 + size_of::<usize>()).sum::<usize>()
    };
    let len = (each + 4 * size_of::<usize>()).next_multiple_of(sys::PAGE);
    sys::reserve(ARGUMENTS_BASE, len).map(|_| ARGUMENTS_BASE..ARGUMENTS_BASE + len)
}

/// Copies a list of strings to `*at`, which moves on.
///
/// # Safety
/// The list ends with null, and there is room for it.
unsafe fn copy_list(list: *mut *mut c_char, at: &mut usize) -> *mut *mut c_char {
    // SAFETY: by the caller: entries are C strings, and what is written stays in the room that the caller has for it.
    unsafe {
        let count = strings(list).count();
        let copy = at.next_multiple_of(align_of::<usize>()) as *mut *mut c_char;
        *at = copy.add(count + 1) as usize;
        for (i, string) in strings(list).enumerate() {
            let len = libc::strlen(string) + 1;
            core::ptr::copy_nonoverlapping(string, *at as *mut c_char, len);
            copy.add(i).write(*at as *mut c_char);
            *at += len;
        }
        copy.add(count).write(core::ptr::null_mut());
        copy
    }
}

/// The value of an environment variable that only the runtime uses; it is removed.
///
/// # Safety
/// `envp` ends with null.
unsafe fn take_variable(envp: *mut *mut c_char, name: &str) -> Option<*const c_char> {
    // SAFETY: by the caller: entries are C strings, and the walk ends at the null. Entries only move towards the start.
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
    // SAFETY: by the caller; the values are the rests of C strings.
    unsafe {
        if let Some(number) = take_variable(envp, wire::FD_VARIABLE) {
            return Some(libc::atoi(number));
        }
        let file = CStr::from_ptr(take_variable(envp, wire::FILE_VARIABLE)?);
        let fd = sys::open(file, libc::O_RDWR);
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
///
/// # Safety
/// Called by the C library, with the process's arguments and environment.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn main(argc: c_int, argv: *mut *mut c_char, envp: *mut *mut c_char) -> c_int {
    unsafe extern "C" {
        static mut environ: *mut *mut c_char;
    }
    // SAFETY: by the caller the lists end with null; no other code runs yet that could use them or `environ`.
    unsafe {
        let Some(fd) = wire_descriptor(envp) else {
            refuse("this program is instrumented: run it with `raceproof`, or build it without")
        };
        if let Some(number) = take_variable(envp, wire::CHILDREN_VARIABLE) {
            results::keep_in(libc::atoi(number));
        }
        if let Err(message) = link::attach(fd) {
            refuse(message);
        }
        // Huge pages would make every checkpoint a copy of two megabytes.
        libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0);
        if kept::map().is_err() || Slot::MAIN.map().is_err() {
            refuse("cannot reserve memory: the limit on address space (ulimit -v) is too low");
        }
        descriptors::reserve();
        results::hide();
        link::wait();
        let load_base = objects::locate();
        link::started(load_base as u64);
        library_tls::locate();
        exceptions::locate();
        let Ok(room) = reserve_arguments([argv, envp]) else {
            run::fail("cannot map the arguments and the environment")
        };
        let mut at = room.start;
        let argv = copy_list(argv, &mut at);
        let envp = copy_list(envp, &mut at);
        ARGUMENTS.set(Arguments { argc, argv, envp });
        environ = envp;
        crash::install();
    }
    libc_models::peers::load();
    run::serve()
}
