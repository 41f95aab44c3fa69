//! Messages through connections: `sendmsg` and `recvmsg` move bytes from and to several buffers. Ancillary data
//! (descriptors, credentials) is not modelled.
//!
//! Such a call is several events: it reads the header and the list of buffers, moves the bytes, and when it receives it
//! writes the results into the header.

use alloc::vec::Vec;
use core::ffi::c_int;
use core::mem::offset_of;

use libc::msghdr;
use wire::Tag;

use super::channels::End;
use super::event::{Access, finish, operate};
use super::open::{self, File};
use super::program_memory::{Buffer, In, Out};
use super::transfer::{Transfer, buffers, read_parts, write_parts};
use super::{datagrams, kernel, negative, net, unmodelled};
use crate::api::cancel::cancellable;
use crate::api::step::Call;
use crate::sync::Blocker;

/// Checks that messages go through a descriptor; else the error number.
fn connection(fd: c_int) -> Result<(), c_int> {
    match open::get(fd).file {
        File::Pipe(End::Socket { .. } | End::Datagrams(_)) => Ok(()),
        File::Socket(_) => Err(libc::ENOTCONN),
        _ if !kernel::is_open(fd) => Err(libc::EBADF),
        File::Other => {
            unmodelled("sends or receives a message through a descriptor that is not a connection of its own");
            Err(libc::EOPNOTSUPP)
        }
        _ => Err(libc::ENOTSOCK),
    }
}

/// Reads the header.
fn header(message: In<'_, msghdr>) -> msghdr {
    let known = [Access::plain(Tag::Read, message.as_ptr().cast(), size_of::<msghdr>())];
    operate(&known, Blocker::None, |_| ());
    message.read()
}

/// The buffers of a message.
fn list(header: &msghdr) -> Vec<Buffer<'_>> {
    buffers(In::new(header.msg_iov), header.msg_iovlen as c_int)
}

fn send(fd: c_int, message: In<'_, msghdr>, flags: c_int) -> Option<isize> {
    if let Err(error) = connection(fd) {
        return Some(negative(error));
    }
    let header = header(message);
    if header.msg_controllen > 0 {
        unmodelled("sends descriptors or credentials along with a message");
        return Some(negative(libc::EOPNOTSUPP));
    }
    if let Some(id) = datagrams::of(fd) {
        let to = net::address_in(In::new(header.msg_name), header.msg_namelen);
        return datagrams::send(fd, id, &list(&header), flags, to.as_deref());
    }
    write_parts(fd, &list(&header), Transfer::Socket(flags))
}

fn receive(fd: c_int, message: Out<'_, msghdr>, flags: c_int) -> Option<isize> {
    if let Err(error) = connection(fd) {
        return Some(negative(error));
    }
    let header = header(message.as_in());
    let received = read_parts(fd, &list(&header), Transfer::Socket(flags))?;
    if received >= 0 {
        let result = |offset, len| Access::plain(Tag::Write, message.as_ptr().wrapping_byte_add(offset).cast(), len);
        let datagram = datagrams::take_last();
        let room = if header.msg_name.is_null() { 0 } else { header.msg_namelen as usize };
        let (name, address) = datagrams::stored_address(datagram.as_ref(), header.msg_name, room);
        let known = [
            result(offset_of!(msghdr, msg_namelen), size_of_val(&header.msg_namelen)),
            result(offset_of!(msghdr, msg_controllen), size_of_val(&header.msg_controllen)),
            result(offset_of!(msghdr, msg_flags), size_of_val(&header.msg_flags)),
            address,
        ];
        let flags = if datagram.is_some_and(|datagram| datagram.is_cut) { libc::MSG_TRUNC } else { 0 };
        operate(&known, Blocker::None, |_| {
            let stored = name.len().min(room);
            Out::new(header.msg_name).buffer(stored).store(&name[..stored]);
            let len = if header.msg_name.is_null() { 0 } else { name.len() as u32 };
            message.update(|header| (header.msg_namelen, header.msg_controllen, header.msg_flags) = (len, 0, flags));
        });
    }
    Some(received)
}

cancellable! {
    /// Sends a message.
    unsafe fn sendmsg(fd: c_int, message: In<'_, msghdr>, flags: c_int) {
        finish(&Call::here(), send(fd, message, flags))
    }
    /// Receives a message.
    unsafe fn recvmsg(fd: c_int, message: Out<'_, msghdr>, flags: c_int) {
        finish(&Call::here(), receive(fd, message, flags))
    }
}
