//! Waiting for descriptors: `poll`, `select`. One event that looks at every descriptor; without a time limit it is
//! enabled when one of them is ready, with one it may also give up at any time.

use alloc::vec::Vec;
use core::ffi::{c_int, c_void};

use libc::{fd_set, pollfd, sigset_t, timespec, timeval};
use wire::{Record, Tag};

use super::open::{self, File};
use super::transfer::{Access, operate};
use super::{clock, fail, result};
use super::{net, pipe};
use crate::api::cancel::{self, Outcome, cancellable};
use crate::api::step::Call;
use crate::cell::Global;
use crate::sched;
use crate::sync::Blocker;
use crate::sys::sys;

/// Sets of descriptors that threads wait for, by thread.
static SETS: Global<Vec<Vec<pollfd>>> = Global::new(Vec::new());

/// The descriptor number by which a thread's set goes in [`Blocker::Fd`].
fn set_number(thread: sched::Thread) -> c_int {
    -2 - thread as c_int
}

/// Whether a set of descriptors, or the end of a pipe inside the process, is ready; `None` for what the kernel knows.
pub fn ready(fd: c_int, events: i16) -> Option<bool> {
    if fd <= -2 {
        // Safety: no borrow outlives the block.
        let sets = unsafe { &*SETS.get() };
        return Some(sets.get((-2 - fd) as usize).is_some_and(|set| set.iter().any(|entry| answer(entry) != 0)));
    }
    match open::get(fd).file {
        File::Pipe(end) => Some(pipe::events(end) & (events | libc::POLLERR | libc::POLLHUP) != 0),
        File::Socket(id) => Some(net::events(id) & (events | libc::POLLERR | libc::POLLHUP) != 0),
        _ => None,
    }
}

/// What `poll` says about one entry now.
fn answer(entry: &pollfd) -> i16 {
    if entry.fd < 0 {
        return 0;
    }
    let always = libc::POLLERR | libc::POLLHUP;
    match open::get(entry.fd).file {
        File::Pipe(end) => return pipe::events(end) & (entry.events | always),
        File::Socket(id) => return net::events(id) & (entry.events | always),
        _ => {}
    }
    let mut one = pollfd { revents: 0, ..*entry };
    let no_wait = timespec { tv_sec: 0, tv_nsec: 0 };
    // Safety: both live over the call.
    unsafe { sys!(SYS_ppoll, &raw mut one, 1, &raw const no_wait, 0, 0) };
    one.revents
}

/// How long to wait, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Limit {
    Forever,
    At(u64),
}

/// Waits for the set and fills in the answers. `None`: the thread is cancelled instead.
fn wait(set: &mut [pollfd], memory: &[Access], limit: Limit) -> Option<usize> {
    let thread = super::me();
    if let (Limit::At(1..), true, true) = (limit, sched::running(), set.iter().all(|entry| answer(entry) == 0)) {
        // Others may run in the meantime.
        let yields = Record::new(Tag::Yield, 0, 0, sched::site(), 0);
        sched::arrive(yields, None, Blocker::None);
        sched::commit(yields, None);
    }
    let blocker = match limit {
        Limit::Forever => {
            // Safety: no borrow outlives the block.
            let sets = unsafe { &mut *SETS.get() };
            if sets.len() <= thread as usize {
                sets.resize(thread as usize + 1, Vec::new());
            }
            sets[thread as usize] = set.to_vec();
            Blocker::Fd { fd: set_number(thread), events: 0 }
        }
        Limit::At(_) => Blocker::None,
    };
    let looked_at = set.iter().map(|entry| match open::get(entry.fd).file {
        File::Pipe(end) => pipe::looking(end),
        File::Socket(id) => Vec::from([net::queue(id, Tag::Read)]),
        _ => Vec::new(),
    });
    let known: Vec<Access> = looked_at.flatten().chain(memory.iter().copied()).collect();
    let count = operate(&known, blocker, |_| {
        set.iter_mut().for_each(|entry| entry.revents = answer(entry));
        set.iter().filter(|entry| entry.revents != 0).count()
    })?;
    if let (0, Limit::At(nanoseconds)) = (count, limit) {
        clock::advance(nanoseconds);
    }
    Some(count)
}

fn finish(call: &Call, count: Option<usize>) -> Outcome {
    match count {
        Some(count) => Outcome::word(count as isize),
        None => cancel::point(call),
    }
}

unsafe fn poll_set(set: *mut pollfd, count: libc::nfds_t, limit: Limit) -> Option<usize> {
    let len = count as usize;
    let set = if len == 0 { &mut [][..] } else { unsafe { core::slice::from_raw_parts_mut(set, len) } };
    let bytes = size_of_val(set);
    let memory = [Tag::Read, Tag::Write].map(|tag| Access::plain(tag, set.as_ptr().cast(), bytes));
    wait(set, &memory, limit)
}

unsafe fn timespec_limit(limit: *const timespec) -> Limit {
    if limit.is_null() {
        return Limit::Forever;
    }
    let limit = unsafe { &*limit };
    Limit::At((limit.tv_sec.max(0) as u64).saturating_mul(1_000_000_000).saturating_add(limit.tv_nsec.max(0) as u64))
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

fn finish_select(call: &Call, found: Option<isize>) -> Outcome {
    match found {
        Some(found) => Outcome::word(result(found)),
        None => cancel::point(call),
    }
}

cancellable! {
    /// Waits for descriptors, for some milliseconds.
    unsafe fn poll(set: *mut pollfd, count: libc::nfds_t, milliseconds: c_int) {
        let limit = u64::try_from(milliseconds).map_or(Limit::Forever, |ms| Limit::At(ms * 1_000_000));
        finish(&Call::here(), unsafe { poll_set(set, count, limit) })
    }
    /// Waits for descriptors.
    unsafe fn ppoll(set: *mut pollfd, count: libc::nfds_t, limit: *const timespec, _signals: *const sigset_t) {
        finish(&Call::here(), unsafe { poll_set(set, count, timespec_limit(limit)) })
    }
    /// Waits for descriptors in sets.
    unsafe fn select(count: c_int, reads: *mut fd_set, writes: *mut fd_set, others: *mut fd_set, limit: *const timeval) {
        let limit = if limit.is_null() {
            Limit::Forever
        } else {
            let limit = unsafe { &*limit };
            Limit::At((limit.tv_sec.max(0) as u64) * 1_000_000_000 + (limit.tv_usec.max(0) as u64) * 1000)
        };
        finish_select(&Call::here(), unsafe { select_sets(count, [reads, writes, others], limit) })
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
        let limit = unsafe { timespec_limit(limit) };
        finish_select(&Call::here(), unsafe { select_sets(count, [reads, writes, others], limit) })
    }
}

export! {
    /// Waits for events of the kernel, which is not modelled.
    fn epoll_wait(_epoll: c_int, _to: *mut c_void, _count: c_int, _milliseconds: c_int) -> c_int {
        super::unmodelled("calls `epoll_wait`");
        fail(libc::ENOSYS) as c_int
    }
}
