//! Messages through connections: `sendmsg` and `recvmsg` move bytes from and to several places. What goes along with them
//! (descriptors, credentials) is not modelled.
//!
//! Such a call is as many events as it takes: the header and the list of places are read, the bytes are moved, and of a
//! header for receiving the results are written.

use alloc::vec::Vec;
use core::ffi::{c_int, c_void};

use libc::msghdr;
use wire::Tag;

use super::open::{self, File};
use super::pipe::End;
use super::transfer::{Access, How, finish, operate, read_parts, several, write_parts};
use super::unmodelled;
use crate::api::cancel::cancellable;
use crate::api::step::Call;
use crate::sync::Blocker;

/// What the descriptor is, if messages go through it; else the error number.
fn connection(fd: c_int) -> Result<(), c_int> {
    match open::get(fd).file {
        File::Pipe(End::Socket { .. }) => Ok(()),
        File::Socket(_) => Err(libc::ENOTCONN),
        _ if !open::is_open(fd) => Err(libc::EBADF),
        File::Other => {
            unmodelled("sends or receives a message through a descriptor that is not a connection of its own");
            Err(libc::EOPNOTSUPP)
        }
        _ => Err(libc::ENOTSOCK),
    }
}

/// Reads the header.
unsafe fn header(message: *const msghdr) -> msghdr {
    let known = [Access::plain(Tag::Read, message.cast(), size_of::<msghdr>())];
    operate(&known, Blocker::None, |_| ());
    // Safety: promised by the program.
    unsafe { message.read() }
}

unsafe fn send(fd: c_int, message: *const msghdr, flags: c_int) -> Option<isize> {
    if let Err(error) = connection(fd) {
        return Some(-(error as isize));
    }
    // Safety: the program's own arguments; so below.
    let header = unsafe { header(message) };
    if header.msg_controllen > 0 {
        unmodelled("sends descriptors or credentials along with a message");
        return Some(-(libc::EOPNOTSUPP as isize));
    }
    unsafe { write_parts(fd, several(header.msg_iov, header.msg_iovlen as c_int), How::Socket(flags)) }
}

unsafe fn receive(fd: c_int, message: *mut msghdr, flags: c_int) -> Option<isize> {
    if let Err(error) = connection(fd) {
        return Some(-(error as isize));
    }
    // Safety: the program's own arguments; so below.
    let header = unsafe { header(message) };
    let received = unsafe { read_parts(fd, several(header.msg_iov, header.msg_iovlen as c_int), How::Socket(flags)) }?;
    if received >= 0 {
        let results = unsafe {
            [
                (&raw const (*message).msg_namelen).cast::<c_void>(),
                (&raw const (*message).msg_controllen).cast(),
                (&raw const (*message).msg_flags).cast(),
            ]
        };
        let sizes = [size_of_val(&header.msg_namelen), size_of_val(&header.msg_controllen), size_of::<c_int>()];
        let known: Vec<Access> =
            results.into_iter().zip(sizes).map(|(at, len)| Access::plain(Tag::Write, at, len)).collect();
        operate(&known, Blocker::None, |_| unsafe {
            ((*message).msg_namelen, (*message).msg_controllen, (*message).msg_flags) = (0, 0, 0);
        });
    }
    Some(received)
}

cancellable! {
    /// Sends a message.
    unsafe fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) {
        finish(&Call::here(), unsafe { send(fd, message, flags) })
    }
    /// Receives a message.
    unsafe fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) {
        finish(&Call::here(), unsafe { receive(fd, message, flags) })
    }
}
