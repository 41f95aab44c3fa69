//! `epoll`: descriptors that wait for others, inside the process.
//!
//! The kernel's descriptor keeps the number and the flags. The interest list and its queue ([`super::interest_list`])
//! are memory of the process, which the checkpoint restores.
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
//! Besides, a wait asks about every descriptor of the list, as `poll` does: a thread that reads the bytes first may
//! keep it waiting.
//!
//! Not modelled, and reported: descriptors that were open before the program started, and `epoll` descriptors in the
//! list of another. (`poll` and `select` can wait for one.) `EPOLLEXCLUSIVE` lets the kernel wake fewer of the threads
//! that wait; here it may wake all.

use alloc::vec::Vec;
use core::ffi::c_int;

use libc::{epoll_event, sigset_t, timespec};
use wire::Tag;
use wire::record::order;

use super::channels::{self, ChannelId};
use super::event::{Access, finish, handed_over, operate};
use super::interest_list::{EXCLUSIVE, InterestList, Request, WITH_EXCLUSIVE};
use super::open::{self, Description, File};
use super::poll::{self, Limit, Waiting};
use super::program_memory::{In, Out};
use super::sockets::{self, SocketId};
use super::{fail, kernel, negative, result, timers, unmodelled};
use crate::api::cancel::cancellable;
use crate::api::signal::with_mask;
use crate::api::step::Call;
use crate::cell::Global;
use crate::sync::Blocker;

pub use super::interest_list::{ARRIVED, CLOSED, ROOM};

/// The number of an `epoll` descriptor's interest list.
pub type EpollId = u32;

static LISTS: Global<Vec<InterestList>> = Global::new(Vec::new());

/// Lends an interest list to `use_it`, which must not use another.
fn with<R>(id: EpollId, use_it: impl FnOnce(&mut InterestList) -> R) -> R {
    LISTS.with(|lists| use_it(&mut lists[id as usize]))
}

/// The accesses of asking whether a file is ready.
fn file_accesses(file: Option<File>) -> Vec<Access> {
    match file {
        Some(File::Pipe(end)) => channels::poll_accesses(end),
        Some(File::Socket(id)) => Vec::from([sockets::queue_access(id, Tag::Read)]),
        _ => Vec::new(),
    }
}

/// The accesses of a call that reads the list and asks about its files; `queue` is what it does to the queue.
fn accesses(id: EpollId, queue: Tag) -> Vec<Access> {
    let (own, files) =
        with(id, |list| ([list.queue_access(queue), list.list_access(Tag::Read, order::RELAXED)], list.files()));
    own.into_iter().chain(files.into_iter().flat_map(file_accesses)).collect()
}

/// Whether a wait would get an event.
pub fn is_ready(id: EpollId) -> bool {
    with(id, |list| list.is_ready())
}

/// The accesses of asking whether a wait would get an event.
pub fn poll_accesses(id: EpollId) -> Vec<Access> {
    accesses(id, Tag::Read)
}

/// What a wait is known to touch before it happens.
fn wait_accesses(id: EpollId) -> Vec<Access> {
    accesses(id, Tag::ReadModifyWrite)
}

/// The access of closing the descriptor.
pub fn close_access(id: EpollId) -> Access {
    with(id, |list| list.list_access(Tag::ReadModifyWrite, order::RELAXED))
}

/// Something happened to files: the interests in it go into the queues. Adds the accesses to the queues.
fn notify(concerns: impl Fn(File) -> bool, what: u32, add: &mut dyn FnMut(Access)) {
    let queues: Vec<Access> = LISTS.with(|lists| {
        let notified = lists
            .iter_mut()
            .filter_map(|list| list.notify(&concerns, what).then(|| list.queue_access(Tag::ReadModifyWrite)));
        notified.collect()
    });
    queues.into_iter().for_each(add);
}

/// Something happened that concerns the readers of a channel.
pub fn notify_readers(channel: ChannelId, what: u32, add: &mut dyn FnMut(Access)) {
    notify(|file| matches!(file, File::Pipe(end) if end.source() == Some(channel)), what, add);
}

/// Something happened that concerns the writers of a channel.
pub fn notify_writers(channel: ChannelId, what: u32, add: &mut dyn FnMut(Access)) {
    notify(|file| matches!(file, File::Pipe(end) if end.sink() == Some(channel)), what, add);
}

/// Something happened to a socket that is not connected.
pub fn notify_socket(id: SocketId, what: u32, add: &mut dyn FnMut(Access)) {
    notify(|file| file == File::Socket(id), what, add);
}

/// The last duplicate of a file is closed: all interests in it end.
pub fn remove_file(file: Description, add: &mut dyn FnMut(Access)) {
    let changed: Vec<(EpollId, [Access; 2])> = LISTS.with(|lists| {
        let concerned = (0..).zip(lists.iter_mut()).filter_map(|(id, list)| {
            list.remove_file(file).then(|| {
                (id, [list.list_access(Tag::ReadModifyWrite, order::RELAXED), list.queue_access(Tag::ReadModifyWrite)])
            })
        });
        concerned.collect()
    });
    for (id, accesses) in changed {
        accesses.into_iter().for_each(&mut *add);
        poll::announce(id);
    }
}

/// The interest list of a descriptor; else the error number.
fn by_fd(fd: c_int) -> Result<EpollId, c_int> {
    match open::get(fd).file {
        File::Epoll(id) => Ok(id),
        _ if kernel::is_open(fd) => Err(libc::EINVAL),
        _ => Err(libc::EBADF),
    }
}

/// Checks whether an interest list can be changed like that: the list, and the file that the change is about.
fn check(at: c_int, operation: c_int, fd: c_int, request: Request) -> Result<(EpollId, Description), c_int> {
    if !kernel::is_open(at) || !kernel::is_open(fd) {
        return Err(libc::EBADF);
    }
    let open = open::get(fd);
    let nested = matches!(open.file, File::Epoll(_));
    match open.file {
        File::Fixed | File::Disk(_) | File::Memory(_) | File::Folder | File::Later(_) => return Err(libc::EPERM),
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
    let exclusive = request.events & EXCLUSIVE != 0;
    let refused = match operation {
        libc::EPOLL_CTL_ADD => exclusive && (nested || request.events & !WITH_EXCLUSIVE != 0),
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
fn control(at: c_int, operation: c_int, fd: c_int, event: In<'_, epoll_event>) -> isize {
    let reads = operation != libc::EPOLL_CTL_DEL;
    if reads && event.is_null() {
        return negative(libc::EFAULT);
    }
    let Ok(id) = by_fd(at) else {
        return check(at, operation, fd, Request::default()).map_or_else(negative, |_| 0);
    };
    let memory = reads.then(|| Access::plain(Tag::Read, event.as_ptr().cast(), size_of::<epoll_event>()));
    let queue = with(id, |list| list.queue_access(Tag::ReadModifyWrite));
    let numbers = [open::lookup_access(at), open::lookup_access(fd)];
    let files = file_accesses(Some(open::get(fd).file));
    let known: Vec<Access> = [queue].into_iter().chain(memory).chain(files).chain(numbers).collect();
    let done = operate(&known, Blocker::None, |add| {
        let request = if reads { event.read() } else { epoll_event { events: 0, u64: 0 } };
        let request = Request { events: request.events, data: request.u64 };
        let outcome = check(at, operation, fd, request)
            .and_then(|(id, file)| with(id, |list| list.change(operation, fd, file, request)));
        let order = if outcome.is_ok() { handed_over(order::RELEASE) } else { order::RELAXED };
        add(with(id, |list| list.list_access(Tag::ReadModifyWrite, order)));
        poll::announce(id);
        outcome.map_or_else(negative, |()| 0)
    });
    done.unwrap_or(negative(libc::EINTR))
}

/// Waits for events. `None`: the thread is cancelled instead.
fn wait(fd: c_int, to: Out<'_, epoll_event>, most: c_int, limit: Limit) -> Option<isize> {
    /// The kernel takes no more.
    const MOST: usize = c_int::MAX as usize / size_of::<epoll_event>();
    let most = match usize::try_from(most) {
        Ok(most @ 1..=MOST) => most,
        _ => return Some(negative(libc::EINVAL)),
    };
    let id = match by_fd(fd) {
        Ok(id) => id,
        Err(error) => return Some(negative(error)),
    };
    if to.is_null() {
        return Some(negative(libc::EFAULT));
    }
    let files = || with(id, |list| list.files()).into_iter().flatten();
    let held = timers::hold(files());
    let known = wait_accesses(id);
    poll::wait_until(Waiting::Epoll(id), &known, limit, |add| {
        wait_accesses(id).into_iter().filter(|access| !known.contains(access)).for_each(&mut *add);
        let mut found = Vec::new();
        timers::ask((held, limit != Limit::Forever), files(), add, || {
            found = with(id, |list| list.take(most));
            found.len()
        });
        let acquires = with(id, |list| list.list_access(Tag::Read, handed_over(order::ACQUIRE)));
        if !found.is_empty() {
            add(acquires);
        }
        for (i, event) in found.iter().enumerate() {
            to.element(i).write(*event);
        }
        add(Access::plain(Tag::Write, to.as_ptr().cast(), size_of_val(&found[..])));
        found.len()
    })
    .map(|count| count as isize)
}

/// Registers a new descriptor, unless the kernel failed to make one.
fn register(fd: isize) -> c_int {
    if fd >= 0 {
        let list = InterestList::new(open::new_content());
        let id = LISTS.with(|lists| {
            lists.push(list);
            lists.len() as EpollId - 1
        });
        open::opened(fd, File::Epoll(id));
    }
    result(fd) as c_int
}

cancellable! {
    /// Waits for events, for some milliseconds.
    unsafe fn epoll_wait(fd: c_int, to: Out<'_, epoll_event>, most: c_int, milliseconds: c_int) {
        finish(&Call::here(), wait(fd, to, most, Limit::milliseconds(milliseconds)))
    }
    /// Waits for events, for some milliseconds.
    unsafe fn epoll_pwait(
        fd: c_int,
        to: Out<'_, epoll_event>,
        most: c_int,
        milliseconds: c_int,
        signals: In<'_, sigset_t>,
    ) {
        let call = Call::here();
        finish(&call, with_mask(signals.as_ptr(), || wait(fd, to, most, Limit::milliseconds(milliseconds))))
    }
    /// Waits for events.
    unsafe fn epoll_pwait2(
        fd: c_int,
        to: Out<'_, epoll_event>,
        most: c_int,
        limit: In<'_, timespec>,
        signals: In<'_, sigset_t>,
    ) {
        finish(&Call::here(), with_mask(signals.as_ptr(), || wait(fd, to, most, Limit::timespec(limit))))
    }
}

export! {
    /// Makes a descriptor that waits for others.
    fn epoll_create(size: c_int) -> c_int {
        if size <= 0 {
            return fail(libc::EINVAL) as c_int;
        }
        register(kernel::epoll_create1(0))
    }
    /// Makes a descriptor that waits for others.
    fn epoll_create1(flags: c_int) -> c_int {
        register(kernel::epoll_create1(flags))
    }
    /// Changes what a descriptor waits for.
    fn epoll_ctl(at: c_int, operation: c_int, fd: c_int, event: In<'_, epoll_event>) -> c_int {
        result(control(at, operation, fd, event)) as c_int
    }
}
