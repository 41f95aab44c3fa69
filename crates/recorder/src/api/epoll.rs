//! `epoll`: what was done before an interest was added or changed is known to who gets an event later, as the controlled
//! runtime has it. Everything else about descriptors is the kernel's own.

use core::ffi::c_int;

use libc::{epoll_event, sigset_t, timespec};
use wire::Tag;
use wire::record::order;

use crate::hooks::access;
use crate::log::site;
use crate::real;

/// The pseudo cell of a descriptor: its interest list and its queue.
fn cell(fd: c_int) -> [u64; 2] {
    let list = wire::FILE_CONTENT + 8 * u64::from(fd as u32);
    [list, list + 4]
}

/// Before a change: the event is that of the controlled runtime, in one.
fn changes(at: c_int, event: *const epoll_event) {
    let ([list, queue], site) = (cell(at), site());
    access(Tag::ReadModifyWrite, order::RELEASE, list, 4, site, true);
    access(Tag::ReadModifyWrite, order::RELAXED, queue, 4, site, false);
    if !event.is_null() {
        access(Tag::Read, order::PLAIN, event as u64, size_of::<epoll_event>() as u64, site, false);
    }
}

/// After a wait.
fn got(fd: c_int, to: *const epoll_event, count: c_int) -> c_int {
    if let Ok(events @ 1..) = u64::try_from(count) {
        let ([list, queue], site) = (cell(fd), site());
        access(Tag::Read, order::ACQUIRE, list, 4, site, true);
        access(Tag::ReadModifyWrite, order::RELAXED, queue, 4, site, false);
        access(Tag::Write, order::PLAIN, to as u64, events * size_of::<epoll_event>() as u64, site, false);
    }
    count
}

export! {
    fn epoll_ctl(at: c_int, operation: c_int, fd: c_int, event: *mut epoll_event) -> c_int {
        changes(at, if operation == libc::EPOLL_CTL_DEL { core::ptr::null() } else { event });
        real::epoll_ctl(at, operation, fd, event)
    }
    fn epoll_wait(fd: c_int, to: *mut epoll_event, most: c_int, limit: c_int) -> c_int {
        got(fd, to, real::epoll_wait(fd, to, most, limit))
    }
    fn epoll_pwait(fd: c_int, to: *mut epoll_event, most: c_int, limit: c_int, mask: *const sigset_t) -> c_int {
        got(fd, to, real::epoll_pwait(fd, to, most, limit, mask))
    }
    fn epoll_pwait2(
        fd: c_int,
        to: *mut epoll_event,
        most: c_int,
        limit: *const timespec,
        mask: *const sigset_t,
    ) -> c_int {
        got(fd, to, real::epoll_pwait2(fd, to, most, limit, mask))
    }
}
