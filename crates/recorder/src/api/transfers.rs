//! Further ways in which bytes get into pipes and connections and out of them: calls that move them from one to another, calls
//! for many messages, and streams of the C library.

use core::ffi::{c_int, c_uint, c_void};

use libc::{FILE, iovec, loff_t, mmsghdr, off_t, size_t, ssize_t, timespec};

use super::handover::{acquire, release, release_to};
use crate::real::{self, errno, set_errno};

/// Before and after a call that moves bytes from one descriptor to another.
fn moved(from: c_int, to: c_int, call: impl FnOnce() -> ssize_t) -> ssize_t {
    release(to);
    acquire(from, call())
}

export! {
    fn sendfile(to: c_int, from: c_int, at: *mut off_t, len: size_t) -> ssize_t {
        moved(from, to, || real::sendfile(to, from, at, len))
    }
    fn sendfile64(to: c_int, from: c_int, at: *mut off_t, len: size_t) -> ssize_t { sendfile(to, from, at, len) }
    fn splice(
        from: c_int, from_at: *mut loff_t, to: c_int, to_at: *mut loff_t, len: size_t, flags: c_uint
    ) -> ssize_t {
        moved(from, to, || real::splice(from, from_at, to, to_at, len, flags))
    }
    fn tee(from: c_int, to: c_int, len: size_t, flags: c_uint) -> ssize_t {
        moved(from, to, || real::tee(from, to, len, flags))
    }
    fn vmsplice(fd: c_int, parts: *const iovec, count: size_t, flags: c_uint) -> ssize_t {
        moved(fd, fd, || real::vmsplice(fd, parts, count, flags))
    }
    fn sendmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int {
        for at in 0..count as usize {
            let message = &(*messages.add(at)).msg_hdr;
            release_to(fd, message.msg_name, message.msg_namelen);
        }
        real::sendmmsg(fd, messages, count, flags)
    }
    fn recvmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int, limit: *mut timespec) -> c_int {
        acquire(fd, real::recvmmsg(fd, messages, count, flags, limit) as ssize_t) as c_int
    }
}

/// Before a call that may write to a descriptor by itself.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_descriptor_used(fd: c_int) {
    release(fd);
}

/// The descriptor of a stream that may hand over; -1 for one that has none. What the program finds in `errno` stays.
///
/// # Safety
/// It is null or a stream that is open.
unsafe fn descriptor(stream: *mut c_void) -> c_int {
    if stream.is_null() || crate::hooks::is_output(stream) {
        return -1;
    }
    let error = errno();
    // SAFETY: by the caller it is a stream.
    let fd = unsafe { libc::fileno(stream.cast::<FILE>()) };
    set_errno(error);
    fd
}

/// Before a call that uses a stream: it may write what is in its buffer.
///
/// # Safety
/// The program is about to use the stream.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn __rp_stream_begin(stream: *mut c_void) {
    // SAFETY: by the caller it is open.
    let fd = unsafe { descriptor(stream) };
    if fd >= 0 {
        release(fd);
    }
}

/// After such a call: it may have filled the buffer.
///
/// # Safety
/// The program has used the stream, and it is still open.
#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn __rp_stream_end(stream: *mut c_void) {
    // SAFETY: by the caller it is open.
    let fd = unsafe { descriptor(stream) };
    if fd >= 0 {
        acquire(fd, 0);
    }
}
