//! Pipes, socket pairs and event counters between threads of the program.
//!
//! Each descriptor is that of a real pipe (or socket, or counter) through which nothing goes: it keeps the number, the
//! kind and the flags. What the program writes goes through channels in the process ([`super::channels`]).

use core::ffi::{c_int, c_uint};

use super::channels::{self, End};
use super::open::{self, File};
use super::program_memory::Out;
use super::{fail, kernel, result, unmodelled};
use crate::sys::sys;

/// Registers the two descriptors that the kernel has stored, unless it failed.
fn register(made: isize, fds: Out<'_, c_int>, ends: impl FnOnce() -> [End; 2]) -> c_int {
    if made >= 0 {
        for (i, end) in ends().into_iter().enumerate() {
            open::opened(fds.element(i).as_in().read() as isize, File::Pipe(end));
        }
    }
    result(made) as c_int
}

fn make_pipe(fds: Out<'_, c_int>, flags: c_int) -> c_int {
    if flags & libc::O_DIRECT != 0 {
        unmodelled("makes a pipe of packets");
        return fail(libc::EINVAL) as c_int;
    }
    // SAFETY: the kernel stores two descriptors, for which the program passed this pointer.
    let made = unsafe { sys!(SYS_pipe2, fds.as_ptr(), flags) };
    register(made, fds, || {
        let channel = channels::new();
        [End::Read(channel), End::Write(channel)]
    })
}

export! {
    /// Makes a pipe.
    fn pipe(fds: Out<'_, c_int>) -> c_int {
        make_pipe(fds, 0)
    }
    /// Makes a pipe.
    fn pipe2(fds: Out<'_, c_int>, flags: c_int) -> c_int {
        make_pipe(fds, flags)
    }
    /// Makes a pair of sockets.
    fn socketpair(domain: c_int, kind: c_int, protocol: c_int, fds: Out<'_, c_int>) -> c_int {
        // SAFETY: the kernel stores two descriptors, for which the program passed this pointer.
        let made = unsafe { sys!(SYS_socketpair, domain, kind, protocol, fds.as_ptr()) };
        if kind & !(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) != libc::SOCK_STREAM {
            unmodelled("makes a pair of sockets for messages");
            return result(made) as c_int;
        }
        register(made, fds, || {
            let (there, back) = (channels::new(), channels::new());
            [End::Socket { incoming: back, outgoing: there }, End::Socket { incoming: there, outgoing: back }]
        })
    }
    /// Makes an event counter.
    fn eventfd(value: c_uint, flags: c_int) -> c_int {
        let made = kernel::eventfd2(0, flags);
        if made >= 0 {
            let id = channels::new_counter(u64::from(value), flags & libc::EFD_SEMAPHORE != 0);
            open::opened(made, File::Pipe(End::Counter(id)));
        }
        result(made) as c_int
    }
}
