//! Calls that change what is open under a number: `close`, `dup` and its relatives, `fcntl`.

use alloc::vec::Vec;
use core::ffi::{c_int, c_uint};

use wire::Tag;

use super::children::table;
use super::event::operate;
use super::open::{self, File, Open};
use super::{channels, epoll, fail, file_locks, kernel, negative, result, sockets};
use crate::sync::Blocker;
use crate::sys::{self, sys};
use crate::{descriptors, sched};

/// Ends the use of what is open under a number; `then` frees the number or uses it again. All of it is one event,
/// because others may wait for the end of a pipe, or get the number.
fn release(fd: c_int, then: impl Fn() -> isize) -> isize {
    let touched = |open: Open| {
        let of_file = match open.file {
            File::Pipe(end) => channels::close_accesses(end),
            File::Socket(id) => Vec::from(sockets::close_accesses(id)),
            File::Epoll(id) => Vec::from([epoll::close_access(id)]),
            _ => Vec::new(),
        };
        of_file.into_iter().chain([open::table_access(), open::number_access(fd, Tag::ReadModifyWrite)]).collect()
    };
    let done = open::operate_on(
        fd,
        touched,
        |_| Blocker::None,
        |open, add| {
            if !open.description().is_open_elsewhere(fd) {
                epoll::remove_file(open.description(), add);
                file_locks::close(open.description(), add);
            }
            match open.file {
                File::Pipe(end) => {
                    channels::close(end, add);
                    table::advance(add);
                }
                File::Socket(id) => sockets::remove_user(id, add),
                _ => {}
            }
            then()
        },
    );
    table::after_event();
    done.unwrap_or(negative(libc::EINTR))
}

/// Commands of `fcntl` that change nothing.
const GETTERS: [c_int; 5] = [libc::F_GETOWN, libc::F_GETPIPE_SZ, libc::F_GET_SEALS, libc::F_GETLK, F_GETSIG];
const F_GETSIG: c_int = 11;

/// Closes a descriptor.
fn close_one(fd: c_int) -> isize {
    if descriptors::is_own(fd) {
        return negative(libc::EBADF);
    }
    sched::note_io();
    release(fd, || {
        open::forget(fd);
        kernel::close(fd)
    })
}

export! {
    /// Closes a descriptor.
    fn close(fd: c_int) -> c_int {
        result(close_one(fd)) as c_int
    }
    /// Closes all descriptors from one number to another, or lets them close when another program is executed.
    fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
        const CLOEXEC: c_int = 4;
        if first > last {
            return fail(libc::EINVAL) as c_int;
        }
        let end = (last.saturating_add(1)).min(descriptors::first_own() as c_uint);
        // Which are open is an event of its own, as each end of one is.
        let find = || (first..end).map(|fd| fd as c_int).filter(|fd| kernel::is_open(*fd)).collect::<Vec<_>>();
        let found = operate(&[open::table_access()], Blocker::None, |_| find());
        for fd in found.unwrap_or_default() {
            if flags & CLOEXEC != 0 {
                sched::note_io();
                sys::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
            } else {
                close_one(fd);
            }
        }
        0
    }
    /// Closes all descriptors from a number on.
    fn closefrom(first: c_int) {
        // SAFETY: takes numbers only.
        unsafe { close_range(first.max(0) as c_uint, c_uint::MAX, 0) };
    }
    /// Duplicates a descriptor.
    fn dup(fd: c_int) -> c_int {
        if descriptors::is_own(fd) {
            return fail(libc::EBADF) as c_int;
        }
        result(open::duplicated(kernel::dup(fd), fd)) as c_int
    }
    /// Duplicates a descriptor under a number.
    fn dup2(fd: c_int, to: c_int) -> c_int {
        if fd != to {
            // SAFETY: `dup3` takes numbers only.
            return unsafe { dup3(fd, to, 0) };
        }
        if kernel::is_open(fd) { to } else { fail(libc::EBADF) as c_int }
    }
    /// Duplicates a descriptor under a number.
    fn dup3(fd: c_int, to: c_int, flags: c_int) -> c_int {
        if !descriptors::is_allowed(to) || descriptors::is_own(fd) {
            return fail(libc::EBADF) as c_int;
        }
        if fd == to || !kernel::is_open(fd) {
            return result(kernel::dup3(fd, to, flags)) as c_int;
        }
        result(release(to, || open::duplicated(kernel::dup3(fd, to, flags), fd))) as c_int
    }
    /// Asks about or changes a descriptor. A lock on a file keeps other processes away, of which there are none here: a
    /// process gets every lock that it asks for. For locks of open files see [`file_locks`].
    fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int {
        let duplicates = matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC);
        if descriptors::is_own(fd) || duplicates && !descriptors::is_allowed(argument as c_int) {
            return fail(if descriptors::is_own(fd) { libc::EBADF } else { libc::EINVAL }) as c_int;
        }
        if matches!(command, libc::F_OFD_SETLK | libc::F_OFD_SETLKW | libc::F_OFD_GETLK) {
            return file_locks::control(fd, command, argument);
        }
        if matches!(command, libc::F_SETLK | libc::F_SETLKW) {
            return if kernel::is_open(fd) { 0 } else { fail(libc::EBADF) as c_int };
        }
        // SAFETY: the program asks for this command with this argument; if it is a pointer, it is to what the command
        // takes.
        let answer = unsafe { sys!(SYS_fcntl, fd, command, argument) };
        match command {
            libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => result(open::duplicated(answer, fd)) as c_int,
            // What is put back, or changes nothing.
            libc::F_SETFD | libc::F_SETFL => {
                sched::note_io();
                result(answer) as c_int
            }
            libc::F_GETFD | libc::F_GETFL => result(answer) as c_int,
            _ => {
                if open::outlives_run(fd) && !GETTERS.contains(&command) {
                    sched::spoil();
                }
                result(answer) as c_int
            }
        }
    }
    /// Asks about or changes a descriptor.
    fn fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int {
        // SAFETY: the same function under another name.
        unsafe { fcntl(fd, command, argument) }
    }
}
