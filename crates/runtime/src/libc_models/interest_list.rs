//! The interest list of an `epoll` descriptor, and the queue of interests that may be ready.
//!
//! They follow the kernel's rules, because programs can observe them. An interest belongs to a descriptor number and an
//! open file, and ends when the last duplicate of the file is closed. Whatever happens to a file (bytes arrive, there
//! is room again, an end is closed) puts the interests that ask for it at the end of the queue. A wait takes interests
//! from the front of the queue and reports those that are still ready; of these it puts back at the end those that are
//! neither edge-triggered nor for one report only.

use alloc::vec::Vec;
use core::ffi::c_int;

use libc::epoll_event;
use wire::Tag;

use super::event::Access;
use super::open::{self, Description, File};
use super::{channels, sockets};

const ONESHOT: u32 = libc::EPOLLONESHOT as u32;
const EDGE: u32 = libc::EPOLLET as u32;
/// Lets the kernel wake fewer of the threads that wait.
pub const EXCLUSIVE: u32 = libc::EPOLLEXCLUSIVE as u32;
const WAKEUP: u32 = libc::EPOLLWAKEUP as u32;
/// Flags that are no events but say how to report them. An interest without any event is disabled.
const MANNER: u32 = ONESHOT | EDGE | EXCLUSIVE | WAKEUP;
/// Reported whether or not they are asked for.
const ALWAYS: u32 = (libc::EPOLLERR | libc::EPOLLHUP) as u32;
/// What may be asked for together with `EPOLLEXCLUSIVE`.
pub const WITH_EXCLUSIVE: u32 = (libc::EPOLLIN | libc::EPOLLOUT) as u32 | ALWAYS | EDGE | EXCLUSIVE | WAKEUP;

/// Bytes or a connection arrived.
pub const ARRIVED: u32 = (libc::EPOLLIN | libc::EPOLLRDNORM | libc::EPOLLRDBAND) as u32;
/// There is room again.
pub const ROOM: u32 = (libc::EPOLLOUT | libc::EPOLLWRNORM | libc::EPOLLWRBAND) as u32;
/// The other end was closed, which concerns every interest.
pub const CLOSED: u32 = !0;

/// What a program waits for: events of a file under a descriptor number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interest {
    fd: c_int,
    file: Description,
    /// The events that are asked for, and how to report them.
    events: u32,
    /// What the program wants to get with the events.
    data: u64,
    /// It is in the queue.
    queued: bool,
}

impl Interest {
    fn is(&self, fd: c_int, file: Description) -> bool {
        self.fd == fd && self.file == file
    }
    fn is_disabled(&self) -> bool {
        self.events & !MANNER == 0
    }
    /// The events to report now.
    fn now(&self) -> u32 {
        let asked = if self.is_disabled() { 0 } else { self.events };
        let events = match self.file.file() {
            Some(File::Pipe(end)) => channels::events(end),
            Some(File::Socket(id)) => sockets::events(id),
            _ => 0,
        };
        u32::from(events as u16) & asked
    }
}

/// What the program passes to `epoll_ctl`: events to wait for, and data to get with them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request {
    /// The events, and how to report them.
    pub events: u32,
    /// The data.
    pub data: u64,
}

/// The interest list of an `epoll` descriptor.
pub struct InterestList {
    /// In the order in which they were added.
    interests: Vec<Interest>,
    /// Those that may be ready, by number and file.
    queue: Vec<(c_int, Description)>,
    /// The number of the cell.
    content: u32,
}

impl InterestList {
    /// An empty list, with a cell of this number.
    pub fn new(content: u32) -> Self {
        Self { interests: Vec::new(), queue: Vec::new(), content }
    }
    /// An access to the interest list.
    pub fn list_access(&self, tag: Tag, order: u8) -> Access {
        Access { tag, order, len: 4, ..open::content_access(self.content, tag) }
    }
    /// An access to the queue.
    pub fn queue_access(&self, tag: Tag) -> Access {
        let whole = open::content_access(self.content, tag);
        Access { at: whole.at + 4, len: 4, ..whole }
    }
    /// The files of the list.
    pub fn files(&self) -> Vec<Option<File>> {
        self.interests.iter().map(|interest| interest.file.file()).collect()
    }
    /// Whether a wait would get an event.
    pub fn is_ready(&self) -> bool {
        let is_ready = |key: &(c_int, Description)| self.interests.iter().any(|i| i.is(key.0, key.1) && i.now() != 0);
        self.queue.iter().any(is_ready)
    }
    /// Puts the interests into the queue that ask for `what` of files that `concerns` accepts; whether there are any.
    pub fn notify(&mut self, concerns: &dyn Fn(File) -> bool, what: u32) -> bool {
        let asks = |i: &Interest| !i.is_disabled() && i.events & what != 0 && i.file.file().is_some_and(concerns);
        let asking: Vec<usize> = (0..self.interests.len()).filter(|at| asks(&self.interests[*at])).collect();
        asking.iter().for_each(|at| self.enqueue(*at));
        !asking.is_empty()
    }
    /// Removes all interests in a file; whether there were any.
    pub fn remove_file(&mut self, file: Description) -> bool {
        let count = self.interests.len();
        self.interests.retain(|interest| interest.file != file);
        self.queue.retain(|queued| queued.1 != file);
        self.interests.len() < count
    }
    /// Puts an interest into the queue.
    fn enqueue(&mut self, at: usize) {
        let interest = &mut self.interests[at];
        if !core::mem::replace(&mut interest.queued, true) {
            self.queue.push((interest.fd, interest.file));
        }
    }
    fn remove(&mut self, at: usize) {
        let Interest { fd, file, .. } = self.interests.remove(at);
        self.queue.retain(|queued| *queued != (fd, file));
    }
    fn find(&mut self, (fd, file): (c_int, Description)) -> Option<&mut Interest> {
        self.interests.iter_mut().find(|interest| interest.is(fd, file))
    }

    /// Takes at most `most` events out of the queue.
    pub fn take(&mut self, most: usize) -> Vec<epoll_event> {
        let mut found = Vec::new();
        let mut again = Vec::new();
        let mut seen = 0;
        let queue = core::mem::take(&mut self.queue);
        for key in &queue {
            if found.len() == most {
                break;
            }
            seen += 1;
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
        self.queue = queue[seen..].iter().copied().chain(again).collect();
        found
    }

    /// Changes the list as `epoll_ctl` does.
    ///
    /// # Errors
    /// The error number.
    pub fn change(&mut self, operation: c_int, fd: c_int, file: Description, request: Request) -> Result<(), c_int> {
        let at = self.interests.iter().position(|interest| interest.is(fd, file));
        let at = match (operation, at) {
            (libc::EPOLL_CTL_ADD, Some(_)) => return Err(libc::EEXIST),
            (libc::EPOLL_CTL_ADD, None) => {
                self.interests.push(Interest {
                    fd,
                    file,
                    events: request.events | ALWAYS,
                    data: request.data,
                    queued: false,
                });
                self.interests.len() - 1
            }
            (_, None) => return Err(libc::ENOENT),
            (libc::EPOLL_CTL_DEL, Some(at)) => {
                self.remove(at);
                return Ok(());
            }
            (_, Some(at)) if self.interests[at].events & EXCLUSIVE != 0 => return Err(libc::EINVAL),
            (_, Some(at)) => {
                (self.interests[at].events, self.interests[at].data) = (request.events | ALWAYS, request.data);
                at
            }
        };
        if self.interests[at].now() != 0 {
            self.enqueue(at);
        }
        Ok(())
    }
}
