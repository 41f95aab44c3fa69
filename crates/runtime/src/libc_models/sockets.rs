//! The sockets of the program that are not connected: their addresses, and the connections that wait to be accepted.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::ffi::c_int;

use wire::Tag;

use super::address::Address;
use super::channels::{self, ChannelId, End};
use super::event::{Access, operate};
use super::open::{self, File, content_access};
use super::{epoll, negative};
use crate::cell::Global;
use crate::sync::Blocker;

/// The number of a socket that is not connected.
pub type SocketId = u32;

/// A socket that is not connected.
#[derive(Debug)]
pub struct Socket {
    /// `AF_INET`, `AF_INET6` or `AF_UNIX`.
    pub family: u16,
    /// How many descriptors have it.
    users: u32,
    /// Where it was bound to.
    pub address: Option<Address>,
    /// How many connections may wait, if it listens.
    pub backlog: Option<usize>,
    /// It listened and was shut down.
    pub shut: bool,
    /// The connections that wait to be accepted.
    pub waiting: VecDeque<End>,
    /// How many connections were made to it.
    connections: u16,
    /// The address that a thread is connecting it to.
    pub connecting_to: Option<Address>,
    /// Cells of its queue and of the two directions of its connection. They are numbered when the socket is made, which
    /// is an access to the table of open files, so equivalent runs give them the same numbers.
    queue: u32,
    directions: [u32; 2],
}

impl Socket {
    /// A new socket, which one descriptor has.
    pub fn new(family: u16) -> Self {
        Self {
            family,
            users: 1,
            address: None,
            backlog: None,
            shut: false,
            waiting: VecDeque::new(),
            connections: 0,
            connecting_to: None,
            queue: open::new_content(),
            directions: [open::new_content(), open::new_content()],
        }
    }
    /// Whether another connection may wait.
    fn has_room(&self) -> bool {
        // The kernel takes one more than the program asks for.
        self.backlog.is_some_and(|backlog| self.waiting.len() <= backlog)
    }
}

/// A side of a connection, as a socket sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The socket itself.
    Own,
    /// The socket that it is connected to.
    Peer,
}

/// All sockets.
pub struct Sockets {
    /// Those that are not connected; one that has been connected or closed keeps its number.
    list: Vec<Socket>,
    /// The next port for a socket that is bound to any.
    next_port: u16,
    /// The addresses of connections by [`Side`], for the socket that reads this channel.
    connected: BTreeMap<ChannelId, [Address; 2]>,
    /// The cell of all addresses.
    cell: Option<u32>,
}

/// The sockets of the process.
pub static SOCKETS: Global<Sockets> =
    Global::new(Sockets { list: Vec::new(), next_port: FIRST_PORT, connected: BTreeMap::new(), cell: None });

/// The first port given to a socket without one.
const FIRST_PORT: u16 = 32768;
/// The first port of sockets that connect.
const FIRST_CLIENT_PORT: u16 = 49152;

impl Sockets {
    /// Adds a socket.
    pub fn add(&mut self, socket: Socket) -> SocketId {
        self.list.push(socket);
        self.list.len() as SocketId - 1
    }
    /// A socket by its number.
    pub fn get(&mut self, id: SocketId) -> &mut Socket {
        &mut self.list[id as usize]
    }
    /// The socket that gets connections to an address.
    pub fn listener(&self, wanted: &Address) -> Option<SocketId> {
        let serves = |s: &Socket| s.backlog.is_some() && s.address.as_ref().is_some_and(|a| a.serves(wanted));
        self.list.iter().position(serves).map(|index| index as SocketId)
    }
    /// Whether a connection to this socket can be made at once.
    pub fn has_room(&self, id: SocketId) -> bool {
        self.list[id as usize].has_room()
    }
    /// Gives a socket an address, with a port of ours if it asks for any.
    ///
    /// # Errors
    /// The error number.
    pub fn bind(&mut self, id: SocketId, wanted: Address) -> Result<(), c_int> {
        let chosen = match wanted {
            Address::Port { port: 0, .. } => {
                let port = self.next_port;
                self.next_port = port.wrapping_add(1).max(FIRST_PORT);
                wanted.with_port(port)
            }
            other => other,
        };
        let others = self.list.iter().enumerate().filter(|(index, s)| *index != id as usize && s.users > 0);
        if others.filter_map(|(_, s)| s.address.as_ref()).any(|other| other.serves(&chosen)) {
            return Err(libc::EADDRINUSE);
        }
        self.get(id).address = Some(chosen);
        Ok(())
    }
    /// The address of one side of a connection, as the socket with this end sees it.
    pub fn address_of_connected(&self, end: End, side: Side) -> Option<Address> {
        let addresses = end.source().and_then(|channel| self.connected.get(&channel))?;
        Some(addresses[side as usize].clone())
    }
    /// `poll`'s answer for a socket that is not connected.
    fn events(&self, id: SocketId) -> i16 {
        let socket = &self.list[id as usize];
        match &socket.connecting_to {
            Some(wanted) if self.listener(wanted).is_none_or(|listener| self.has_room(listener)) => libc::POLLOUT,
            Some(_) => 0,
            None if socket.backlog.is_some() && socket.waiting.is_empty() => 0,
            None if socket.backlog.is_some() || socket.shut => libc::POLLIN | libc::POLLRDNORM,
            None => libc::POLLOUT | libc::POLLHUP,
        }
    }
}

/// An access to the addresses of all sockets.
pub fn addresses_access(tag: Tag) -> Access {
    content_access(SOCKETS.with(|sockets| *sockets.cell.get_or_insert_with(open::new_content)), tag)
}

/// An access to the queue of a socket.
pub fn queue_access(id: SocketId, tag: Tag) -> Access {
    content_access(SOCKETS.with(|sockets| sockets.get(id).queue), tag)
}

/// The accesses of closing a descriptor with this socket.
pub fn close_accesses(id: SocketId) -> [Access; 2] {
    [addresses_access(Tag::ReadModifyWrite), queue_access(id, Tag::ReadModifyWrite)]
}

/// Whether the socket that reads this channel is connected over the network.
pub fn is_on_network(incoming: ChannelId) -> bool {
    SOCKETS.with(|sockets| matches!(sockets.connected.get(&incoming), Some([Address::Port { .. }, _])))
}

/// `poll`'s answer for a socket that is not connected.
pub fn events(id: SocketId) -> i16 {
    SOCKETS.with(|sockets| sockets.events(id))
}

/// Another descriptor has this socket.
pub fn add_user(id: SocketId) {
    SOCKETS.with(|sockets| sockets.get(id).users += 1);
}

/// A descriptor with this socket is closed; the last one makes it stop listening.
pub fn remove_user(id: SocketId, add: &mut dyn FnMut(Access)) {
    let is_last = SOCKETS.with(|sockets| {
        let socket = sockets.get(id);
        socket.users -= 1;
        socket.users == 0
    });
    if is_last {
        stop_listening(id, add);
        SOCKETS.with(|sockets| sockets.get(id).address = None);
    }
}

/// Stops listening, if the socket listens, and closes the connections that wait to be accepted; whether it listened.
fn stop_listening(id: SocketId, add: &mut dyn FnMut(Access)) -> bool {
    let (listened, waiting) = SOCKETS.with(|sockets| {
        let socket = sockets.get(id);
        socket.shut = socket.backlog.take().is_some();
        (socket.shut, core::mem::take(&mut socket.waiting))
    });
    waiting.into_iter().for_each(|end| channels::close(end, add));
    epoll::notify_socket(id, epoll::CLOSED, add);
    listened
}

/// Shuts down a socket that is not connected: one that listens refuses connections from now on.
pub fn shut_down(id: SocketId) -> isize {
    let listened = operate(&close_accesses(id), Blocker::None, |add| stop_listening(id, add));
    if listened == Some(true) { 0 } else { negative(libc::ENOTCONN) }
}

/// Both ends of a connection.
struct Connection {
    /// The end of who connected.
    client: End,
    /// The other end.
    server: End,
}

/// A new connection to an address, with these cells, from this address or the one that goes with a number.
fn connection(wanted: &Address, cells: [u32; 2], from: Option<Address>, number: u16) -> Connection {
    let [there, back] = cells.map(channels::new_with);
    let port = FIRST_CLIENT_PORT.wrapping_add(number).max(FIRST_CLIENT_PORT);
    let unbound = || match wanted {
        Address::Path(_) => Address::Path(Vec::new()),
        port_of_server @ Address::Port { .. } => port_of_server.clone().with_port(port),
    };
    let client = from.unwrap_or_else(unbound);
    SOCKETS.with(|sockets| {
        sockets.connected.insert(there, [wanted.clone(), client.clone()]);
        sockets.connected.insert(back, [client, wanted.clone()]);
    });
    Connection {
        client: End::Socket { incoming: back, outgoing: there },
        server: End::Socket { incoming: there, outgoing: back },
    }
}

/// Connects to a listener, whose queue gets the other end; the end of who connects.
pub fn connect_with(cells: [u32; 2], from: Option<Address>, listener: SocketId, wanted: &Address) -> End {
    let number = SOCKETS.with(|sockets| {
        let server = sockets.get(listener);
        server.connections += 1;
        server.connections
    });
    let Connection { client, server } = connection(wanted, cells, from, number);
    SOCKETS.with(|sockets| sockets.get(listener).waiting.push_back(server));
    client
}

/// The descriptors of a socket have this end of a connection from now on.
fn become_connected(id: SocketId, mine: End) {
    let users = open::replace(File::Socket(id), File::Pipe(mine));
    (1..users).for_each(|_| channels::add_user(mine));
}

/// The cells for a connection of this socket, and its address.
fn connecting(id: SocketId) -> ([u32; 2], Option<Address>) {
    SOCKETS.with(|sockets| {
        let socket = sockets.get(id);
        (socket.directions, socket.address.clone())
    })
}

/// Connects a socket to a listener, whose queue gets the other end; the socket's own end.
pub fn connect(id: SocketId, listener: SocketId, wanted: &Address) -> End {
    let (cells, from) = connecting(id);
    let mine = connect_with(cells, from, listener, wanted);
    become_connected(id, mine);
    mine
}

/// Connects a socket to a peer at this address; the peer's end.
pub fn connect_outside(id: SocketId, wanted: &Address) -> End {
    let (cells, from) = connecting(id);
    let Connection { client, server } = connection(wanted, cells, from, id as u16);
    become_connected(id, client);
    server
}

/// Whether a connection to this listener can be made at once, or never.
pub fn takes_connection(id: SocketId) -> bool {
    SOCKETS.with(|sockets| sockets.get(id).backlog.is_none() || sockets.has_room(id))
}

#[cfg(test)]
mod tests {
    use super::super::address::tests::inet;
    use super::*;

    #[test]
    fn a_listener_takes_one_more_than_it_asks_for() {
        let _alone = crate::libc_models::tests::alone();
        let wanted = Address::parse(&inet([127, 0, 0, 1], 4711)).unwrap();
        let socket = |backlog| {
            let mut socket = Socket::new(libc::AF_INET as u16);
            (socket.address, socket.backlog) = (Some(wanted.clone()), backlog);
            SOCKETS.with(|sockets| sockets.add(socket))
        };
        let (id, other) = (socket(Some(1)), socket(None));
        let listener = || SOCKETS.with(|sockets| sockets.listener(&wanted));
        let has_room = || SOCKETS.with(|sockets| sockets.has_room(id));
        assert_eq!((listener(), events(id)), (Some(id), 0));
        assert_eq!(SOCKETS.with(|sockets| sockets.bind(other, wanted.clone())), Err(libc::EADDRINUSE));
        for _ in 0..2 {
            assert!(has_room());
            connect(other, id, &wanted);
        }
        assert!(!has_room());
        assert_eq!(events(id), libc::POLLIN | libc::POLLRDNORM);
        let first = SOCKETS.with(|sockets| sockets.get(id).waiting[0]);
        remove_user(id, &mut |_| {});
        assert_eq!((listener(), channels::events(first) & libc::POLLERR), (None, 0));
        assert!(SOCKETS.with(|sockets| sockets.get(id).waiting.is_empty() && sockets.get(id).shut));
    }
}
