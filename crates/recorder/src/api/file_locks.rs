//! Locks of files that belong to an open file (`flock`, and those of `fcntl` that say so): two threads that opened the file
//! each for itself exclude each other. Locks that belong to the process exclude no thread of it.
//!
//! One cell stands for all locks of a file, whichever bytes they are about, and shared ones too.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};

use super::handover::{REMEMBERED, acquire_cell, cell, file_of, mix, release_cell};
use crate::real::{self, errno, set_errno};
use crate::thread::has_state;

/// Descriptors by way of which a lock may be held.
static LOCKED: [AtomicBool; REMEMBERED] = [const { AtomicBool::new(false) }; REMEMBERED];

fn entry(fd: c_int) -> Option<&'static AtomicBool> {
    usize::try_from(fd).ok().and_then(|fd| LOCKED.get(fd))
}

/// The cell of the locks of a descriptor's file.
fn cell_of(fd: c_int) -> Option<u64> {
    let error = errno();
    let found = file_of(fd).filter(|_| has_state());
    set_errno(error);
    found.map(|(_, key)| cell(mix(key, b"lock")))
}

/// Before a lock may be given back.
fn giving_back(fd: c_int) {
    if entry(fd).is_some_and(|entry| entry.load(Ordering::Relaxed))
        && let Some(cell) = cell_of(fd)
    {
        release_cell(cell);
    }
}

/// After a call that takes a lock.
fn taken(fd: c_int, result: c_int) -> c_int {
    if result == 0
        && let Some(cell) = cell_of(fd)
    {
        entry(fd).into_iter().for_each(|entry| entry.store(true, Ordering::Relaxed));
        acquire_cell(cell);
    }
    result
}

/// A descriptor is about to be closed.
pub(super) fn closed(fd: c_int) {
    giving_back(fd);
    entry(fd).into_iter().for_each(|entry| entry.store(false, Ordering::Relaxed));
}

/// `fcntl`, whose last argument is a number, a pointer, or not there: in the register of a third argument either way.
///
/// # Safety
/// As for the C function.
unsafe fn control(fd: c_int, command: c_int, argument: usize) -> c_int {
    if !matches!(command, libc::F_OFD_SETLK | libc::F_OFD_SETLKW) {
        // SAFETY: by the caller.
        return unsafe { real::fcntl(fd, command, argument) };
    }
    giving_back(fd);
    // SAFETY: by the caller, with these commands a pointer to such a structure.
    unsafe {
        let gives_back = (*(argument as *const libc::flock)).l_type == libc::F_UNLCK as libc::c_short;
        let result = real::fcntl(fd, command, argument);
        if gives_back { result } else { taken(fd, result) }
    }
}

export! {
    fn flock(fd: c_int, operation: c_int) -> c_int {
        giving_back(fd);
        let result = real::flock(fd, operation);
        if operation & libc::LOCK_UN != 0 { result } else { taken(fd, result) }
    }
    fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int { control(fd, command, argument) }
    fn fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int { control(fd, command, argument) }
}
