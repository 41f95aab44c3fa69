//! Waiting for descriptors: `poll`, `select`, and what `epoll` shares with them. Such a call is one event that asks
//! about every descriptor. Without a time limit it is enabled when one of them is ready; with a limit it is always
//! enabled, since the limit may end the wait at any time.
//! How often in a row limits may end a thread's waits is bounded ([`crate::sync::limits`]).

use alloc::vec::Vec;
use core::ffi::{c_int, c_ulong};

use libc::{pollfd, sigset_t, timespec, timeval};
use wire::{Record, Tag};

use super::channels::{ChannelId, End};
use super::epoll::{self, EpollId};
use super::event::{self, Access, finish, operate};
use super::file_locks::{self, FileLock};
use super::open::{self, File};
use super::program_memory::{In, Out};
use super::sockets::SocketId;
use super::{channels, clock, datagrams, kernel, negative, sockets, timers, unmodelled};
use crate::api::cancel::cancellable;
use crate::api::signal::with_mask;
use crate::api::step::Call;
use crate::cell::Global;
use crate::interrupts;
use crate::sched;
use crate::sync::Blocker;
use crate::sync::limits::{Limited, WAITED_LONG};

/// What a thread waits for.
#[derive(Clone, Debug)]
pub(super) enum Waiting {
    /// One of these descriptors.
    Set(Vec<pollfd>),
    /// An event of this descriptor's interest list.
    Epoll(EpollId),
    /// One of these events at an end that no descriptor of the program has.
    End(End, i16),
    /// Room for datagrams of one socket at another.
    Room(ChannelId, ChannelId),
    /// A lock on a file.
    Lock(FileLock),
    /// Room in this listener's queue, or that it does not listen any more.
    Queue(SocketId),
}

impl Waiting {
    /// Whether something may end the wait before its time limit; otherwise it is a sleep.
    fn is_anything(&self) -> bool {
        !matches!(self, Self::Set(set) if set.is_empty())
    }
    fn is_ready(&self) -> bool {
        match self {
            Self::Set(set) => set.iter().any(|entry| answer(entry) != 0),
            Self::Epoll(id) => epoll::is_ready(*id),
            Self::End(end, events) => channels::events(*end) & (events | libc::POLLERR | libc::POLLHUP) != 0,
            Self::Queue(id) => sockets::takes_connection(*id),
            Self::Room(from, to) => datagrams::has_room(*from, *to),
            Self::Lock(lock) => file_locks::is_free(lock),
        }
    }
}

/// What threads wait for now.
static WAITING: Global<Vec<Option<Waiting>>> = Global::new(Vec::new());

/// Sets what a thread waits for; gives what it waited for before.
fn replace(thread: sched::Thread, what: Option<Waiting>) -> Option<Waiting> {
    WAITING.with(|waiting| {
        let needed = thread as usize + 1;
        if waiting.len() < needed {
            waiting.resize(needed, None);
        }
        core::mem::replace(&mut waiting[thread as usize], what)
    })
}

/// What a thread waits for, and the time limits of its waits.
pub struct Waits(Option<Waiting>, Limited);

/// Takes out what a thread waits for, while a handler runs in it.
pub fn set_aside(thread: sched::Thread) -> Waits {
    Waits(replace(thread, None), sched::with_objects(|objects| objects.limits.set_aside(thread)))
}

/// Puts back what [`set_aside`] took out.
pub fn put_back(thread: sched::Thread, Waits(what, limited): Waits) {
    replace(thread, what);
    sched::with_objects(|objects| objects.limits.put_back(thread, limited));
}

/// The number in [`Blocker::Fd`] that stands for everything a thread waits for; it is no descriptor's.
fn set_number(thread: sched::Thread) -> c_int {
    -2 - thread as c_int
}

/// Whether a modelled descriptor, or anything that a thread waits for, is ready; `None` for descriptors that the kernel
/// knows about.
pub fn ready(fd: c_int, events: i16) -> Option<bool> {
    if fd <= -2 {
        let is_ready = |what: &Option<Waiting>| what.as_ref().is_some_and(Waiting::is_ready);
        return Some(WAITING.with(|waiting| waiting.get((-2 - fd) as usize).is_some_and(is_ready)));
    }
    Some(events_of(fd)? & (events | libc::POLLERR | libc::POLLHUP) != 0)
}

/// What `poll` says about a modelled descriptor now.
fn events_of(fd: c_int) -> Option<i16> {
    match open::get(fd).file {
        File::Pipe(end) => Some(channels::events(end)),
        File::Socket(id) => Some(sockets::events(id)),
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
    kernel::poll_now(&mut one);
    one.revents
}

/// How long to wait, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    Forever,
    At(u64),
}

impl Limit {
    /// This many milliseconds; without end if negative.
    pub(super) fn milliseconds(milliseconds: c_int) -> Self {
        u64::try_from(milliseconds).map_or(Self::Forever, |ms| Self::At(ms * 1_000_000))
    }
    /// The time that the pointer leads to; without end if it is null.
    pub(super) fn timespec(limit: In<'_, timespec>) -> Self {
        limit.get().map_or(Self::Forever, |limit| Self::time(limit.tv_sec, limit.tv_nsec))
    }
    /// As [`timespec`](Self::timespec), with microseconds.
    fn timeval(limit: In<'_, timeval>) -> Self {
        limit.get().map_or(Self::Forever, |limit| Self::time(limit.tv_sec, limit.tv_usec.saturating_mul(1000)))
    }
    fn time(seconds: i64, nanoseconds: i64) -> Self {
        Self::At((seconds.max(0) as u64).saturating_mul(1_000_000_000).saturating_add(nanoseconds.max(0) as u64))
    }
}

/// Makes one event that waits: enabled when what it waits for is ready, or at any time if there is a limit. `act` gives
/// the number of descriptors or events that were ready. `None`: the thread is cancelled instead.
pub(super) fn wait_until(
    what: Waiting,
    known: &[Access],
    limit: Limit,
    act: impl FnOnce(&mut dyn FnMut(Access)) -> usize,
) -> Option<usize> {
    let thread = super::me();
    let may_expire = matches!(limit, Limit::At(1..));
    if may_expire && sched::running() {
        // Others may run in the meantime.
        let yields = Record::new(Tag::Yield, 0, 0, sched::site(), 0);
        sched::arrive(yields, None, Blocker::None);
        sched::commit(yields, None);
        if interrupts::interrupt_call().is_some() {
            interrupts::note_interrupted_call();
            return None;
        }
    }
    let is_limited = may_expire && what.is_anything() && sched::running();
    replace(thread, Some(what));
    let may_expire_now = !is_limited || sched::with_objects(|objects| objects.limits.begin(thread));
    let blocker = match limit {
        Limit::At(_) if may_expire_now => Blocker::None,
        _ => Blocker::Fd { fd: set_number(thread), events: 0 },
    };
    let count = operate(known, blocker, act);
    replace(thread, None);
    if is_limited && sched::with_objects(|objects| objects.end_limited(thread, count == Some(0))) {
        unmodelled(WAITED_LONG);
    }
    if let (Some(0), Limit::At(nanoseconds)) = (count, limit) {
        clock::advance(nanoseconds);
    }
    count
}

/// Updates the announced events of the threads that wait for an `epoll` descriptor, whose interest list has changed.
pub(super) fn announce(id: EpollId) {
    if !sched::running() {
        return;
    }
    let waits_for_it = |what: &Option<Waiting>| match what {
        Some(Waiting::Epoll(other)) => *other == id,
        Some(Waiting::Set(set)) => set.iter().any(|entry| open::get(entry.fd).file == File::Epoll(id)),
        Some(Waiting::End(..) | Waiting::Queue(_) | Waiting::Room(..) | Waiting::Lock(_)) | None => false,
    };
    let threads: Vec<sched::Thread> = WAITING.with(|waiting| {
        (0..).zip(waiting.iter()).filter(|(_, what)| waits_for_it(what)).map(|(thread, _)| thread).collect()
    });
    for thread in threads {
        event::announce(thread, &epoll::poll_accesses(id));
    }
}

/// The accesses of asking whether one of these descriptors is ready.
fn poll_accesses(set: &[pollfd]) -> Vec<Access> {
    let accesses = set.iter().map(|entry| match open::get(entry.fd).file {
        File::Pipe(end) => channels::poll_accesses(end),
        File::Socket(id) => Vec::from([sockets::queue_access(id, Tag::Read)]),
        File::Epoll(id) => epoll::poll_accesses(id),
        _ => Vec::new(),
    });
    let numbers = set.iter().filter(|entry| entry.fd >= 0).map(|entry| open::lookup_access(entry.fd));
    accesses.flatten().chain(numbers).collect()
}

/// Waits for one of these descriptors and fills in the answers. `None`: the thread is cancelled instead.
fn wait(set: &mut [pollfd], memory: &[Access], limit: Limit) -> Option<usize> {
    let files: Vec<File> = set.iter().map(|entry| open::get(entry.fd).file).collect();
    let held = timers::hold(files.iter().copied());
    let known: Vec<Access> = poll_accesses(set).into_iter().chain(memory.iter().copied()).collect();
    wait_until(Waiting::Set(set.to_vec()), &known, limit, |add| {
        // Interest lists may have changed in the meantime.
        poll_accesses(set).into_iter().filter(|access| !known.contains(access)).for_each(&mut *add);
        timers::ask((held, limit != Limit::Forever), files.into_iter(), add, || {
            set.iter_mut().for_each(|entry| entry.revents = answer(entry));
            set.iter().filter(|entry| entry.revents != 0).count()
        })
    })
}

/// `poll`: like the kernel, it reads the entries once and stores only the answers.
fn poll_set(set: Out<'_, pollfd>, count: libc::nfds_t, limit: Limit, time: Option<Access>) -> Option<isize> {
    let mut asked = set.as_in().read_array(count as usize);
    let bytes = size_of_val(&asked[..]);
    let entries = [Tag::Read, Tag::Write].map(|tag| Access::plain(tag, set.as_ptr().cast(), bytes));
    let memory: Vec<Access> = time.into_iter().chain(entries).collect();
    let ready = wait(&mut asked, &memory, limit)?;
    for (i, entry) in asked.iter().enumerate() {
        set.element(i).update(|stored| stored.revents = entry.revents);
    }
    Some(ready as isize)
}

/// What `select` asks for and the events of `poll` that answer it.
const READS: (i16, i16) = (libc::POLLIN, libc::POLLIN | libc::POLLHUP | libc::POLLERR);
const WRITES: (i16, i16) = (libc::POLLOUT, libc::POLLOUT | libc::POLLERR);
const EXCEPTIONS: (i16, i16) = (libc::POLLPRI, libc::POLLPRI);

/// A set of descriptors of `select`: one bit for each, in words of this size.
type Word = c_ulong;

/// The word of a set with the bit of a descriptor, and the bit.
fn bit(set: Out<'_, Word>, fd: c_int) -> (Out<'_, Word>, Word) {
    (set.element((fd as u32 / Word::BITS) as usize), 1 << (fd as u32 % Word::BITS))
}

/// The accesses to a time limit, if there is one.
fn limit_accesses<T>(limit: In<'_, T>, tags: &[Tag]) -> Vec<Access> {
    let given = tags.iter().filter(|_| !limit.is_null());
    given.map(|tag| Access::plain(*tag, limit.as_ptr().cast_mut().cast(), size_of::<T>())).collect()
}

/// `select`; `time` are its accesses to the limit.
fn select_sets(count: c_int, sets: [Out<'_, Word>; 3], limit: Limit, time: Vec<Access>) -> Option<isize> {
    let kinds = [READS, WRITES, EXCEPTIONS];
    let bytes = (count.max(0) as usize).div_ceil(Word::BITS as usize) * size_of::<Word>();
    let mut asked = Vec::new();
    let mut memory = time;
    for (set, (events, _)) in sets.into_iter().zip(kinds).filter(|(set, _)| !set.is_null()) {
        memory.extend([Tag::Read, Tag::Write].map(|tag| Access::plain(tag, set.as_ptr().cast(), bytes)));
        let is_member = |fd: &c_int| {
            let (word, bit) = bit(set, *fd);
            word.as_in().read() & bit != 0
        };
        asked.extend((0..count).filter(is_member).map(|fd| pollfd { fd, events, revents: 0 }));
    }
    wait(&mut asked, &memory, limit)?;
    if asked.iter().any(|entry| entry.revents & libc::POLLNVAL != 0) {
        return Some(negative(libc::EBADF));
    }
    let mut found = 0;
    for (set, (events, answers)) in sets.into_iter().zip(kinds).filter(|(set, _)| !set.is_null()) {
        for entry in asked.iter().filter(|entry| entry.events == events) {
            if entry.revents & answers != 0 {
                found += 1;
            } else {
                let (word, bit) = bit(set, entry.fd);
                word.update(|word| *word &= !bit);
            }
        }
    }
    Some(found)
}

cancellable! {
    /// Waits for descriptors, for some milliseconds.
    unsafe fn poll(set: Out<'_, pollfd>, count: libc::nfds_t, milliseconds: c_int) {
        finish(&Call::here(), poll_set(set, count, Limit::milliseconds(milliseconds), None))
    }
    /// Waits for descriptors.
    unsafe fn ppoll(set: Out<'_, pollfd>, count: libc::nfds_t, limit: In<'_, timespec>, signals: In<'_, sigset_t>) {
        let time = limit_accesses(limit, &[Tag::Read]).pop();
        let call = Call::here();
        finish(&call, with_mask(signals.as_ptr(), || poll_set(set, count, Limit::timespec(limit), time)))
    }
    /// Waits for descriptors in sets.
    unsafe fn select(
        count: c_int,
        reads: Out<'_, Word>,
        writes: Out<'_, Word>,
        others: Out<'_, Word>,
        limit: Out<'_, timeval>,
    ) {
        let time = limit_accesses(limit.as_in(), &[Tag::Read, Tag::Write]);
        let found = select_sets(count, [reads, writes, others], Limit::timeval(limit.as_in()), time);
        // Linux stores how much time was left.
        if found == Some(0) {
            limit.write_if_given(timeval { tv_sec: 0, tv_usec: 0 });
        }
        finish(&Call::here(), found)
    }
    /// Waits for descriptors in sets.
    unsafe fn pselect(
        count: c_int,
        reads: Out<'_, Word>,
        writes: Out<'_, Word>,
        others: Out<'_, Word>,
        limit: In<'_, timespec>,
        signals: In<'_, sigset_t>,
    ) {
        let time = limit_accesses(limit, &[Tag::Read]);
        let select = || select_sets(count, [reads, writes, others], Limit::timespec(limit), time);
        finish(&Call::here(), with_mask(signals.as_ptr(), select))
    }
}
