//! Numbers of the process and its threads: the same in every run, whichever process executes it.

use core::ffi::c_int;

use libc::pid_t;

use super::library_function::LibraryFunction;
use super::{fail, me, unmodelled};
use crate::sched;
use crate::text::text;

const PROCESS: pid_t = 1000;

/// Ends the process if the program does nothing about this signal and it is one that ends processes. Faults are left to
/// those who watch for them, and signal 14 is the watchdog's.
fn end_by(signal: c_int) {
    const HARMLESS: [c_int; 4] = [libc::SIGCHLD, libc::SIGCONT, libc::SIGURG, libc::SIGWINCH];
    const ELSEWHERE: [c_int; 7] =
        [libc::SIGABRT, libc::SIGALRM, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGSEGV, libc::SIGTRAP];
    if !sched::running() || HARMLESS.contains(&signal) || ELSEWHERE.contains(&signal) {
        return;
    }
    // SAFETY: `sigaction` is a structure of numbers, for which zero is a value; without a new action the C library only
    // fills in the old one, which lives over the call.
    let ends = unsafe {
        let mut action: libc::sigaction = core::mem::zeroed();
        libc::sigaction(signal, core::ptr::null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_DFL
    };
    if ends || signal == libc::SIGKILL {
        unmodelled(text!("ends itself by signal {signal}").as_str());
        crate::api::process::exit_at_once(128 + signal);
    }
}

export! {
    /// Sends a signal to the calling thread.
    fn raise(signal: c_int) -> c_int {
        type Raise = unsafe extern "C" fn(c_int) -> c_int;
        // SAFETY: the type is that of the C library's function.
        static RAISE: LibraryFunction<Raise> = unsafe { LibraryFunction::new(c"raise") };
        end_by(signal);
        // SAFETY: the program calls this function with this argument.
        unsafe { RAISE.get()(signal) }
    }
    /// The process.
    fn getpid() -> pid_t {
        PROCESS
    }
    /// The parent process.
    fn getppid() -> pid_t {
        PROCESS - 1
    }
    /// The thread; that of `main` has the process's number. Memory slots are at least 4 GB apart.
    fn gettid() -> pid_t {
        let slot = |thread| if sched::running() { sched::slot_address(thread) } else { 0 };
        PROCESS + ((slot(me()) - slot(0)) >> 32) as pid_t
    }
    /// Signals are not modelled; signal 0 asks whether the process exists, and it does. One that ends the process ends it.
    fn kill(process: pid_t, signal: c_int) -> c_int {
        if process == PROCESS && signal == 0 {
            return 0;
        }
        if process == PROCESS || process == 0 {
            end_by(signal);
        }
        unmodelled("calls `kill`");
        fail(libc::EPERM) as c_int
    }
    /// Signals are not modelled.
    fn killpg(_group: pid_t, _signal: c_int) -> c_int {
        unmodelled("calls `killpg`");
        fail(libc::EPERM) as c_int
    }
    /// Signals are not modelled.
    fn tgkill(_process: pid_t, _thread: pid_t, _signal: c_int) -> c_int {
        unmodelled("calls `tgkill`");
        fail(libc::EPERM) as c_int
    }
}
