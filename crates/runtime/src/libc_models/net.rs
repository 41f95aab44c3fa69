//! Sockets between threads of the program: streams on the loopback network and in the Unix domain.
//!
//! The kernel's socket behind a descriptor is never bound or connected: it keeps the number and the flags. Addresses
//! and queues of connections are memory of the process ([`super::sockets`]), and a connection is a pair of channels
//! ([`super::channels`]). So the checkpoint restores all of it, and the scheduler knows who waits without asking the
//! kernel.
//!
//! | call | touches | waits for |
//! |---|---|---|
//! | `bind`, `listen`, closing a listener | the addresses | |
//! | `connect` | the addresses, the listener's queue | room in the queue |
//! | `accept` | the listener's queue, the table of open files | a connection |
//!
//! Outside the process there are [`super::peers`] only: a port of this machine on which neither they nor the program listen
//! refuses connections, and calls that address another machine are reported. Closing a connection keeps the order: the other
//! side receives what was sent before, and what it sends afterwards fails at once.

use alloc::vec::Vec;
use core::ffi::{c_int, c_uint, c_void};

use wire::Tag;

use super::address::{Address, AddressError};
use super::channels::{self, End};
use super::event::{Access, finish, operate};
use super::open::{self, File};
use super::peers::{self, PeerId};
use super::program_memory::{In, Out};
use super::sockets::{self, SOCKETS, Side, Socket, SocketId, addresses_access, queue_access};
use super::transfer::{blocker, waits};
use super::{datagrams, epoll, fail, kernel, negative, result, unmodelled};
use crate::api::cancel::cancellable;
use crate::api::step::Call;
use crate::sync::Blocker;
use crate::sys::sys;

/// The socket behind a descriptor if it is not connected; else the error number.
fn unconnected(fd: c_int) -> Result<SocketId, c_int> {
    match open::get(fd).file {
        File::Socket(id) => Ok(id),
        File::Pipe(End::Socket { .. }) => Err(libc::EISCONN),
        File::Pipe(End::Datagrams(_)) => Err(libc::EOPNOTSUPP),
        _ if !kernel::is_open(fd) => Err(libc::EBADF),
        File::Other => {
            unmodelled("uses the network");
            Err(libc::EOPNOTSUPP)
        }
        _ => Err(libc::ENOTSOCK),
    }
}

/// The address in the program's memory, and the access to it.
fn load(at: In<'_, c_void>, len: c_uint) -> (Vec<u8>, Access) {
    let bytes = if at.is_null() { Vec::new() } else { at.buffer(len as usize).load(len as usize) };
    let access = Access::plain(Tag::Read, at.as_ptr(), bytes.len());
    (bytes, access)
}

/// The address that a message is sent to, if it is given one.
pub(super) fn address_in(at: In<'_, c_void>, len: c_uint) -> Option<Vec<u8>> {
    let (bytes, memory) = load(at, len);
    if at.is_null() || bytes.is_empty() {
        return None;
    }
    operate(&[memory], Blocker::None, |_| ());
    Some(bytes)
}

/// Stores an address where the program wants it, cut to the room there is, and adds the accesses.
fn store(address: &Address, to: Out<'_, c_void>, len: Out<'_, c_uint>, add: &mut dyn FnMut(Access)) {
    if to.is_null() || len.is_null() {
        return;
    }
    let bytes = address.bytes();
    let stored = bytes.len().min(len.as_in().read() as usize);
    to.buffer(stored).store(&bytes);
    len.write(bytes.len() as c_uint);
    add(Access::plain(Tag::Read, len.as_ptr().cast(), 4));
    add(Access::plain(Tag::Write, len.as_ptr().cast(), 4));
    add(Access::plain(Tag::Write, to.as_ptr(), stored));
}

/// The event with which a call begins that may wait: what `ask` finds out decides what it waits for.
fn begin<R>(fd: c_int, ask: impl Fn() -> R) -> R {
    let known = [addresses_access(Tag::Read), open::lookup_access(fd)];
    operate(&known, Blocker::None, |_| ask()).unwrap_or_else(&ask)
}

/// One event of a call that cannot block: what `act` gives, as the call's result.
fn change(known: &[Access], act: impl FnOnce() -> Result<(), c_int>) -> isize {
    let outcome = operate(known, Blocker::None, |_| act()).unwrap_or(Err(libc::EINTR));
    outcome.map_or_else(negative, |()| 0)
}

fn bind_to(fd: c_int, at: In<'_, c_void>, len: c_uint) -> isize {
    let (bytes, memory) = load(at, len);
    if let Some(id) = datagrams::of(fd) {
        return datagrams::bind(fd, id, &bytes, memory);
    }
    let bind =
        |id| match Address::parse(&bytes) {
            Ok(address) => SOCKETS.with(|sockets| {
                if sockets.get(id).address.is_some() { Err(libc::EINVAL) } else { sockets.bind(id, address) }
            }),
            Err(AddressError::Invalid) => Err(libc::EINVAL),
            Err(AddressError::Remote) => {
                unmodelled("binds a socket to an address of the network");
                Err(libc::EADDRNOTAVAIL)
            }
        };
    let known = [addresses_access(Tag::ReadModifyWrite), open::lookup_access(fd), memory];
    change(&known, || unconnected(fd).and_then(bind))
}

fn listen_on(fd: c_int, backlog: c_int) -> isize {
    let listen = |sockets: &mut sockets::Sockets, id| {
        let family = sockets.get(id).family;
        if sockets.get(id).address.is_none() {
            if c_int::from(family) == libc::AF_UNIX {
                return Err(libc::EINVAL);
            }
            sockets.bind(id, Address::none(family))?;
        }
        let socket = sockets.get(id);
        socket.backlog = Some(usize::try_from(backlog).unwrap_or(0).min(libc::SOMAXCONN as usize));
        socket.shut = false;
        Ok(())
    };
    let known = [addresses_access(Tag::ReadModifyWrite), open::lookup_access(fd)];
    let mut listens = None;
    let done = change(&known, || {
        let id = unconnected(fd)?;
        SOCKETS.with(|sockets| listen(sockets, id))?;
        listens = Some(id);
        Ok(())
    });
    listens.into_iter().for_each(peers::listening);
    done
}

/// Connects. `None`: the thread is cancelled instead.
fn connect_to(fd: c_int, at: In<'_, c_void>, len: c_uint) -> Option<isize> {
    let (bytes, memory) = load(at, len);
    if let Some(id) = datagrams::of(fd) {
        return Some(datagrams::connect(fd, id, &bytes, memory));
    }
    let id = match begin(fd, || unconnected(fd)) {
        Ok(id) => id,
        Err(error) => return Some(negative(error)),
    };
    if let Some(peer) = Address::read(&bytes).as_ref().and_then(peers::accepting) {
        return Some(connect_to_peer(id, peer, memory));
    }
    let wanted = match Address::parse(&bytes) {
        Ok(address) => address,
        Err(AddressError::Invalid) => return Some(negative(libc::EINVAL)),
        Err(AddressError::Remote) => {
            unmodelled("connects to an address of the network");
            return Some(negative(libc::ENETUNREACH));
        }
    };
    let waits = waits(fd, 0);
    let full = SOCKETS.with(|sockets| sockets.listener(&wanted).filter(|id| !sockets.has_room(*id)));
    let full = full.map(|id| queue_access(id, Tag::ReadModifyWrite));
    let known: Vec<Access> = full.into_iter().chain([addresses_access(Tag::Read), memory]).collect();
    SOCKETS.with(|sockets| sockets.get(id).connecting_to = Some(wanted.clone()));
    let outcome = operate(&known, blocker(fd, waits, libc::POLLOUT), |add| {
        let Some(listener) = SOCKETS.with(|sockets| sockets.listener(&wanted)) else {
            let is_path = matches!(wanted, Address::Path(_));
            return Err(if is_path { libc::ENOENT } else { libc::ECONNREFUSED });
        };
        add(queue_access(listener, Tag::ReadModifyWrite));
        if !SOCKETS.with(|sockets| sockets.has_room(listener)) {
            return Err(libc::EAGAIN);
        }
        let mine = sockets::connect(id, listener, &wanted);
        epoll::notify_socket(listener, epoll::ARRIVED, add);
        mine.sink().into_iter().for_each(|outgoing| epoll::notify_writers(outgoing, epoll::ROOM, add));
        Ok(())
    });
    SOCKETS.with(|sockets| sockets.get(id).connecting_to = None);
    Some(outcome?.map_or_else(negative, |()| 0))
}

/// Connects to a peer outside the program, which accepts at once.
fn connect_to_peer(id: SocketId, peer: PeerId, memory: Access) -> isize {
    let wanted = peers::address(peer);
    let known = [addresses_access(Tag::Read), memory];
    let theirs = operate(&known, Blocker::None, |add| {
        let theirs = sockets::connect_outside(id, &wanted);
        theirs.source().into_iter().for_each(|outgoing| epoll::notify_writers(outgoing, epoll::ROOM, add));
        theirs
    });
    let Some(theirs) = theirs else { return negative(libc::EINTR) };
    peers::accepted(peer, theirs);
    0
}

/// Accepts a connection. `None`: the thread is cancelled instead.
fn accept_from(fd: c_int, to: Out<'_, c_void>, len: Out<'_, c_uint>, flags: c_int) -> Option<isize> {
    let listens = |id| SOCKETS.with(|sockets| sockets.get(id).backlog.is_some());
    let id = match begin(fd, || unconnected(fd).map(|id| (id, listens(id)))) {
        Ok((id, true)) => id,
        Ok((_, false)) | Err(libc::EISCONN) => return Some(negative(libc::EINVAL)),
        Err(error) => return Some(negative(error)),
    };
    let waits = waits(fd, 0);
    let known = [queue_access(id, Tag::ReadModifyWrite), open::table_access()];
    operate(&known, blocker(fd, waits, libc::POLLIN), |add| {
        let taken = SOCKETS.with(|sockets| {
            let socket = sockets.get(id);
            socket.backlog.ok_or(libc::EINVAL)?;
            socket.waiting.pop_front().map(|end| (end, socket.family)).ok_or(libc::EAGAIN)
        });
        let (end, family) = match taken {
            Ok(taken) => taken,
            Err(error) => return negative(error),
        };
        let kind = libc::SOCK_STREAM | flags & (libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK);
        let made = kernel::socket(c_int::from(family), kind, 0);
        if made < 0 {
            channels::close(end, add);
            return made;
        }
        if let Some(client) = SOCKETS.with(|sockets| sockets.address_of_connected(end, Side::Peer)) {
            store(&client, to, len, add);
        }
        open::opened(made, File::Pipe(end))
    })
}

/// The address of a socket or of its peer; `None` if only the kernel knows.
fn address_of(fd: c_int, side: Side) -> Result<Option<Address>, c_int> {
    match open::get(fd).file {
        File::Pipe(end @ End::Socket { .. }) => Ok(SOCKETS.with(|sockets| sockets.address_of_connected(end, side))),
        File::Pipe(End::Datagrams(id)) => datagrams::address_of(id, side).map(Some),
        File::Socket(_) if side == Side::Peer => Err(libc::ENOTCONN),
        File::Socket(id) => Ok(SOCKETS.with(|sockets| {
            let socket = sockets.get(id);
            Some(socket.address.clone().unwrap_or_else(|| Address::none(socket.family)))
        })),
        _ => Ok(None),
    }
}

fn store_address_of(fd: c_int, side: Side, to: Out<'_, c_void>, len: Out<'_, c_uint>) -> c_int {
    let answer = match address_of(fd, side) {
        Err(error) => fail(error),
        Ok(Some(address)) => {
            // The table of library functions says what these calls touch.
            store(&address, to, len, &mut |_| {});
            0
        }
        // SAFETY: the kernel stores an address as far as `len` allows, for which the program passed these pointers.
        Ok(None) => result(unsafe {
            match side {
                Side::Own => sys!(SYS_getsockname, fd, to.as_ptr(), len.as_ptr()),
                Side::Peer => sys!(SYS_getpeername, fd, to.as_ptr(), len.as_ptr()),
            }
        }),
    };
    answer as c_int
}

cancellable! {
    /// Waits for a connection.
    unsafe fn accept(fd: c_int, to: Out<'_, c_void>, len: Out<'_, c_uint>) {
        finish(&Call::here(), accept_from(fd, to, len, 0))
    }
    /// Waits for a connection.
    unsafe fn accept4(fd: c_int, to: Out<'_, c_void>, len: Out<'_, c_uint>, flags: c_int) {
        finish(&Call::here(), accept_from(fd, to, len, flags))
    }
    /// Connects to a listener.
    unsafe fn connect(fd: c_int, at: In<'_, c_void>, len: c_uint) {
        finish(&Call::here(), connect_to(fd, at, len))
    }
}

export! {
    /// Makes a socket.
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
        let made = kernel::socket(domain, kind, protocol);
        let plain = kind & !(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK);
        let is_known = [libc::AF_INET, libc::AF_INET6, libc::AF_UNIX].contains(&domain);
        if !is_known || ![libc::SOCK_STREAM, libc::SOCK_DGRAM].contains(&plain) {
            unmodelled("makes a socket that is neither for streams nor for datagrams on this machine");
        } else if made >= 0 && plain == libc::SOCK_DGRAM {
            open::opened(made, File::Pipe(datagrams::make(domain as u16)));
        } else if made >= 0 {
            let socket = Socket::new(domain as u16);
            open::opened(made, File::Socket(SOCKETS.with(|sockets| sockets.add(socket))));
        }
        result(made) as c_int
    }
    /// Gives a socket an address.
    fn bind(fd: c_int, at: In<'_, c_void>, len: c_uint) -> c_int {
        result(bind_to(fd, at, len)) as c_int
    }
    /// Lets others connect to a socket.
    fn listen(fd: c_int, backlog: c_int) -> c_int {
        result(listen_on(fd, backlog)) as c_int
    }
    /// The address of a socket.
    fn getsockname(fd: c_int, to: Out<'_, c_void>, len: Out<'_, c_uint>) -> c_int {
        store_address_of(fd, Side::Own, to, len)
    }
    /// The address that a socket is connected to.
    fn getpeername(fd: c_int, to: Out<'_, c_void>, len: Out<'_, c_uint>) -> c_int {
        store_address_of(fd, Side::Peer, to, len)
    }
}
