//! Runs kept apart: the checkpoint at the first thread creation, and the ways back to it.
//!
//! **Restore**: all writable private memory of the process is copied ([`snapshot`]), and before the next run what was
//! written is copied back. **Fork**: every run is a child of the process at the checkpoint. Both continue in the
//! scheduler with the initial thread about to create the first other one.

pub mod snapshot;
pub mod written;

use core::ops::Range;
use core::sync::atomic::Ordering;

use wire::layout::isolation;
use wire::{Record, Reply, ReplyKind};

use crate::cell::Keep;
use crate::hooks::HOT;
use crate::run::{self, RUN};
use crate::sys::{self, sys};
use crate::text::text;
use crate::{attributes, context, descriptors, libc_models, link, world};

/// How runs of this process are kept apart.
struct Isolation {
    /// This process is a run's own.
    is_child: bool,
    /// Memory is put back after each run.
    restores: bool,
    /// The program shares memory with whoever else maps it, which no checkpoint holds.
    shares_memory: bool,
    /// Where the records after the checkpoint start.
    cursor: *mut Record,
}

#[used]
#[unsafe(link_section = "rp_keep")]
static ISOLATION: Keep<Isolation> =
    Keep::new(Isolation { is_child: false, restores: false, shares_memory: false, cursor: core::ptr::null_mut() });

/// Number of records at the checkpoint.
pub fn records() -> u64 {
    let cursor = ISOLATION.with(|isolation| isolation.cursor);
    if cursor.is_null() { 0 } else { link::records_before(cursor) }
}

/// Whether what a run writes stays, whatever is restored.
pub fn shares_memory() -> bool {
    ISOLATION.with(|isolation| isolation.shares_memory)
}

/// Takes the checkpoint. Called by the scheduler, with the initial thread suspended. Forking, it returns in each run's
/// process; the process that called stays here.
pub fn take() {
    ISOLATION.with(|isolation| isolation.cursor = HOT.cursor.get());
    libc_models::checkpoint();
    descriptors::checkpoint();
    attributes::checkpoint();
    let shares_memory = snapshot::is_memory_shared();
    ISOLATION.with(|isolation| isolation.shares_memory = shares_memory);
    if link::request().verify != 0 {
        world::checkpoint();
    }
    let header = link::header();
    if !link::forks() {
        match snapshot::take() {
            Ok(()) => ISOLATION.with(|isolation| isolation.restores = true),
            Err(_) if header.fallback.load(Ordering::Relaxed) != 0 => {
                header.isolation.store(isolation::FORK, Ordering::Relaxed);
            }
            Err(message) => run::fail(message),
        }
    }
    header.checkpointed.store(1, Ordering::Release);
    if link::forks() {
        fork_runs();
    }
}

/// Memory mapped just now: after the checkpoint it becomes part of that, as zero. The range may be empty.
pub fn track(range: Range<usize>) {
    let restores = ISOLATION.with(|isolation| isolation.restores);
    if restores
        && !range.is_empty()
        && let Err(message) = written::track(&range)
    {
        run::fail(message);
    }
}

/// Serves requests by children; returns in each of them.
fn fork_runs() {
    // SAFETY: has no arguments and touches no memory.
    let own = unsafe { sys!(SYS_getpid) };
    loop {
        // SAFETY: without flags and with no stack this is `fork`: the child has a copy of all memory. The process has one
        // operating-system thread, so nothing in the copy is half done.
        let pid = unsafe { sys!(SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
        match pid {
            0 => {
                end_with(own);
                ISOLATION.with(|isolation| isolation.is_child = true);
                link::running_process();
                return;
            }
            ..0 => run::fail(text!("cannot fork: error {}", -pid).as_str()),
            _ => {}
        }
        let mut status = 0i32;
        // SAFETY: the kernel writes the status, which outlives the call.
        while unsafe { sys!(SYS_wait4, pid, &raw mut status, 0, 0) } == -(libc::EINTR as isize) {}
        if status != 0 {
            let message = text!("the run's process ended with wait status {status}");
            link::reply(Reply::default(), ReplyKind::Failure, message.as_str());
        }
        link::running_process();
        link::ring();
        link::wait();
        leave_if_asked();
        put_files_back();
    }
}

/// Lets this process end with its parent, which is or was `parent`.
fn end_with(parent: isize) {
    // SAFETY: both calls take numbers only and change this process alone.
    let present = unsafe {
        sys!(SYS_prctl, libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        sys!(SYS_getppid)
    };
    if present != parent {
        sys::leave(1);
    }
}

fn leave_if_asked() {
    if link::request().quit != 0 {
        sys::leave(0);
    }
}

/// Puts back what the kernel keeps. Not before the next request: until then the host may look at the output.
fn put_files_back() {
    descriptors::restore();
    libc_models::restore();
    attributes::restore();
    if link::request().verify != 0
        && let Some(difference) = world::difference()
    {
        run::fail(difference.as_str());
    }
}

/// Tells the host that the reply is there, and ends the process.
pub fn ring_and_leave() -> ! {
    if !ISOLATION.with(|isolation| isolation.is_child) {
        link::ring();
    }
    sys::leave(0)
}

/// Tells the host that the reply is there, goes back to the checkpoint and waits for the next request. Forked, it
/// ends the process instead.
pub fn ring_and_restore() {
    if ISOLATION.with(|isolation| isolation.is_child) {
        sys::leave(0);
    }
    if RUN.did_io.get() {
        descriptors::note_use();
    }
    link::ring();
    context::forget_exceptions();
    if let Err(message) = snapshot::restore() {
        run::fail(message);
    }
    link::wait();
    leave_if_asked();
    put_files_back();
}
