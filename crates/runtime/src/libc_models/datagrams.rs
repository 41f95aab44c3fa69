//! Sockets for datagrams, on the loopback network and in the Unix domain, between threads of the program.
//!
//! A socket receives into a channel of its own ([`super::channels`]), of which only the cell and the users are used: what waits
//! there are whole messages, kept here. Sending touches the receiver's channel. On the network a message to nobody is lost, and
//! a connected sender learns of that in its next call; in the Unix domain sending fails, or waits while the receiver has many.
//!
//! Not modelled, and reported: messages that are lost because too many wait, and `shutdown`.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::ffi::{c_int, c_void};

use wire::Tag;

use super::address::{Address, AddressError};
use super::channels::{self, ChannelId, End, Moved};
use super::event::{Access, operate};
use super::open::{self, File};
use super::poll::{self, Limit, Waiting};
use super::program_memory::Buffer;
use super::sockets::{Side, addresses_access};
use super::transfer::waits;
use super::{epoll, negative, unmodelled};
use crate::cell::Global;
use crate::sync::Blocker;

/// How many messages wait at a socket in the Unix domain before senders do; the kernel's usual setting.
const MOST_WAITING: usize = 10;
/// How many bytes wait, with what the kernel needs for each message.
const MOST_BYTES: usize = 212_992;
const OVERHEAD: usize = 768;
/// The longest message on the network.
const LONGEST: usize = 65_507;
/// The first port given to a socket without one.
const FIRST_PORT: u16 = 40_000;

/// Where a socket sends to without being told.
#[derive(Clone, Debug)]
enum Peer {
    At(Address),
    /// The other one of a pair.
    Pair(ChannelId),
}

#[derive(Debug)]
struct Message {
    bytes: Vec<u8>,
    from: Option<Address>,
}

/// A socket for datagrams.
#[derive(Debug)]
struct Datagrams {
    family: u16,
    address: Option<Address>,
    peer: Option<Peer>,
    queue: VecDeque<Message>,
    /// What its next call fails with: nobody was there to get a message.
    error: Option<c_int>,
    is_open: bool,
}

/// A message that was received.
#[derive(Clone, Debug)]
pub struct Received {
    /// Who sent it, if that has an address.
    pub from: Option<Address>,
    /// How many bytes it had.
    pub len: usize,
    /// There was no room for all of them.
    pub is_cut: bool,
}

struct All {
    sockets: BTreeMap<ChannelId, Datagrams>,
    ports: u16,
    /// The message that was received last.
    last: Option<Received>,
}

static ALL: Global<All> = Global::new(All { sockets: BTreeMap::new(), ports: 0, last: None });

fn with<R>(id: ChannelId, use_it: impl FnOnce(&mut Datagrams) -> R) -> Option<R> {
    ALL.with(|all| all.sockets.get_mut(&id).map(use_it))
}

/// A new socket.
pub fn make(family: u16) -> End {
    let id = channels::new();
    let socket = Datagrams { family, address: None, peer: None, queue: VecDeque::new(), error: None, is_open: true };
    ALL.with(|all| all.sockets.insert(id, socket));
    End::Datagrams(id)
}

/// Two sockets that send to each other.
pub fn pair() -> [End; 2] {
    let ends = [(); 2].map(|()| make(libc::AF_UNIX as u16));
    let ids = ends.map(|end| end.source().unwrap_or_default());
    with(ids[0], |socket| socket.peer = Some(Peer::Pair(ids[1])));
    with(ids[1], |socket| socket.peer = Some(Peer::Pair(ids[0])));
    ends
}

/// The last descriptor of a socket was closed.
pub fn close(id: ChannelId) {
    with(id, |socket| (socket.is_open, socket.address) = (false, None));
}

/// The socket behind a descriptor, if it is one for datagrams.
pub fn of(fd: c_int) -> Option<ChannelId> {
    if let File::Pipe(End::Datagrams(id)) = open::get(fd).file { Some(id) } else { None }
}

/// The message that the running thread has just received.
pub fn take_last() -> Option<Received> {
    ALL.with(|all| all.last.take())
}

impl All {
    fn at(&self, wanted: &Address) -> Option<ChannelId> {
        let serves = |socket: &Datagrams| socket.is_open && socket.address.as_ref().is_some_and(|a| a.serves(wanted));
        self.sockets.iter().find(|(_, socket)| serves(socket)).map(|(id, _)| *id)
    }

    fn bind(&mut self, id: ChannelId, wanted: Address) -> Result<(), c_int> {
        let chosen = match wanted {
            Address::Port { port: 0, .. } => {
                self.ports += 1;
                wanted.with_port(FIRST_PORT.wrapping_add(self.ports - 1))
            }
            other => other,
        };
        if self.at(&chosen).is_some() {
            return Err(libc::EADDRINUSE);
        }
        let socket = self.sockets.get_mut(&id).ok_or(libc::EBADF)?;
        if socket.address.is_some() {
            return Err(libc::EINVAL);
        }
        socket.address = Some(chosen);
        Ok(())
    }

    /// Gives a socket of the network an address, as its first use does.
    fn bind_if_needed(&mut self, id: ChannelId) {
        let family = self.sockets.get(&id).filter(|socket| socket.address.is_none()).map(|socket| socket.family);
        if let Some(family) = family.filter(|family| c_int::from(*family) != libc::AF_UNIX) {
            let _ = self.bind(id, Address::none(family));
        }
    }

    /// The socket that gets a message; `None` if nobody does and that is no error.
    fn receiver(&self, from: ChannelId, to: Option<&Address>) -> Result<Option<ChannelId>, c_int> {
        let socket = self.sockets.get(&from).ok_or(libc::EBADF)?;
        let is_unix = c_int::from(socket.family) == libc::AF_UNIX;
        let address = match (to, &socket.peer) {
            (Some(address), _) | (None, Some(Peer::At(address))) => address,
            (None, Some(Peer::Pair(id))) => {
                let is_open = self.sockets.get(id).is_some_and(|other| other.is_open);
                return if is_open { Ok(Some(*id)) } else { Err(libc::ECONNREFUSED) };
            }
            (None, None) => return Err(if is_unix { libc::ENOTCONN } else { libc::EDESTADDRREQ }),
        };
        match self.at(address) {
            Some(id) => Ok(Some(id)),
            None if is_unix => Err(libc::ENOENT),
            None => Ok(None),
        }
    }

    /// Whether a socket takes messages from another one: one that is connected takes those of its peer only.
    fn takes_from(&self, id: ChannelId, from: ChannelId) -> bool {
        let sender = self.sockets.get(&from).and_then(|socket| socket.address.as_ref());
        match self.sockets.get(&id).and_then(|socket| socket.peer.as_ref()) {
            Some(Peer::At(peer)) => sender.is_some_and(|sender| sender.serves(peer)),
            Some(Peer::Pair(other)) => *other == from,
            None => true,
        }
    }

    /// Whether a sender has to wait for room at a receiver.
    fn is_full(&self, from: ChannelId, id: ChannelId) -> bool {
        let Some(socket) = self.sockets.get(&id).filter(|socket| socket.is_open) else { return false };
        let bytes: usize = socket.queue.iter().map(|message| message.bytes.len() + OVERHEAD).sum();
        let is_pair = matches!(socket.peer, Some(Peer::Pair(other)) if other == from);
        match c_int::from(socket.family) {
            libc::AF_UNIX if is_pair => bytes > MOST_BYTES,
            libc::AF_UNIX => socket.queue.len() > MOST_WAITING,
            _ => false,
        }
    }
}

/// Whether a message waits at a socket, or an error.
pub fn has_message(id: ChannelId) -> bool {
    with(id, |socket| !socket.queue.is_empty() || socket.error.is_some()).unwrap_or(false)
}

/// Whether a socket can send to its peer without waiting.
pub fn may_send(id: ChannelId) -> bool {
    ALL.with(|all| all.receiver(id, None).ok().flatten().is_none_or(|receiver| !all.is_full(id, receiver)))
}

/// Whether one socket can send to another without waiting.
pub fn has_room(from: ChannelId, to: ChannelId) -> bool {
    ALL.with(|all| !all.is_full(from, to))
}

/// The further access of asking whether a socket can send: the messages that wait at its peer.
pub fn peer_of(id: ChannelId) -> Option<ChannelId> {
    ALL.with(|all| all.receiver(id, None).ok().flatten())
}

/// Receives a message into these buffers; it stays if `peek`.
pub fn take(id: ChannelId, parts: &[Buffer<'_>], peek: bool) -> Moved {
    if let Some(error) = with(id, |socket| socket.error.take()).flatten() {
        return Moved::Error(error);
    }
    let message = with(id, |socket| socket.queue.front().map(|first| (first.bytes.clone(), first.from.clone())));
    let Some((bytes, from)) = message.flatten() else { return Moved::Wait };
    let room: usize = parts.iter().map(Buffer::len).sum();
    channels::scatter(&bytes[..bytes.len().min(room)], parts);
    if !peek {
        with(id, |socket| socket.queue.pop_front());
    }
    ALL.with(|all| all.last = Some(Received { from, len: bytes.len(), is_cut: bytes.len() > room }));
    Moved::Bytes(bytes.len().min(room))
}

/// A message was taken from a socket: those who send to it may have room again.
pub fn note_taken(id: ChannelId, add: &mut dyn FnMut(Access)) {
    let senders: Vec<ChannelId> = ALL.with(|all| {
        let sends_here = |sender: &&ChannelId| all.receiver(**sender, None) == Ok(Some(id));
        all.sockets.keys().filter(sends_here).copied().collect()
    });
    senders.into_iter().for_each(|sender| epoll::notify_readers(sender, epoll::ROOM, add));
}

/// What came of sending.
fn deliver(from: ChannelId, to: Option<&Address>, bytes: Vec<u8>, add: &mut dyn FnMut(Access)) -> Result<(), c_int> {
    if let Some(error) = with(from, |socket| socket.error.take()).flatten() {
        return Err(error);
    }
    let is_network = with(from, |socket| c_int::from(socket.family) != libc::AF_UNIX).unwrap_or(false);
    if is_network && bytes.len() > LONGEST || bytes.len() > MOST_BYTES - OVERHEAD {
        return Err(libc::EMSGSIZE);
    }
    ALL.with(|all| all.bind_if_needed(from));
    let receiver = ALL.with(|all| all.receiver(from, to)).inspect_err(|error| {
        if *error == libc::ECONNREFUSED {
            with(from, |socket| socket.peer = None);
        }
    })?;
    let Some(receiver) = receiver else {
        // Who is connected gets to know.
        if to.is_none() {
            with(from, |socket| socket.error = Some(libc::ECONNREFUSED));
        }
        return Ok(());
    };
    add(channels::sent_access(End::Datagrams(receiver)));
    if ALL.with(|all| all.is_full(from, receiver)) {
        return Err(libc::EAGAIN);
    }
    if !ALL.with(|all| all.takes_from(receiver, from)) {
        return if is_network { Ok(()) } else { Err(libc::EPERM) };
    }
    let seen_as = with(from, |socket| socket.address.clone()).flatten().map(Address::as_seen_here);
    let waiting = with(receiver, |socket| {
        socket.queue.push_back(Message { bytes, from: seen_as });
        socket.queue.iter().map(|message| message.bytes.len() + OVERHEAD).sum::<usize>()
    });
    if is_network && waiting.unwrap_or(0) > MOST_BYTES {
        unmodelled("sends more datagrams than wait for their receiver");
    }
    epoll::notify_readers(receiver, epoll::ARRIVED, add);
    Ok(())
}

/// Sends a message to an address or to the peer. `None`: the thread is cancelled instead.
pub fn send(fd: c_int, id: ChannelId, parts: &[Buffer<'_>], flags: c_int, to: Option<&[u8]>) -> Option<isize> {
    let to = match to.map(Address::parse) {
        None => None,
        Some(Ok(address)) => Some(address),
        Some(Err(AddressError::Invalid)) => return Some(negative(libc::EINVAL)),
        Some(Err(AddressError::Remote)) => {
            unmodelled("sends to an address of the network");
            return Some(negative(libc::ENETUNREACH));
        }
    };
    let limit = if waits(fd, flags) { Limit::Forever } else { Limit::At(0) };
    let receiver = ALL.with(|all| all.receiver(id, to.as_ref())).ok().flatten();
    let needs_address = with(id, |socket| socket.address.is_none()).unwrap_or(false);
    let addresses = addresses_access(if needs_address { Tag::ReadModifyWrite } else { Tag::Read });
    let queue = receiver.map(|receiver| channels::read_access(End::Datagrams(receiver)));
    let own = channels::read_access(End::Datagrams(id));
    let known: Vec<Access> = queue.into_iter().chain([own, addresses, open::lookup_access(fd)]).collect();
    let mut outcome = Err(libc::EAGAIN);
    let waiting = receiver.map_or(Waiting::Set(Vec::new()), |receiver| Waiting::Room(id, receiver));
    let limit = if receiver.is_some() { limit } else { Limit::At(0) };
    poll::wait_until(waiting, &known, limit, |add| {
        let bytes = channels::gather(parts, usize::MAX);
        let len = bytes.len();
        outcome = deliver(id, to.as_ref(), bytes, add).map(|()| len);
        for part in parts.iter().filter(|_| outcome.is_ok()) {
            add(Access::plain(Tag::Read, part.start(), part.len()));
        }
        1
    })?;
    Some(outcome.map_or_else(negative, |len| len as isize))
}

/// Gives a socket an address.
pub fn bind(fd: c_int, id: ChannelId, address: &[u8], memory: Access) -> isize {
    let address = match Address::parse(address) {
        Ok(address) => address,
        Err(AddressError::Invalid) => return negative(libc::EINVAL),
        Err(AddressError::Remote) => {
            unmodelled("binds a socket to an address of the network");
            return negative(libc::EADDRNOTAVAIL);
        }
    };
    let known = [addresses_access(Tag::ReadModifyWrite), open::lookup_access(fd), memory];
    let bound = operate(&known, Blocker::None, |_| ALL.with(|all| all.bind(id, address)));
    bound.unwrap_or(Err(libc::EINTR)).map_or_else(negative, |()| 0)
}

/// Sets where a socket sends to and receives from; `AF_UNSPEC` lets it talk to everybody again.
pub fn connect(fd: c_int, id: ChannelId, address: &[u8], memory: Access) -> isize {
    let is_nobody = address.first_chunk::<2>() == Some(&(libc::AF_UNSPEC as u16).to_ne_bytes());
    let peer = match Address::parse(address) {
        _ if is_nobody => None,
        Ok(address) => Some(address),
        Err(AddressError::Invalid) => return negative(libc::EINVAL),
        Err(AddressError::Remote) => {
            unmodelled("connects to an address of the network");
            return negative(libc::ENETUNREACH);
        }
    };
    let own = channels::read_access(End::Datagrams(id));
    let known = [addresses_access(Tag::ReadModifyWrite), own, open::lookup_access(fd), memory];
    let done = operate(&known, Blocker::None, |_| {
        ALL.with(|all| {
            if let (Some(Address::Path(_)), None) = (&peer, peer.as_ref().and_then(|peer| all.at(peer))) {
                return Err(libc::ENOENT);
            }
            all.bind_if_needed(id);
            let socket = all.sockets.get_mut(&id).ok_or(libc::EBADF)?;
            (socket.peer, socket.error) = (peer.clone().map(|peer| Peer::At(peer.as_seen_here())), None);
            Ok(())
        })
    });
    done.unwrap_or(Err(libc::EINTR)).map_or_else(negative, |()| 0)
}

/// The address of a socket or of its peer.
///
/// # Errors
/// The error number.
pub fn address_of(id: ChannelId, side: Side) -> Result<Address, c_int> {
    let known = with(id, |socket| match (side, &socket.peer) {
        (Side::Own, peer) => {
            let address = socket.address.clone().unwrap_or_else(|| Address::none(socket.family));
            Ok(if peer.is_some() { address.as_seen_here() } else { address })
        }
        (Side::Peer, Some(Peer::At(address))) => Ok(address.clone()),
        (Side::Peer, Some(Peer::Pair(_))) => Ok(Address::none(socket.family)),
        (Side::Peer, None) => Err(libc::ENOTCONN),
    });
    known.unwrap_or(Err(libc::EBADF))
}

/// How many bytes the message had that the running thread has just received.
pub fn last_len() -> Option<usize> {
    ALL.with(|all| all.last.as_ref().map(|last| last.len))
}

/// The address of a message's sender, and the access of storing it where the program wants it.
pub fn stored_address(received: Option<&Received>, to: *mut c_void, room: usize) -> (Vec<u8>, Access) {
    let bytes = received.and_then(|received| received.from.as_ref()).map(Address::bytes).unwrap_or_default();
    let access = Access::plain(Tag::Write, to, bytes.len().min(room));
    (bytes, access)
}

#[cfg(test)]
mod tests {
    use super::super::address::tests::inet;
    use super::*;

    #[test]
    fn a_message_is_received_whole_or_cut() {
        let _alone = crate::libc_models::tests::alone();
        let [End::Datagrams(one), End::Datagrams(other)] = pair() else { panic!("datagrams") };
        assert_eq!(deliver(one, None, b"hello".to_vec(), &mut |_| {}), Ok(()));
        assert_eq!(deliver(one, None, Vec::new(), &mut |_| {}), Ok(()));
        let mut room = [0u8; 3];
        assert_eq!(take(other, &[Buffer::from(&mut room[..])], true), Moved::Bytes(3));
        assert_eq!(take(other, &[Buffer::from(&mut room[..])], false), Moved::Bytes(3));
        let last = take_last().unwrap();
        assert!(last.is_cut && last.len == 5 && last.from.is_none());
        assert!(has_message(other));
        assert_eq!(take(other, &[Buffer::from(&mut room[..])], false), Moved::Bytes(0), "an empty message");
        assert_eq!(take(other, &[Buffer::from(&mut room[..])], false), Moved::Wait);
        close(other);
        assert_eq!(deliver(one, None, Vec::new(), &mut |_| {}), Err(libc::ECONNREFUSED));
        assert_eq!(deliver(one, None, Vec::new(), &mut |_| {}), Err(libc::ENOTCONN));
    }

    #[test]
    fn a_message_to_nobody_is_lost_and_told_to_the_connected() {
        let _alone = crate::libc_models::tests::alone();
        let End::Datagrams(id) = make(libc::AF_INET as u16) else { panic!("datagrams") };
        let nobody = Address::parse(&inet([127, 0, 0, 1], 9)).unwrap();
        assert_eq!(deliver(id, None, Vec::new(), &mut |_| {}), Err(libc::EDESTADDRREQ));
        assert_eq!(deliver(id, Some(&nobody), Vec::new(), &mut |_| {}), Ok(()));
        assert!(!has_message(id));
        with(id, |socket| socket.peer = Some(Peer::At(nobody)));
        assert_eq!(deliver(id, None, Vec::new(), &mut |_| {}), Ok(()));
        assert!(has_message(id), "an error");
        assert_eq!(deliver(id, None, Vec::new(), &mut |_| {}), Err(libc::ECONNREFUSED));
    }

    #[test]
    fn senders_in_the_unix_domain_wait_for_room() {
        let _alone = crate::libc_models::tests::alone();
        let [End::Datagrams(server), End::Datagrams(client)] = [(); 2].map(|()| make(libc::AF_UNIX as u16)) else {
            panic!("datagrams")
        };
        let address = Address::Path(b"/tmp/full".to_vec());
        ALL.with(|all| all.bind(server, address.clone())).unwrap();
        for _ in 0..=MOST_WAITING {
            assert_eq!(deliver(client, Some(&address), Vec::new(), &mut |_| {}), Ok(()));
        }
        assert!(!has_room(client, server));
        assert_eq!(deliver(client, Some(&address), Vec::new(), &mut |_| {}), Err(libc::EAGAIN));
    }
}
