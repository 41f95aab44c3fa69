//! `epoll`: descriptors that wait for others, inside the process.
//!
//! The kernel's descriptor keeps the number and the flags; the interest list and the queue of what may be ready are memory
//! here, put back with the checkpoint. They follow the kernel's rules, because programs can tell: an interest is that of a
//! number and an open file, and goes with the last duplicate of the file; whatever happens to a descriptor (bytes came or
//! found room, an end was closed) puts the interests that ask for it at the end of the queue; a wait takes from the front
//! those that are ready indeed, and puts those that are neither edge-triggered nor for once back at the end.
//!
//! The cell of a descriptor has two parts (`docs/decisions/0028-epoll-orders-what-it-hands-over.md`):
//!
//! | call | list | queue |
//! |---|---|---|
//! | `epoll_ctl` | changes, releases | changes |
//! | `epoll_wait` | reads; acquires if it gets an event | changes |
//! | what happens to a watched descriptor | | changes |
//! | closing the last duplicate of a watched file | changes | changes |
//!
//! Besides, a wait looks at every descriptor of the list, as `poll` does: who takes the bytes first may keep it waiting.
//!
//! Not modelled, and reported: descriptors that were there before the program, and `epoll` descriptors inside another's
//! list. (`poll` and `select` can wait for one.) `EPOLLEXCLUSIVE` lets the kernel wake fewer of those that wait; here it
//! may wake all.

use alloc::vec::Vec;
use core::ffi::c_int;

use libc::{epoll_event, sigset_t, timespec};
use wire::Tag;
use wire::record::order;

use super::open::{self, Description, File};
use super::pipe::{self, ChannelId};
use super::poll::{self, Limit, Waiting};
use super::transfer::{Access, operate};
use super::{net, result, unmodelled};
use crate::api::cancel::cancellable;
use crate::api::step::Call;
use crate::cell::Global;
use crate::sync::Blocker;
use crate::sys::sys;

/// A number of an `epoll` descriptor.
pub type EpollId = u32;

const ONESHOT: u32 = libc::EPOLLONESHOT as u32;
const EDGE: u32 = libc::EPOLLET as u32;
const EXCLUSIVE: u32 = libc::EPOLLEXCLUSIVE as u32;
const WAKEUP: u32 = libc::EPOLLWAKEUP as u32;
/// What is no event but says how to report them; an interest that has nothing else is asleep.
const MANNER: u32 = ONESHOT | EDGE | EXCLUSIVE | WAKEUP;
/// Reported whether or not they are asked for.
const ALWAYS: u32 = (libc::EPOLLERR | libc::EPOLLHUP) as u32;
/// What may be asked for together with `EPOLLEXCLUSIVE`.
const WITH_EXCLUSIVE: u32 = (libc::EPOLLIN | libc::EPOLLOUT) as u32 | ALWAYS | EDGE | EXCLUSIVE | WAKEUP;

/// Bytes or a connection came.
pub const ARRIVED: u32 = (libc::EPOLLIN | libc::EPOLLRDNORM | libc::EPOLLRDBAND) as u32;
/// There is room again.
pub const ROOM: u32 = (libc::EPOLLOUT | libc::EPOLLWRNORM | libc::EPOLLWRBAND) as u32;
/// The other end was closed: whatever is asked for.
pub const CLOSED: u32 = !0;

/// Something to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interest {
    fd: c_int,
    file: Description,
    /// What is asked for, and how it is to be reported.
    events: u32,
    data: u64,
    /// It is in the queue.
    queued: bool,
}

impl Interest {
    fn is(&self, fd: c_int, file: Description) -> bool {
        self.fd == fd && self.file == file
    }
    fn is_asleep(&self) -> bool {
        self.events & !MANNER == 0
    }
    /// What there is to report now.
    fn now(&self) -> u32 {
        let asked = if self.is_asleep() { 0 } else { self.events };
        let events = match self.file.file() {
            Some(File::Pipe(end)) => pipe::events(end),
            Some(File::Socket(id)) => net::events(id),
            _ => 0,
        };
        u32::from(events as u16) & asked
    }
}

struct Epoll {
    /// In the order in which they were added.
    list: Vec<Interest>,
    /// Those that may be ready: number and file.
    queue: Vec<(c_int, Description)>,
    /// The cell.
    content: u32,
}

static EPOLLS: Global<Vec<Epoll>> = Global::new(Vec::new());

fn all() -> &'static mut Vec<Epoll> {
    // Safety: one operating-system thread, and no switch happens while it is used.
    unsafe { &mut *EPOLLS.get() }
}

fn epoll(id: EpollId) -> &'static mut Epoll {
    &mut all()[id as usize]
}

impl Epoll {
    /// An access to the interest list.
    fn list_access(&self, tag: Tag, order: u8) -> Access {
        Access { tag, order, len: 4, ..open::content_access(self.content, tag) }
    }
    /// An access to the queue.
    fn queue_access(&self, tag: Tag) -> Access {
        let whole = open::content_access(self.content, tag);
        Access { at: whole.at + 4, len: 4, ..whole }
    }
    /// The accesses of looking at the descriptors of the list.
    fn looking(&self) -> Vec<Access> {
        self.list.iter().flat_map(|interest| looking_at(interest.file.file())).collect()
    }
    /// Puts an interest into the queue.
    fn queue(&mut self, at: usize) {
        let interest = &mut self.list[at];
        if !core::mem::replace(&mut interest.queued, true) {
            self.queue.push((interest.fd, interest.file));
        }
    }
    fn remove(&mut self, at: usize) {
        let Interest { fd, file, .. } = self.list.remove(at);
        self.queue.retain(|queued| *queued != (fd, file));
    }
    fn find(&mut self, (fd, file): (c_int, Description)) -> Option<&mut Interest> {
        self.list.iter_mut().find(|interest| interest.is(fd, file))
    }

    /// Takes at most so many events out of the queue.
    fn take(&mut self, most: usize) -> Vec<epoll_event> {
        let mut found = Vec::new();
        let mut again = Vec::new();
        let mut looked_at = 0;
        let queue = core::mem::take(&mut self.queue);
        for key in &queue {
            if found.len() == most {
                break;
            }
            looked_at += 1;
            let Some(interest) = self.find(*key) else { continue };
            interest.queued = false;
            let events = interest.now();
            if events == 0 {
                continue;
            }
            found.push(epoll_event { events, u64: interest.data });
            if interest.events & ONESHOT != 0 {
                interest.events &= MANNER;
            } else if interest.events & EDGE == 0 {
                interest.queued = true;
                again.push(*key);
            }
        }
        self.queue = queue[looked_at..].iter().copied().chain(again).collect();
        found
    }

    /// Changes the list as `epoll_ctl` does; an error number if it cannot.
    fn change(&mut self, operation: c_int, fd: c_int, file: Description, event: Wanted) -> Result<(), c_int> {
        let at = self.list.iter().position(|interest| interest.is(fd, file));
        let at = match (operation, at) {
            (libc::EPOLL_CTL_ADD, Some(_)) => return Err(libc::EEXIST),
            (libc::EPOLL_CTL_ADD, None) => {
                self.list.push(Interest { fd, file, events: event.events | ALWAYS, data: event.data, queued: false });
                self.list.len() - 1
            }
            (_, None) => return Err(libc::ENOENT),
            (libc::EPOLL_CTL_DEL, Some(at)) => {
                self.remove(at);
                return Ok(());
            }
            (_, Some(at)) if self.list[at].events & EXCLUSIVE != 0 => return Err(libc::EINVAL),
            (_, Some(at)) => {
                (self.list[at].events, self.list[at].data) = (event.events | ALWAYS, event.data);
                at
            }
        };
        if self.list[at].now() != 0 {
            self.queue(at);
        }
        Ok(())
    }
}

/// What the program says to `epoll_ctl`.
#[derive(Clone, Copy, Debug, Default)]
struct Wanted {
    events: u32,
    data: u64,
}

fn looking_at(file: Option<File>) -> Vec<Access> {
    match file {
        Some(File::Pipe(end)) => pipe::looking(end),
        Some(File::Socket(id)) => Vec::from([net::queue(id, Tag::Read)]),
        _ => Vec::new(),
    }
}

/// Whether a wait would get an event.
pub fn is_ready(id: EpollId) -> bool {
    let epoll = epoll(id);
    let ready = |key: &(c_int, Description)| epoll.list.iter().any(|i| i.is(key.0, key.1) && i.now() != 0);
    epoll.queue.iter().any(ready)
}

/// The accesses of looking whether a wait would get an event.
pub fn looking(id: EpollId) -> Vec<Access> {
    let epoll = epoll(id);
    let own = [epoll.queue_access(Tag::Read), epoll.list_access(Tag::Read, order::RELAXED)];
    own.into_iter().chain(epoll.looking()).collect()
}

/// The access of closing the descriptor.
pub fn closing(id: EpollId) -> Access {
    epoll(id).list_access(Tag::ReadModifyWrite, order::RELAXED)
}

/// Something happened to files: interests in it are put into queues. Reports the queues.
fn stir(file: impl Fn(File) -> bool, what: u32, add: &mut dyn FnMut(Access)) {
    for epoll in all() {
        let asks = |i: &Interest| !i.is_asleep() && i.events & what != 0 && i.file.file().is_some_and(&file);
        let asking: Vec<usize> = (0..epoll.list.len()).filter(|at| asks(&epoll.list[*at])).collect();
        if !asking.is_empty() {
            add(epoll.queue_access(Tag::ReadModifyWrite));
            asking.into_iter().for_each(|at| epoll.queue(at));
        }
    }
}

/// Something happened to who takes out of a channel.
pub fn stir_readers(channel: ChannelId, what: u32, add: &mut dyn FnMut(Access)) {
    stir(|file| matches!(file, File::Pipe(end) if end.source() == Some(channel)), what, add);
}

/// Something happened to who puts into a channel.
pub fn stir_writers(channel: ChannelId, what: u32, add: &mut dyn FnMut(Access)) {
    stir(|file| matches!(file, File::Pipe(end) if end.sink() == Some(channel)), what, add);
}

/// Something happened to a socket that is not connected.
pub fn stir_socket(id: net::SocketId, what: u32, add: &mut dyn FnMut(Access)) {
    stir(|file| file == File::Socket(id), what, add);
}

/// The last duplicate of a file is closed: nobody is interested in it any more.
pub fn forget(file: Description, add: &mut dyn FnMut(Access)) {
    for (id, epoll) in (0..).zip(all()) {
        if epoll.list.iter().all(|interest| interest.file != file) {
            continue;
        }
        add(epoll.list_access(Tag::ReadModifyWrite, order::RELAXED));
        add(epoll.queue_access(Tag::ReadModifyWrite));
        while let Some(at) = epoll.list.iter().position(|interest| interest.file == file) {
            epoll.remove(at);
        }
        poll::announce(id);
    }
}

/// What a wait is known to touch before it happens.
fn known_to_wait(id: EpollId) -> Vec<Access> {
    let epoll = epoll(id);
    let own = [epoll.queue_access(Tag::ReadModifyWrite), epoll.list_access(Tag::Read, order::RELAXED)];
    own.into_iter().chain(epoll.looking()).collect()
}

/// The `epoll` descriptor with this number.
fn by_fd(fd: c_int) -> Result<EpollId, c_int> {
    match open::get(fd).file {
        File::Epoll(id) => Ok(id),
        _ if open::is_open(fd) => Err(libc::EINVAL),
        _ => Err(libc::EBADF),
    }
}

/// Whether this can be waited for at all.
fn check(at: c_int, operation: c_int, fd: c_int, wanted: Wanted) -> Result<(EpollId, Description), c_int> {
    if !open::is_open(at) || !open::is_open(fd) {
        return Err(libc::EBADF);
    }
    let open = open::get(fd);
    let nested = matches!(open.file, File::Epoll(_));
    match open.file {
        File::Fixed | File::Memory(_) => return Err(libc::EPERM),
        File::Other => {
            unmodelled(
                "waits with `epoll` for a descriptor that is not a pipe, a socket or an event counter of its own",
            );
            return Err(libc::EPERM);
        }
        File::Pipe(_) | File::Socket(_) | File::Epoll(_) => {}
    }
    let id = by_fd(at)?;
    if open.file == File::Epoll(id) {
        return Err(libc::EINVAL);
    }
    let exclusive = wanted.events & EXCLUSIVE != 0;
    let refused = match operation {
        libc::EPOLL_CTL_ADD => exclusive && (nested || wanted.events & !WITH_EXCLUSIVE != 0),
        libc::EPOLL_CTL_MOD => exclusive,
        libc::EPOLL_CTL_DEL => false,
        _ => true,
    };
    if refused {
        return Err(libc::EINVAL);
    }
    if nested && operation == libc::EPOLL_CTL_ADD {
        unmodelled("waits with `epoll` for another `epoll` descriptor");
        return Err(libc::ELOOP);
    }
    Ok((id, open.description()))
}

/// Changes an interest list.
unsafe fn control(at: c_int, operation: c_int, fd: c_int, event: *const epoll_event) -> isize {
    let reads = operation != libc::EPOLL_CTL_DEL;
    if reads && event.is_null() {
        return -(libc::EFAULT as isize);
    }
    let memory = reads.then(|| Access::plain(Tag::Read, event.cast(), size_of::<epoll_event>()));
    let Ok(id) = by_fd(at) else {
        return check(at, operation, fd, Wanted::default()).map_or_else(|error| -(error as isize), |_| 0);
    };
    let queue = epoll(id).queue_access(Tag::ReadModifyWrite);
    let known: Vec<Access> = [queue].into_iter().chain(memory).chain(looking_at(Some(open::get(fd).file))).collect();
    let done = operate(&known, Blocker::None, |add| {
        // Safety: the program's own argument.
        let wanted = if reads { unsafe { event.read_unaligned() } } else { epoll_event { events: 0, u64: 0 } };
        let wanted = Wanted { events: wanted.events, data: wanted.u64 };
        let outcome = check(at, operation, fd, wanted)
            .and_then(|(id, file)| epoll(id).change(operation, fd, file, wanted).map(|()| id));
        let order = if outcome.is_ok() { order::RELEASE } else { order::RELAXED };
        add(epoll(id).list_access(Tag::ReadModifyWrite, order));
        poll::announce(id);
        outcome.map_or_else(|error| -(error as isize), |_| 0)
    });
    done.unwrap_or(-(libc::EINTR as isize))
}

/// Waits for events. `None`: the thread is cancelled instead.
unsafe fn wait(fd: c_int, to: *mut epoll_event, most: c_int, limit: Limit) -> Option<isize> {
    /// The kernel takes no more.
    const MOST: usize = c_int::MAX as usize / size_of::<epoll_event>();
    let most = match usize::try_from(most) {
        Ok(most @ 1..=MOST) => most,
        _ => return Some(-(libc::EINVAL as isize)),
    };
    let id = match by_fd(fd) {
        Ok(id) => id,
        Err(error) => return Some(-(error as isize)),
    };
    if to.is_null() {
        return Some(-(libc::EFAULT as isize));
    }
    let known = known_to_wait(id);
    poll::wait_until(Waiting::Epoll(id), &known, limit, |add| {
        let new = known_to_wait(id).into_iter().filter(|access| !known.contains(access));
        new.for_each(&mut *add);
        let found = epoll(id).take(most);
        if !found.is_empty() {
            add(epoll(id).list_access(Tag::Read, order::ACQUIRE));
        }
        for (i, event) in found.iter().enumerate() {
            // Safety: the program's own argument; it says that there is room.
            unsafe { to.add(i).write_unaligned(*event) };
        }
        add(Access::plain(Tag::Write, to.cast(), size_of_val(&found[..])));
        found.len()
    })
    .map(|count| count as isize)
}

/// A new descriptor.
fn made(fd: isize) -> c_int {
    if fd >= 0 {
        all().push(Epoll { list: Vec::new(), queue: Vec::new(), content: open::new_content() });
        open::opened(fd, File::Epoll(all().len() as EpollId - 1));
    }
    result(fd) as c_int
}

cancellable! {
    /// Waits for events, for some milliseconds.
    unsafe fn epoll_wait(fd: c_int, to: *mut epoll_event, most: c_int, milliseconds: c_int) {
        poll::finish_call(&Call::here(), unsafe { wait(fd, to, most, Limit::milliseconds(milliseconds)) })
    }
    /// Waits for events, for some milliseconds.
    unsafe fn epoll_pwait(
        fd: c_int,
        to: *mut epoll_event,
        most: c_int,
        milliseconds: c_int,
        _signals: *const sigset_t,
    ) {
        poll::finish_call(&Call::here(), unsafe { wait(fd, to, most, Limit::milliseconds(milliseconds)) })
    }
    /// Waits for events.
    unsafe fn epoll_pwait2(
        fd: c_int,
        to: *mut epoll_event,
        most: c_int,
        limit: *const timespec,
        _signals: *const sigset_t,
    ) {
        poll::finish_call(&Call::here(), unsafe { wait(fd, to, most, Limit::timespec(limit)) })
    }
}

export! {
    /// Makes a descriptor that waits for others.
    fn epoll_create(size: c_int) -> c_int {
        if size <= 0 {
            return super::fail(libc::EINVAL) as c_int;
        }
        made(unsafe { sys!(SYS_epoll_create1, 0) })
    }
    /// Makes a descriptor that waits for others.
    fn epoll_create1(flags: c_int) -> c_int {
        made(unsafe { sys!(SYS_epoll_create1, flags) })
    }
    /// Changes what a descriptor waits for.
    fn epoll_ctl(at: c_int, operation: c_int, fd: c_int, event: *const epoll_event) -> c_int {
        result(unsafe { control(at, operation, fd, event) }) as c_int
    }
}
