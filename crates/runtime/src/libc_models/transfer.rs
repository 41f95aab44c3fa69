//! Reading and writing through descriptors. Each call is one event with what it touches in the program's memory and the
//! cells of the file; a call that would wait becomes runnable when it would not.

use alloc::vec::Vec;
use core::ffi::{c_int, c_uint, c_void};

use libc::iovec;
use wire::record::{flag, order};
use wire::{Record, ReplyKind, Tag};

use super::open::{self, File, Open};
use super::pipe::{self, End, Moved};
use super::{epoll, fail, net, result};
use crate::api::cancel::{self, Outcome, cancellable};
use crate::api::step::Call;
use crate::sched;
use crate::sync::{Blocker, fd};
use crate::sys::sys;

/// One access of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// What it does.
    pub tag: Tag,
    /// Plain or atomic.
    pub order: u8,
    /// First byte.
    pub at: u64,
    /// Number of bytes.
    pub len: u64,
}

impl Access {
    /// A plain access to the program's memory.
    pub fn plain(tag: Tag, at: *const c_void, len: usize) -> Self {
        Self { tag, order: order::PLAIN, at: at as u64, len: len as u64 }
    }
    fn record(&self, site: u32) -> Record {
        Record::new(self.tag, self.order, self.at, site, u32::try_from(self.len).unwrap_or(u32::MAX))
    }
    /// As a further access of an event.
    fn further(self, site: u32) -> Record {
        Self { order: self.order | flag::MORE, ..self }.record(site)
    }
    /// Adds it to the event being made.
    pub(super) fn add(self) {
        #[cfg(not(test))]
        crate::hooks::add(self.tag, self.order, self.at, self.len);
    }
}

/// The records of one event that makes these accesses.
fn records(accesses: &[Access], site: u32) -> Vec<Record> {
    let made = accesses.iter().filter(|access| access.len > 0).enumerate();
    made.map(|(i, access)| if i == 0 { access.record(site) } else { access.further(site) }).collect()
}

/// What a thread that waits is about to do is now known to include this.
pub(super) fn announce(thread: sched::Thread, also: &[Access]) {
    sched::announce_also(thread, |site| also.iter().map(|access| access.further(site)).collect());
}

/// Makes one event: waits for its turn and until `blocker` does not block, reports what is `known` to be touched, acts,
/// and reports what `act` says besides. Without known accesses there is no event. `None`: the waiting ended because the
/// thread is to be cancelled, and nothing was done.
pub fn operate<R>(known: &[Access], blocker: Blocker, act: impl FnOnce(&mut dyn FnMut(Access)) -> R) -> Option<R> {
    if !sched::running() || known.iter().all(|access| access.len == 0) {
        return Some(act(&mut |_| {}));
    }
    let site = sched::site();
    sched::arrive_with(&records(known, site), blocker);
    crate::hooks::set_site(site);
    let woken_for_nothing = match blocker {
        Blocker::Fd { fd, events } => !fd::ready(fd, events),
        Blocker::Signal { set } => {
            sched::with_objects(|objects| objects.threads.get(sched::current()).pending_signals) & set == 0
        }
        _ => false,
    };
    if woken_for_nothing {
        return None;
    }
    crate::hooks::close_call();
    known.iter().for_each(|access| access.add());
    let result = act(&mut |access| access.add());
    crate::hooks::close_call();
    sched::reconsider();
    Some(result)
}

/// Whether calls on the descriptor wait.
pub fn waits(fd: c_int, flags: c_int) -> bool {
    // Safety: only asks.
    let mode = unsafe { sys!(SYS_fcntl, fd, libc::F_GETFL) };
    flags & libc::MSG_DONTWAIT == 0 && (mode < 0 || mode as c_int & libc::O_NONBLOCK == 0)
}

/// Bytes of these parts, up to a number, are touched.
fn touch(parts: &[iovec], tag: Tag, moved: isize, add: &mut dyn FnMut(Access)) {
    let mut left = usize::try_from(moved).unwrap_or(0);
    for part in parts {
        let len = left.min(part.iov_len);
        add(Access::plain(tag, part.iov_base, len));
        left -= len;
    }
}

/// What a system call for a transfer is given besides descriptor and parts.
#[derive(Clone, Copy)]
pub(super) enum How {
    /// At the file's position.
    Here,
    /// At this offset.
    At(i64),
    /// Through a socket, with these flags.
    Socket(c_int),
}

/// Reads into these parts. `None`: the thread is cancelled instead.
pub(super) unsafe fn read_parts(fd: c_int, parts: &[iovec], how: How) -> Option<isize> {
    let open = open::get(fd);
    let flags = if let How::Socket(flags) = how { flags } else { 0 };
    match open.file {
        File::Pipe(end) if flags & libc::MSG_WAITALL != 0 && waits(fd, flags) => {
            return unsafe { read_all(fd, end, parts, flags) };
        }
        File::Pipe(end) => return unsafe { read_pipe(fd, end, parts, flags) },
        File::Socket(_) => return Some(-(libc::ENOTCONN as isize)),
        _ => {}
    }
    let blocker = match open.file {
        File::Other if waits(fd, flags) => Blocker::Fd { fd, events: libc::POLLIN },
        _ => Blocker::None,
    };
    let position = (!matches!(how, How::At(_)) || open.file != File::Fixed).then(|| open.position());
    let known = [position.unwrap_or(Access { tag: Tag::Read, ..open.position() })];
    operate(&known, blocker, |add| {
        open.content(Tag::Read).into_iter().for_each(&mut *add);
        // Safety: the program's own arguments.
        let moved = unsafe {
            match how {
                How::Here => sys!(SYS_readv, fd, parts.as_ptr(), parts.len()),
                How::At(offset) => sys!(SYS_preadv, fd, parts.as_ptr(), parts.len(), offset, 0),
                How::Socket(flags) => sys!(SYS_recvfrom, fd, parts[0].iov_base, parts[0].iov_len, flags, 0, 0),
            }
        };
        touch(parts, Tag::Write, moved, add);
        moved
    })
}

/// Reads until these parts are full or nobody writes any more, in as many events as it takes bytes to come.
unsafe fn read_all(fd: c_int, end: End, parts: &[iovec], flags: c_int) -> Option<isize> {
    if flags & libc::MSG_PEEK != 0 {
        super::unmodelled("looks at bytes of a connection that have not all come (MSG_PEEK with MSG_WAITALL)");
        return unsafe { read_pipe(fd, end, parts, flags) };
    }
    let mut read = 0;
    for part in parts {
        let mut left = *part;
        while left.iov_len > 0 {
            match unsafe { read_pipe(fd, end, &[left], flags) } {
                None => return (read > 0).then_some(read),
                Some(len @ 1..) => {
                    read += len;
                    left.iov_base = left.iov_base.wrapping_byte_add(len as usize);
                    left.iov_len -= len as usize;
                }
                Some(end_or_error) => return Some(if read > 0 { read } else { end_or_error }),
            }
        }
    }
    Some(read)
}

unsafe fn read_pipe(fd: c_int, end: End, parts: &[iovec], flags: c_int) -> Option<isize> {
    let blocker = if waits(fd, flags) { Blocker::Fd { fd, events: libc::POLLIN } } else { Blocker::None };
    operate(&[pipe::taking(end)], blocker, |add| {
        // Safety: the program's own arguments.
        let full = end.source().filter(|source| !pipe::has_room(*source));
        let taken = unsafe { pipe::take(end, parts, flags & libc::MSG_PEEK != 0) };
        if let Some(source) = full.filter(|source| pipe::has_room(*source)) {
            epoll::stir_writers(source, epoll::ROOM, add);
        }
        if !matches!(taken, Moved::Bytes(1..)) {
            add(pipe::finding_nothing(end));
        }
        match taken {
            Moved::Bytes(len) => {
                touch(parts, Tag::Write, len as isize, add);
                len as isize
            }
            Moved::Wait => -(libc::EAGAIN as isize),
            Moved::Error(error) => -(error as isize),
        }
    })
}

/// Writes these parts. `None`: the thread is cancelled instead.
pub(super) unsafe fn write_parts(fd: c_int, parts: &[iovec], how: How) -> Option<isize> {
    let open = open::get(fd);
    let flags = if let How::Socket(flags) = how { flags } else { 0 };
    match open.file {
        File::Pipe(end) => return unsafe { write_pipe(fd, end, parts, flags) },
        File::Socket(_) => return Some(-(libc::ENOTCONN as isize)),
        _ => {}
    }
    let standard = open.file == File::Other && (fd == 1 || fd == 2);
    let blocker = match open.file {
        File::Other if !standard && waits(fd, flags) => Blocker::Fd { fd, events: libc::POLLOUT },
        _ => Blocker::None,
    };
    let first = parts.iter().find(|part| part.iov_len > 0);
    let memory = first.map(|part| Access::plain(Tag::Read, part.iov_base, part.iov_len));
    let known = match memory {
        Some(memory) if standard => memory,
        _ => open.position(),
    };
    operate(&[known], blocker, |add| {
        open.content(Tag::ReadModifyWrite).into_iter().for_each(&mut *add);
        // Safety: the program's own arguments.
        let moved = unsafe {
            match how {
                How::Here => sys!(SYS_writev, fd, parts.as_ptr(), parts.len()),
                How::At(offset) => sys!(SYS_pwritev, fd, parts.as_ptr(), parts.len(), offset, 0),
                How::Socket(flags) => sys!(SYS_sendto, fd, parts[0].iov_base, parts[0].iov_len, flags, 0, 0),
            }
        };
        touch(parts, Tag::Read, moved, add);
        moved
    })
}

/// Writes to a pipe: all of it, in as many events as it takes room to become free.
unsafe fn write_pipe(fd: c_int, end: End, parts: &[iovec], flags: c_int) -> Option<isize> {
    let waits = waits(fd, flags);
    let blocker = if waits { Blocker::Fd { fd, events: libc::POLLOUT } } else { Blocker::None };
    let mut written = 0;
    for part in parts {
        let mut left = *part;
        loop {
            let moved = operate(&pipe::putting(end), blocker, |add| {
                // Safety: the program's own arguments.
                let moved = unsafe { pipe::put(end, &[left]) };
                if let Moved::Bytes(len) = moved {
                    touch(&[left], Tag::Read, len as isize, add);
                    end.sink()
                        .filter(|_| len > 0)
                        .into_iter()
                        .for_each(|to| epoll::stir_readers(to, epoll::ARRIVED, add));
                }
                moved
            });
            match moved {
                None => return (written > 0).then_some(written),
                Some(Moved::Bytes(len)) => {
                    written += len as isize;
                    left.iov_base = left.iov_base.wrapping_byte_add(len);
                    left.iov_len -= len;
                }
                Some(Moved::Error(libc::EPIPE)) if written == 0 && flags & libc::MSG_NOSIGNAL == 0 => {
                    broken_pipe();
                    return Some(-(libc::EPIPE as isize));
                }
                Some(Moved::Wait) if !waits && written == 0 => return Some(-(libc::EAGAIN as isize)),
                Some(Moved::Error(error)) if written == 0 => return Some(-(error as isize)),
                Some(Moved::Error(_)) => return Some(written),
                Some(Moved::Wait) if !waits => return Some(written),
                Some(Moved::Wait) => {}
            }
            if left.iov_len == 0 {
                break;
            }
        }
    }
    Some(written)
}

/// Nobody reads: ends the process unless the program ignores or handles the signal.
fn broken_pipe() {
    // Safety: only asks what the signal does.
    let action = unsafe {
        let mut old: libc::sigaction = core::mem::zeroed();
        libc::sigaction(libc::SIGPIPE, core::ptr::null(), &raw mut old);
        old.sa_sigaction
    };
    match action {
        libc::SIG_DFL if sched::running() => {
            sched::park(ReplyKind::Crash, libc::SIGPIPE, "broken pipe: writes to a pipe that nobody reads")
        }
        libc::SIG_DFL | libc::SIG_IGN => {}
        _ => super::unmodelled("handles a signal"),
    }
}

/// What a cancellation point gives: the result, or the thread's end.
pub(super) fn finish(call: &Call, moved: Option<isize>) -> Outcome {
    match moved {
        Some(moved) => Outcome::word(result(moved)),
        None => cancel::point(call),
    }
}

fn one(at: *const c_void, len: usize) -> [iovec; 1] {
    [iovec { iov_base: at.cast_mut(), iov_len: len }]
}

/// Reads a list of places.
pub(super) unsafe fn several<'a>(parts: *const iovec, count: c_int) -> &'a [iovec] {
    let count = usize::try_from(count).unwrap_or(0);
    operate(&[Access::plain(Tag::Read, parts.cast(), count * size_of::<iovec>())], Blocker::None, |_| ());
    if count > 0 { unsafe { core::slice::from_raw_parts(parts, count) } } else { &[] }
}

cancellable! {
    /// Reads.
    unsafe fn read(fd: c_int, to: *mut c_void, len: usize) {
        finish(&Call::here(), unsafe { read_parts(fd, &one(to, len), How::Here) })
    }
    /// Reads at an offset.
    unsafe fn pread(fd: c_int, to: *mut c_void, len: usize, offset: i64) {
        finish(&Call::here(), unsafe { read_parts(fd, &one(to, len), How::At(offset)) })
    }
    /// Reads at an offset.
    unsafe fn pread64(fd: c_int, to: *mut c_void, len: usize, offset: i64) {
        finish(&Call::here(), unsafe { read_parts(fd, &one(to, len), How::At(offset)) })
    }
    /// Reads into several places.
    unsafe fn readv(fd: c_int, parts: *const iovec, count: c_int) {
        finish(&Call::here(), unsafe { read_parts(fd, several(parts, count), How::Here) })
    }
    /// Reads into several places at an offset.
    unsafe fn preadv(fd: c_int, parts: *const iovec, count: c_int, offset: i64) {
        finish(&Call::here(), unsafe { read_parts(fd, several(parts, count), How::At(offset)) })
    }
    /// Writes.
    unsafe fn write(fd: c_int, from: *const c_void, len: usize) {
        finish(&Call::here(), unsafe { write_parts(fd, &one(from, len), How::Here) })
    }
    /// Writes at an offset.
    unsafe fn pwrite(fd: c_int, from: *const c_void, len: usize, offset: i64) {
        finish(&Call::here(), unsafe { write_parts(fd, &one(from, len), How::At(offset)) })
    }
    /// Writes at an offset.
    unsafe fn pwrite64(fd: c_int, from: *const c_void, len: usize, offset: i64) {
        finish(&Call::here(), unsafe { write_parts(fd, &one(from, len), How::At(offset)) })
    }
    /// Writes from several places.
    unsafe fn writev(fd: c_int, parts: *const iovec, count: c_int) {
        finish(&Call::here(), unsafe { write_parts(fd, several(parts, count), How::Here) })
    }
    /// Writes from several places at an offset.
    unsafe fn pwritev(fd: c_int, parts: *const iovec, count: c_int, offset: i64) {
        finish(&Call::here(), unsafe { write_parts(fd, several(parts, count), How::At(offset)) })
    }
    /// Receives.
    unsafe fn recv(fd: c_int, to: *mut c_void, len: usize, flags: c_int) {
        finish(&Call::here(), unsafe { read_parts(fd, &one(to, len), How::Socket(flags)) })
    }
    /// Sends.
    unsafe fn send(fd: c_int, from: *const c_void, len: usize, flags: c_int) {
        finish(&Call::here(), unsafe { write_parts(fd, &one(from, len), How::Socket(flags)) })
    }
}

/// Moves or asks for the position, or sets the length: what touches the file and no memory.
fn adjust(open: Open, content: Tag, act: impl FnOnce() -> isize) -> isize {
    let done = operate(&[open.position()], Blocker::None, |add| {
        open.content(content).into_iter().for_each(&mut *add);
        act()
    });
    done.unwrap_or(-(libc::EINTR as isize))
}

export! {
    /// Moves the position.
    fn lseek(fd: c_int, offset: i64, whence: c_int) -> i64 {
        sched::note_io();
        let open = open::get(fd);
        result(adjust(open, Tag::Read, || unsafe { sys!(SYS_lseek, fd, offset, whence) })) as i64
    }
    /// Moves the position.
    fn lseek64(fd: c_int, offset: i64, whence: c_int) -> i64 {
        unsafe { lseek(fd, offset, whence) }
    }
    /// Sets the length.
    fn ftruncate(fd: c_int, len: i64) -> c_int {
        let open = open::get(fd);
        result(adjust(open, Tag::ReadModifyWrite, || unsafe { sys!(SYS_ftruncate, fd, len) })) as c_int
    }
    /// Sets the length.
    fn ftruncate64(fd: c_int, len: i64) -> c_int {
        unsafe { ftruncate(fd, len) }
    }
    /// Reads an event counter.
    fn eventfd_read(fd: c_int, to: *mut u64) -> c_int {
        match unsafe { read_parts(fd, &one(to.cast(), 8), How::Here) } {
            Some(8) => 0,
            Some(moved) => result(moved).min(-1) as c_int,
            None => fail(libc::EINTR) as c_int,
        }
    }
    /// Adds to an event counter.
    fn eventfd_write(fd: c_int, value: u64) -> c_int {
        match unsafe { write_parts(fd, &one((&raw const value).cast(), 8), How::Here) } {
            Some(8) => 0,
            Some(moved) => result(moved).min(-1) as c_int,
            None => fail(libc::EINTR) as c_int,
        }
    }
    /// Receives, with the sender's address, which a pair of sockets has none of.
    fn recvfrom(fd: c_int, to: *mut c_void, len: usize, flags: c_int, from: *mut c_void, size: *mut c_uint) -> isize {
        if !from.is_null() && !size.is_null() {
            unsafe { *size = 0 };
        }
        unsafe { read_parts(fd, &one(to, len), How::Socket(flags)) }.map_or_else(|| fail(libc::EINTR), result)
    }
    /// Sends; to an address only through the network, which is not modelled.
    fn sendto(fd: c_int, from: *const c_void, len: usize, flags: c_int, to: *const c_void, _size: c_uint) -> isize {
        if !to.is_null() {
            super::unmodelled("sends to a network address");
            return fail(libc::ENETUNREACH);
        }
        unsafe { write_parts(fd, &one(from, len), How::Socket(flags)) }.map_or_else(|| fail(libc::EINTR), result)
    }
    /// Ends one or both directions of a pair of sockets.
    fn shutdown(fd: c_int, how: c_int) -> c_int {
        let end = match open::get(fd).file {
            File::Pipe(end @ End::Socket { .. }) => end,
            File::Socket(id) => return result(net::shut_down(id)) as c_int,
            _ => return result(unsafe { sys!(SYS_shutdown, fd, how) }) as c_int,
        };
        operate(&pipe::closing(end), Blocker::None, |add| match how {
            libc::SHUT_RD => pipe::drop_reader(end, add),
            libc::SHUT_WR => pipe::drop_writer(end, add),
            _ => pipe::drop_end(end, add),
        });
        0
    }
}
