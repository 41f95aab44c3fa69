//! The other ends of a program's connections, as a script has them (decision 57).
//!
//! Each connection is played by a thread of the schedule. So a peer acts at any time that it could, every run sees the same
//! bytes, and what a peer knows of the program orders what it does (assumption A15). A peer that connects starts when the
//! program listens at its address; one that accepts starts when the program connects.
//!
//! A server does not end by itself. When no thread can go on, all peers have ended and a thread waits at a descriptor, the
//! run ends without a finding, unless a thread waits for a lock.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::c_void;

use wire::ReplyKind;
use wire::Tag;
use wire::peers::{Peer, Role, Step};

use super::address::Address;
use super::channels::{self, End, Moved};
use super::event::operate;
use super::open;
use super::poll::{Limit, Waiting, wait_until};
use super::program_memory::Buffer;
use super::sockets::{self, SOCKETS, SocketId, addresses_access, queue_access};
use super::{epoll, transfer};
use crate::api::thread;
use crate::cell::Global;
use crate::sched;
use crate::sync::Blocker;
use crate::{link, run};

/// A peer's number in the script.
pub type PeerId = usize;

/// A peer and what became of it.
struct Playing {
    script: Peer,
    address: Address,
    /// The cells of the connection that it makes.
    cells: [u32; 2],
    /// Where it connects to, once the program listens there.
    listener: Option<SocketId>,
}

/// All peers.
struct Peers {
    list: Vec<Playing>,
    /// The ends that threads of accepting peers are about to use.
    accepted: Vec<(PeerId, Option<End>)>,
    /// Threads of peers that have not ended.
    live: u32,
}

static PEERS: Global<Peers> = Global::new(Peers { list: Vec::new(), accepted: Vec::new(), live: 0 });

/// Reads the script, before the program starts.
pub fn load() {
    let script = link::peers();
    if script.is_empty() {
        return;
    }
    let Ok(peers) = wire::peers::decode(script) else { run::fail("the script for the program's peers is malformed") };
    let playing = |script: Peer| {
        let Some(address) = Address::read(&script.address) else {
            run::fail("the script for the program's peers has an address that is none")
        };
        Playing { script, address, cells: [open::new_content(), open::new_content()], listener: None }
    };
    let list = peers.into_iter().map(playing).collect();
    PEERS.with(|peers| peers.list = list);
}

/// The program listens with this socket: peers that connect to its address start.
pub fn listening(id: SocketId) {
    let Some(address) = SOCKETS.with(|sockets| sockets.get(id).address.clone()) else { return };
    loop {
        let next = PEERS.with(|peers| {
            let waits = |peer: &Playing| {
                peer.listener.is_none() && peer.script.role == Role::Connects && address.serves(&peer.address)
            };
            let next = peers.list.iter().position(waits)?;
            peers.list[next].listener = Some(id);
            peers.live += 1;
            Some(next)
        });
        let Some(next) = next else { return };
        thread::create_outside(connect, next as *mut c_void);
    }
}

/// The peer that accepts connections to an address.
pub fn accepting(wanted: &Address) -> Option<PeerId> {
    PEERS.with(|peers| {
        let accepts = |peer: &Playing| peer.script.role == Role::Accepts && peer.address.serves(wanted);
        peers.list.iter().position(accepts)
    })
}

/// The address of a peer.
pub fn address(peer: PeerId) -> Address {
    PEERS.with(|peers| peers.list[peer].address.clone())
}

/// The program has connected to a peer, which goes on with this end.
pub fn accepted(peer: PeerId, end: End) {
    let number = PEERS.with(|peers| {
        peers.live += 1;
        peers.accepted.push((peer, Some(end)));
        peers.accepted.len() - 1
    });
    thread::create_outside(serve, number as *mut c_void);
}

/// Whether the run may end although threads are left: nothing more comes from outside.
pub fn have_ended() -> bool {
    PEERS.with(|peers| {
        let is_over = |peer: &Playing| peer.listener.is_some() || peer.script.role == Role::Accepts;
        !peers.list.is_empty() && peers.live == 0 && peers.list.iter().all(is_over)
    })
}

/// A peer's thread has done everything.
fn end() -> *mut c_void {
    PEERS.with(|peers| peers.live -= 1);
    core::ptr::null_mut()
}

/// The start routine of a peer that connects.
unsafe extern "C" fn connect(peer: *mut c_void) -> *mut c_void {
    let peer = peer as PeerId;
    let (name, listener, wanted, cells) = PEERS.with(|peers| {
        let Playing { script, listener, address, cells } = &peers.list[peer];
        (script.name.clone(), *listener, address.clone(), *cells)
    });
    sched::peer(&name);
    if let Some(end) = listener.and_then(|listener| connect_to(listener, &wanted, cells)) {
        Player::new(peer, end).play();
    }
    end()
}

/// Connects to a listener of the program, when its queue has room; nothing if it stops listening before.
fn connect_to(listener: SocketId, wanted: &Address, cells: [u32; 2]) -> Option<End> {
    let mut mine = None;
    let known = [queue_access(listener, Tag::ReadModifyWrite), addresses_access(Tag::Read)];
    wait_until(Waiting::Queue(listener), &known, Limit::Forever, |add| {
        if SOCKETS.with(|sockets| sockets.has_room(listener)) {
            mine = Some(sockets::connect_with(cells, None, listener, wanted));
            epoll::notify_socket(listener, epoll::ARRIVED, add);
        }
        1
    });
    mine
}

/// The start routine of a peer to which the program has connected.
unsafe extern "C" fn serve(number: *mut c_void) -> *mut c_void {
    let taken = PEERS.with(|peers| {
        let (peer, end) = &mut peers.accepted[number as usize];
        end.take().map(|end| (*peer, end))
    });
    if let Some((peer, end)) = taken {
        let player = Player::new(peer, end);
        sched::peer(&player.script.name);
        player.play();
    }
    end()
}

/// A peer at work on one connection.
struct Player {
    script: Peer,
    end: End,
    /// What was received since the last reply.
    received: Vec<u8>,
    /// What came behind what a step asked for.
    unread: Vec<u8>,
    /// The program has closed the connection.
    is_closed: bool,
}

impl Player {
    fn new(peer: PeerId, end: End) -> Self {
        let script = PEERS.with(|peers| peers.list[peer].script.clone());
        Self { script, end, received: Vec::new(), unread: Vec::new(), is_closed: false }
    }

    fn play(mut self) {
        let steps = core::mem::take(&mut self.script.steps);
        loop {
            let is_done = steps.iter().enumerate().all(|(number, step)| self.step(number + 1, step));
            if !is_done || !self.script.repeats || self.is_closed {
                break;
            }
        }
        let end = self.end;
        operate(&channels::close_accesses(end), Blocker::None, |add| channels::close(end, add));
    }

    /// Takes a step. Says whether there is a next one.
    fn step(&mut self, number: usize, step: &Step) -> bool {
        match step {
            Step::Send(bytes) => self.send(bytes),
            Step::Reply(pairs) => {
                let received = core::mem::take(&mut self.received);
                let reply = pairs.iter().find(|(when, _)| find(&received, when).is_some());
                match reply {
                    Some((_, bytes)) => self.send(bytes),
                    None => self.fail(number, "has no reply to", &received),
                }
            }
            Step::Expect(wanted) => {
                let got = self.receive_until(|bytes| (bytes.len() >= wanted.len()).then_some(wanted.len()));
                match got {
                    Some(got) if got == *wanted => true,
                    got => {
                        let unread = core::mem::take(&mut self.unread);
                        let got = got.unwrap_or(unread);
                        self.fail(number, &format!("expects {} and gets", quoted(wanted)), &got)
                    }
                }
            }
            Step::Receive(count) => {
                let count = *count as usize;
                self.receive_or_fail(number, |bytes| (bytes.len() >= count).then_some(count))
            }
            Step::Until(wanted) => {
                self.receive_or_fail(number, |bytes| find(bytes, wanted).map(|at| at + wanted.len()))
            }
            Step::Rest => {
                self.receive_until(|_| None);
                self.unread.clear();
                true
            }
        }
    }

    /// Sends all of these bytes. Says whether somebody may read them.
    fn send(&mut self, bytes: &[u8]) -> bool {
        let mut bytes = bytes.to_vec();
        let mut left = Buffer::from(&mut bytes[..]);
        let end = self.end;
        while !left.is_empty() {
            let mut moved = Moved::Wait;
            wait_until(Waiting::End(end, libc::POLLOUT), &channels::write_accesses(end), Limit::Forever, |add| {
                moved = transfer::put(end, &[left], add);
                1
            });
            match moved {
                Moved::Bytes(len) => left = left.after(len),
                Moved::Wait => {}
                Moved::Error(_) => {
                    self.is_closed = true;
                    return false;
                }
            }
        }
        true
    }

    /// Receives until `enough` says how many of the unread bytes a step takes; nothing if the program closes before.
    fn receive_until(&mut self, enough: impl Fn(&[u8]) -> Option<usize>) -> Option<Vec<u8>> {
        loop {
            if let Some(len) = enough(&self.unread) {
                let taken: Vec<u8> = self.unread.drain(..len).collect();
                self.received.extend(&taken);
                return Some(taken);
            }
            if self.is_closed {
                return None;
            }
            let mut room = [0u8; 4096];
            let buffer = Buffer::from(&mut room[..]);
            let (mut moved, end) = (Moved::Wait, self.end);
            wait_until(Waiting::End(end, libc::POLLIN), &[channels::read_access(end)], Limit::Forever, |add| {
                moved = transfer::take(end, &[buffer], false, add);
                1
            });
            match moved {
                Moved::Bytes(len @ 1..) => self.unread.extend(buffer.load(len)),
                Moved::Wait => {}
                Moved::Bytes(0) | Moved::Error(_) => self.is_closed = true,
            }
        }
    }

    fn receive_or_fail(&mut self, number: usize, enough: impl Fn(&[u8]) -> Option<usize>) -> bool {
        if self.receive_until(enough).is_some() {
            return true;
        }
        // A peer that begins again ends where the program does.
        if self.script.repeats && number == 1 && self.unread.is_empty() {
            return false;
        }
        let unread = core::mem::take(&mut self.unread);
        self.fail(number, "waits for more, and the connection is closed after", &unread)
    }

    /// The program did not do what the script says: a failed assertion of the peer.
    fn fail(&self, number: usize, what: &str, bytes: &[u8]) -> ! {
        let message = format!("peer `{}`, step {number}: {what} {}", self.script.name, quoted(bytes));
        sched::park(ReplyKind::Assertion, 0, &message)
    }
}

/// Where a text begins in another.
fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    if wanted.is_empty() { Some(0) } else { bytes.windows(wanted.len()).position(|window| window == wanted) }
}

/// Bytes as people read them, not too many.
fn quoted(bytes: &[u8]) -> String {
    const MOST: usize = 120;
    let shown = &bytes[..bytes.len().min(MOST)];
    let rest = if bytes.len() > MOST { format!("... ({} bytes)", bytes.len()) } else { String::new() };
    format!("\"{}\"{rest}", shown.escape_ascii())
}
