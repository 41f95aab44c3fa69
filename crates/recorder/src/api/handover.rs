//! Handing over through the kernel: what a thread did before it wrote to a pipe, connection or event counter, or sent a
//! signal, happens before what a thread does that has read from there, or has waited for the signal.
//!
//! A release is logged before the real call, an acquisition after it has succeeded, so their numbers are in an order in
//! which they really happened. What is shared is known by its two ends: the inode of a pipe, the two addresses of a
//! connection, the address that a datagram is sent to, the pair of descriptors that `socketpair` made, the number of an event
//! counter. A connection to another process has its other end nowhere here, so it orders nothing.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use libc::{iovec, msghdr, pthread_t, siginfo_t, sigset_t, size_t, sockaddr, socklen_t, ssize_t, timespec};
use wire::Tag;
use wire::record::order;

use super::{connections, file_locks};
use crate::hooks::access;
use crate::log::site;
use crate::real::{self, errno, set_errno};
use crate::thread::has_state;

/// Cells of what is handed over are after those of interest lists, which have the numbers of descriptors.
const FIRST: u64 = 1 << 24;
const CELLS: u64 = 1 << 26;

pub(super) fn cell(key: u64) -> u64 {
    wire::FILE_CONTENT + 8 * (FIRST + key % CELLS)
}

/// Mixes bytes into a key (FNV-1a).
pub(super) fn mix(key: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(key, |key, byte| (key ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

pub(super) const START: u64 = 0xcbf2_9ce4_8422_2325;

/// Descriptors whose cells are remembered.
pub const REMEMBERED: usize = 4096;
/// Nothing is handed over there.
const NOTHING: u64 = 1;

/// By descriptor: the cells it writes to and reads from; 0 where they are not known yet.
static ENDS: [[AtomicU64; 2]; REMEMBERED] = [const { [const { AtomicU64::new(0) }; 2] }; REMEMBERED];

/// Pairs of sockets made so far.
static PAIRS: AtomicU32 = AtomicU32::new(0);

/// An end of something: where it writes to, and where it reads from.
#[derive(Clone, Copy)]
enum Direction {
    Out = 0,
    In = 1,
}

fn ends(fd: c_int) -> Option<&'static [AtomicU64; 2]> {
    usize::try_from(fd).ok().and_then(|fd| ENDS.get(fd))
}

fn remember(fd: c_int, cells: [u64; 2]) {
    if let Some(ends) = ends(fd) {
        ends[0].store(cells[0], Ordering::Relaxed);
        ends[1].store(cells[1], Ordering::Relaxed);
    }
}

/// The number stands for something else from now on, or for nothing.
fn forget(fd: c_int) {
    connections::closed(fd);
    remember(fd, [0, 0]);
}

/// The cell of one direction, if anything is handed over there.
fn end(fd: c_int, direction: Direction) -> Option<u64> {
    let known = ends(fd).map_or(0, |ends| ends[direction as usize].load(Ordering::Relaxed));
    let found = if known != 0 {
        known
    } else {
        let error = errno();
        let (cells, lasts) = look_up(fd).unwrap_or(([NOTHING; 2], true));
        set_errno(error);
        if lasts {
            remember(fd, cells);
        }
        cells[direction as usize]
    };
    (found != NOTHING).then_some(found)
}

/// What a descriptor is, and its key if that is a file or a pipe.
pub(super) fn file_of(fd: c_int) -> Option<(libc::mode_t, u64)> {
    // SAFETY: all zero is a value of the structure, which the call fills.
    let status = unsafe {
        let mut status: libc::stat = core::mem::zeroed();
        if libc::fstat(fd, &mut status) != 0 {
            return None;
        }
        status
    };
    let key = mix(mix(START, &status.st_dev.to_ne_bytes()), &status.st_ino.to_ne_bytes());
    Some((status.st_mode & libc::S_IFMT, key))
}

/// Asks the kernel what a descriptor is: its two cells, and whether they stay what they are.
fn look_up(fd: c_int) -> Option<([u64; 2], bool)> {
    let (kind, key) = file_of(fd)?;
    let cells = match kind {
        libc::S_IFIFO => Some([cell(key); 2]),
        libc::S_IFSOCK if is_datagram(fd) => {
            let [own, peer] = [libc::getsockname, libc::getpeername].map(|ask| Address::of(fd, ask));
            let cell_of = |address: Option<Address>| address.and_then(|to| datagrams_to(&to)).unwrap_or(NOTHING);
            // The first datagram gives it an address.
            return Some(([cell_of(peer), cell_of(own)], false));
        }
        libc::S_IFSOCK => {
            let (own, peer) = (Address::of(fd, libc::getsockname)?, Address::of(fd, libc::getpeername)?);
            let is_named = own.bytes().len() > FAMILY || peer.bytes().len() > FAMILY;
            let way = |from: &Address, to: &Address| cell(mix(mix(START, from.bytes()), to.bytes()));
            is_named.then(|| [way(&own, &peer), way(&peer, &own)])
        }
        // Event counters and the like have no kind.
        0 => Some([cell(mix(START, &fd.to_ne_bytes())); 2]),
        _ => None,
    };
    Some((cells?, true))
}

pub(super) fn is_datagram(fd: c_int) -> bool {
    let mut kind: c_int = 0;
    let mut len = size_of::<c_int>() as socklen_t;
    // SAFETY: the kernel writes at most `len` bytes, the size of the number.
    let asked = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_TYPE, (&raw mut kind).cast(), &mut len) };
    asked == 0 && kind == libc::SOCK_DGRAM
}

/// The cell of datagrams to an address: of its port, as who receives may listen on any address of the machine.
fn datagrams_to(address: &Address) -> Option<u64> {
    let bytes = match address.family() {
        libc::AF_INET | libc::AF_INET6 => address.bytes().get(FAMILY..FAMILY + 2).filter(|port| *port != [0, 0])?,
        _ => address.bytes().get(FAMILY..).filter(|path| !path.is_empty())?,
    };
    Some(cell(mix(mix(START, b"datagrams"), bytes)))
}

/// Bytes of an address that only has its family.
const FAMILY: usize = 2;

/// An address of a socket.
pub struct Address {
    bytes: [u8; size_of::<libc::sockaddr_storage>()],
    len: usize,
}

impl Address {
    /// What the kernel answers.
    pub fn of(fd: c_int, ask: unsafe extern "C" fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int) -> Option<Self> {
        let mut address = Self { bytes: [0; size_of::<libc::sockaddr_storage>()], len: 0 };
        let mut len = address.bytes.len() as socklen_t;
        // SAFETY: the kernel writes at most `len` bytes of an address into the array, which has that many.
        let asked = unsafe { ask(fd, address.bytes.as_mut_ptr().cast(), &mut len) };
        address.len = (len as usize).min(address.bytes.len());
        (asked == 0).then_some(address)
    }

    /// What a call was given.
    ///
    /// # Safety
    /// There are so many bytes of an address there.
    pub(super) unsafe fn given(address: *const sockaddr, len: socklen_t) -> Self {
        let mut given = Self { bytes: [0; size_of::<libc::sockaddr_storage>()], len: 0 };
        given.len = (len as usize).min(given.bytes.len());
        // SAFETY: by the caller; the array has so many bytes.
        unsafe { core::ptr::copy_nonoverlapping(address.cast::<u8>(), given.bytes.as_mut_ptr(), given.len) };
        given
    }

    /// As the C structure has it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// `AF_UNIX` and the like.
    pub fn family(&self) -> c_int {
        c_int::from(u16::from_ne_bytes([self.bytes[0], self.bytes[1]]))
    }
}

/// Before something is written.
pub(super) fn release(fd: c_int) {
    if has_state()
        && let Some(cell) = end(fd, Direction::Out)
    {
        release_cell(cell);
    }
}

/// Before something is written to an address, where one is given.
///
/// # Safety
/// Null, or so many bytes of an address.
pub(super) unsafe fn release_to(fd: c_int, to: *const c_void, len: socklen_t) {
    if to.is_null() || len == 0 || !is_datagram(fd) {
        release(fd);
    } else if has_state()
        // SAFETY: by the caller.
        && let Some(cell) = datagrams_to(&unsafe { Address::given(to.cast(), len) })
    {
        release_cell(cell);
    }
}

/// The calling thread's past is handed over by way of a cell.
pub(super) fn release_cell(cell: u64) {
    access(Tag::ReadModifyWrite, order::RELEASE, cell, 4, site(), true);
}

/// What was handed over by way of a cell comes before what the calling thread does.
pub(super) fn acquire_cell(cell: u64) {
    access(Tag::Read, order::ACQUIRE, cell, 4, site(), true);
}

/// After something was read, or the end was.
pub(super) fn acquire(fd: c_int, read: ssize_t) -> ssize_t {
    if read >= 0
        && has_state()
        && let Some(cell) = end(fd, Direction::In)
    {
        acquire_cell(cell);
    }
    read
}

/// After something was read into these parts; `flags` are those of the call.
///
/// # Safety
/// The parts are those of a call that has succeeded if `read` says so.
unsafe fn got(fd: c_int, read: ssize_t, parts: &[iovec], flags: c_int) -> ssize_t {
    // What is only looked at comes again.
    if flags & libc::MSG_PEEK == 0 {
        // SAFETY: by the caller the kernel has filled so much of the parts.
        unsafe { connections::received(fd, read, parts) };
    }
    acquire(fd, read)
}

/// The parts of a call that has read something; else none.
///
/// # Safety
/// There are so many, if the call has read something.
unsafe fn parts_of<'a>(read: ssize_t, parts: *const iovec, count: usize) -> &'a [iovec] {
    if read <= 0 {
        return &[];
    }
    // SAFETY: by the caller.
    unsafe { core::slice::from_raw_parts(parts, count) }
}

/// The cell of the signals sent to a thread; 0 for those sent to the process.
fn signals_of(thread: pthread_t) -> u64 {
    wire::PENDING_SIGNALS + 8 * (1 + mix(START, &thread.to_ne_bytes()) % CELLS) * u64::from(thread != 0)
}

/// Before a signal is sent to a thread, or to the process.
fn send_signal(thread: pthread_t) {
    if has_state() {
        access(Tag::ReadModifyWrite, order::RELEASE, signals_of(thread), 4, site(), true);
    }
}

/// After a signal was waited for.
fn got_signal(succeeded: bool) {
    if succeeded && has_state() {
        // SAFETY: names the calling thread.
        let own = unsafe { libc::pthread_self() };
        access(Tag::Read, order::ACQUIRE, signals_of(own), 4, site(), true);
        access(Tag::Read, order::ACQUIRE, signals_of(0), 4, site(), false);
    }
}

export! {
    fn write(fd: c_int, from: *const c_void, len: size_t) -> ssize_t {
        release(fd);
        connections::sent(fd, real::write(fd, from, len))
    }
    fn writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t {
        release(fd);
        connections::sent(fd, real::writev(fd, parts, count))
    }
    fn send(fd: c_int, from: *const c_void, len: size_t, flags: c_int) -> ssize_t {
        release(fd);
        connections::sent(fd, real::send(fd, from, len, flags))
    }
    fn sendto(
        fd: c_int, from: *const c_void, len: size_t, flags: c_int, to: *const sockaddr, to_len: socklen_t
    ) -> ssize_t {
        release_to(fd, to.cast(), to_len);
        connections::sent(fd, real::sendto(fd, from, len, flags, to, to_len))
    }
    fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
        release_to(fd, (*message).msg_name, (*message).msg_namelen);
        connections::sent(fd, real::sendmsg(fd, message, flags))
    }
    fn eventfd_write(fd: c_int, value: u64) -> c_int {
        release(fd);
        real::eventfd_write(fd, value)
    }
    fn read(fd: c_int, to: *mut c_void, len: size_t) -> ssize_t {
        got(fd, real::read(fd, to, len), &[iovec { iov_base: to, iov_len: len }], 0)
    }
    fn readv(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t {
        let read = real::readv(fd, parts, count);
        got(fd, read, parts_of(read, parts, count as usize), 0)
    }
    fn recv(fd: c_int, to: *mut c_void, len: size_t, flags: c_int) -> ssize_t {
        got(fd, real::recv(fd, to, len, flags), &[iovec { iov_base: to, iov_len: len }], flags)
    }
    fn recvfrom(
        fd: c_int, to: *mut c_void, len: size_t, flags: c_int, from: *mut sockaddr, from_len: *mut socklen_t
    ) -> ssize_t {
        let read = real::recvfrom(fd, to, len, flags, from, from_len);
        got(fd, read, &[iovec { iov_base: to, iov_len: len }], flags)
    }
    fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
        let read = real::recvmsg(fd, message, flags);
        let (parts, count) = if read > 0 { ((*message).msg_iov, (*message).msg_iovlen) } else { (core::ptr::null_mut(), 0) };
        got(fd, read, parts_of(read, parts, count), flags)
    }
    fn eventfd_read(fd: c_int, value: *mut u64) -> c_int {
        acquire(fd, real::eventfd_read(fd, value) as ssize_t) as c_int
    }
    fn close(fd: c_int) -> c_int {
        // Who reads the end of what was written there comes after it.
        release(fd);
        file_locks::closed(fd);
        forget(fd);
        real::close(fd)
    }
    fn shutdown(fd: c_int, how: c_int) -> c_int {
        release(fd);
        real::shutdown(fd, how)
    }
    fn fclose(stream: *mut libc::FILE) -> c_int {
        let fd = libc::fileno(stream);
        release(fd);
        file_locks::closed(fd);
        forget(fd);
        real::fclose(stream)
    }
    fn dup2(fd: c_int, number: c_int) -> c_int {
        forget(number);
        real::dup2(fd, number)
    }
    fn dup3(fd: c_int, number: c_int, flags: c_int) -> c_int {
        forget(number);
        real::dup3(fd, number, flags)
    }
    fn socketpair(domain: c_int, kind: c_int, protocol: c_int, pair: *mut c_int) -> c_int {
        let made = real::socketpair(domain, kind, protocol, pair);
        if made == 0 {
            let number = PAIRS.fetch_add(1, Ordering::Relaxed).to_ne_bytes();
            let [there, back] = [b"there", b"back!"].map(|way| cell(mix(mix(START, &number), way)));
            remember(*pair, [there, back]);
            remember(*pair.add(1), [back, there]);
        }
        made
    }
    fn pthread_kill(thread: pthread_t, signal: c_int) -> c_int {
        send_signal(thread);
        real::pthread_kill(thread, signal)
    }
    fn kill(process: libc::pid_t, signal: c_int) -> c_int {
        send_signal(0);
        real::kill(process, signal)
    }
    fn sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int {
        let error = real::sigwait(set, signal);
        got_signal(error == 0);
        error
    }
    fn sigwaitinfo(set: *const sigset_t, info: *mut siginfo_t) -> c_int {
        let got = real::sigwaitinfo(set, info);
        got_signal(got > 0);
        got
    }
    fn sigtimedwait(set: *const sigset_t, info: *mut siginfo_t, limit: *const timespec) -> c_int {
        let got = real::sigtimedwait(set, info, limit);
        got_signal(got > 0);
        got
    }
}
