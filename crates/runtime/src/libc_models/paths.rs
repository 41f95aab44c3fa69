//! Files by name. What the program writes, removes or renames is kept in memory for the run: nothing on disk changes.
//!
//! A name stands for the file on disk until the program changes it; from then on for a memory file with a copy of its
//! content, or for nothing. Names are made canonical first, so that two spellings of one file are one.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int};

use super::open::{self, File};
use super::{fail, random, result, unmodelled};
use crate::cell::{Global, Keep};
use crate::descriptors;
use crate::sys::sys;
use crate::text::text;

/// What a name stands for once the program has changed it.
#[derive(Clone, Copy, Debug)]
enum Entry {
    /// A memory file.
    Memory {
        /// The runtime's own descriptor of it.
        fd: i32,
        /// Its content's cell.
        content: u32,
        /// A memory file with its content at the checkpoint, if it was there then.
        saved: Option<i32>,
    },
    /// Nothing: it was removed.
    Gone,
}

static ENTRIES: Global<BTreeMap<Vec<u8>, Entry>> = Global::new(BTreeMap::new());

fn entries() -> &'static mut BTreeMap<Vec<u8>, Entry> {
    // Safety: one operating-system thread, and no switch happens while it is used.
    unsafe { &mut *ENTRIES.get() }
}

/// Whether the program has changed any file.
pub fn changed() -> bool {
    !entries().is_empty()
}

/// Most memory files made in one run.
const MOST: usize = 256;

/// Descriptors of memory files made since the checkpoint, to be closed before the next run.
struct Made {
    fds: [i32; MOST],
    len: usize,
}
#[unsafe(link_section = "rp_keep")]
static MADE: Keep<Made> = Keep::new(Made { fds: [0; MOST], len: 0 });

/// Keeps copies of the memory files there are.
pub fn checkpoint() {
    for entry in entries().values_mut() {
        if let Entry::Memory { fd, saved, .. } = entry {
            *saved = memory_file().ok().map(descriptors::hide);
            if let Some(saved) = *saved {
                copy(*fd, saved);
            }
        }
    }
    // Safety: no borrow outlives the statement.
    unsafe { (*MADE.get()).len = 0 };
}

/// Puts contents back, and closes what was made since the checkpoint.
pub fn restore() {
    // Safety: no borrow outlives the block; the descriptors are ours.
    unsafe {
        let made = &mut *MADE.get();
        made.fds[..made.len].iter().for_each(|fd| {
            sys!(SYS_close, *fd);
        });
        made.len = 0;
    }
    for entry in entries().values() {
        if let Entry::Memory { fd, saved: Some(saved), .. } = entry {
            // Safety: on a descriptor of ours.
            unsafe { sys!(SYS_ftruncate, *fd, 0) };
            copy(*saved, *fd);
        }
    }
}

fn memory_file() -> Result<isize, c_int> {
    // Safety: makes a descriptor.
    let fd = unsafe { sys!(SYS_memfd_create, c"file".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 { Err(-fd as c_int) } else { Ok(fd) }
}

/// Copies a whole file.
fn copy(from: i32, to: i32) {
    let mut position = 0i64;
    let mut buffer = [0u8; 4096];
    loop {
        // Safety: the buffer has that size.
        unsafe {
            let len = sys!(SYS_pread64, from, buffer.as_mut_ptr(), buffer.len(), position);
            if len <= 0 {
                return;
            }
            sys!(SYS_pwrite64, to, buffer.as_ptr(), len, position);
            position += len as i64;
        }
    }
}

/// A name, and what it stands for on disk.
struct Name {
    canonical: Vec<u8>,
    /// The file's mode; `None` if there is none of that name.
    mode: Option<libc::mode_t>,
}

impl Name {
    fn is(&self, kind: libc::mode_t) -> bool {
        self.mode.is_some_and(|mode| mode & libc::S_IFMT == kind)
    }
}

/// Closes its descriptor.
struct Closing(isize);
impl Drop for Closing {
    fn drop(&mut self) {
        // Safety: the descriptor is ours.
        unsafe { sys!(SYS_close, self.0) };
    }
}

fn link_of(fd: isize) -> Result<Vec<u8>, c_int> {
    let link = text!("/proc/self/fd/{fd}\0");
    let mut buffer = [0u8; libc::PATH_MAX as usize];
    // Safety: the name is terminated and the buffer has that size.
    let len =
        unsafe { sys!(SYS_readlinkat, libc::AT_FDCWD, link.as_str().as_ptr(), buffer.as_mut_ptr(), buffer.len()) };
    if len < 0 { Err(-len as c_int) } else { Ok(buffer[..len as usize].to_vec()) }
}

/// Looks up a name relative to a directory.
unsafe fn look_up(directory: c_int, path: *const c_char) -> Result<Name, c_int> {
    unsafe {
        let fd = sys!(SYS_openat, directory, path, libc::O_PATH | libc::O_CLOEXEC);
        if fd >= 0 {
            let fd = Closing(fd);
            let mut stat: libc::stat = core::mem::zeroed();
            sys!(SYS_fstat, fd.0, &raw mut stat);
            return Ok(Name { canonical: link_of(fd.0)?, mode: Some(stat.st_mode) });
        }
        if -fd as c_int != libc::ENOENT {
            return Err(-fd as c_int);
        }
        // Not there: the directory must be.
        let bytes = CStr::from_ptr(path).to_bytes();
        let cut = bytes.iter().rposition(|&c| c == b'/').map_or(0, |slash| slash + 1);
        let (parent, name) = bytes.split_at(cut);
        if name.is_empty() || name == b"." || name == b".." {
            return Err(libc::ENOENT);
        }
        let mut parent: Vec<u8> = if parent.is_empty() { b".".to_vec() } else { parent.to_vec() };
        parent.push(0);
        let fd = sys!(SYS_openat, directory, parent.as_ptr(), libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC);
        if fd < 0 {
            return Err(-fd as c_int);
        }
        let mut canonical = link_of(Closing(fd).0)?;
        if canonical != b"/" {
            canonical.push(b'/');
        }
        canonical.extend_from_slice(name);
        Ok(Name { canonical, mode: None })
    }
}

/// Makes a memory file stand for a name, with the content of the file on disk if `keep` says so.
fn materialise(name: &Name, keep: bool, mode: libc::mode_t) -> Result<(i32, u32), c_int> {
    // Safety: no borrow outlives the block.
    let made = unsafe { &mut *MADE.get() };
    if made.len == MOST {
        unmodelled("makes more than 256 files");
        return Err(libc::EMFILE);
    }
    let fd = descriptors::hide(memory_file()?);
    made.fds[made.len] = fd;
    made.len += 1;
    // Safety: descriptors of ours, and a terminated name.
    unsafe {
        sys!(SYS_fchmod, fd, mode & 0o7777);
        if keep {
            let mut path = name.canonical.clone();
            path.push(0);
            let disk = sys!(SYS_openat, libc::AT_FDCWD, path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
            if disk < 0 {
                return Err(-disk as c_int);
            }
            copy(Closing(disk).0 as i32, fd);
        }
    }
    let content = open::new_content();
    entries().insert(name.canonical.clone(), Entry::Memory { fd, content, saved: None });
    Ok((fd, content))
}

/// Opens another description of one of our files; the program's own number.
fn open_again(fd: i32, content: u32, flags: c_int) -> isize {
    let link = text!("/proc/self/fd/{fd}\0");
    let flags = flags & !(libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_DIRECTORY);
    // Safety: a terminated name.
    let opened = unsafe { sys!(SYS_openat, libc::AT_FDCWD, link.as_str().as_ptr(), flags) };
    open::opened(opened, File::Memory(content))
}

fn umask() -> libc::mode_t {
    // Safety: puts the mask back at once.
    unsafe {
        let mask = sys!(SYS_umask, 0);
        sys!(SYS_umask, mask);
        mask as libc::mode_t
    }
}

/// May the program write there: the file, or for one that is not there its directory.
fn permitted(name: &Name) -> Result<(), c_int> {
    let mut path = match name.mode {
        Some(_) => name.canonical.clone(),
        None => name.canonical[..name.canonical.iter().rposition(|&c| c == b'/').map_or(0, |slash| slash + 1)].to_vec(),
    };
    path.push(0);
    // Safety: a terminated name.
    let answer = unsafe { sys!(SYS_faccessat, libc::AT_FDCWD, path.as_ptr(), libc::W_OK) };
    if answer < 0 { Err(-answer as c_int) } else { Ok(()) }
}

/// Devices that may be opened as they are: writing to them changes nothing.
const HARMLESS: [&[u8]; 3] = [b"/dev/null", b"/dev/zero", b"/dev/full"];
/// Devices that give random bytes.
const RANDOM: [&[u8]; 2] = [b"/dev/random", b"/dev/urandom"];
/// How many random bytes a file of them has.
const RANDOM_LEN: u64 = 1 << 18;

/// A memory file of random bytes.
fn random_file(name: &Name) -> Result<(i32, u32), c_int> {
    let (fd, content) = materialise(name, false, 0o666)?;
    let mut buffer = [0u8; 4096];
    for page in 0..RANDOM_LEN / buffer.len() as u64 {
        for (i, chunk) in buffer.chunks_mut(8).enumerate() {
            chunk.copy_from_slice(&random::number(page, i as u64).to_le_bytes());
        }
        // Safety: the buffer has that size.
        unsafe { sys!(SYS_pwrite64, fd, buffer.as_ptr(), buffer.len(), page as usize * buffer.len()) };
    }
    Ok((fd, content))
}

/// Opens a file for the program.
///
/// # Safety
/// `path` is a string.
pub unsafe fn open_at(directory: c_int, path: *const c_char, flags: c_int, mode: libc::mode_t) -> isize {
    match unsafe { try_open_at(directory, path, flags, mode) } {
        Ok(fd) => fd,
        Err(error) => -(error as isize),
    }
}

unsafe fn try_open_at(directory: c_int, path: *const c_char, flags: c_int, mode: libc::mode_t) -> Result<isize, c_int> {
    if flags & libc::O_TMPFILE == libc::O_TMPFILE {
        return Ok(open::opened(memory_file()?, File::Memory(open::new_content())));
    }
    let name = unsafe { look_up(directory, path) }?;
    let standard = [(&b"/dev/stdout"[..], 1), (b"/dev/stderr", 2)];
    let spelled = unsafe { CStr::from_ptr(path) }.to_bytes();
    if let Some((_, fd)) = standard.into_iter().find(|(device, _)| *device == spelled) {
        // Safety: duplicates a descriptor.
        return Ok(open::duplicated(unsafe { sys!(SYS_dup, fd) }, fd));
    }
    let creates = flags & libc::O_CREAT != 0;
    let writes = flags & libc::O_ACCMODE != libc::O_RDONLY || flags & libc::O_TRUNC != 0;
    let exists = match entries().get(&name.canonical) {
        Some(Entry::Gone) => false,
        Some(Entry::Memory { .. }) => true,
        None => name.mode.is_some(),
    };
    if exists && creates && flags & libc::O_EXCL != 0 {
        return Err(libc::EEXIST);
    }
    if !exists && !creates {
        return Err(libc::ENOENT);
    }
    if let Some(Entry::Memory { fd, content, .. }) = entries().get(&name.canonical) {
        return Ok(open_again(*fd, *content, flags));
    }
    if RANDOM.contains(&&name.canonical[..]) {
        let (fd, content) = random_file(&name)?;
        return Ok(open_again(fd, content, flags));
    }
    if exists && (!writes || HARMLESS.contains(&&name.canonical[..]) || name.is(libc::S_IFDIR)) {
        if !name.is(libc::S_IFREG) && !name.is(libc::S_IFDIR) && !HARMLESS.contains(&&name.canonical[..]) {
            unmodelled(text!("opens `{}`", DisplayBytes(&name.canonical)).as_str());
        }
        // Safety: `path` is a string.
        let fd = unsafe { sys!(SYS_openat, directory, path, flags & !libc::O_CREAT) };
        return Ok(open::opened(fd, File::Fixed));
    }
    if exists && !name.is(libc::S_IFREG) {
        unmodelled(text!("opens `{}` for writing", DisplayBytes(&name.canonical)).as_str());
        return Err(libc::EACCES);
    }
    permitted(&name)?;
    let mode = if exists { name.mode.unwrap_or(0o666) } else { mode & !umask() };
    let keep = exists && flags & libc::O_TRUNC == 0;
    let (fd, content) = materialise(&name, keep, mode)?;
    Ok(open_again(fd, content, flags))
}

/// Bytes as text, for a message.
struct DisplayBytes<'a>(&'a [u8]);
impl core::fmt::Display for DisplayBytes<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

/// What a name that is there stands for; `ENOENT` if nothing.
unsafe fn existing(directory: c_int, path: *const c_char) -> Result<(Name, Option<i32>), c_int> {
    let name = unsafe { look_up(directory, path) }?;
    match entries().get(&name.canonical) {
        Some(Entry::Gone) => Err(libc::ENOENT),
        Some(Entry::Memory { fd, .. }) => {
            let fd = *fd;
            Ok((name, Some(fd)))
        }
        None if name.mode.is_none() => Err(libc::ENOENT),
        None => Ok((name, None)),
    }
}

fn answer(outcome: Result<(), c_int>) -> c_int {
    match outcome {
        Ok(()) => 0,
        Err(error) => fail(error) as c_int,
    }
}

unsafe fn remove_at(directory: c_int, path: *const c_char) -> Result<(), c_int> {
    let (name, memory) = unsafe { existing(directory, path) }?;
    if memory.is_none() {
        if name.is(libc::S_IFDIR) {
            return Err(libc::EISDIR);
        }
        permitted(&Name { canonical: name.canonical.clone(), mode: None })?;
    }
    entries().insert(name.canonical, Entry::Gone);
    Ok(())
}

unsafe fn rename_at(from_dir: c_int, from: *const c_char, to_dir: c_int, to: *const c_char) -> Result<(), c_int> {
    let (old, memory) = unsafe { existing(from_dir, from) }?;
    let new = unsafe { look_up(to_dir, to) }?;
    if memory.is_none() && !old.is(libc::S_IFREG) || new.is(libc::S_IFDIR) {
        unmodelled("renames a directory or device");
        return Err(libc::EPERM);
    }
    permitted(&Name { canonical: new.canonical.clone(), mode: None })?;
    if memory.is_none() {
        materialise(&old, true, old.mode.unwrap_or(0o666))?;
    }
    if old.canonical != new.canonical
        && let Some(entry) = entries().insert(old.canonical, Entry::Gone)
    {
        entries().insert(new.canonical, entry);
    }
    Ok(())
}

unsafe fn truncate_path(path: *const c_char, len: i64) -> Result<(), c_int> {
    let (name, memory) = unsafe { existing(libc::AT_FDCWD, path) }?;
    let fd = match memory {
        Some(fd) => fd,
        None if !name.is(libc::S_IFREG) => return Err(libc::EINVAL),
        None => {
            permitted(&name)?;
            materialise(&name, true, name.mode.unwrap_or(0o666))?.0
        }
    };
    // Safety: on a descriptor of ours.
    let cut = unsafe { sys!(SYS_ftruncate, fd, len) };
    if cut < 0 { Err(-cut as c_int) } else { Ok(()) }
}

/// `stat` by name.
unsafe fn stat_at(directory: c_int, path: *const c_char, to: *mut libc::stat, flags: c_int) -> c_int {
    let plain = || unsafe { sys!(SYS_newfstatat, directory, path, to, flags) };
    if flags & libc::AT_EMPTY_PATH != 0 || entries().is_empty() {
        return result(plain()) as c_int;
    }
    let told = match unsafe { existing(directory, path) } {
        Ok((_, Some(fd))) => unsafe { sys!(SYS_fstat, fd, to) },
        Ok((_, None)) => plain(),
        Err(error) => -(error as isize),
    };
    result(told) as c_int
}

/// A name made of a template's `XXXXXX`: opens the first that is free.
unsafe fn make_temporary(template: *mut c_char, suffix: usize, flags: c_int) -> isize {
    let len = unsafe { CStr::from_ptr(template) }.to_bytes().len();
    let Some(start) = len.checked_sub(suffix + 6) else { return fail(libc::EINVAL) };
    let places = unsafe { core::slice::from_raw_parts_mut(template.add(start).cast::<u8>(), 6) };
    if places != b"XXXXXX" {
        return fail(libc::EINVAL);
    }
    for attempt in 0u32..1_000_000 {
        for (i, place) in places.iter_mut().enumerate() {
            *place = b'0' + (attempt / 10u32.pow(5 - i as u32) % 10) as u8;
        }
        let flags = flags & !libc::O_ACCMODE | libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
        let fd = unsafe { open_at(libc::AT_FDCWD, template, flags, 0o600) };
        if fd != -(libc::EEXIST as isize) {
            return result(fd);
        }
    }
    fail(libc::EEXIST)
}

export! {
    /// Opens a file.
    fn open(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
        result(unsafe { open_at(libc::AT_FDCWD, path, flags, mode) }) as c_int
    }
    /// Opens a file.
    fn open64(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
        result(unsafe { open_at(libc::AT_FDCWD, path, flags, mode) }) as c_int
    }
    /// Opens a file below a directory.
    fn openat(directory: c_int, path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
        result(unsafe { open_at(directory, path, flags, mode) }) as c_int
    }
    /// Opens a file below a directory.
    fn openat64(directory: c_int, path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
        result(unsafe { open_at(directory, path, flags, mode) }) as c_int
    }
    /// Makes a file.
    fn creat(path: *const c_char, mode: libc::mode_t) -> c_int {
        unsafe { open(path, libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC, mode) }
    }
    /// Makes a file.
    fn creat64(path: *const c_char, mode: libc::mode_t) -> c_int {
        unsafe { creat(path, mode) }
    }
    /// Makes a file with a new name.
    fn mkstemp(template: *mut c_char) -> c_int {
        unsafe { make_temporary(template, 0, 0) as c_int }
    }
    /// Makes a file with a new name.
    fn mkstemp64(template: *mut c_char) -> c_int {
        unsafe { make_temporary(template, 0, 0) as c_int }
    }
    /// Makes a file with a new name.
    fn mkostemp(template: *mut c_char, flags: c_int) -> c_int {
        unsafe { make_temporary(template, 0, flags) as c_int }
    }
    /// Makes a file with a new name and this many characters behind it.
    fn mkstemps(template: *mut c_char, suffix: c_int) -> c_int {
        unsafe { make_temporary(template, suffix as usize, 0) as c_int }
    }
    /// Removes a file.
    fn unlink(path: *const c_char) -> c_int {
        answer(unsafe { remove_at(libc::AT_FDCWD, path) })
    }
    /// Removes a file; directories cannot be.
    fn unlinkat(directory: c_int, path: *const c_char, flags: c_int) -> c_int {
        if flags & libc::AT_REMOVEDIR != 0 {
            unmodelled("calls `unlinkat` on a directory");
            return fail(libc::EPERM) as c_int;
        }
        answer(unsafe { remove_at(directory, path) })
    }
    /// Removes a file; directories cannot be.
    fn remove(path: *const c_char) -> c_int {
        let outcome = unsafe { remove_at(libc::AT_FDCWD, path) };
        if outcome == Err(libc::EISDIR) {
            unmodelled("calls `remove` on a directory");
            return fail(libc::EPERM) as c_int;
        }
        answer(outcome)
    }
    /// Renames a file.
    fn rename(from: *const c_char, to: *const c_char) -> c_int {
        answer(unsafe { rename_at(libc::AT_FDCWD, from, libc::AT_FDCWD, to) })
    }
    /// Renames a file.
    fn renameat(from_dir: c_int, from: *const c_char, to_dir: c_int, to: *const c_char) -> c_int {
        answer(unsafe { rename_at(from_dir, from, to_dir, to) })
    }
    /// Sets a file's length.
    fn truncate(path: *const c_char, len: i64) -> c_int {
        answer(unsafe { truncate_path(path, len) })
    }
    /// Sets a file's length.
    fn truncate64(path: *const c_char, len: i64) -> c_int {
        answer(unsafe { truncate_path(path, len) })
    }
    /// Asks about a file.
    fn stat(path: *const c_char, to: *mut libc::stat) -> c_int {
        unsafe { stat_at(libc::AT_FDCWD, path, to, 0) }
    }
    /// Asks about a file.
    fn stat64(path: *const c_char, to: *mut libc::stat) -> c_int {
        unsafe { stat_at(libc::AT_FDCWD, path, to, 0) }
    }
    /// Asks about a file or link.
    fn lstat(path: *const c_char, to: *mut libc::stat) -> c_int {
        unsafe { stat_at(libc::AT_FDCWD, path, to, libc::AT_SYMLINK_NOFOLLOW) }
    }
    /// Asks about a file or link.
    fn lstat64(path: *const c_char, to: *mut libc::stat) -> c_int {
        unsafe { stat_at(libc::AT_FDCWD, path, to, libc::AT_SYMLINK_NOFOLLOW) }
    }
    /// Asks about a file.
    fn fstatat(directory: c_int, path: *const c_char, to: *mut libc::stat, flags: c_int) -> c_int {
        unsafe { stat_at(directory, path, to, flags) }
    }
    /// Asks about a file.
    fn fstatat64(directory: c_int, path: *const c_char, to: *mut libc::stat, flags: c_int) -> c_int {
        unsafe { stat_at(directory, path, to, flags) }
    }
    /// Asks whether a file is there and may be used.
    fn access(path: *const c_char, mode: c_int) -> c_int {
        let told = match unsafe { existing(libc::AT_FDCWD, path) } {
            Ok((_, Some(_))) => 0,
            Ok((_, None)) => unsafe { sys!(SYS_faccessat, libc::AT_FDCWD, path, mode) },
            Err(error) => -(error as isize),
        };
        result(told) as c_int
    }
}
