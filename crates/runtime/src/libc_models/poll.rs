//! Waiting for descriptors: `poll`, `select`, and what `epoll` shares with them. One event that looks at every descriptor; without a time limit it is
//! enabled when one of them is ready, with one it may also give up at any time.

use alloc::vec::Vec;
use core::ffi::{c_int, c_void};

use libc::{fd_set, pollfd, sigset_t, timespec, timeval};
use wire::{Record, Tag};

use super::epoll::{self, EpollId};
use super::open::{self, File};
use super::transfer::{self, Access, operate};
use super::{clock, net, pipe, result};
use crate::api::cancel::{self, Outcome, cancellable};
use crate::api::step::Call;
use crate::cell::Global;
use crate::sched;
use crate::sync::Blocker;
use crate::sys::sys;

/// What a thread waits for.
#[derive(Clone, Debug)]
pub(super) enum Waiting {
    /// One of these descriptors.
    Set(Vec<pollfd>),
    /// An event of this descriptor's interest list.
    Epoll(EpollId),
}

impl Waiting {
    fn is_ready(&self) -> bool {
        match self {
            Self::Set(set) => set.iter().any(|entry| answer(entry) != 0),
            Self::Epoll(id) => epoll::is_ready(*id),
        }
    }
}

/// What threads wait for, by thread.
static WAITING: Global<Vec<Option<Waiting>>> = Global::new(Vec::new());

fn waiting() -> &'static mut Vec<Option<Waiting>> {
    // Safety: one operating-system thread, and no switch happens while it is used.
    unsafe { &mut *WAITING.get() }
}

/// The descriptor number by which what a thread waits for goes in [`Blocker::Fd`].
fn set_number(thread: sched::Thread) -> c_int {
    -2 - thread as c_int
}

/// Whether what a thread waits for, or a descriptor inside the process, is ready; `None` for what the kernel knows.
pub fn ready(fd: c_int, events: i16) -> Option<bool> {
    if fd <= -2 {
        let waiting = waiting().get((-2 - fd) as usize).and_then(Option::as_ref);
        return Some(waiting.is_some_and(Waiting::is_ready));
    }
    Some(events_of(fd)? & (events | libc::POLLERR | libc::POLLHUP) != 0)
}

/// What can be said of a descriptor inside the process now.
fn events_of(fd: c_int) -> Option<i16> {
    match open::get(fd).file {
        File::Pipe(end) => Some(pipe::events(end)),
        File::Socket(id) => Some(net::events(id)),
        File::Epoll(id) => Some(if epoll::is_ready(id) { libc::POLLIN | libc::POLLRDNORM } else { 0 }),
        _ => None,
    }
}

/// What `poll` says about one entry now.
fn answer(entry: &pollfd) -> i16 {
    if entry.fd < 0 {
        return 0;
    }
    if let Some(events) = events_of(entry.fd) {
        return events & (entry.events | libc::POLLERR | libc::POLLHUP);
    }
    let mut one = pollfd { revents: 0, ..*entry };
    let no_wait = timespec { tv_sec: 0, tv_nsec: 0 };
    // Safety: both live over the call.
    unsafe { sys!(SYS_ppoll, &raw mut one, 1, &raw const no_wait, 0, 0) };
    one.revents
}

/// How long to wait, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    Forever,
    At(u64),
}

impl Limit {
    /// So many; forever if negative.
    pub(super) fn milliseconds(milliseconds: c_int) -> Self {
        u64::try_from(milliseconds).map_or(Self::Forever, |ms| Self::At(ms * 1_000_000))
    }
    /// What is said there; forever if nothing is.
    ///
    /// # Safety
    /// A pointer to a limit, or null.
    pub(super) unsafe fn timespec(limit: *const timespec) -> Self {
        // Safety: promised by the caller.
        match unsafe { limit.as_ref() } {
            None => Self::Forever,
            Some(limit) => {
                let seconds = (limit.tv_sec.max(0) as u64).saturating_mul(1_000_000_000);
                Self::At(seconds.saturating_add(limit.tv_nsec.max(0) as u64))
            }
        }
    }
}

/// One event that waits: enabled when what it waits for is ready, or at any time if there is a limit. `act` says how many
/// descriptors or events were ready. `None`: the thread is cancelled instead.
pub(super) fn wait_until(
    what: Waiting,
    known: &[Access],
    limit: Limit,
    act: impl FnOnce(&mut dyn FnMut(Access)) -> usize,
) -> Option<usize> {
    let thread = super::me();
    if let (Limit::At(1..), true, false) = (limit, sched::running(), what.is_ready()) {
        // Others may run in the meantime.
        let yields = Record::new(Tag::Yield, 0, 0, sched::site(), 0);
        sched::arrive(yields, None, Blocker::None);
        sched::commit(yields, None);
    }
    if waiting().len() <= thread as usize {
        waiting().resize(thread as usize + 1, None);
    }
    waiting()[thread as usize] = Some(what);
    let blocker = match limit {
        Limit::Forever => Blocker::Fd { fd: set_number(thread), events: 0 },
        Limit::At(_) => Blocker::None,
    };
    let count = operate(known, blocker, act);
    waiting()[thread as usize] = None;
    if let (Some(0), Limit::At(nanoseconds)) = (count, limit) {
        clock::advance(nanoseconds);
    }
    count
}

/// An interest list changed, and with it what those who wait for it are about to do.
pub(super) fn announce(id: EpollId) {
    if !sched::running() {
        return;
    }
    for (thread, what) in waiting().iter().enumerate() {
        let concerned = match what {
            Some(Waiting::Epoll(other)) => *other == id,
            Some(Waiting::Set(set)) => set.iter().any(|entry| open::get(entry.fd).file == File::Epoll(id)),
            None => false,
        };
        if concerned {
            transfer::announce(thread as sched::Thread, &epoll::looking(id));
        }
    }
}

/// The accesses of looking at a set of descriptors.
fn looking(set: &[pollfd]) -> Vec<Access> {
    let looked_at = set.iter().map(|entry| match open::get(entry.fd).file {
        File::Pipe(end) => pipe::looking(end),
        File::Socket(id) => Vec::from([net::queue(id, Tag::Read)]),
        File::Epoll(id) => epoll::looking(id),
        _ => Vec::new(),
    });
    looked_at.flatten().collect()
}

/// Waits for the set and fills in the answers. `None`: the thread is cancelled instead.
fn wait(set: &mut [pollfd], memory: &[Access], limit: Limit) -> Option<usize> {
    let known: Vec<Access> = looking(set).into_iter().chain(memory.iter().copied()).collect();
    wait_until(Waiting::Set(set.to_vec()), &known, limit, |add| {
        // Interest lists may have changed in the meantime.
        looking(set).into_iter().filter(|access| !known.contains(access)).for_each(add);
        set.iter_mut().for_each(|entry| entry.revents = answer(entry));
        set.iter().filter(|entry| entry.revents != 0).count()
    })
}

unsafe fn poll_set(set: *mut pollfd, count: libc::nfds_t, limit: Limit) -> Option<isize> {
    let len = count as usize;
    let set = if len == 0 { &mut [][..] } else { unsafe { core::slice::from_raw_parts_mut(set, len) } };
    let bytes = size_of_val(set);
    let memory = [Tag::Read, Tag::Write].map(|tag| Access::plain(tag, set.as_ptr().cast(), bytes));
    wait(set, &memory, limit).map(|count| count as isize)
}

/// What `select` asks for and the events of `poll` that answer it.
const READS: (i16, i16) = (libc::POLLIN, libc::POLLIN | libc::POLLHUP | libc::POLLERR);
const WRITES: (i16, i16) = (libc::POLLOUT, libc::POLLOUT | libc::POLLERR);
const EXCEPTIONS: (i16, i16) = (libc::POLLPRI, libc::POLLPRI);

unsafe fn select_sets(count: c_int, sets: [*mut fd_set; 3], limit: Limit) -> Option<isize> {
    let kinds = [READS, WRITES, EXCEPTIONS];
    let bytes = (count.max(0) as usize).div_ceil(64) * 8;
    let mut asked = Vec::new();
    let mut memory = Vec::new();
    for (set, (events, _)) in sets.iter().zip(kinds) {
        if set.is_null() {
            continue;
        }
        memory.extend([Tag::Read, Tag::Write].map(|tag| Access::plain(tag, *set as *const c_void, bytes)));
        let members = (0..count).filter(|&fd| unsafe { libc::FD_ISSET(fd, *set) });
        asked.extend(members.map(|fd| pollfd { fd, events, revents: 0 }));
    }
    wait(&mut asked, &memory, limit)?;
    if asked.iter().any(|entry| entry.revents & libc::POLLNVAL != 0) {
        return Some(-(libc::EBADF as isize));
    }
    let mut found = 0;
    for (set, (events, answers)) in sets.iter().zip(kinds) {
        for entry in asked.iter().filter(|entry| !set.is_null() && entry.events == events) {
            if entry.revents & answers != 0 {
                found += 1;
            } else {
                unsafe { libc::FD_CLR(entry.fd, *set) };
            }
        }
    }
    Some(found)
}

/// What the call gives: the number or the error, or the thread's end.
pub(super) fn finish_call(call: &Call, found: Option<isize>) -> Outcome {
    match found {
        Some(found) => Outcome::word(result(found)),
        None => cancel::point(call),
    }
}

cancellable! {
    /// Waits for descriptors, for some milliseconds.
    unsafe fn poll(set: *mut pollfd, count: libc::nfds_t, milliseconds: c_int) {
        finish_call(&Call::here(), unsafe { poll_set(set, count, Limit::milliseconds(milliseconds)) })
    }
    /// Waits for descriptors.
    unsafe fn ppoll(set: *mut pollfd, count: libc::nfds_t, limit: *const timespec, _signals: *const sigset_t) {
        finish_call(&Call::here(), unsafe { poll_set(set, count, Limit::timespec(limit)) })
    }
    /// Waits for descriptors in sets.
    unsafe fn select(count: c_int, reads: *mut fd_set, writes: *mut fd_set, others: *mut fd_set, limit: *const timeval) {
        let limit = if limit.is_null() {
            Limit::Forever
        } else {
            let limit = unsafe { &*limit };
            Limit::At((limit.tv_sec.max(0) as u64) * 1_000_000_000 + (limit.tv_usec.max(0) as u64) * 1000)
        };
        finish_call(&Call::here(), unsafe { select_sets(count, [reads, writes, others], limit) })
    }
    /// Waits for descriptors in sets.
    unsafe fn pselect(
        count: c_int,
        reads: *mut fd_set,
        writes: *mut fd_set,
        others: *mut fd_set,
        limit: *const timespec,
        _signals: *const sigset_t,
    ) {
        let limit = unsafe { Limit::timespec(limit) };
        finish_call(&Call::here(), unsafe { select_sets(count, [reads, writes, others], limit) })
    }
}
