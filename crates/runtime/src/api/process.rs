//! The end of the process.
//!
//! | function | semantics |
//! |---|---|
//! | `exit` | destructors of the calling thread, handlers last first, static destructors, streams written out; then the thread is parked |
//! | `quick_exit` | its handlers, then as `_exit` |
//! | `_exit`, `_Exit` | the thread is parked at once |
//! | `atexit`, `on_exit`, `at_quick_exit`, `__cxa_atexit`, `__cxa_at_quick_exit` | register handlers |
//! | `__cxa_thread_atexit`, `__cxa_thread_atexit_impl` | register a destructor of a C++ `thread_local` object |
//! | `__cxa_finalize` | nothing for the program itself, whose handlers `exit` calls |
//! | `abort` | ends the run as a crash |
//! | `__assert_fail`, `__assert`, `__assert_perror_fail` | ends the run as a failed assertion |
//!
//! The list of handlers is guarded by a lock of the C library. Once there are several threads, registering a handler
//! and taking one out are an `Acquire` and `Release` of it, so that what was done before registering happens before
//! the handler. The lock is
//! [`EXIT_HANDLERS`].
//!
//! Handlers of shared libraries are left to the C library: no code of the program runs in them.

use core::ffi::{CStr, c_char, c_int, c_void};

use wire::{ReplyKind, Tag};

use super::step::{Call, unmodelled};
use super::thread;
use crate::sched;
use crate::sync::exit::Handler;
use crate::sync::{Blocker, Mode, Mutex};
use crate::text::text;

/// Stands for the lock of the list of handlers in traces.
#[cfg_attr(not(test), unsafe(export_name = "__rp_exit_handlers"))]
pub static EXIT_HANDLERS: u64 = 0;

unsafe extern "C" {
    /// The program's own destructors; generated.
    fn __rp_user_dtors();
    /// Its address names the program among the shared objects.
    static __dso_handle: c_void;
    static program_invocation_short_name: *const c_char;
}

/// Works on the lists of handlers under their lock.
fn with_handlers<R>(work: impl FnOnce(&mut crate::sync::exit::Handlers) -> R) -> R {
    if !sched::running() || sched::state().threads.count() == 1 {
        return work(&mut sched::state().handlers);
    }
    let (call, lock) = (Call::here(), &raw const EXIT_HANDLERS as u64);
    let wanted = Blocker::Lock { lock, mode: Mode::Exclusive };
    call.step(Tag::Acquire, lock).run(wanted, |state, thread, _| state.ensure::<Mutex>(lock).acquire(thread));
    let result = work(&mut sched::state().handlers);
    call.step(Tag::Release, lock).run(Blocker::None, |state, thread, _| {
        state.ensure::<Mutex>(lock).release(thread);
    });
    result
}

fn register(handler: Handler) -> c_int {
    if sched::state().handlers.exiting && sched::state().threads.count() > 1 {
        // A thread that found no handlers left no event to order this with.
        unmodelled("registers an exit handler while the program ends");
    }
    with_handlers(|handlers| handlers.exit.push(handler));
    0
}

unsafe fn call_handler(handler: Handler, status: c_int) {
    // Safety: the program registered functions of these types.
    unsafe {
        match handler {
            Handler::Plain(function) => {
                core::mem::transmute::<usize, unsafe extern "C" fn()>(function as usize)();
            }
            Handler::WithArgument(function, arg) => {
                let function: unsafe extern "C" fn(*mut c_void) = core::mem::transmute(function as usize);
                function(arg as *mut c_void);
            }
            Handler::WithStatus(function, arg) => {
                let function: unsafe extern "C" fn(c_int, *mut c_void) = core::mem::transmute(function as usize);
                function(status, arg as *mut c_void);
            }
        }
    }
}

/// Ends the program.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn exit(code: c_int) -> ! {
    thread::call_thread_destructors();
    sched::state().handlers.exiting = true;
    while !sched::state().handlers.exit.is_empty() {
        if let Some(handler) = with_handlers(|handlers| handlers.exit.pop()) {
            unsafe { call_handler(handler, code) };
        }
    }
    // Safety: the program is at its end.
    unsafe {
        __rp_user_dtors();
        libc::fflush(core::ptr::null_mut());
    }
    exit_at_once(code)
}

/// What `_exit` does.
pub fn exit_at_once(code: i32) -> ! {
    // The status a parent would see.
    sched::park(ReplyKind::Exit, code & 0xff, "")
}

/// The next definition of a function of ours: the C library's.
unsafe fn next<F: Copy>(name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<usize>()) };
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    // Safety: the caller gives the function's type.
    (!found.is_null()).then(|| unsafe { core::mem::transmute_copy(&found) })
}

/// Whether the handle is that of the program, which this library is part of.
fn is_program(dso: *const c_void) -> bool {
    dso.is_null() || core::ptr::eq(dso, &raw const __dso_handle)
}

unsafe fn assertion_failed(condition: &str, file: *const c_char, line: c_int, function: *const c_char) -> ! {
    // Safety: strings of the compiler, and the C library's name of the program.
    unsafe {
        let text = |string: *const c_char| {
            if string.is_null() { "" } else { CStr::from_ptr(string).to_str().unwrap_or("?") }
        };
        let place = if function.is_null() { "" } else { ": " };
        let message = text!(
            "{}: {}:{line}: {}{place}Assertion `{condition}' failed.\n",
            text(program_invocation_short_name),
            text(file),
            text(function),
        );
        crate::sys::complain(message.as_str());
    }
    sched::park(ReplyKind::Assertion, 0, condition)
}

/// Whether a C++ exception is being handled, as when nothing catches it.
fn exception_in_flight() -> bool {
    // Safety: part of the C++ ABI, where the program has it.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, c"__cxa_current_exception_type".as_ptr());
        let function: Option<unsafe extern "C" fn() -> *const c_void> = core::mem::transmute(found);
        function.is_some_and(|current| !current().is_null())
    }
}

export! {
    /// Ends the program.
    unsafe fn _exit(code: c_int) -> ! {
        exit_at_once(code)
    }
    /// Ends the program.
    unsafe fn _Exit(code: c_int) -> ! {
        exit_at_once(code)
    }
    /// Ends the program with the handlers for this.
    unsafe fn quick_exit(code: c_int) -> ! {
        while !sched::state().handlers.quick_exit.is_empty() {
            if let Some(handler) = with_handlers(|handlers| handlers.quick_exit.pop()) {
                unsafe { call_handler(handler, code) };
            }
        }
        exit_at_once(code)
    }
    /// Registers a handler.
    unsafe fn atexit(function: *const c_void) -> c_int {
        register(Handler::Plain(function as u64))
    }
    /// Registers a handler.
    unsafe fn on_exit(function: *const c_void, arg: *const c_void) -> c_int {
        register(Handler::WithStatus(function as u64, arg as u64))
    }
    /// Registers a handler.
    unsafe fn __cxa_atexit(function: *const c_void, arg: *const c_void, dso: *const c_void) -> c_int {
        if is_program(dso) {
            return register(Handler::WithArgument(function as u64, arg as u64));
        }
        type Register = unsafe extern "C" fn(*const c_void, *const c_void, *const c_void) -> c_int;
        unsafe { next::<Register>(c"__cxa_atexit") }.map_or(-1, |register| unsafe { register(function, arg, dso) })
    }
    /// Registers a handler of `quick_exit`.
    unsafe fn at_quick_exit(function: *const c_void) -> c_int {
        with_handlers(|handlers| handlers.quick_exit.push(Handler::Plain(function as u64)));
        0
    }
    /// Registers a handler of `quick_exit`.
    unsafe fn __cxa_at_quick_exit(function: *const c_void, _dso: *const c_void) -> c_int {
        unsafe { at_quick_exit(function) }
    }
    /// Registers a destructor.
    unsafe fn __cxa_thread_atexit(function: *const c_void, object: *const c_void, _dso: *const c_void) -> c_int {
        sched::state().handlers.at_thread_end(super::step::me(), function as u64, object as u64);
        0
    }
    /// Registers a destructor.
    unsafe fn __cxa_thread_atexit_impl(function: *const c_void, object: *const c_void, dso: *const c_void) -> c_int {
        unsafe { __cxa_thread_atexit(function, object, dso) }
    }
    /// Calls the handlers of a shared object that is unloaded.
    unsafe fn __cxa_finalize(dso: *const c_void) {
        let finalize = unsafe { next::<unsafe extern "C" fn(*const c_void)>(c"__cxa_finalize") };
        if let Some(finalize) = finalize && !is_program(dso) {
            unsafe { finalize(dso) };
        }
    }
    /// Ends the program as a crash.
    unsafe fn abort() -> ! {
        if !sched::running() {
            crate::sys::complain("raceproof: abort before the program runs\n");
            crate::sys::leave(libc::SIGABRT + 128);
        }
        let exception = exception_in_flight();
        sched::park(ReplyKind::Crash, 0, if exception { "abort with a C++ exception not handled" } else { "abort" })
    }
    /// An assertion failed.
    unsafe fn __assert_fail(
        condition: *const c_char, file: *const c_char, line: u32, function: *const c_char,
    ) -> ! {
        let condition = unsafe { CStr::from_ptr(condition) }.to_str().unwrap_or("?");
        unsafe { assertion_failed(condition, file, line as c_int, function) }
    }
    /// An assertion failed.
    unsafe fn __assert(condition: *const c_char, file: *const c_char, line: c_int) -> ! {
        let condition = unsafe { CStr::from_ptr(condition) }.to_str().unwrap_or("?");
        unsafe { assertion_failed(condition, file, line, core::ptr::null()) }
    }
    /// An assertion about an error number failed.
    unsafe fn __assert_perror_fail(
        error: c_int, file: *const c_char, line: u32, function: *const c_char,
    ) -> ! {
        let message = unsafe { CStr::from_ptr(libc::strerror(error)) }.to_str().unwrap_or("?");
        unsafe { assertion_failed(message, file, line as c_int, function) }
    }
}
