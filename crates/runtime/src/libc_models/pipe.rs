//! Pipes, socket pairs, event counters and descriptors that tell of files, between threads of the program.
//!
//! Each descriptor is that of a real pipe (or socket, or counter) through which nothing goes: it keeps the number, the
//! kind and the flags. What the program writes goes through channels in the process ([`super::channels`]).

use core::ffi::{c_char, c_int, c_uint};

use super::channels::{self, End};
use super::open::{self, File};
use super::program_memory::Out;
use super::{datagrams, fail, kernel, result, unmodelled};
use crate::cell::Global;
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

/// How many changes to files were asked for.
static WATCHES: Global<c_int> = Global::new(0);

/// Makes a descriptor that never becomes ready.
fn watch_files(flags: c_int) -> c_int {
    unmodelled("asks for changes to files with `inotify_init`, and gets to know of none");
    // The flags are those of event counters.
    let made = kernel::eventfd2(0, flags);
    if made >= 0 {
        open::opened(made, File::Pipe(End::Read(channels::new())));
    }
    result(made) as c_int
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
        let plain = kind & !(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK);
        if plain == libc::SOCK_DGRAM {
            return register(made, fds, datagrams::pair);
        }
        if plain != libc::SOCK_STREAM {
            unmodelled("makes a pair of sockets that are neither for streams nor for datagrams");
            return result(made) as c_int;
        }
        register(made, fds, || {
            let (there, back) = (channels::new(), channels::new());
            [End::Socket { incoming: back, outgoing: there }, End::Socket { incoming: there, outgoing: back }]
        })
    }
    /// Makes a descriptor that tells of changes to files; here it never does.
    fn inotify_init() -> c_int {
        watch_files(0)
    }
    /// Makes a descriptor that tells of changes to files; here it never does.
    fn inotify_init1(flags: c_int) -> c_int {
        watch_files(flags)
    }
    /// Asks for changes to a file, of which none is told.
    fn inotify_add_watch(fd: c_int, _path: *const c_char, _events: u32) -> c_int {
        if !kernel::is_open(fd) {
            return fail(libc::EBADF) as c_int;
        }
        WATCHES.with(|watches| {
            *watches += 1;
            *watches
        })
    }
    /// Stops asking.
    fn inotify_rm_watch(fd: c_int, _watch: c_int) -> c_int {
        if kernel::is_open(fd) { 0 } else { fail(libc::EBADF) as c_int }
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
