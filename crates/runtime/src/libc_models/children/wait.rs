//! Waiting for children.
//!
//! | function | semantics |
//! |---|---|
//! | `wait`, `waitpid`, `wait3`, `wait4`, `waitid` | one event, enabled when such a child has ended or there is none; cancellation points |
//! | the same with `WNOHANG` | a child that has ended may seem not to have, once |
//!
//! Of several children that have ended the one is taken that did first.

use alloc::vec::Vec;
use core::ffi::{c_int, c_uint};

use libc::{pid_t, rusage, siginfo_t};
use wire::Tag;

use super::table::{self, Found};
use crate::api::cancel::{self, Outcome, cancellable};
use crate::api::step::Call;
use crate::libc_models::event::{Access, operate};
use crate::libc_models::program_memory::Out;
use crate::libc_models::{fail, unmodelled};
use crate::sync::Blocker;
use crate::{choice, sched};

/// Waits for a child and reports the accesses that storing what it found makes.
fn wait_for(pid: pid_t, options: c_int, stores: impl Fn(Found) -> Vec<Access>) -> Option<Found> {
    let at_once = options & libc::WNOHANG != 0;
    if at_once && sched::running() {
        // Whether one has ended is asked in an event, and answered by the schedule.
        let may = operate(&[super::cell(Tag::Read)], Blocker::None, |_| table::may_be_early(pid));
        if may == Some(true) && choice::choose(0, 1) == 1 {
            return operate(&[super::cell(Tag::ReadModifyWrite)], Blocker::None, |_| {
                table::note_early(pid);
                Found::Running
            });
        }
    }
    let blocker = if at_once { Blocker::None } else { Blocker::Child { pid } };
    operate(&[super::cell(Tag::ReadModifyWrite)], blocker, |add| {
        let found = table::take(pid, options & libc::WNOWAIT != 0);
        stores(found).into_iter().for_each(add);
        found
    })
}

/// `wait4`: the number of the child that has ended.
fn wait_child(pid: pid_t, status: Out<'_, c_int>, options: c_int, usage: Out<'_, rusage>) -> Outcome {
    let call = Call::here();
    // All children are in the group of the process.
    let pid = if pid > 0 { pid } else { -1 };
    let stores = |found| {
        let status = (!status.is_null()).then(|| Access::plain(Tag::Write, status.as_ptr().cast(), size_of::<c_int>()));
        let usage = (!usage.is_null()).then(|| Access::plain(Tag::Write, usage.as_ptr().cast(), size_of::<rusage>()));
        if matches!(found, Found::Ended(..)) { status.into_iter().chain(usage).collect() } else { Vec::new() }
    };
    let Some(found) = wait_for(pid, options, stores) else { return cancel::point(&call) };
    match found {
        Found::Nobody => Outcome::word(fail(libc::ECHILD)),
        Found::Running => 0.into(),
        Found::Ended(pid, ended) => {
            status.write_if_given(ended);
            // SAFETY: `rusage` is a structure of numbers, for which zero is a value.
            usage.write_if_given(unsafe { core::mem::zeroed() });
            pid.into()
        }
    }
}

/// What is known about a child that has ended.
fn information(found: Found) -> siginfo_t {
    // SAFETY: all bytes zero is a value of this structure of integers.
    let mut said: siginfo_t = unsafe { core::mem::zeroed() };
    let Found::Ended(pid, status) = found else { return said };
    said.si_signo = libc::SIGCHLD;
    let exited = libc::WIFEXITED(status);
    said.si_code = if exited { libc::CLD_EXITED } else { libc::CLD_KILLED };
    let number = if exited { libc::WEXITSTATUS(status) } else { libc::WTERMSIG(status) };
    // After three numbers and their padding: the process, its user, and its status.
    let fields = (&raw mut said).cast::<c_int>();
    // SAFETY: the structure has 128 bytes, and its fields from the fifth number on are these.
    unsafe {
        fields.add(4).write(pid);
        fields.add(6).write(number);
    }
    said
}

cancellable! {
    /// Waits for a child.
    unsafe fn wait(status: Out<'_, c_int>) {
        wait_child(-1, status, 0, Out::null())
    }
    /// Waits for a child.
    unsafe fn waitpid(pid: pid_t, status: Out<'_, c_int>, options: c_int) {
        wait_child(pid, status, options, Out::null())
    }
    /// Waits for a child.
    unsafe fn wait3(status: Out<'_, c_int>, options: c_int, usage: Out<'_, rusage>) {
        wait_child(-1, status, options, usage)
    }
    /// Waits for a child.
    unsafe fn wait4(pid: pid_t, status: Out<'_, c_int>, options: c_int, usage: Out<'_, rusage>) {
        wait_child(pid, status, options, usage)
    }
    /// Waits for a child and tells how it ended.
    unsafe fn waitid(kind: c_uint, pid: libc::id_t, info: Out<'_, siginfo_t>, options: c_int) {
        if kind != libc::P_ALL && kind != libc::P_PID && kind != libc::P_PGID {
            unmodelled("waits for a process by its descriptor");
            return Outcome::word(fail(libc::EINVAL));
        }
        let call = Call::here();
        let pid = if kind == libc::P_PID { pid as pid_t } else { -1 };
        let stores = |found| {
            let stored = !info.is_null() && found != Found::Nobody;
            let access = Access::plain(Tag::Write, info.as_ptr().cast(), size_of::<siginfo_t>());
            if stored { Vec::from([access]) } else { Vec::new() }
        };
        let Some(found) = wait_for(pid, options, stores) else { return cancel::point(&call) };
        if found == Found::Nobody {
            return Outcome::word(fail(libc::ECHILD));
        }
        info.write_if_given(information(found));
        0.into()
    }
}
