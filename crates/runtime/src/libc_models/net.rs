//! Sockets between threads of the program: streams on the loopback network and in the Unix domain.
//!
//! The kernel's socket behind a descriptor is never bound or connected: it keeps the number and the flags. Names and
//! queues of connections are memory here, and a connection is a pair of channels ([`super::pipe`]), so all of it is put
//! back to the checkpoint and who waits for it is known without asking the kernel.
//!
//! | call | touches | waits for |
//! |---|---|---|
//! | `bind`, `listen`, closing a listener | the names | |
//! | `connect` | the names, the listener's queue | room in the queue |
//! | `accept` | the listener's queue, the table of open files | a connection |
//!
//! Nobody outside the process is there: a port of this machine that the program does not listen on refuses connections, and
//! calls that reach for another machine are reported. A connection ends in order: what was sent before it was closed arrives,
//! and what is sent after the other side closed it fails at once.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::ffi::{c_int, c_uint, c_void};

use wire::Tag;

use super::epoll;
use super::open::{self, File, content_access};
use super::pipe::{self, ChannelId, End};
use super::transfer::{Access, operate, waits};
use super::{fail, result, unmodelled};
use crate::api::cancel::{self, Outcome, cancellable};
use crate::api::step::Call;
use crate::cell::Global;
use crate::sync::Blocker;
use crate::sys::sys;

/// A number of a socket that is not connected.
pub type SocketId = u32;

/// Where a socket can be found.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// A port of this machine; `any`: at all of its addresses.
    Port { family: u16, host: [u8; 16], any: bool, port: u16 },
    /// A name in the Unix domain.
    Path(Vec<u8>),
}

impl Place {
    /// Whether who asks for `wanted` finds a listener that is here.
    fn serves(&self, wanted: &Self) -> bool {
        match (self, wanted) {
            (
                Self::Port { family, host, any, port },
                Self::Port { family: wanted_family, host: wanted_host, any: wanted_any, port: wanted_port },
            ) => port == wanted_port && family == wanted_family && (*any || *wanted_any || host == wanted_host),
            (Self::Path(here), Self::Path(wanted)) => here == wanted,
            _ => false,
        }
    }
    /// The address as the program sees it.
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Port { family, host, port, .. } => {
                let mut bytes = Vec::from(family.to_ne_bytes());
                bytes.extend(port.to_be_bytes());
                if i32::from(*family) == libc::AF_INET {
                    bytes.extend(&host[..4]);
                    bytes.extend([0; 8]);
                } else {
                    bytes.extend([0; 4]);
                    bytes.extend(host);
                    bytes.extend([0; 4]);
                }
                bytes
            }
            Self::Path(path) => {
                let mut bytes = Vec::from((libc::AF_UNIX as u16).to_ne_bytes());
                bytes.extend(path);
                bytes
            }
        }
    }
    fn with_port(self, new: u16) -> Self {
        match self {
            Self::Port { family, host, any, .. } => Self::Port { family, host, any, port: new },
            path @ Self::Path(_) => path,
        }
    }
}

/// Why an address cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Elsewhere {
    /// It is no address.
    Invalid,
    /// It is not of this machine.
    Machine,
}

/// Reads an address.
fn place(bytes: &[u8]) -> Result<Place, Elsewhere> {
    let family = bytes.first_chunk::<2>().map(|b| u16::from_ne_bytes(*b)).ok_or(Elsewhere::Invalid)?;
    let port = || bytes.get(2..4).map(|b| u16::from_be_bytes([b[0], b[1]])).ok_or(Elsewhere::Invalid);
    let mut host = [0; 16];
    match c_int::from(family) {
        libc::AF_INET => {
            host[..4].copy_from_slice(bytes.get(4..8).ok_or(Elsewhere::Invalid)?);
            let any = host == [0; 16];
            let here = any || host[0] == 127;
            if here { Ok(Place::Port { family, host, any, port: port()? }) } else { Err(Elsewhere::Machine) }
        }
        libc::AF_INET6 => {
            host.copy_from_slice(bytes.get(8..24).ok_or(Elsewhere::Invalid)?);
            let any = host == [0; 16];
            let here = any || host == core::net::Ipv6Addr::LOCALHOST.octets();
            if here { Ok(Place::Port { family, host, any, port: port()? }) } else { Err(Elsewhere::Machine) }
        }
        libc::AF_UNIX => {
            let path = &bytes[2..];
            // Names that do not start with a zero byte end at one.
            let len = match path.first() {
                Some(0) => path.len(),
                _ => path.iter().position(|&c| c == 0).unwrap_or(path.len()),
            };
            Ok(Place::Path(path[..len].to_vec()))
        }
        _ => Err(Elsewhere::Invalid),
    }
}

/// A socket that is not connected.
#[derive(Debug)]
struct Socket {
    family: u16,
    /// Descriptors that have it.
    users: u32,
    place: Option<Place>,
    /// How many connections may wait, if it listens.
    limit: Option<usize>,
    /// It listened and was shut down.
    shut: bool,
    waiting: VecDeque<End>,
    /// How many connections were made to it.
    connections: u16,
    /// What it is being connected to.
    wanted: Option<Place>,
    /// Cells of its queue and of the two directions of its connection: numbers given out when the socket is made, which is
    /// an access to the table of open files, are the same in equivalent runs.
    queue: u32,
    directions: [u32; 2],
}

struct State {
    sockets: Vec<Socket>,
    /// The number of its next port.
    next_port: u16,
    /// Own and other name of connected sockets, by the channel they read.
    names: BTreeMap<ChannelId, [Place; 2]>,
    /// The cell of all names.
    cell: Option<u32>,
}

static STATE: Global<State> =
    Global::new(State { sockets: Vec::new(), next_port: FIRST_PORT, names: BTreeMap::new(), cell: None });

/// The first port given to a socket without one.
const FIRST_PORT: u16 = 32768;
/// The first port of those that connect.
const FIRST_OF_CLIENTS: u16 = 49152;

fn state() -> &'static mut State {
    // Safety: one operating-system thread, and no switch happens while it is used.
    unsafe { &mut *STATE.get() }
}

fn socket_of(id: SocketId) -> &'static mut Socket {
    &mut state().sockets[id as usize]
}

/// An access to the names that sockets have.
fn names(tag: Tag) -> Access {
    let cell = *state().cell.get_or_insert_with(open::new_content);
    content_access(cell, tag)
}

/// An access to the queue of a socket.
pub fn queue(id: SocketId, tag: Tag) -> Access {
    content_access(socket_of(id).queue, tag)
}

/// Who listens where this is wanted.
fn listener(wanted: &Place) -> Option<SocketId> {
    let serves = |s: &Socket| s.limit.is_some() && s.place.as_ref().is_some_and(|place| place.serves(wanted));
    state().sockets.iter().position(serves).map(|index| index as SocketId)
}

fn has_room(id: SocketId) -> bool {
    let socket = socket_of(id);
    // The kernel takes one more than the program asks for.
    socket.limit.is_some_and(|limit| socket.waiting.len() <= limit)
}

/// Whether who reads this channel is connected over the network.
pub fn is_on_network(incoming: ChannelId) -> bool {
    matches!(state().names.get(&incoming), Some([Place::Port { .. }, _]))
}

/// `poll`'s answer for a socket that is not connected.
pub fn events(id: SocketId) -> i16 {
    let socket = socket_of(id);
    match &socket.wanted {
        Some(wanted) if listener(wanted).is_none_or(has_room) => libc::POLLOUT,
        Some(_) => 0,
        None if socket.limit.is_some() && socket.waiting.is_empty() => 0,
        None if socket.limit.is_some() || socket.shut => libc::POLLIN | libc::POLLRDNORM,
        None => libc::POLLOUT | libc::POLLHUP,
    }
}

/// Another descriptor has this socket.
pub fn share(id: SocketId) {
    socket_of(id).users += 1;
}

/// The accesses of letting go of a socket.
pub fn accesses(id: SocketId) -> [Access; 2] {
    [names(Tag::ReadModifyWrite), queue(id, Tag::ReadModifyWrite)]
}

/// A descriptor with this socket is closed; the last one makes it stop listening.
pub fn drop_user(id: SocketId, add: &mut dyn FnMut(Access)) {
    let socket = socket_of(id);
    socket.users -= 1;
    if socket.users == 0 {
        stop(id, add);
        socket_of(id).place = None;
    }
}

/// It listens no more, and those who wait to be accepted are let down.
fn stop(id: SocketId, add: &mut dyn FnMut(Access)) {
    let socket = socket_of(id);
    socket.shut = socket.limit.take().is_some();
    core::mem::take(&mut socket.waiting).into_iter().for_each(|end| pipe::drop_end(end, add));
    epoll::stir_socket(id, epoll::CLOSED, add);
}

/// Shuts down a socket that is not connected: one that listens refuses connections from now on.
pub fn shut_down(id: SocketId) -> isize {
    let stopped = operate(&accesses(id), Blocker::None, |add| {
        let listened = socket_of(id).limit.is_some();
        stop(id, add);
        listened
    });
    if stopped == Some(true) { 0 } else { -(libc::ENOTCONN as isize) }
}

/// Gives a socket a name; a port if it asks for any.
fn give_place(id: SocketId, wanted: Place) -> Result<(), c_int> {
    let taken = |place: &Place| {
        let others = state().sockets.iter().enumerate().filter(|(index, s)| *index != id as usize && s.users > 0);
        others.filter_map(|(_, s)| s.place.as_ref()).any(|other| other.serves(place))
    };
    let chosen = match wanted {
        Place::Port { port: 0, .. } => {
            let port = state().next_port;
            state().next_port = port.wrapping_add(1).max(FIRST_PORT);
            wanted.with_port(port)
        }
        other => other,
    };
    if taken(&chosen) {
        return Err(libc::EADDRINUSE);
    }
    socket_of(id).place = Some(chosen);
    Ok(())
}

fn answer(outcome: Result<(), c_int>) -> isize {
    match outcome {
        Ok(()) => 0,
        Err(error) => -(error as isize),
    }
}

/// A socket that is not connected; else the error number.
fn unconnected(fd: c_int) -> Result<SocketId, c_int> {
    match open::get(fd).file {
        File::Socket(id) => Ok(id),
        File::Pipe(End::Socket { .. }) => Err(libc::EISCONN),
        // Safety: only asks.
        _ if unsafe { sys!(SYS_fcntl, fd, libc::F_GETFD) } < 0 => Err(libc::EBADF),
        File::Other => {
            unmodelled("uses the network");
            Err(libc::EOPNOTSUPP)
        }
        _ => Err(libc::ENOTSOCK),
    }
}

/// The address in the program's memory, and the access to it.
unsafe fn given(at: *const c_void, len: c_uint) -> (Vec<u8>, Access) {
    // Safety: promised by the program.
    let bytes = if at.is_null() { &[][..] } else { unsafe { core::slice::from_raw_parts(at.cast(), len as usize) } };
    (bytes.to_vec(), Access::plain(Tag::Read, at, bytes.len()))
}

/// Stores an address where the program wants it, cut to the room there is; the accesses.
unsafe fn store(place: &Place, to: *mut c_void, len: *mut c_uint, add: &mut dyn FnMut(Access)) {
    if to.is_null() || len.is_null() {
        return;
    }
    let bytes = place.bytes();
    // Safety: promised by the program.
    let stored = unsafe {
        let stored = bytes.len().min(*len as usize);
        core::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), stored);
        *len = bytes.len() as c_uint;
        stored
    };
    add(Access::plain(Tag::Read, len.cast(), 4));
    add(Access::plain(Tag::Write, len.cast(), 4));
    add(Access::plain(Tag::Write, to, stored));
}

unsafe fn bind_to(fd: c_int, at: *const c_void, len: c_uint) -> isize {
    let (bytes, memory) = unsafe { given(at, len) };
    let id = match unconnected(fd) {
        Ok(id) => id,
        Err(error) => return -(error as isize),
    };
    let outcome = operate(&[names(Tag::ReadModifyWrite), memory], Blocker::None, |_| match place(&bytes) {
        Ok(place) if socket_of(id).place.is_none() => give_place(id, place),
        Ok(_) | Err(Elsewhere::Invalid) => Err(libc::EINVAL),
        Err(Elsewhere::Machine) => {
            unmodelled("binds a socket to an address of the network");
            Err(libc::EADDRNOTAVAIL)
        }
    });
    answer(outcome.unwrap_or(Err(libc::EINTR)))
}

fn listen_on(fd: c_int, backlog: c_int) -> isize {
    let id = match unconnected(fd) {
        Ok(id) => id,
        Err(error) => return -(error as isize),
    };
    let outcome = operate(&[names(Tag::ReadModifyWrite)], Blocker::None, |_| {
        let family = socket_of(id).family;
        let nameless = socket_of(id).place.is_none();
        if nameless && c_int::from(family) == libc::AF_UNIX {
            return Err(libc::EINVAL);
        }
        if nameless {
            give_place(id, Place::Port { family, host: [0; 16], any: true, port: 0 })?;
        }
        let socket = socket_of(id);
        socket.limit = Some(usize::try_from(backlog).unwrap_or(0).min(libc::SOMAXCONN as usize));
        socket.shut = false;
        Ok(())
    });
    answer(outcome.unwrap_or(Err(libc::EINTR)))
}

/// Connects. `None`: the thread is cancelled instead.
unsafe fn connect_to(fd: c_int, at: *const c_void, len: c_uint) -> Option<isize> {
    let (bytes, memory) = unsafe { given(at, len) };
    let (id, wanted) = match (unconnected(fd), place(&bytes)) {
        (Err(error), _) => return Some(-(error as isize)),
        (_, Err(Elsewhere::Invalid)) => return Some(-(libc::EINVAL as isize)),
        (_, Err(Elsewhere::Machine)) => {
            unmodelled("connects to an address of the network");
            return Some(-(libc::ENETUNREACH as isize));
        }
        (Ok(id), Ok(place)) => (id, place),
    };
    let blocker = if waits(fd, 0) { Blocker::Fd { fd, events: libc::POLLOUT } } else { Blocker::None };
    let full = listener(&wanted).filter(|id| !has_room(*id)).map(|id| queue(id, Tag::ReadModifyWrite));
    let known: Vec<Access> = full.into_iter().chain([names(Tag::Read), memory]).collect();
    socket_of(id).wanted = Some(wanted.clone());
    let outcome = operate(&known, blocker, |add| {
        let Some(listener) = listener(&wanted) else {
            let named = matches!(wanted, Place::Path(_));
            return Err(if named { libc::ENOENT } else { libc::ECONNREFUSED });
        };
        add(queue(listener, Tag::ReadModifyWrite));
        if !has_room(listener) {
            return Err(libc::EAGAIN);
        }
        let mine = make_connection(id, listener, &wanted);
        epoll::stir_socket(listener, epoll::ARRIVED, add);
        mine.sink().into_iter().for_each(|outgoing| epoll::stir_writers(outgoing, epoll::ROOM, add));
        Ok(())
    });
    socket_of(id).wanted = None;
    Some(answer(outcome?))
}

/// Makes a connection and puts its other end into the listener's queue.
fn make_connection(id: SocketId, listener: SocketId, wanted: &Place) -> End {
    let [there, back] = socket_of(id).directions.map(pipe::channel_with);
    let theirs = End::Socket { incoming: there, outgoing: back };
    let mine = End::Socket { incoming: back, outgoing: there };
    let server = socket_of(listener);
    server.connections += 1;
    let port = FIRST_OF_CLIENTS.wrapping_add(server.connections).max(FIRST_OF_CLIENTS);
    server.waiting.push_back(theirs);
    let unnamed = match wanted {
        Place::Path(_) => Place::Path(Vec::new()),
        port_of_server @ Place::Port { .. } => port_of_server.clone().with_port(port),
    };
    let client = socket_of(id).place.clone().unwrap_or(unnamed);
    state().names.insert(there, [wanted.clone(), client.clone()]);
    state().names.insert(back, [client, wanted.clone()]);
    let users = open::replace(File::Socket(id), File::Pipe(mine));
    (1..users).for_each(|_| pipe::share(mine));
    mine
}

/// Accepts a connection. `None`: the thread is cancelled instead.
unsafe fn accept_from(fd: c_int, to: *mut c_void, len: *mut c_uint, flags: c_int) -> Option<isize> {
    let id = match unconnected(fd) {
        Ok(id) => id,
        Err(libc::EISCONN) => return Some(-(libc::EINVAL as isize)),
        Err(error) => return Some(-(error as isize)),
    };
    if socket_of(id).limit.is_none() {
        return Some(-(libc::EINVAL as isize));
    }
    let blocker = if waits(fd, 0) { Blocker::Fd { fd, events: libc::POLLIN } } else { Blocker::None };
    operate(&[queue(id, Tag::ReadModifyWrite), open::table()], blocker, |add| {
        let socket = socket_of(id);
        if socket.limit.is_none() {
            return -(libc::EINVAL as isize);
        }
        let Some(end) = socket.waiting.pop_front() else { return -(libc::EAGAIN as isize) };
        let kind = libc::SOCK_STREAM | flags & (libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK);
        // Safety: makes a descriptor.
        let made = unsafe { sys!(SYS_socket, c_int::from(socket.family), kind, 0) };
        if made < 0 {
            pipe::drop_end(end, add);
            return made;
        }
        if let Some([_, client]) = end.source().and_then(|channel| state().names.get(&channel)) {
            // Safety: the program's own arguments.
            unsafe { store(client, to, len, add) };
        }
        open::opened(made, File::Pipe(end))
    })
}

/// The own (0) or the other (1) name of a socket.
fn name_of(fd: c_int, side: usize) -> Result<Option<Place>, c_int> {
    match open::get(fd).file {
        File::Pipe(end @ End::Socket { .. }) => {
            Ok(end.source().and_then(|channel| state().names.get(&channel)).map(|names| names[side].clone()))
        }
        File::Socket(_) if side == 1 => Err(libc::ENOTCONN),
        File::Socket(id) => {
            let socket = socket_of(id);
            let none = match c_int::from(socket.family) {
                libc::AF_UNIX => Place::Path(Vec::new()),
                _ => Place::Port { family: socket.family, host: [0; 16], any: true, port: 0 },
            };
            Ok(Some(socket.place.clone().unwrap_or(none)))
        }
        _ => Ok(None),
    }
}

unsafe fn tell_name(fd: c_int, side: usize, to: *mut c_void, len: *mut c_uint) -> c_int {
    match name_of(fd, side) {
        Err(error) => fail(error) as c_int,
        Ok(Some(place)) => {
            // What is touched is in the library table. Safety: the program's own arguments.
            unsafe { store(&place, to, len, &mut |_| {}) };
            0
        }
        // Safety: as before.
        Ok(None) if side == 0 => result(unsafe { sys!(SYS_getsockname, fd, to, len) }) as c_int,
        Ok(None) => result(unsafe { sys!(SYS_getpeername, fd, to, len) }) as c_int,
    }
}

fn finish(call: &Call, done: Option<isize>) -> Outcome {
    match done {
        Some(done) => Outcome::word(result(done)),
        None => cancel::point(call),
    }
}

cancellable! {
    /// Waits for a connection.
    unsafe fn accept(fd: c_int, to: *mut c_void, len: *mut c_uint) {
        finish(&Call::here(), unsafe { accept_from(fd, to, len, 0) })
    }
    /// Waits for a connection.
    unsafe fn accept4(fd: c_int, to: *mut c_void, len: *mut c_uint, flags: c_int) {
        finish(&Call::here(), unsafe { accept_from(fd, to, len, flags) })
    }
    /// Connects to a listener.
    unsafe fn connect(fd: c_int, at: *const c_void, len: c_uint) {
        finish(&Call::here(), unsafe { connect_to(fd, at, len) })
    }
}

export! {
    /// Makes a socket.
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
        let made = unsafe { sys!(SYS_socket, domain, kind, protocol) };
        let plain = kind & !(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK);
        if plain != libc::SOCK_STREAM || ![libc::AF_INET, libc::AF_INET6, libc::AF_UNIX].contains(&domain) {
            unmodelled("makes a socket that is not a stream on this machine");
        } else if made >= 0 {
            state().sockets.push(Socket {
                family: domain as u16,
                users: 1,
                place: None,
                limit: None,
                shut: false,
                waiting: VecDeque::new(),
                connections: 0,
                wanted: None,
                queue: open::new_content(),
                directions: [open::new_content(), open::new_content()],
            });
            open::opened(made, File::Socket(state().sockets.len() as SocketId - 1));
        }
        result(made) as c_int
    }
    /// Gives a socket a name.
    fn bind(fd: c_int, at: *const c_void, len: c_uint) -> c_int {
        result(unsafe { bind_to(fd, at, len) }) as c_int
    }
    /// Lets others connect to a socket.
    fn listen(fd: c_int, backlog: c_int) -> c_int {
        result(listen_on(fd, backlog)) as c_int
    }
    /// The own name of a socket.
    fn getsockname(fd: c_int, to: *mut c_void, len: *mut c_uint) -> c_int {
        unsafe { tell_name(fd, 0, to, len) }
    }
    /// The name of whom a socket is connected to.
    fn getpeername(fd: c_int, to: *mut c_void, len: *mut c_uint) -> c_int {
        unsafe { tell_name(fd, 1, to, len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inet(host: [u8; 4], port: u16) -> Vec<u8> {
        let mut bytes = Vec::from((libc::AF_INET as u16).to_ne_bytes());
        bytes.extend(port.to_be_bytes());
        bytes.extend(host);
        bytes.extend([0; 8]);
        bytes
    }

    #[test]
    fn addresses_of_this_machine() {
        let port = |host| place(&inet(host, 80));
        let (any, loopback) = (port([0; 4]).unwrap(), port([127, 0, 0, 1]).unwrap());
        assert!(any.serves(&loopback) && loopback.serves(&loopback));
        assert!(!loopback.serves(&port([127, 0, 0, 2]).unwrap()), "another address of this machine");
        assert!(!loopback.serves(&loopback.clone().with_port(81)));
        assert_eq!(port([10, 0, 0, 1]), Err(Elsewhere::Machine));
        assert_eq!(place(&inet([127, 0, 0, 1], 80)[..6]), Err(Elsewhere::Invalid), "cut off");
        assert_eq!(loopback.bytes(), inet([127, 0, 0, 1], 80));
    }

    #[test]
    fn names_in_the_unix_domain() {
        let named = |name: &[u8]| {
            let mut bytes = Vec::from((libc::AF_UNIX as u16).to_ne_bytes());
            bytes.extend(name);
            place(&bytes).unwrap()
        };
        assert_eq!(named(b"/tmp/s\0rest"), Place::Path(b"/tmp/s".to_vec()), "a path ends at a zero byte");
        assert_eq!(named(b"\0ab\0"), Place::Path(b"\0ab\0".to_vec()), "an abstract name does not");
        assert!(named(b"a").serves(&named(b"a\0")));
    }

    #[test]
    fn a_listener_takes_one_more_than_it_asks_for() {
        let id = state().sockets.len() as SocketId;
        let wanted = place(&inet([127, 0, 0, 1], 4711)).unwrap();
        let socket = |limit| Socket {
            family: libc::AF_INET as u16,
            users: 1,
            place: Some(wanted.clone()),
            limit,
            shut: false,
            waiting: VecDeque::new(),
            connections: 0,
            wanted: None,
            queue: 0,
            directions: [1, 2],
        };
        state().sockets.extend([socket(Some(1)), socket(None)]);
        assert_eq!((listener(&wanted), events(id)), (Some(id), 0));
        assert_eq!(give_place(id + 1, wanted.clone()), Err(libc::EADDRINUSE));
        for _ in 0..2 {
            assert!(has_room(id));
            make_connection(id + 1, id, &wanted);
        }
        assert!(!has_room(id));
        assert_eq!(events(id), libc::POLLIN | libc::POLLRDNORM);
        let first = socket_of(id).waiting[0];
        drop_user(id, &mut |_| {});
        assert_eq!((listener(&wanted), pipe::events(first) & libc::POLLERR), (None, 0));
        assert!(socket_of(id).waiting.is_empty() && socket_of(id).shut);
    }
}
