//! Channels: the content of pipes, connections and event counters. It is memory of the process, so the checkpoint
//! restores it, and the scheduler knows who waits for it without asking the kernel.
//!
//! A channel's cell has three parts, so that two calls depend on each other only where one can notice the other: the
//! bytes in the channel, its readers and its writers. Reading touches the bytes, and the writers too if there are no
//! bytes; writing touches the bytes and reads the readers; closing an end touches the readers or writers that the end
//! belonged to.
//!
//! What is handed over is ordered (assumption A15): a write that moves bytes releases, a read that gets some acquires, and
//! so do closing the last writing end and reading the end. A call that moves nothing orders nothing.
//!
//! No channel is borrowed while buffers of the program are read or filled: a bad pointer ends the thread at that point.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ffi::c_int;

use wire::Tag;
use wire::record::order;

use super::event::{Access, handed_over};
use super::open::{self, content_access};
use super::program_memory::Buffer;
use super::{datagrams, epoll, sockets, timers};
use crate::cell::Global;

/// How many bytes a channel holds.
const CAPACITY: usize = 65536;
/// A write of at most this size is not split.
pub const ATOMIC: usize = libc::PIPE_BUF;

/// The number of a channel.
pub type ChannelId = u32;

/// What a descriptor is of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The reading end of a pipe.
    Read(ChannelId),
    /// The writing end of a pipe.
    Write(ChannelId),
    /// A connected socket: reads from one channel, writes to another.
    Socket {
        /// Where its bytes come from.
        incoming: ChannelId,
        /// Where its bytes go.
        outgoing: ChannelId,
    },
    /// An event counter.
    Counter(ChannelId),
    /// A socket for datagrams, which receives through this channel.
    Datagrams(ChannelId),
}

impl End {
    /// The channel that is read.
    pub fn source(self) -> Option<ChannelId> {
        match self {
            Self::Read(channel)
            | Self::Counter(channel)
            | Self::Datagrams(channel)
            | Self::Socket { incoming: channel, .. } => Some(channel),
            Self::Write(_) => None,
        }
    }
    /// The channel that is written.
    pub fn sink(self) -> Option<ChannelId> {
        match self {
            Self::Write(channel) | Self::Counter(channel) | Self::Socket { outgoing: channel, .. } => Some(channel),
            Self::Read(_) | Self::Datagrams(_) => None,
        }
    }
    /// The channel of a call that reads, also one that fails because this end cannot be read.
    fn of_reading(self) -> ChannelId {
        match self {
            Self::Read(channel) | Self::Counter(channel) | Self::Write(channel) | Self::Datagrams(channel) => channel,
            Self::Socket { incoming, .. } => incoming,
        }
    }
    /// The channel of a call that writes, also one that fails because this end cannot be written.
    fn of_writing(self) -> ChannelId {
        match self {
            Self::Read(channel) | Self::Counter(channel) | Self::Write(channel) | Self::Datagrams(channel) => channel,
            Self::Socket { outgoing, .. } => outgoing,
        }
    }
}

/// Bytes that were written and not read yet, or the value of a counter.
#[derive(Debug, Default)]
struct Channel {
    bytes: VecDeque<u8>,
    /// How many descriptors can read it.
    readers: u32,
    /// How many descriptors can write it.
    writers: u32,
    /// Its cell.
    content: u32,
    /// The value of an event counter.
    counter: u64,
    /// Reading an event counter takes one, not the whole value.
    semaphore: bool,
}

impl Channel {
    /// Whether a small write would not wait.
    fn has_room(&self) -> bool {
        self.free() >= ATOMIC && self.counter < u64::MAX - 1
    }
    /// How many bytes fit. What a child process wrote may be more than that.
    fn free(&self) -> usize {
        CAPACITY.saturating_sub(self.bytes.len())
    }
}

static CHANNELS: Global<Vec<Channel>> = Global::new(Vec::new());

/// Lends a channel to `use_it`, which must not use another.
fn with<R>(id: ChannelId, use_it: impl FnOnce(&mut Channel) -> R) -> R {
    CHANNELS.with(|channels| use_it(&mut channels[id as usize]))
}

/// A new channel with one reader and one writer.
pub fn new() -> ChannelId {
    new_with(open::new_content())
}

/// As [`new`], with a cell of this number.
pub fn new_with(content: u32) -> ChannelId {
    CHANNELS.with(|channels| {
        channels.push(Channel { readers: 1, writers: 1, content, ..Channel::default() });
        channels.len() as ChannelId - 1
    })
}

/// A new event counter.
pub fn new_counter(value: u64, semaphore: bool) -> ChannelId {
    let id = new();
    with(id, |channel| (channel.counter, channel.semaphore) = (value, semaphore));
    id
}

/// The value of an event counter.
pub fn counter(id: ChannelId) -> u64 {
    with(id, |channel| channel.counter)
}

/// Sets the value of an event counter.
pub fn set_counter(id: ChannelId, value: u64) {
    with(id, |channel| channel.counter = value);
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
        let whole = content_access(with(id, |channel| channel.content), tag);
        let (offset, len) = match self {
            Self::Bytes => (0, 4),
            Self::Readers => (4, 2),
            Self::Writers => (6, 2),
        };
        Access { at: whole.at + offset, len, ..whole }
    }
}

/// The access of reading from this end, whether or not that is possible.
pub fn read_access(end: End) -> Access {
    Part::Bytes.of(end.of_reading(), Tag::ReadModifyWrite)
}

/// The further access of a read that got bytes: what their writers did before comes before it.
pub fn received_access(end: End) -> Access {
    Access { order: handed_over(order::ACQUIRE), ..Part::Bytes.of(end.of_reading(), Tag::Read) }
}

/// The further access of a write that moved bytes.
pub fn sent_access(end: End) -> Access {
    Access { order: handed_over(order::RELEASE), ..Part::Bytes.of(end.of_writing(), Tag::ReadModifyWrite) }
}

/// The further access of a read that finds no bytes. At the end of what was written, closing it comes before.
pub fn empty_access(end: End, at_end: bool) -> Access {
    let order = if at_end { handed_over(order::ACQUIRE) } else { order::RELAXED };
    Access { order, ..Part::Writers.of(end.of_reading(), Tag::Read) }
}

/// The accesses of writing to this end, whether or not that is possible.
pub fn write_accesses(end: End) -> [Access; 2] {
    let id = end.of_writing();
    [Part::Bytes.of(id, Tag::ReadModifyWrite), Part::Readers.of(id, Tag::Read)]
}

/// The accesses of asking whether this end is ready.
pub fn poll_accesses(end: End) -> Vec<Access> {
    let source = end.source().map(|id| [Part::Bytes.of(id, Tag::Read), Part::Writers.of(id, Tag::Read)]);
    let sink = end.sink().map(|id| [Part::Bytes.of(id, Tag::Read), Part::Readers.of(id, Tag::Read)]);
    // Whether a connection is over depends on both directions.
    let own = if let End::Socket { outgoing, .. } = end { Some([Part::Writers.of(outgoing, Tag::Read)]) } else { None };
    let peer = if let End::Datagrams(id) = end { datagrams::peer_of(id) } else { None };
    let peer = peer.map(|id| [Part::Bytes.of(id, Tag::Read), Part::Readers.of(id, Tag::Read)]);
    source.into_iter().chain(sink).chain(peer).flatten().chain(own.into_iter().flatten()).collect()
}

/// The accesses of closing this end.
pub fn close_accesses(end: End) -> Vec<Access> {
    let reader = end.source().map(|id| Part::Readers.of(id, Tag::ReadModifyWrite));
    let writer = end.sink().map(|id| Part::Writers.of(id, Tag::ReadModifyWrite));
    reader.into_iter().chain(writer.map(|access| Access { order: handed_over(order::RELEASE), ..access })).collect()
}

/// Another descriptor has this end.
pub fn add_user(end: End) {
    end.source().into_iter().for_each(|id| with(id, |channel| channel.readers += 1));
    end.sink().into_iter().for_each(|id| with(id, |channel| channel.writers += 1));
}

/// A descriptor with this end is closed.
pub fn close(end: End, add: &mut dyn FnMut(Access)) {
    close_reading(end, add);
    close_writing(end, add);
}

/// A descriptor with this end does not read any more.
pub fn close_reading(end: End, add: &mut dyn FnMut(Access)) {
    let Some(id) = end.source() else { return };
    let readers = with(id, |channel| {
        channel.readers = channel.readers.saturating_sub(1);
        channel.readers
    });
    if let (0, End::Datagrams(id)) = (readers, end) {
        datagrams::close(id);
    }
    if readers == 0 {
        epoll::notify_writers(id, epoll::CLOSED, add);
    }
}

/// A descriptor with this end does not write any more.
pub fn close_writing(end: End, add: &mut dyn FnMut(Access)) {
    let Some(id) = end.sink() else { return };
    let writers = with(id, |channel| {
        channel.writers = channel.writers.saturating_sub(1);
        channel.writers
    });
    if writers == 0 {
        epoll::notify_readers(id, epoll::CLOSED, add);
        epoll::notify_writers(id, epoll::CLOSED, add);
    }
}

/// Whether a small write to the channel would not wait.
pub fn has_room(id: ChannelId) -> bool {
    with(id, |channel| channel.has_room())
}

/// Whether somebody can still read from the channel.
pub fn has_readers(id: ChannelId) -> bool {
    with(id, |channel| channel.readers > 0)
}

/// Whether somebody can still write to the channel.
pub fn has_writers(id: ChannelId) -> bool {
    with(id, |channel| channel.writers > 0)
}

/// Whether more bytes are in the channel than it holds: a child process that wrote them still waits for room.
pub fn is_overfull(id: ChannelId) -> bool {
    with(id, |channel| channel.readers > 0 && channel.bytes.len() > CAPACITY)
}

/// The bytes in the channel.
pub fn content(id: ChannelId) -> Vec<u8> {
    with(id, |channel| channel.bytes.iter().copied().collect())
}

/// A child process has read this many bytes.
pub fn skip(id: ChannelId, count: usize) {
    with(id, |channel| drop(channel.bytes.drain(..count.min(channel.bytes.len()))));
}

/// Puts all bytes that a child process wrote into the channel, whether or not they fit; whether somebody can read them.
pub fn deliver(id: ChannelId, bytes: &[u8]) -> bool {
    with(id, |channel| {
        if channel.readers > 0 {
            channel.bytes.extend(bytes);
        }
        channel.readers > 0
    })
}

/// How many bytes are in each channel.
pub fn lengths() -> Vec<usize> {
    CHANNELS.with(|channels| channels.iter().map(|channel| channel.bytes.len()).collect())
}

/// The bytes that were added to channels since they had these lengths.
pub fn added_since(lengths: &[usize]) -> Vec<(ChannelId, Vec<u8>)> {
    CHANNELS.with(|channels| {
        let added =
            channels.iter().zip(lengths).map(|(channel, len)| channel.bytes.iter().skip(*len).copied().collect());
        (0..).zip(added).filter(|(_, added): &(_, Vec<u8>)| !added.is_empty()).collect()
    })
}

/// `poll`'s answer for an end.
pub fn events(end: End) -> i16 {
    let mut events = 0;
    if let End::Datagrams(id) = end {
        let readable = if datagrams::has_message(id) { libc::POLLIN | libc::POLLRDNORM } else { 0 };
        return readable | if datagrams::may_send(id) { libc::POLLOUT | libc::POLLWRNORM } else { 0 };
    }
    let is_socket = matches!(end, End::Socket { .. });
    let has_no_writers = end.source().is_some_and(|id| with(id, |channel| channel.writers == 0));
    let has_no_readers = end.sink().is_some_and(|id| with(id, |channel| channel.readers == 0));
    let has_content = |id| with(id, |channel| !channel.bytes.is_empty() || channel.counter > 0);
    if end.source().is_some_and(|id| has_content(id) || timers::is_due(id)) {
        events |= libc::POLLIN | libc::POLLRDNORM;
    }
    if has_no_writers {
        events |= if is_socket { libc::POLLIN | libc::POLLRDNORM | libc::POLLRDHUP } else { libc::POLLHUP };
    }
    // Writing to a connection that nobody reads fails at once.
    if end.sink().is_some_and(|sink| has_no_readers || has_room(sink) && !timers::is_timer(sink)) {
        events |= libc::POLLOUT | libc::POLLWRNORM;
    }
    if has_no_readers && !is_socket {
        events |= libc::POLLERR;
    }
    if let End::Socket { incoming, outgoing } = end {
        // On the network a connection is over when both sides have closed it; otherwise when the other side has.
        let is_over = if sockets::is_on_network(incoming) {
            with(outgoing, |channel| channel.writers == 0)
        } else {
            has_no_readers
        };
        if has_no_writers && is_over {
            events |= libc::POLLHUP;
        }
    }
    events
}

/// What came of trying to move bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moved {
    /// This many were moved.
    Bytes(usize),
    /// None can be moved now.
    Wait,
    /// The call fails with this error number.
    Error(c_int),
}

/// Stores bytes in buffers, one after the other.
pub(super) fn scatter(mut bytes: &[u8], parts: &[Buffer<'_>]) {
    for part in parts {
        let (here, rest) = bytes.split_at(part.len().min(bytes.len()));
        part.store(here);
        bytes = rest;
    }
}

/// Loads bytes from buffers, one after the other, up to a number.
pub(super) fn gather(parts: &[Buffer<'_>], most: usize) -> Vec<u8> {
    parts.iter().fold(Vec::new(), |mut bytes, part| {
        bytes.extend(part.load(most.saturating_sub(bytes.len())));
        bytes
    })
}

/// Reads from an end into these buffers; the bytes stay in the channel if `peek`.
pub fn take(end: End, parts: &[Buffer<'_>], peek: bool) -> Moved {
    let Some(id) = end.source() else { return Moved::Error(libc::EBADF) };
    if let End::Datagrams(id) = end {
        return datagrams::take(id, parts, peek);
    }
    let room: usize = parts.iter().map(Buffer::len).sum();
    if let End::Counter(_) = end {
        return take_count(id, room, parts);
    }
    let (bytes, has_writers) = with(id, |source| {
        let bytes: Vec<u8> = source.bytes.iter().take(room).copied().collect();
        (bytes, source.writers > 0)
    });
    if bytes.is_empty() && room > 0 && has_writers {
        return Moved::Wait;
    }
    scatter(&bytes, parts);
    if !peek {
        with(id, |source| drop(source.bytes.drain(..bytes.len())));
    }
    Moved::Bytes(bytes.len())
}

/// Reads an event counter.
fn take_count(id: ChannelId, room: usize, parts: &[Buffer<'_>]) -> Moved {
    if room < size_of::<u64>() {
        return Moved::Error(libc::EINVAL);
    }
    if with(id, |source| source.counter == 0) && timers::is_due(id) {
        timers::expire(id);
    }
    let value = with(id, |source| if source.semaphore { source.counter.min(1) } else { source.counter });
    if value == 0 {
        return Moved::Wait;
    }
    scatter(&value.to_ne_bytes(), parts);
    with(id, |source| source.counter -= value);
    Moved::Bytes(size_of::<u64>())
}

/// Writes to an end from these buffers, as many bytes as fit; a small write whole or not at all.
pub fn put(end: End, parts: &[Buffer<'_>]) -> Moved {
    let Some(id) = end.sink() else { return Moved::Error(libc::EBADF) };
    let offered: usize = parts.iter().map(Buffer::len).sum();
    if let End::Counter(_) = end {
        return put_count(id, parts);
    }
    let (readers, free) = with(id, |sink| (sink.readers, sink.free()));
    if readers == 0 {
        return Moved::Error(libc::EPIPE);
    }
    if offered > 0 && free < offered.min(ATOMIC) {
        return Moved::Wait;
    }
    let bytes = gather(parts, free);
    with(id, |sink| sink.bytes.extend(&bytes));
    Moved::Bytes(bytes.len())
}

/// Adds to an event counter.
fn put_count(id: ChannelId, parts: &[Buffer<'_>]) -> Moved {
    if timers::is_timer(id) {
        return Moved::Error(libc::EINVAL);
    }
    let bytes = gather(parts, size_of::<u64>());
    let Some(value) = bytes.first_chunk().map(|bytes| u64::from_ne_bytes(*bytes)).filter(|value| *value < u64::MAX)
    else {
        return Moved::Error(libc::EINVAL);
    };
    with(id, |sink| {
        if u64::MAX - 1 - sink.counter < value {
            return Moved::Wait;
        }
        sink.counter += value;
        Moved::Bytes(size_of::<u64>())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_ends_when_its_writer_is_closed() {
        let _alone = crate::libc_models::tests::alone();
        let id = new();
        let (read, write) = (End::Read(id), End::Write(id));
        let mut bytes = [0u8; 4];
        let mut hello = *b"hello";
        let buffer = [Buffer::from(&mut bytes[..])];
        assert_eq!(take(read, &buffer, false), Moved::Wait);
        assert_eq!(put(write, &[Buffer::from(&mut hello[..])]), Moved::Bytes(5));
        assert_eq!(events(read), libc::POLLIN | libc::POLLRDNORM);
        assert_eq!(take(read, &buffer, true), Moved::Bytes(4), "peeks");
        assert_eq!(take(read, &buffer, false), Moved::Bytes(4));
        assert_eq!(buffer[0].load(4), b"hell");
        close(write, &mut |_| {});
        assert_eq!(take(read, &buffer, false), Moved::Bytes(1));
        assert_eq!(take(read, &buffer, false), Moved::Bytes(0), "end of file");
        assert_eq!(take(write, &buffer, false), Moved::Error(libc::EBADF));
    }

    #[test]
    fn a_small_write_is_whole() {
        let _alone = crate::libc_models::tests::alone();
        let id = new();
        let mut large = std::vec![7u8; CAPACITY];
        let mut put_some = |len| put(End::Write(id), &[Buffer::from(&mut large[..len])]);
        assert_eq!(put_some(CAPACITY - 10), Moved::Bytes(CAPACITY - 10));
        assert_eq!(put_some(20), Moved::Wait);
        assert_eq!(put_some(10), Moved::Bytes(10));
        close(End::Read(id), &mut |_| {});
        assert_eq!(put_some(CAPACITY), Moved::Error(libc::EPIPE));
    }

    #[test]
    fn a_counter_is_read_whole() {
        let _alone = crate::libc_models::tests::alone();
        let id = End::Counter(new_counter(0, false));
        let mut value = 3u64.to_ne_bytes();
        let buffer = [Buffer::from(&mut value[..])];
        assert_eq!(put(id, &buffer), Moved::Bytes(8));
        buffer[0].store(&[0; 8]);
        assert_eq!(take(id, &buffer, false), Moved::Bytes(8));
        assert_eq!(buffer[0].load(8), 3u64.to_ne_bytes());
        assert_eq!(take(id, &buffer, false), Moved::Wait);
        assert_eq!(put(id, &[buffer[0].after(1)]), Moved::Error(libc::EINVAL), "too few bytes");
    }
}
