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
use crate::libc_models::children::forked;
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
    let work_on_lists = || sched::with_objects(|objects| work(&mut objects.handlers));
    if !sched::running() || sched::with_objects(|objects| objects.threads.count()) == 1 {
        return work_on_lists();
    }
    let (call, lock) = (Call::here(), &raw const EXIT_HANDLERS as u64);
    let wanted = Blocker::Lock { lock, mode: Mode::Exclusive };
    call.step(Tag::Acquire, lock).run(wanted, |objects, thread, _| objects.ensure::<Mutex>(lock).acquire(thread));
    let result = work_on_lists();
    call.step(Tag::Release, lock).run(Blocker::None, |objects, thread, _| {
        objects.ensure::<Mutex>(lock).release(thread);
    });
    result
}

fn register(handler: Handler) -> c_int {
    if sched::with_objects(|objects| objects.handlers.exiting && objects.threads.count() > 1) {
        // A thread that found no handlers left no event to order this with.
        unmodelled("registers an exit handler while the program ends");
    }
    with_handlers(|handlers| handlers.exit.push(handler));
    0
}

fn call_handler(handler: Handler, status: c_int) {
    match handler {
        // SAFETY: `atexit` and `at_quick_exit` take functions of this type.
        Handler::Plain(function) => unsafe {
            core::mem::transmute::<usize, unsafe extern "C" fn()>(function as usize)();
        },
        Handler::WithArgument(function, arg) => thread::call_with(function, arg),
        // SAFETY: `on_exit` takes functions of this type, with their argument.
        Handler::WithStatus(function, arg) => unsafe {
            let function: unsafe extern "C" fn(c_int, *mut c_void) = core::mem::transmute(function as usize);
            function(status, arg as *mut c_void);
        },
    }
}

/// Ends the program.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn exit(code: c_int) -> ! {
    thread::call_thread_destructors();
    sched::with_objects(|objects| objects.handlers.exiting = true);
    while sched::with_objects(|objects| !objects.handlers.exit.is_empty()) {
        if let Some(handler) = with_handlers(|handlers| handlers.exit.pop()) {
            call_handler(handler, code);
        }
    }
    // SAFETY: the instrumented program defines its destructors, to be called once at its end; flushing all streams is
    // allowed at any time.
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
///
/// # Safety
/// `F` is the type of the function with this name.
unsafe fn next<F: Copy>(name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<usize>()) };
    // SAFETY: the name is a string that ends with zero; by the caller the function has type `F`, as wide as a pointer.
    unsafe {
        let found = libc::dlsym(libc::RTLD_NEXT, name.as_ptr());
        (!found.is_null()).then(|| core::mem::transmute_copy(&found))
    }
}

/// Whether the handle is that of the program, which this library is part of.
fn is_program(dso: *const c_void) -> bool {
    dso.is_null() || core::ptr::eq(dso, &raw const __dso_handle)
}

/// A string that the program passes; empty for a null pointer.
fn string<'s>(at: *const c_char) -> &'s str {
    if at.is_null() {
        return "";
    }
    // SAFETY: callers pass literals of the compiler, messages of the C library or its name of the program: strings that end
    // with zero and that nothing changes.
    unsafe { CStr::from_ptr(at) }.to_str().unwrap_or("?")
}

fn assertion_failed(condition: &str, file: *const c_char, line: c_int, function: *const c_char) -> ! {
    // SAFETY: the C library defines the variable and sets it before `main`.
    let program = unsafe { program_invocation_short_name };
    let place = if function.is_null() { "" } else { ": " };
    let message = text!(
        "{}: {}:{line}: {}{place}Assertion `{condition}' failed.\n",
        string(program),
        string(file),
        string(function),
    );
    crate::sys::complain(message.as_str());
    sched::park(ReplyKind::Assertion, 0, condition)
}

/// Whether a C++ exception is being handled, as when nothing catches it.
fn exception_in_flight() -> bool {
    // SAFETY: the symbol, if it exists, is this function of the C++ ABI, which only asks.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, c"__cxa_current_exception_type".as_ptr());
        let function: Option<unsafe extern "C" fn() -> *const c_void> = core::mem::transmute(found);
        function.is_some_and(|current| !current().is_null())
    }
}

export! {
    /// Ends the program.
    fn _exit(code: c_int) -> ! {
        exit_at_once(code)
    }
    /// Ends the program.
    fn _Exit(code: c_int) -> ! {
        exit_at_once(code)
    }
    /// Ends the program with the handlers for this.
    fn quick_exit(code: c_int) -> ! {
        while sched::with_objects(|objects| !objects.handlers.quick_exit.is_empty()) {
            if let Some(handler) = with_handlers(|handlers| handlers.quick_exit.pop()) {
                call_handler(handler, code);
            }
        }
        exit_at_once(code)
    }
    /// Registers a handler.
    fn atexit(function: *const c_void) -> c_int {
        register(Handler::Plain(function as u64))
    }
    /// Registers a handler.
    fn on_exit(function: *const c_void, arg: *const c_void) -> c_int {
        register(Handler::WithStatus(function as u64, arg as u64))
    }
    /// Registers a handler.
    fn __cxa_atexit(function: *const c_void, arg: *const c_void, dso: *const c_void) -> c_int {
        if is_program(dso) {
            return register(Handler::WithArgument(function as u64, arg as u64));
        }
        type Register = unsafe extern "C" fn(*const c_void, *const c_void, *const c_void) -> c_int;
        // SAFETY: the C library's function has this type, and gets what the caller gave.
        unsafe { next::<Register>(c"__cxa_atexit").map_or(-1, |register| register(function, arg, dso)) }
    }
    /// Registers a handler of `quick_exit`.
    fn at_quick_exit(function: *const c_void) -> c_int {
        with_handlers(|handlers| handlers.quick_exit.push(Handler::Plain(function as u64)));
        0
    }
    /// Registers a handler of `quick_exit`.
    fn __cxa_at_quick_exit(function: *const c_void, _dso: *const c_void) -> c_int {
        at_quick_exit(function)
    }
    /// Registers a destructor.
    fn __cxa_thread_atexit(function: *const c_void, object: *const c_void, _dso: *const c_void) -> c_int {
        let me = super::step::me();
        sched::with_objects(|objects| objects.handlers.at_thread_end(me, function as u64, object as u64));
        0
    }
    /// Registers a destructor.
    fn __cxa_thread_atexit_impl(function: *const c_void, object: *const c_void, dso: *const c_void) -> c_int {
        __cxa_thread_atexit(function, object, dso)
    }
    /// Calls the handlers of a shared object that is unloaded.
    fn __cxa_finalize(dso: *const c_void) {
        // SAFETY: the C library's function has this type, and gets what the caller gave.
        unsafe {
            let finalize = next::<unsafe extern "C" fn(*const c_void)>(c"__cxa_finalize");
            if let Some(finalize) = finalize && !is_program(dso) {
                finalize(dso);
            }
        }
    }
    /// Ends the program as a crash.
    fn abort() -> ! {
        if forked::is_child() {
            forked::exit(libc::SIGABRT);
        }
        if !sched::running() {
            crate::sys::complain("raceproof: abort before the program runs\n");
            crate::sys::leave(libc::SIGABRT + 128);
        }
        let exception = exception_in_flight();
        sched::park(ReplyKind::Crash, 0, if exception { "abort with a C++ exception not handled" } else { "abort" })
    }
    /// An assertion failed.
    fn __assert_fail(
        condition: *const c_char, file: *const c_char, line: u32, function: *const c_char,
    ) -> ! {
        let condition = string(condition);
        assertion_failed(condition, file, line as c_int, function)
    }
    /// An assertion failed.
    fn __assert(condition: *const c_char, file: *const c_char, line: c_int) -> ! {
        let condition = string(condition);
        assertion_failed(condition, file, line, core::ptr::null())
    }
    /// An assertion about an error number failed.
    fn __assert_perror_fail(
        error: c_int, file: *const c_char, line: u32, function: *const c_char,
    ) -> ! {
        // SAFETY: takes any number.
        let message = string(unsafe { libc::strerror(error) });
        assertion_failed(message, file, line as c_int, function)
    }
}
