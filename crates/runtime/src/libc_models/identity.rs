//! Numbers of the process and its threads: the same in every run, whichever process executes it.

use core::ffi::c_int;

use libc::pid_t;

use super::{fail, me, unmodelled};
use crate::sched;

/// The number of the process.
pub const PROCESS: pid_t = 1000;

export! {
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
