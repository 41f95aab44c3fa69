//! Descriptors: what is open under which number, and the cells that operations on it touch.
//!
//! Operations on one file depend on each other but do not race, because the kernel makes each of them atomic. So they
//! are relaxed accesses to cells outside the program's memory: one for what is open under a number, one for the position
//! and the flags of an open file and one for the content of a file that can change. Standard output and standard error
//! have neither position nor content: the order of the output does not matter.
//!
//! A call on a number that is open reads the cell of that number, which `close` and `dup2` write. A call on a number that
//! is not reads the table of all numbers, which every call writes that opens or closes.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ffi::{CStr, c_int, c_void};

use wire::Tag;
use wire::record::order;

use super::channels::{self, End};
use super::epoll::EpollId;
use super::event::{Access, operate};
use super::sockets::{self, SocketId};
use super::{kernel, negative, paths, streams};
use crate::cell::Global;
use crate::sync::Blocker;
use crate::sys;
use crate::{descriptors, sched};

/// What is behind a descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum File {
    /// A file on disk, opened for reading, with the content of this number. When the program opens it for writing, a memory
    /// file takes its place ([`redirect`]).
    Disk(u32),
    /// A directory or a device: nothing in the run changes it.
    Fixed,
    /// A memory file with the content of this number.
    Memory(u32),
    /// A folder that the program made. It can be synchronised, closed and asked about.
    Folder,
    /// An end of a pipe inside the process.
    Pipe(End),
    /// A socket that is not connected.
    Socket(SocketId),
    /// An `epoll` descriptor.
    Epoll(EpollId),
    /// A file that a forked process has opened for the program that it executes.
    Later(u32),
    /// Anything else: opened before the program started, or a socket of a kind that is not modelled.
    Other,
}

/// The identity of an open file: the same for all descriptors that are duplicates of each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Description(u32);

/// A descriptor under which the open file with this number is open.
pub fn descriptor_of(description: u32) -> Option<c_int> {
    if description >= INHERITED {
        let fd = (description - INHERITED) as c_int;
        return (get(fd).position == description && kernel::is_open(fd)).then_some(fd);
    }
    FILES.with(|files| {
        let mut open = (0..).zip(&files.by_fd).filter_map(|(fd, open)| Some((fd, (*open)?)));
        open.find(|(_, open)| open.position == description).map(|(fd, _)| fd)
    })
}

impl Description {
    /// Its number.
    pub fn number(self) -> u32 {
        self.0
    }
    /// What it is, if it is open.
    pub fn file(self) -> Option<File> {
        FILES.with(|files| files.by_fd.iter().flatten().find(|open| open.position == self.0).map(|open| open.file))
    }
    /// Whether a descriptor other than this one has it open.
    pub fn is_open_elsewhere(self, fd: c_int) -> bool {
        FILES.with(|files| {
            let others = (0..).zip(&files.by_fd).filter(|(other, _)| *other != fd);
            others.filter_map(|(_, open)| open.as_ref()).any(|open| open.position == self.0)
        })
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

/// The open files of the process.
struct OpenFiles {
    by_fd: Vec<Option<Open>>,
    /// How many contents have a number.
    contents: u32,
    /// How many positions have a number.
    positions: u32,
    /// How many had one at the checkpoint.
    old_positions: u32,
}

static FILES: Global<OpenFiles> =
    Global::new(OpenFiles { by_fd: Vec::new(), contents: 0, positions: 0, old_positions: 0 });

impl OpenFiles {
    fn set(&mut self, fd: isize, open: Option<Open>) {
        let fd = fd as usize;
        if self.by_fd.len() <= fd {
            self.by_fd.resize(fd + 1, None);
        }
        self.by_fd[fd] = open;
    }
    fn new_position(&mut self) -> u32 {
        self.positions += 1;
        self.positions - 1
    }
}

/// From here on come the positions of descriptors that were open before the program started.
const INHERITED: u32 = 1 << 24;

/// From here on come the contents of files by their names.
const NAMED: u32 = 1 << 24;

/// The number of the content that a canonical name stands for, whichever thread asks first. Two names may share one: then
/// calls depend on each other that would not have to.
pub fn content_of(name: &CStr) -> u32 {
    let hash = name
        .to_bytes()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    NAMED + (hash >> 40) as u32
}

/// A number for a new content without a name.
pub fn new_content() -> u32 {
    FILES.with(|files| {
        files.contents += 1;
        files.contents - 1
    })
}

/// What is open under a number.
pub fn get(fd: c_int) -> Open {
    let index = usize::try_from(fd).ok();
    let known = index.and_then(|fd| FILES.with(|files| files.by_fd.get(fd).copied().flatten()));
    known.unwrap_or(Open { file: File::Other, position: INHERITED.wrapping_add_signed(fd) })
}

/// Registers a descriptor that was opened. A negative number, which stands for an error, is only handed through.
pub fn opened(fd: isize, file: File) -> isize {
    let fd = within_limit(fd);
    if fd >= 0 {
        sched::note_io();
        FILES.with(|files| {
            let position = files.new_position();
            files.set(fd, Some(Open { file, position }));
        });
    }
    fd
}

/// A new descriptor, unless its number is beyond the limit that the program sees.
fn within_limit(fd: isize) -> isize {
    if fd < 0 || descriptors::is_allowed(fd as c_int) {
        return fd;
    }
    kernel::close(fd as c_int);
    negative(libc::EMFILE)
}

/// Notes how many positions have a number at the checkpoint.
pub fn checkpoint() {
    FILES.with(|files| files.old_positions = files.positions);
}

/// Forgets what was open under a number.
pub fn forget(fd: c_int) {
    if let Ok(index) = usize::try_from(fd) {
        FILES.with(|files| files.by_fd.get_mut(index).map(Option::take));
    }
}

/// Whether what is open under a number was open before the first thread was created: a change of what the kernel keeps
/// about the open file outlives the run.
pub fn outlives_run(fd: c_int) -> bool {
    let Open { position, .. } = get(fd);
    position >= INHERITED || FILES.with(|files| position < files.old_positions)
}

/// Registers a descriptor that duplicates `from`. A negative number, which stands for an error, is only handed through.
pub fn duplicated(fd: isize, from: c_int) -> isize {
    let fd = within_limit(fd);
    if fd >= 0 {
        sched::note_io();
        let open = get(from);
        match open.file {
            File::Pipe(end) => channels::add_user(end),
            File::Socket(id) => sockets::add_user(id),
            _ => {}
        }
        FILES.with(|files| files.set(fd, (open.file != File::Other).then_some(open)));
    }
    fd
}

/// Puts a memory file under every number that has the file on disk open whose place it takes: who opened that before sees
/// what is written to it from now on. Each open file keeps its position and flags.
pub fn redirect(name: &CStr, own: c_int, content: u32) {
    let same: Vec<(c_int, u32)> = FILES.with(|files| {
        let open = (0..).zip(&files.by_fd).filter_map(|(fd, open)| Some((fd, (*open)?)));
        open.filter(|(_, open)| open.file == File::Disk(content)).map(|(fd, open)| (fd, open.position)).collect()
    });
    for (fd, position) in same.iter().copied().filter(|(fd, _)| paths::is_at(*fd, name)).collect::<Vec<_>>() {
        if get(fd).file != File::Disk(content) {
            // A duplicate of one that was redirected.
            continue;
        }
        let flags =
            kernel::status_flags(fd).unwrap_or(libc::O_RDONLY) & !(libc::O_CREAT | libc::O_EXCL | libc::O_TRUNC);
        let opened = kernel::openat(libc::AT_FDCWD, &paths::name_of_descriptor(own), flags | libc::O_CLOEXEC);
        if opened < 0 {
            continue;
        }
        kernel::lseek(opened as c_int, kernel::lseek(fd, 0, libc::SEEK_CUR) as i64, libc::SEEK_SET);
        for (duplicate, _) in same.iter().filter(|(_, other)| *other == position) {
            let closes = sys::fcntl(*duplicate, libc::F_GETFD, 0) == libc::FD_CLOEXEC as isize;
            kernel::dup3(opened as c_int, *duplicate, if closes { libc::O_CLOEXEC } else { 0 });
            FILES.with(|files| files.set(*duplicate as isize, Some(Open { file: File::Memory(content), position })));
        }
        kernel::close(opened as c_int);
        sched::note_io();
    }
}

/// Replaces one file by another under every number that has it; how many have.
pub fn replace(old: File, new: File) -> usize {
    FILES.with(|files| {
        let same = files.by_fd.iter_mut().flatten().filter(|open| open.file == old);
        same.map(|open| open.file = new).count()
    })
}

impl Open {
    /// Its identity, which its duplicates share.
    pub fn description(&self) -> Description {
        Description(self.position)
    }
    /// An access to the position.
    pub fn position(&self) -> Access {
        let at = wire::FILE_POSITION + 8 * u64::from(self.position);
        Access { tag: Tag::ReadModifyWrite, order: order::RELAXED, at, len: 8 }
    }
    /// An access that only looks at the flags.
    pub fn flags(&self) -> Access {
        Access { tag: Tag::Read, ..self.position() }
    }
    /// An access to the content, if it can change.
    pub fn content(&self, tag: Tag) -> Option<Access> {
        match self.file {
            File::Memory(content) | File::Disk(content) => Some(content_access(content, tag)),
            _ => None,
        }
    }
}

/// An access to a content's cell.
pub fn content_access(content: u32, tag: Tag) -> Access {
    Access { tag, order: order::RELAXED, at: wire::FILE_CONTENT + 8 * u64::from(content), len: 8 }
}

/// An access to what is open under a number.
pub fn number_access(fd: c_int, tag: Tag) -> Access {
    Access { tag, order: order::RELAXED, at: wire::DESCRIPTOR_NUMBER + 8 * u64::from(fd.max(0) as u32), len: 8 }
}

/// The access of a call that looks for what is open under a number.
pub fn lookup_access(fd: c_int) -> Access {
    if descriptors::is_own(fd) || !kernel::is_open(fd) {
        return Access { tag: Tag::Read, ..table_access() };
    }
    number_access(fd, Tag::Read)
}

/// Makes the event of a call on a descriptor as [`operate`] does. Which file it is on is asked again when it is the call's
/// turn: if another thread has put another file under the number in the meantime, the call begins again with that.
pub fn operate_on<R>(
    fd: c_int,
    known: impl Fn(Open) -> Vec<Access>,
    blocker: impl Fn(Open) -> Blocker,
    mut act: impl FnMut(Open, &mut dyn FnMut(Access)) -> R,
) -> Option<R> {
    loop {
        let (open, lookup) = (get(fd), lookup_access(fd));
        let accesses: Vec<Access> = known(open).into_iter().chain([lookup]).collect();
        let is_same = || get(fd) == open && lookup_access(fd) == lookup;
        if let Some(done) = operate(&accesses, blocker(open), |add| is_same().then(|| act(open, add)))? {
            return Some(done);
        }
    }
}

/// Adds what a call uses of an open file; `used` is `FileUse::code` of the library table.
pub fn add_use(fd: c_int, used: u32) {
    let open = get(fd);
    lookup_access(fd).add();
    // What is written to standard output and standard error does not depend on what was.
    if open.file == File::Other && (fd == 1 || fd == 2) {
        return;
    }
    match used {
        1 => open.flags().add(),
        2 => open.position().add(),
        3 => open.content(Tag::Read).into_iter().for_each(Access::add),
        4 => open.content(Tag::ReadModifyWrite).into_iter().for_each(Access::add),
        _ => {}
    }
}

/// Adds that the descriptor of a stream is about to be closed.
///
/// # Safety
/// `stream` is an open stream, or one that was closed.
pub unsafe fn add_closing(stream: *const c_void) {
    if !crate::heap::is_freed(stream as usize) {
        // SAFETY: it is not freed, so by the caller it is open.
        let fd = unsafe { number_of(stream) };
        if fd >= 0 {
            number_access(fd, Tag::ReadModifyWrite).add();
        }
    }
}

/// The descriptor of a stream; negative if it has none.
///
/// # Safety
/// `stream` is an open stream.
unsafe fn number_of(stream: *const c_void) -> c_int {
    // SAFETY: the caller promises that the stream is open. The C library says where `errno` is; it is saved because
    // `fileno` may set it and the program has not called that function.
    unsafe {
        let errno = libc::__errno_location();
        let saved = *errno;
        let fd = libc::fileno(stream.cast_mut().cast());
        *errno = saved;
        fd
    }
}

/// Adds an access to the content of a file that a call is given by name, to the event of that call.
pub fn add_named(content: u32, tag: Tag) {
    if sched::running() {
        content_access(content, tag).extend();
    }
}

/// Adds accesses to the file behind a stream, because any call on a stream may read or write the file; for a null
/// pointer (`fflush(NULL)`) to all files.
///
/// # Safety
/// `stream` is an open stream, or null.
pub unsafe fn add_file_of(stream: *const c_void) {
    if stream.is_null() {
        let mut contents: Vec<Access> = FILES
            .with(|files| files.by_fd.iter().flatten().filter_map(|open| open.content(Tag::ReadModifyWrite)).collect());
        contents.sort_unstable_by_key(|access| access.at);
        contents.dedup();
        contents.into_iter().for_each(Access::add);
        return;
    }
    streams::memory_of(stream as usize).into_iter().filter(|access| access.len > 0).for_each(Access::add);
    // SAFETY: the caller promises that the stream is open.
    let fd = unsafe { number_of(stream) };
    let open = get(fd);
    if fd >= 0 && (open.file != File::Other || fd == 0) {
        let accesses = [Some(lookup_access(fd)), Some(open.position()), open.content(Tag::ReadModifyWrite)];
        STREAMS.with(|streams| streams.insert(stream as usize, accesses));
        accesses.into_iter().flatten().for_each(Access::add);
    }
}

/// The accesses to the file behind each stream, as of its last use.
static STREAMS: Global<BTreeMap<usize, [Option<Access>; 3]>> = Global::new(BTreeMap::new());

/// Adds the accesses to the file that was behind a stream before it was closed. A search expects that whether a call
/// comes before or after another one changes as little as possible of what it touches.
pub fn add_file_of_closed(stream: *const c_void) {
    let accesses = STREAMS.with(|streams| streams.get(&(stream as usize)).copied());
    accesses.into_iter().flatten().flatten().for_each(Access::add);
}

/// An access to the table of open files, which decides the number that is free next.
pub fn table_access() -> Access {
    let at = wire::LIBRARY_STATE + 8 * u64::from(wire::DESCRIPTORS);
    Access { tag: Tag::ReadModifyWrite, order: order::RELAXED, at, len: 8 }
}
