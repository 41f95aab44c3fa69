//! Reading and writing through descriptors. Each call is one event, with what it touches of the program's memory and of
//! the file's cells. A call that would block becomes runnable when it would not.

use alloc::vec::Vec;
use core::ffi::{c_int, c_uint, c_void};

use libc::iovec;
use wire::{ReplyKind, Tag};

use super::channels::{self, End, Moved};
use super::event::{Access, finish, operate};
use super::open::{self, File, Open};
use super::program_memory::{Buffer, In, Out, iovecs};
use super::{datagrams, epoll, fail, kernel, negative, net, result, signal_files, sockets, timers, unmodelled};
use crate::api::cancel::cancellable;
use crate::api::handlers;
use crate::api::step::Call;
use crate::sched;
use crate::sync::Blocker;
use crate::sys::sys;

/// Whether a call with these flags on the descriptor waits. As in the kernel, that is decided when the call begins, in an
/// event of its own: `O_NONBLOCK` does not reach calls that already wait.
pub(super) fn waits(fd: c_int, flags: c_int) -> bool {
    let is_blocking =
        |_, _: &mut dyn FnMut(Access)| kernel::status_flags(fd).is_none_or(|status| status & libc::O_NONBLOCK == 0);
    flags & libc::MSG_DONTWAIT == 0
        && open::operate_on(fd, |open| Vec::from([open.flags()]), |_| Blocker::None, is_blocking).unwrap_or(true)
}

/// What blocks a call on the descriptor, if it waits, until one of `events` is there.
pub(super) fn blocker(fd: c_int, waits: bool, events: i16) -> Blocker {
    if waits { Blocker::Fd { fd, events } } else { Blocker::None }
}

/// Adds the accesses to the first `moved` bytes of these buffers.
fn add_accesses(parts: &[Buffer<'_>], tag: Tag, moved: isize, add: &mut dyn FnMut(Access)) {
    let mut left = usize::try_from(moved).unwrap_or(0);
    for part in parts {
        let len = left.min(part.len());
        add(Access::plain(tag, part.start(), len));
        left -= len;
    }
}

/// Where in a file, or how through a socket, a transfer goes.
#[derive(Clone, Copy)]
pub(super) enum Transfer {
    /// At the file's position.
    Here,
    /// At this offset.
    At(i64),
    /// Through a socket, with these flags.
    Socket(c_int),
}

impl Transfer {
    /// The flags of a transfer through a socket.
    fn flags(self) -> c_int {
        if let Self::Socket(flags) = self { flags } else { 0 }
    }
}

/// Reads into these buffers. `None`: the thread is cancelled instead.
pub(super) fn read_parts(fd: c_int, parts: &[Buffer<'_>], how: Transfer) -> Option<isize> {
    let flags = how.flags();
    let is_pipe = matches!(open::get(fd).file, File::Pipe(_));
    let waits = (is_pipe || open::get(fd).file == File::Other) && waits(fd, flags);
    if let (File::Pipe(End::Counter(id)), false) = (open::get(fd).file, waits)
        && timers::is_early(id)
    {
        return Some(negative(libc::EAGAIN));
    }
    let messages = match signal_files::whole_messages(fd, parts) {
        Ok(messages) => messages,
        Err(error) => return Some(negative(error)),
    };
    if let Some(messages) = messages {
        return read_some(fd, &[messages], how, waits);
    }
    if is_pipe && waits && flags & libc::MSG_WAITALL != 0 && datagrams::of(fd).is_none() {
        return read_all(fd, parts, flags);
    }
    read_some(fd, parts, how, waits)
}

/// Reads what there is, once, after it has come if the call `waits`.
fn read_some(fd: c_int, parts: &[Buffer<'_>], how: Transfer, waits: bool) -> Option<isize> {
    let flags = how.flags();
    let known = |open: Open| match open.file {
        File::Pipe(end) => Vec::from([channels::read_access(end)]),
        File::Socket(_) => Vec::new(),
        // A read at an offset does not move the position.
        File::Fixed | File::Disk(_) if matches!(how, Transfer::At(_)) => Vec::from([open.flags()]),
        _ => Vec::from([open.position()]),
    };
    let blocks = |open: Open| match open.file {
        File::Pipe(_) | File::Other => blocker(fd, waits, libc::POLLIN),
        _ => Blocker::None,
    };
    open::operate_on(fd, known, blocks, |open, add| {
        match open.file {
            File::Pipe(end) => return take_from_pipe(end, parts, flags, add),
            File::Socket(_) => return negative(libc::ENOTCONN),
            _ => {}
        }
        open.content(Tag::Read).into_iter().for_each(&mut *add);
        // SAFETY: the kernel fills the buffers, which the program passed for that.
        let moved = unsafe {
            match how {
                Transfer::Here => sys!(SYS_readv, fd, iovecs(parts), parts.len()),
                Transfer::At(offset) => sys!(SYS_preadv, fd, iovecs(parts), parts.len(), offset, 0),
                Transfer::Socket(flags) => sys!(SYS_recvfrom, fd, parts[0].start(), parts[0].len(), flags, 0, 0),
            }
        };
        add_accesses(parts, Tag::Write, moved, add);
        moved
    })
}

/// Reads until these buffers are full or nobody writes any more: one event for each time that bytes arrive.
fn read_all(fd: c_int, parts: &[Buffer<'_>], flags: c_int) -> Option<isize> {
    if flags & libc::MSG_PEEK != 0 {
        unmodelled("looks at bytes of a connection that have not all come (MSG_PEEK with MSG_WAITALL)");
        return read_some(fd, parts, Transfer::Socket(flags), true);
    }
    let mut read = 0;
    for part in parts {
        let mut left = *part;
        while !left.is_empty() {
            match read_some(fd, &[left], Transfer::Socket(flags), true) {
                None => return (read > 0).then_some(read),
                Some(len @ 1..) => {
                    read += len;
                    left = left.after(len as usize);
                }
                Some(end_or_error) => return Some(if read > 0 { read } else { end_or_error }),
            }
        }
    }
    Some(read)
}

/// Takes what there is out of a pipe, and tells those who wait for room.
pub(super) fn take(end: End, parts: &[Buffer<'_>], peek: bool, add: &mut dyn FnMut(Access)) -> Moved {
    let full = end.source().filter(|source| !channels::has_room(*source));
    let taken = channels::take(end, parts, peek);
    if let Some(source) = full.filter(|source| channels::has_room(*source)) {
        epoll::notify_writers(source, epoll::ROOM, add);
    }
    if let (End::Counter(id), Moved::Bytes(_)) = (end, taken) {
        timers::note_read(id, add);
    }
    if let (End::Datagrams(id), false, Moved::Bytes(_)) = (end, peek, taken) {
        datagrams::note_taken(id, add);
    }
    match taken {
        Moved::Bytes(_) if matches!(end, End::Datagrams(_)) => add(channels::received_access(end)),
        Moved::Bytes(1..) => add(channels::received_access(end)),
        _ => add(channels::empty_access(end, matches!(taken, Moved::Bytes(0)))),
    }
    taken
}

/// Puts what fits into a pipe, and tells those who wait for bytes.
pub(super) fn put(end: End, parts: &[Buffer<'_>], add: &mut dyn FnMut(Access)) -> Moved {
    let moved = channels::put(end, parts);
    if let (Moved::Bytes(1..), Some(sink)) = (moved, end.sink()) {
        add(channels::sent_access(end));
        epoll::notify_readers(sink, epoll::ARRIVED, add);
    }
    moved
}

/// Takes what there is out of a pipe into memory of the program.
fn take_from_pipe(end: End, parts: &[Buffer<'_>], flags: c_int, add: &mut dyn FnMut(Access)) -> isize {
    match take(end, parts, flags & libc::MSG_PEEK != 0, add) {
        Moved::Bytes(len) => {
            add_accesses(parts, Tag::Write, len as isize, add);
            match (end, flags & libc::MSG_TRUNC) {
                (End::Datagrams(_), libc::MSG_TRUNC) => datagrams::last_len().unwrap_or(len) as isize,
                _ => len as isize,
            }
        }
        Moved::Wait => negative(libc::EAGAIN),
        Moved::Error(error) => negative(error),
    }
}

/// Writes these buffers. `None`: the thread is cancelled instead.
pub(super) fn write_parts(fd: c_int, parts: &[Buffer<'_>], how: Transfer) -> Option<isize> {
    let flags = how.flags();
    let is_standard = |open: Open| open.file == File::Other && (fd == 1 || fd == 2);
    let first = parts.iter().find(|part| !part.is_empty());
    let memory = first.map(|part| Access::plain(Tag::Read, part.start(), part.len()));
    let known = |open: Open| match (open.file, memory) {
        (File::Socket(_), _) => Vec::new(),
        (_, Some(memory)) if is_standard(open) => Vec::from([memory]),
        _ => Vec::from([open.position()]),
    };
    let open = open::get(fd);
    if let Some(id) = datagrams::of(fd) {
        return datagrams::send(fd, id, parts, flags, None);
    }
    if let File::Pipe(_) = open.file {
        return write_pipe(fd, parts, flags);
    }
    let waits = open.file == File::Other && !is_standard(open) && waits(fd, flags);
    let blocks = |open: Open| match open.file {
        File::Other if !is_standard(open) => blocker(fd, waits, libc::POLLOUT),
        _ => Blocker::None,
    };
    let moved = open::operate_on(fd, known, blocks, |open, add| {
        match open.file {
            // It has become one since.
            File::Pipe(_) => return None,
            File::Socket(_) => return Some(negative(libc::ENOTCONN)),
            _ => {}
        }
        open.content(Tag::ReadModifyWrite).into_iter().for_each(&mut *add);
        // SAFETY: the kernel reads the buffers, which the program passed for that.
        let moved = unsafe {
            match how {
                Transfer::Here => sys!(SYS_writev, fd, iovecs(parts), parts.len()),
                Transfer::At(offset) => sys!(SYS_pwritev, fd, iovecs(parts), parts.len(), offset, 0),
                Transfer::Socket(flags) => sys!(SYS_sendto, fd, parts[0].start(), parts[0].len(), flags, 0, 0),
            }
        };
        add_accesses(parts, Tag::Read, moved, add);
        Some(moved)
    })?;
    moved.map_or_else(|| write_pipe(fd, parts, flags), Some)
}

/// Writes all bytes to a pipe: one event for each time that there is room.
fn write_pipe(fd: c_int, parts: &[Buffer<'_>], flags: c_int) -> Option<isize> {
    let mut written = 0;
    let waits = waits(fd, flags);
    for part in parts {
        let mut left = *part;
        loop {
            let known = |open: Open| match open.file {
                File::Pipe(end) => channels::write_accesses(end).into(),
                _ => Vec::from([open.flags()]),
            };
            let blocks = |_| blocker(fd, waits, libc::POLLOUT);
            let moved = open::operate_on(fd, known, blocks, |open, add| {
                let File::Pipe(end) = open.file else { return Moved::Error(libc::EBADF) };
                let moved = put(end, &[left], add);
                if let Moved::Bytes(len) = moved {
                    add_accesses(&[left], Tag::Read, len as isize, add);
                }
                moved
            });
            match moved {
                None => return (written > 0).then_some(written),
                Some(Moved::Bytes(len)) => {
                    written += len as isize;
                    left = left.after(len);
                }
                Some(Moved::Error(libc::EPIPE)) if written == 0 && flags & libc::MSG_NOSIGNAL == 0 => {
                    broken_pipe();
                    return Some(negative(libc::EPIPE));
                }
                Some(Moved::Wait) if !waits && written == 0 => return Some(negative(libc::EAGAIN)),
                Some(Moved::Error(error)) if written == 0 => return Some(negative(error)),
                Some(Moved::Error(_)) => return Some(written),
                Some(Moved::Wait) if !waits => return Some(written),
                Some(Moved::Wait) => {}
            }
            if left.is_empty() {
                break;
            }
        }
    }
    Some(written)
}

/// Delivers the signal for a write that nobody reads: it ends the process unless the program ignores or handles it.
fn broken_pipe() {
    if handlers::has_default(libc::SIGPIPE) && sched::running() {
        sched::park(ReplyKind::Crash, libc::SIGPIPE, "broken pipe: writes to a pipe that nobody reads")
    }
    handlers::send_to_me(libc::SIGPIPE);
}

/// Reads a list of buffers, which is an event of its own.
pub(super) fn buffers(parts: In<'_, iovec>, count: c_int) -> Vec<Buffer<'_>> {
    let count = usize::try_from(count).unwrap_or(0);
    operate(&[Access::plain(Tag::Read, parts.as_ptr().cast(), count * size_of::<iovec>())], Blocker::None, |_| ());
    Buffer::list(parts, count)
}

cancellable! {
    /// Reads.
    unsafe fn read(fd: c_int, to: Out<'_, c_void>, len: usize) {
        finish(&Call::here(), read_parts(fd, &[to.buffer(len)], Transfer::Here))
    }
    /// Reads at an offset.
    unsafe fn pread(fd: c_int, to: Out<'_, c_void>, len: usize, offset: i64) {
        finish(&Call::here(), read_parts(fd, &[to.buffer(len)], Transfer::At(offset)))
    }
    /// Reads at an offset.
    unsafe fn pread64(fd: c_int, to: Out<'_, c_void>, len: usize, offset: i64) {
        finish(&Call::here(), read_parts(fd, &[to.buffer(len)], Transfer::At(offset)))
    }
    /// Reads into several buffers.
    unsafe fn readv(fd: c_int, parts: In<'_, iovec>, count: c_int) {
        finish(&Call::here(), read_parts(fd, &buffers(parts, count), Transfer::Here))
    }
    /// Reads into several buffers at an offset.
    unsafe fn preadv(fd: c_int, parts: In<'_, iovec>, count: c_int, offset: i64) {
        finish(&Call::here(), read_parts(fd, &buffers(parts, count), Transfer::At(offset)))
    }
    /// Writes.
    unsafe fn write(fd: c_int, from: In<'_, c_void>, len: usize) {
        finish(&Call::here(), write_parts(fd, &[from.buffer(len)], Transfer::Here))
    }
    /// Writes at an offset.
    unsafe fn pwrite(fd: c_int, from: In<'_, c_void>, len: usize, offset: i64) {
        finish(&Call::here(), write_parts(fd, &[from.buffer(len)], Transfer::At(offset)))
    }
    /// Writes at an offset.
    unsafe fn pwrite64(fd: c_int, from: In<'_, c_void>, len: usize, offset: i64) {
        finish(&Call::here(), write_parts(fd, &[from.buffer(len)], Transfer::At(offset)))
    }
    /// Writes from several buffers.
    unsafe fn writev(fd: c_int, parts: In<'_, iovec>, count: c_int) {
        finish(&Call::here(), write_parts(fd, &buffers(parts, count), Transfer::Here))
    }
    /// Writes from several buffers at an offset.
    unsafe fn pwritev(fd: c_int, parts: In<'_, iovec>, count: c_int, offset: i64) {
        finish(&Call::here(), write_parts(fd, &buffers(parts, count), Transfer::At(offset)))
    }
    /// Receives.
    unsafe fn recv(fd: c_int, to: Out<'_, c_void>, len: usize, flags: c_int) {
        finish(&Call::here(), read_parts(fd, &[to.buffer(len)], Transfer::Socket(flags)))
    }
    /// Sends.
    unsafe fn send(fd: c_int, from: In<'_, c_void>, len: usize, flags: c_int) {
        finish(&Call::here(), write_parts(fd, &[from.buffer(len)], Transfer::Socket(flags)))
    }
}

/// Makes the event of a call that touches the file and no memory, such as one that moves the position or sets the
/// length.
fn adjust(fd: c_int, content: Tag, act: impl Fn() -> isize) -> isize {
    let done = open::operate_on(
        fd,
        |open| Vec::from([open.position()]),
        |_| Blocker::None,
        |open, add| {
            open.content(content).into_iter().for_each(&mut *add);
            act()
        },
    );
    done.unwrap_or(negative(libc::EINTR))
}

fn seek(fd: c_int, offset: i64, whence: c_int) -> i64 {
    sched::note_io();
    result(adjust(fd, Tag::Read, || kernel::lseek(fd, offset, whence))) as i64
}

fn set_length(fd: c_int, len: i64) -> c_int {
    result(adjust(fd, Tag::ReadModifyWrite, || kernel::ftruncate(fd, len))) as c_int
}

export! {
    /// Moves the position.
    fn lseek(fd: c_int, offset: i64, whence: c_int) -> i64 {
        seek(fd, offset, whence)
    }
    /// Moves the position.
    fn lseek64(fd: c_int, offset: i64, whence: c_int) -> i64 {
        seek(fd, offset, whence)
    }
    /// Sets the length.
    fn ftruncate(fd: c_int, len: i64) -> c_int {
        set_length(fd, len)
    }
    /// Sets the length.
    fn ftruncate64(fd: c_int, len: i64) -> c_int {
        set_length(fd, len)
    }
    /// Reads an event counter.
    fn eventfd_read(fd: c_int, to: Out<'_, c_void>) -> c_int {
        match read_parts(fd, &[to.buffer(size_of::<u64>())], Transfer::Here) {
            Some(8) => 0,
            Some(moved) => result(moved).min(-1) as c_int,
            None => fail(libc::EINTR) as c_int,
        }
    }
    /// Adds to an event counter.
    fn eventfd_write(fd: c_int, value: u64) -> c_int {
        let mut bytes = value.to_ne_bytes();
        match write_parts(fd, &[Buffer::from(&mut bytes[..])], Transfer::Here) {
            Some(8) => 0,
            Some(moved) => result(moved).min(-1) as c_int,
            None => fail(libc::EINTR) as c_int,
        }
    }
    /// Receives, with the sender's address, which only datagrams have.
    fn recvfrom(
        fd: c_int,
        to: Out<'_, c_void>,
        len: usize,
        flags: c_int,
        from: Out<'_, c_void>,
        size: Out<'_, c_uint>,
    ) -> isize {
        let moved = read_parts(fd, &[to.buffer(len)], Transfer::Socket(flags)).map_or_else(|| fail(libc::EINTR), result);
        let received = datagrams::take_last();
        if moved >= 0 && !from.is_null() && !size.is_null() {
            let room = size.as_in().read() as usize;
            let (bytes, address) = datagrams::stored_address(received.as_ref(), from.as_ptr(), room);
            let known = [Tag::Read, Tag::Write].map(|tag| Access::plain(tag, size.as_ptr().cast(), size_of::<c_uint>()));
            operate(&[known[0], known[1], address], Blocker::None, |_| {
                from.buffer(bytes.len().min(room)).store(&bytes[..bytes.len().min(room)]);
                size.write(bytes.len() as c_uint);
            });
        }
        moved
    }
    /// Sends, a datagram also to an address.
    fn sendto(fd: c_int, from: In<'_, c_void>, len: usize, flags: c_int, to: In<'_, c_void>, size: c_uint) -> isize {
        if let Some(id) = datagrams::of(fd) {
            let to = net::address_in(to, size);
            let sent = datagrams::send(fd, id, &[from.buffer(len)], flags, to.as_deref());
            return sent.map_or_else(|| fail(libc::EINTR), result);
        }
        if !to.is_null() {
            unmodelled("sends to a network address");
            return fail(libc::ENETUNREACH);
        }
        write_parts(fd, &[from.buffer(len)], Transfer::Socket(flags)).map_or_else(|| fail(libc::EINTR), result)
    }
    /// Ends one or both directions of a pair of sockets.
    fn shutdown(fd: c_int, how: c_int) -> c_int {
        let end = match open::get(fd).file {
            File::Pipe(end @ End::Socket { .. }) => end,
            File::Socket(id) => return result(sockets::shut_down(id)) as c_int,
            File::Pipe(End::Datagrams(_)) => {
                unmodelled("shuts down a socket for datagrams");
                return fail(libc::ENOTCONN) as c_int;
            }
            _ => return result(kernel::shutdown(fd, how)) as c_int,
        };
        operate(&channels::close_accesses(end), Blocker::None, |add| match how {
            libc::SHUT_RD => channels::close_reading(end, add),
            libc::SHUT_WR => channels::close_writing(end, add),
            _ => channels::close(end, add),
        });
        0
    }
}
