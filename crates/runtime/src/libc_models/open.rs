//! Descriptors: what is open under which number, and the cells that operations on it touch.
//!
//! Operations on one file depend on each other but do not race: the kernel keeps them apart. So they are relaxed
//! read-modify-writes of pseudo cells, one for the position of an open file and one for the content of a file that can
//! change. Standard output and standard error have none: the order of what is printed is not looked at.

use alloc::vec::Vec;
use core::ffi::{c_int, c_void};

use wire::Tag;
use wire::record::order;

use super::epoll::{self, EpollId};
use super::net::{self, SocketId};
use super::pipe::{self, End};
use super::result;
use super::transfer::{Access, operate};
use crate::cell::Global;
use crate::sched;
use crate::sync::Blocker;
use crate::sys::sys;

/// What is behind a descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum File {
    /// A file on disk, opened for reading, or a device: nothing in the run changes it.
    Fixed,
    /// A memory file with this content.
    Memory(u32),
    /// An end of a pipe inside the process.
    Pipe(End),
    /// A socket that is not connected.
    Socket(SocketId),
    /// Waits for others.
    Epoll(EpollId),
    /// Anything else: opened before the program, a socket of another kind.
    Other,
}

/// An open file, whatever its numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Description(u32);

impl Description {
    /// What it is, if it is open.
    pub fn file(self) -> Option<File> {
        state().by_fd.iter().flatten().find(|open| open.position == self.0).map(|open| open.file)
    }
    /// Whether it is open under another number than this.
    fn is_open_beside(self, fd: c_int) -> bool {
        let others = (0..).zip(&state().by_fd).filter(|(other, _)| *other != fd);
        others.filter_map(|(_, open)| open.as_ref()).any(|open| open.position == self.0)
    }
}

/// An open file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Open {
    /// What it is.
    pub file: File,
    /// Number of its position's cell; duplicates share it.
    position: u32,
}

struct State {
    by_fd: Vec<Option<Open>>,
    contents: u32,
    positions: u32,
}

static STATE: Global<State> = Global::new(State { by_fd: Vec::new(), contents: 0, positions: 0 });

fn state() -> &'static mut State {
    // Safety: one operating-system thread, and no switch happens while it is used.
    unsafe { &mut *STATE.get() }
}

/// Positions of descriptors that were open before the program have numbers of their own.
const INHERITED: u32 = 1 << 24;

/// A number for a new content.
pub fn new_content() -> u32 {
    state().contents += 1;
    state().contents - 1
}

/// What is open under a number.
pub fn get(fd: c_int) -> Open {
    let known = usize::try_from(fd).ok().and_then(|fd| state().by_fd.get(fd).copied().flatten());
    known.unwrap_or(Open { file: File::Other, position: INHERITED.wrapping_add_signed(fd) })
}

fn set(fd: isize, open: Option<Open>) {
    let fd = fd as usize;
    let by_fd = &mut state().by_fd;
    if by_fd.len() <= fd {
        by_fd.resize(fd + 1, None);
    }
    by_fd[fd] = open;
}

/// A descriptor was opened (or could not be: a negative number, which is handed through).
pub fn opened(fd: isize, file: File) -> isize {
    if fd >= 0 {
        sched::note_io();
        let position = state().positions;
        state().positions += 1;
        set(fd, Some(Open { file, position }));
    }
    fd
}

/// A descriptor was duplicated.
pub fn duplicated(fd: isize, from: c_int) -> isize {
    if fd >= 0 {
        sched::note_io();
        let open = get(from);
        match open.file {
            File::Pipe(end) => pipe::share(end),
            File::Socket(id) => net::share(id),
            _ => {}
        }
        set(fd, (open.file != File::Other).then_some(open));
    }
    fd
}

/// What was one file is another from now on, under every number it has; how many there are.
pub fn replace(old: File, new: File) -> usize {
    let same = state().by_fd.iter_mut().flatten().filter(|open| open.file == old);
    same.map(|open| open.file = new).count()
}

/// Whether anything is open under a number.
pub fn is_open(fd: c_int) -> bool {
    // Safety: only asks.
    unsafe { sys!(SYS_fcntl, fd, libc::F_GETFD) >= 0 }
}

impl Open {
    /// The same under all its numbers.
    pub fn description(&self) -> Description {
        Description(self.position)
    }
    /// An access to the position.
    pub fn position(&self) -> Access {
        let at = wire::FILE_POSITION + 8 * u64::from(self.position);
        Access { tag: Tag::ReadModifyWrite, order: order::RELAXED, at, len: 8 }
    }
    /// An access to the content, if it can change.
    pub fn content(&self, tag: Tag) -> Option<Access> {
        match self.file {
            File::Memory(content) => Some(content_access(content, tag)),
            _ => None,
        }
    }
}

/// An access to a content's cell.
pub fn content_access(content: u32, tag: Tag) -> Access {
    Access { tag, order: order::RELAXED, at: wire::FILE_CONTENT + 8 * u64::from(content), len: 8 }
}

/// Adds accesses to the file behind a stream, which the library moves data to and from when it likes; for a null pointer
/// (`fflush(NULL)`) to all files.
///
/// # Safety
/// `stream` is one, or null.
pub unsafe fn add_file_of(stream: *const c_void) {
    if stream.is_null() {
        (0..state().contents).for_each(|content| content_access(content, Tag::ReadModifyWrite).add());
        return;
    }
    // Safety: promised by the caller; `errno` is the program's.
    let fd = unsafe {
        let errno = libc::__errno_location();
        let saved = *errno;
        let fd = libc::fileno(stream.cast_mut().cast());
        *errno = saved;
        fd
    };
    let open = get(fd);
    if fd >= 0 && (open.file != File::Other || fd == 0) {
        open.position().add();
        open.content(Tag::ReadModifyWrite).into_iter().for_each(Access::add);
    }
}

/// An access to the table of open files: which number is free next.
pub fn table() -> Access {
    let at = wire::LIBRARY_STATE + 8 * u64::from(wire::DESCRIPTORS);
    Access { tag: Tag::ReadModifyWrite, order: order::RELAXED, at, len: 8 }
}

/// Lets go of what is open under a number, which then becomes free or is used again. One event: others may wait for the
/// end of a pipe, or get the number.
fn let_go(fd: c_int, then: impl FnOnce() -> isize) -> isize {
    let open = get(fd);
    let touched = match open.file {
        File::Pipe(end) => pipe::closing(end),
        File::Socket(id) => Vec::from(net::accesses(id)),
        File::Epoll(id) => Vec::from([epoll::closing(id)]),
        _ => Vec::new(),
    };
    let known: Vec<Access> = touched.into_iter().chain([table()]).collect();
    let done = operate(&known, Blocker::None, |add| {
        if !open.description().is_open_beside(fd) {
            epoll::forget(open.description(), add);
        }
        match open.file {
            File::Pipe(end) => pipe::drop_end(end, add),
            File::Socket(id) => net::drop_user(id, add),
            _ => {}
        }
        then()
    });
    done.unwrap_or(-(libc::EINTR as isize))
}

/// Closes a descriptor.
fn close_one(fd: c_int) -> isize {
    sched::note_io();
    let_go(fd, || forget(fd))
}

fn forget(fd: c_int) -> isize {
    if let Ok(index) = usize::try_from(fd)
        && let Some(entry) = state().by_fd.get_mut(index)
    {
        *entry = None;
    }
    // Safety: what the program asks for.
    unsafe { sys!(SYS_close, fd) }
}

export! {
    /// Closes a descriptor.
    fn close(fd: c_int) -> c_int {
        result(close_one(fd)) as c_int
    }
    /// Duplicates a descriptor.
    fn dup(fd: c_int) -> c_int {
        result(duplicated(unsafe { sys!(SYS_dup, fd) }, fd)) as c_int
    }
    /// Duplicates a descriptor under a number.
    fn dup2(fd: c_int, to: c_int) -> c_int {
        if fd != to {
            return unsafe { dup3(fd, to, 0) };
        }
        let open = result(unsafe { sys!(SYS_fcntl, fd, libc::F_GETFD) });
        if open < 0 { -1 } else { to }
    }
    /// Duplicates a descriptor under a number.
    fn dup3(fd: c_int, to: c_int, flags: c_int) -> c_int {
        if fd == to || unsafe { sys!(SYS_fcntl, fd, libc::F_GETFD) } < 0 {
            return result(unsafe { sys!(SYS_dup3, fd, to, flags) }) as c_int;
        }
        result(let_go(to, || duplicated(unsafe { sys!(SYS_dup3, fd, to, flags) }, fd))) as c_int
    }
    /// Asks about or changes a descriptor. Locks on files are not modelled.
    fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int {
        let answer = unsafe { sys!(SYS_fcntl, fd, command, argument) };
        match command {
            libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => result(duplicated(answer, fd)) as c_int,
            _ => {
                if matches!(command, libc::F_SETLK | libc::F_SETLKW | libc::F_OFD_SETLK | libc::F_OFD_SETLKW) {
                    super::unmodelled("locks a file with `fcntl`");
                }
                result(answer) as c_int
            }
        }
    }
    /// Asks about or changes a descriptor.
    fn fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int {
        unsafe { fcntl(fd, command, argument) }
    }
}
