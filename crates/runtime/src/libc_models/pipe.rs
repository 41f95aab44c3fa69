//! Pipes, socket pairs and event counters, inside the process: their content is memory, so it is put back to the
//! checkpoint, and who waits for it is known without asking the kernel.
//!
//! Each descriptor is that of a real pipe (or socket, or counter) through which nothing goes; it keeps the number and
//! answers questions about its kind and flags.
//!
//! A channel's cell has three parts, so that calls depend on each other only where one can notice the other: the bytes on
//! their way, who reads and who writes. Taking bytes out touches the first, and looks at the writers if there are none;
//! putting bytes in looks at the readers, too; closing an end touches what it was.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ffi::{c_int, c_uint};

use wire::Tag;

use super::epoll;
use super::net;
use super::open::{self, File, content_access};
use super::transfer::Access;
use super::{result, unmodelled};
use crate::cell::Global;
use crate::sys::sys;

/// Bytes a pipe holds.
const CAPACITY: usize = 65536;
/// A write of at most this size is not split.
pub const ATOMIC: usize = libc::PIPE_BUF;

/// A number of a channel.
pub type ChannelId = u32;

/// Which part of a channel a descriptor is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Takes bytes out.
    Read(ChannelId),
    /// Puts bytes in.
    Write(ChannelId),
    /// A socket: takes out of one, puts into the other.
    Socket {
        /// Where its bytes come from.
        incoming: ChannelId,
        /// Where its bytes go.
        outgoing: ChannelId,
    },
    /// An event counter.
    Counter(ChannelId),
}

impl End {
    /// The channel that is read.
    pub fn source(self) -> Option<ChannelId> {
        match self {
            Self::Read(channel) | Self::Counter(channel) | Self::Socket { incoming: channel, .. } => Some(channel),
            Self::Write(_) => None,
        }
    }
    /// A channel it has to do with.
    fn any(self) -> ChannelId {
        match self {
            Self::Read(channel) | Self::Write(channel) | Self::Counter(channel) => channel,
            Self::Socket { incoming, .. } => incoming,
        }
    }
    /// The channel that is written.
    pub fn sink(self) -> Option<ChannelId> {
        match self {
            Self::Write(channel) | Self::Counter(channel) | Self::Socket { outgoing: channel, .. } => Some(channel),
            Self::Read(_) => None,
        }
    }
}

/// Bytes on their way.
#[derive(Debug, Default)]
struct Channel {
    bytes: VecDeque<u8>,
    readers: u32,
    writers: u32,
    content: u32,
    /// Of an event counter: its value, and whether reading takes one.
    counter: u64,
    semaphore: bool,
}

static CHANNELS: Global<Vec<Channel>> = Global::new(Vec::new());

fn channel(id: ChannelId) -> &'static mut Channel {
    // Safety: one operating-system thread, and no switch happens while it is used. Ids are those handed out.
    unsafe { &mut (&mut *CHANNELS.get())[id as usize] }
}

fn new_channel() -> ChannelId {
    channel_with(open::new_content())
}

/// A new channel whose cell is given.
pub fn channel_with(content: u32) -> ChannelId {
    // Safety: as in `channel`.
    let channels = unsafe { &mut *CHANNELS.get() };
    channels.push(Channel { readers: 1, writers: 1, content, ..Channel::default() });
    channels.len() as ChannelId - 1
}

/// A part of a channel's cell.
#[derive(Clone, Copy)]
enum Part {
    Bytes,
    Readers,
    Writers,
}

impl Part {
    fn of(self, id: ChannelId, tag: Tag) -> Access {
        let whole = content_access(channel(id).content, tag);
        let (offset, len) = match self {
            Self::Bytes => (0, 4),
            Self::Readers => (4, 2),
            Self::Writers => (6, 2),
        };
        Access { at: whole.at + offset, len, ..whole }
    }
}

/// The access of taking out of this end; one that cannot be read still is looked at.
pub fn taking(end: End) -> Access {
    Part::Bytes.of(end.source().unwrap_or_else(|| end.any()), Tag::ReadModifyWrite)
}

/// Besides, where nothing was there.
pub fn finding_nothing(end: End) -> Access {
    Part::Writers.of(end.source().unwrap_or_else(|| end.any()), Tag::Read)
}

/// The accesses of putting into this end.
pub fn putting(end: End) -> [Access; 2] {
    let id = end.sink().unwrap_or_else(|| end.any());
    [Part::Bytes.of(id, Tag::ReadModifyWrite), Part::Readers.of(id, Tag::Read)]
}

/// The accesses of looking whether this end is ready.
pub fn looking(end: End) -> Vec<Access> {
    let source = end.source().map(|id| [Part::Bytes.of(id, Tag::Read), Part::Writers.of(id, Tag::Read)]);
    let sink = end.sink().map(|id| [Part::Bytes.of(id, Tag::Read), Part::Readers.of(id, Tag::Read)]);
    // Whether a connection is over is a matter of both directions.
    let own = if let End::Socket { outgoing, .. } = end { Some([Part::Writers.of(outgoing, Tag::Read)]) } else { None };
    source.into_iter().chain(sink).flatten().chain(own.into_iter().flatten()).collect()
}

/// The accesses of closing this end.
pub fn closing(end: End) -> Vec<Access> {
    let reader = end.source().map(|id| Part::Readers.of(id, Tag::ReadModifyWrite));
    reader.into_iter().chain(end.sink().map(|id| Part::Writers.of(id, Tag::ReadModifyWrite))).collect()
}

/// Another descriptor has this end.
pub fn share(end: End) {
    end.source().into_iter().for_each(|id| channel(id).readers += 1);
    end.sink().into_iter().for_each(|id| channel(id).writers += 1);
}

/// A descriptor with this end is closed.
pub fn drop_end(end: End, add: &mut dyn FnMut(Access)) {
    drop_reader(end, add);
    drop_writer(end, add);
}

/// This end is not read any more.
pub fn drop_reader(end: End, add: &mut dyn FnMut(Access)) {
    let Some(id) = end.source() else { return };
    channel(id).readers = channel(id).readers.saturating_sub(1);
    if channel(id).readers == 0 {
        epoll::stir_writers(id, epoll::CLOSED, add);
    }
}

/// This end is not written any more.
pub fn drop_writer(end: End, add: &mut dyn FnMut(Access)) {
    let Some(id) = end.sink() else { return };
    channel(id).writers = channel(id).writers.saturating_sub(1);
    if channel(id).writers == 0 {
        epoll::stir_readers(id, epoll::CLOSED, add);
        epoll::stir_writers(id, epoll::CLOSED, add);
    }
}

/// Whether a small write to the channel would not wait.
pub fn has_room(id: ChannelId) -> bool {
    CAPACITY - channel(id).bytes.len() >= ATOMIC && channel(id).counter < u64::MAX - 1
}

/// `poll`'s answer for an end.
pub fn events(end: End) -> i16 {
    let mut events = 0;
    let is_socket = matches!(end, End::Socket { .. });
    let finished = end.source().is_some_and(|id| channel(id).writers == 0);
    let unheard = end.sink().is_some_and(|id| channel(id).readers == 0);
    if let Some(source) = end.source().map(channel) {
        if !source.bytes.is_empty() || source.counter > 0 {
            events |= libc::POLLIN | libc::POLLRDNORM;
        }
        if finished {
            events |= if is_socket { libc::POLLIN | libc::POLLRDNORM | libc::POLLRDHUP } else { libc::POLLHUP };
        }
    }
    if let Some(sink) = end.sink() {
        // Writing to a connection that nobody reads fails at once.
        if has_room(sink) || unheard {
            events |= libc::POLLOUT | libc::POLLWRNORM;
        }
        if unheard && !is_socket {
            events |= libc::POLLERR;
        }
    }
    if let End::Socket { incoming, outgoing } = end {
        // On the network a connection is over when both sides have said so; otherwise when the other side is gone.
        let over = if net::is_on_network(incoming) { channel(outgoing).writers == 0 } else { unheard };
        if finished && over {
            events |= libc::POLLHUP;
        }
    }
    events
}

/// What came of trying to move bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moved {
    /// This many.
    Bytes(usize),
    /// None now.
    Wait,
    /// An error number.
    Error(c_int),
}

/// Takes bytes out into these places.
///
/// # Safety
/// They can be written.
pub unsafe fn take(end: End, parts: &[libc::iovec], peek: bool) -> Moved {
    let Some(source) = end.source().map(channel) else { return Moved::Error(libc::EBADF) };
    let room: usize = parts.iter().map(|part| part.iov_len).sum();
    if let End::Counter(_) = end {
        if room < 8 {
            return Moved::Error(libc::EINVAL);
        }
        if source.counter == 0 {
            return Moved::Wait;
        }
        let value = if source.semaphore { 1 } else { source.counter };
        source.counter -= value;
        unsafe { parts[0].iov_base.cast::<u64>().write_unaligned(value) };
        return Moved::Bytes(8);
    }
    if source.bytes.is_empty() {
        return if source.writers == 0 || room == 0 { Moved::Bytes(0) } else { Moved::Wait };
    }
    let mut moved = 0;
    for part in parts {
        let len = part.iov_len.min(source.bytes.len() - moved);
        for i in 0..len {
            unsafe { *part.iov_base.cast::<u8>().add(i) = source.bytes[moved + i] };
        }
        moved += len;
    }
    if !peek {
        source.bytes.drain(..moved);
    }
    Moved::Bytes(moved)
}

/// Puts bytes in from these places, as many as fit; a small write whole or not at all.
///
/// # Safety
/// They can be read.
pub unsafe fn put(end: End, parts: &[libc::iovec]) -> Moved {
    let Some(sink) = end.sink().map(channel) else { return Moved::Error(libc::EBADF) };
    let offered: usize = parts.iter().map(|part| part.iov_len).sum();
    if let End::Counter(_) = end {
        if offered < 8 {
            return Moved::Error(libc::EINVAL);
        }
        let value = unsafe { parts[0].iov_base.cast::<u64>().read_unaligned() };
        if value == u64::MAX {
            return Moved::Error(libc::EINVAL);
        }
        if u64::MAX - 1 - sink.counter < value {
            return Moved::Wait;
        }
        sink.counter += value;
        return Moved::Bytes(8);
    }
    if sink.readers == 0 {
        return Moved::Error(libc::EPIPE);
    }
    let free = CAPACITY - sink.bytes.len();
    if offered > 0 && free < offered.min(ATOMIC) {
        return Moved::Wait;
    }
    let mut moved = 0;
    for part in parts {
        let len = part.iov_len.min(free - moved);
        sink.bytes.extend(unsafe { core::slice::from_raw_parts(part.iov_base.cast::<u8>(), len) });
        moved += len;
    }
    Moved::Bytes(moved)
}

/// Registers both ends; the first error closes what was opened.
unsafe fn both_ends(made: isize, to: *mut c_int, ends: impl FnOnce() -> [End; 2]) -> c_int {
    if made >= 0 {
        let ends = ends();
        for (i, end) in ends.into_iter().enumerate() {
            open::opened(unsafe { *to.add(i) } as isize, File::Pipe(end));
        }
    }
    result(made) as c_int
}

export! {
    /// Makes a pipe.
    fn pipe(to: *mut c_int) -> c_int {
        unsafe { pipe2(to, 0) }
    }
    /// Makes a pipe.
    fn pipe2(to: *mut c_int, flags: c_int) -> c_int {
        if flags & libc::O_DIRECT != 0 {
            unmodelled("makes a pipe of packets");
            return super::fail(libc::EINVAL) as c_int;
        }
        unsafe {
            both_ends(sys!(SYS_pipe2, to, flags), to, || {
                let channel = new_channel();
                [End::Read(channel), End::Write(channel)]
            })
        }
    }
    /// Makes a pair of sockets.
    fn socketpair(domain: c_int, kind: c_int, protocol: c_int, to: *mut c_int) -> c_int {
        unsafe {
            let made = sys!(SYS_socketpair, domain, kind, protocol, to);
            if kind & !(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) != libc::SOCK_STREAM {
                unmodelled("makes a pair of sockets for messages");
                return result(made) as c_int;
            }
            both_ends(made, to, || {
                let (there, back) = (new_channel(), new_channel());
                [End::Socket { incoming: back, outgoing: there }, End::Socket { incoming: there, outgoing: back }]
            })
        }
    }
    /// Makes an event counter.
    fn eventfd(value: c_uint, flags: c_int) -> c_int {
        let made = unsafe { sys!(SYS_eventfd2, 0, flags) };
        if made >= 0 {
            let id = new_channel();
            channel(id).counter = u64::from(value);
            channel(id).semaphore = flags & libc::EFD_SEMAPHORE != 0;
            open::opened(made, File::Pipe(End::Counter(id)));
        }
        result(made) as c_int
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(bytes: &mut [u8]) -> libc::iovec {
        libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }
    }

    /// One test, since the channels are one table.
    #[test]
    fn channels() {
        let id = new_channel();
        let (read, write) = (End::Read(id), End::Write(id));
        let mut buffer = [0u8; 4];
        unsafe {
            assert_eq!(take(read, &[part(&mut buffer)], false), Moved::Wait);
            assert_eq!(put(write, &[part(&mut b"hello".to_owned())]), Moved::Bytes(5));
            assert_eq!(events(read), libc::POLLIN | libc::POLLRDNORM);
            assert_eq!(take(read, &[part(&mut buffer)], false), Moved::Bytes(4));
            assert_eq!(&buffer, b"hell");
            drop_end(write, &mut |_| {});
            assert_eq!(take(read, &[part(&mut buffer)], false), Moved::Bytes(1));
            assert_eq!(take(read, &[part(&mut buffer)], false), Moved::Bytes(0), "end of file");
            assert_eq!(take(write, &[part(&mut buffer)], false), Moved::Error(libc::EBADF));
        }
        let id = new_channel();
        let mut large = std::vec![7u8; CAPACITY];
        unsafe {
            assert_eq!(put(End::Write(id), &[part(&mut large[..CAPACITY - 10])]), Moved::Bytes(CAPACITY - 10));
            assert_eq!(put(End::Write(id), &[part(&mut large[..20])]), Moved::Wait, "a small write is whole");
            assert_eq!(put(End::Write(id), &[part(&mut large[..10])]), Moved::Bytes(10));
            drop_end(End::Read(id), &mut |_| {});
            assert_eq!(put(End::Write(id), &[part(&mut large)]), Moved::Error(libc::EPIPE));
        }
        let id = new_channel();
        let mut value = 3u64.to_ne_bytes();
        unsafe {
            assert_eq!(put(End::Counter(id), &[part(&mut value)]), Moved::Bytes(8));
            assert_eq!(take(End::Counter(id), &[part(&mut value)], false), Moved::Bytes(8));
            assert_eq!(u64::from_ne_bytes(value), 3);
            assert_eq!(take(End::Counter(id), &[part(&mut value)], false), Moved::Wait);
        }
    }
}
