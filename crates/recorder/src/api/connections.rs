//! Connections with somebody outside: what came in and how much went out, for replays without the other end.
//!
//! The blocks go straight to the trace file, after the real call, so that nothing is lost if the process is killed. A
//! connection to another end of the program itself is logged as well; the reader finds both ends. Descriptors that are copies
//! of others, and streams of the C library over connections, are not seen.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};

use libc::{iovec, sockaddr, socklen_t, ssize_t};
use wire::input::{CONNECTIONS, Happened};
use wire::log::block;

use super::handover::{Address, REMEMBERED, is_datagram};
use crate::log::append_block;
use crate::real::{self, errno, set_errno};

/// By descriptor: one more than the number of its connection; 0 where there is none.
static OPEN: [AtomicU32; REMEMBERED] = [const { AtomicU32::new(0) }; REMEMBERED];
/// Connections so far.
static COUNT: AtomicU32 = AtomicU32::new(0);

fn entry(fd: c_int) -> Option<&'static AtomicU32> {
    usize::try_from(fd).ok().and_then(|fd| OPEN.get(fd))
}

/// The number of a descriptor's connection.
fn connection(fd: c_int) -> Option<u32> {
    entry(fd)?.load(Ordering::Relaxed).checked_sub(1)
}

fn log(happened: Happened, connection: u32, bytes: &[u8]) {
    let error = errno();
    append_block(block::INPUT, happened.on(connection), bytes);
    set_errno(error);
}

/// A descriptor has become a connection, or is about to become one with the address that is given.
fn opened(fd: c_int, how: Happened, wanted: Option<Address>) {
    let error = errno();
    let other = wanted.or_else(|| Address::of(fd, libc::getpeername));
    let ends = Address::of(fd, libc::getsockname).zip(other).filter(|_| !is_datagram(fd));
    if let (Some(entry), Some((own, other))) = (entry(fd), ends)
        && !is_own_process(fd, &own)
    {
        let number = COUNT.fetch_add(1, Ordering::Relaxed) % CONNECTIONS;
        entry.store(number + 1, Ordering::Relaxed);
        let mut bytes = [0; 2 + 2 * size_of::<libc::sockaddr_storage>()];
        let mut len = 0;
        for address in [own.bytes(), other.bytes()] {
            bytes[len] = address.len() as u8;
            bytes[len + 1..][..address.len()].copy_from_slice(address);
            len += 1 + address.len();
        }
        log(how, number, &bytes[..len]);
    }
    set_errno(error);
}

/// Whether the other end of a connection in the file system is in this process; others have two addresses.
fn is_own_process(fd: c_int, own: &Address) -> bool {
    if own.family() != libc::AF_UNIX {
        return false;
    }
    let mut other = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut len = size_of::<libc::ucred>() as socklen_t;
    // SAFETY: the kernel writes at most `len` bytes, the size of the structure; the second call takes nothing.
    unsafe {
        libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_PEERCRED, (&raw mut other).cast(), &mut len) == 0
            && other.pid == libc::getpid()
    }
}

/// So many bytes were sent, if the call succeeded.
pub fn sent(fd: c_int, count: ssize_t) -> ssize_t {
    if let (Ok(bytes @ 1..), Some(connection)) = (u32::try_from(count), connection(fd)) {
        log(Happened::Sent, connection, &bytes.to_le_bytes());
    }
    count
}

/// These parts were filled with so many bytes, if the call succeeded.
///
/// # Safety
/// The parts are memory of the program, and the first `count` bytes of them were received.
pub unsafe fn received(fd: c_int, count: ssize_t, parts: &[iovec]) {
    let (Ok(mut left @ 1..), Some(connection)) = (usize::try_from(count), connection(fd)) else { return };
    for part in parts {
        let len = part.iov_len.min(left);
        if len > 0 {
            // SAFETY: by the caller.
            let bytes = unsafe { core::slice::from_raw_parts(part.iov_base.cast::<u8>(), len) };
            log(Happened::Received, connection, bytes);
        }
        left -= len;
    }
}

/// The descriptor is about to be closed, or to stand for something else.
pub fn closed(fd: c_int) {
    if let Some(number) = entry(fd).and_then(|entry| entry.swap(0, Ordering::Relaxed).checked_sub(1)) {
        log(Happened::Closed, number, &[]);
    }
}

export! {
    fn accept(fd: c_int, from: *mut sockaddr, len: *mut socklen_t) -> c_int {
        let made = real::accept(fd, from, len);
        opened(made, Happened::Accepted, None);
        made
    }
    fn accept4(fd: c_int, from: *mut sockaddr, len: *mut socklen_t, flags: c_int) -> c_int {
        let made = real::accept4(fd, from, len, flags);
        opened(made, Happened::Accepted, None);
        made
    }
    fn connect(fd: c_int, to: *const sockaddr, len: socklen_t) -> c_int {
        let result = real::connect(fd, to, len);
        if result == 0 {
            opened(fd, Happened::Made, None);
        } else if errno() == libc::EINPROGRESS {
            opened(fd, Happened::Made, Some(Address::given(to, len)));
        }
        result
    }
}
