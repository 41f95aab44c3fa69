//! Files by name. What the program writes, removes or renames stays in memory for the run: nothing on disk changes.
//!
//! A name stands for the file on disk until the program changes it. From then on it stands for a memory file with a
//! copy of the content, or for nothing ([`super::memory_files`]). Names are made canonical first, so that two spellings
//! of one file are one name.

use alloc::ffi::CString;
use core::ffi::{CStr, c_char, c_int};

use wire::Tag;

use super::children::forked;
use super::kernel::{self, OwnedFd};
use super::memory_files::{self, Change, LinkId, MemoryFile};
use super::open::{self, File};
use super::program_memory::{In, Out};
use super::{fail, links, negative, result, self_files, unmodelled};
use crate::sched;
use crate::sys::sys;
use crate::text::text;

/// What a path stands for whose last part is a symbolic link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Last {
    /// What the link leads to.
    Followed,
    /// The link.
    Itself,
}

/// A canonical name, and what it stands for on disk.
pub(super) struct ResolvedPath {
    pub(super) canonical: CString,
    /// The mode of the file on disk; `None` if there is no file of that name.
    pub(super) mode: Option<libc::mode_t>,
}

impl ResolvedPath {
    /// Finds the canonical name of a path below a directory.
    pub(super) fn new(directory: c_int, path: &CStr, last: Last) -> Result<Self, c_int> {
        if memory_files::changes_links() && !is_kernels(path) {
            return links::follow(directory, path.to_bytes(), last);
        }
        let nofollow = if last == Last::Itself { libc::O_NOFOLLOW } else { 0 };
        match OwnedFd::open(directory, path, libc::O_PATH | nofollow) {
            Ok(fd) => Ok(Self { canonical: target_of(fd.number())?, mode: Some(kernel::mode(fd.number())?) }),
            Err(libc::ENOENT) => Self::new_file(directory, path.to_bytes()).or_else(|error| match error {
                libc::ENOENT if memory_files::any() => Self::in_made_folder(directory, path.to_bytes()),
                error => Err(error),
            }),
            Err(error) => Err(error),
        }
    }
    /// As [`new`](Self::new) for a name in a folder that the program made.
    fn in_made_folder(directory: c_int, path: &[u8]) -> Result<Self, c_int> {
        let end = path.iter().rposition(|&c| c != b'/').ok_or(libc::ENOENT)? + 1;
        let parent = directory_part(&path[..end]);
        if parent.is_empty() || parent.iter().all(|&c| c == b'/') {
            return Err(libc::ENOENT);
        }
        let folder = Self::new(directory, &c_string(parent)?, Last::Followed)?;
        let (canonical, name) = (folder.canonical.to_bytes(), &path[parent.len()..end]);
        let inside = c_string(&[canonical, b"/", name].concat())?;
        match (folder.change(), name) {
            (Some(Change::Folder(_)), b".") => Ok(folder),
            (Some(Change::Folder(_)), b"..") => {
                Self::new(libc::AT_FDCWD, &c_string(directory_part(canonical))?, Last::Followed)
            }
            (Some(Change::Folder(_)), _) => Ok(Self { canonical: inside, mode: None }),
            (Some(Change::Memory(_)), _) => Err(libc::ENOTDIR),
            // The way led through folders that the program made, and out of them.
            (None, _) if folder.is(libc::S_IFDIR) && parent != canonical => {
                Self::new(libc::AT_FDCWD, &inside, Last::Followed)
            }
            (Some(Change::Removed | Change::Link(_)) | None, _) => Err(libc::ENOENT),
        }
    }
    /// Whether it stands for a folder that the program made.
    fn is_made_folder(&self) -> bool {
        matches!(self.change(), Some(Change::Folder(_)))
    }
    /// As [`new`](Self::new) for a file that does not exist; its directory must.
    fn new_file(directory: c_int, path: &[u8]) -> Result<Self, c_int> {
        // `mkdir("folder/")` means the folder.
        let path = &path[..path.iter().rposition(|&c| c != b'/').map_or(0, |last| last + 1)];
        let parent = directory_part(path);
        let name = &path[parent.len()..];
        if name.is_empty() || name == b"." || name == b".." {
            return Err(libc::ENOENT);
        }
        let parent = if parent.is_empty() { b"." } else { parent };
        let fd = OwnedFd::open(directory, &c_string(parent)?, libc::O_PATH | libc::O_DIRECTORY)?;
        let mut canonical = target_of(fd.number())?.into_bytes();
        if canonical != b"/" {
            canonical.push(b'/');
        }
        canonical.extend_from_slice(name);
        Ok(Self { canonical: c_string(&canonical)?, mode: None })
    }
    /// Whether the file on disk is of this type (`S_IFREG` and others).
    pub(super) fn is(&self, kind: libc::mode_t) -> bool {
        self.mode.is_some_and(|mode| mode & libc::S_IFMT == kind)
    }
    fn is_among(&self, names: &[&[u8]]) -> bool {
        names.contains(&self.canonical.to_bytes())
    }
    /// What the program has made of the name, if it changed it.
    pub(super) fn change(&self) -> Option<Change> {
        memory_files::change_of(&self.canonical)
    }
    /// Checks that the program may write there: to the file, or for one that does not exist to its directory.
    pub(super) fn check_writable(&self) -> Result<(), c_int> {
        if self.mode.is_none() { self.check_directory_writable() } else { check_writable(&self.canonical) }
    }
    /// Checks that the name stands for nothing and may be given to something.
    pub(super) fn check_free(&self) -> Result<(), c_int> {
        match self.change() {
            Some(Change::Memory(_) | Change::Folder(_) | Change::Link(_)) => Err(libc::EEXIST),
            None if self.mode.is_some() => Err(libc::EEXIST),
            Some(Change::Removed) | None => self.check_directory_writable(),
        }
    }
    /// Checks that the program may write to the directory of the name.
    pub(super) fn check_directory_writable(&self) -> Result<(), c_int> {
        let folder = directory_part(self.canonical.to_bytes());
        let made = memory_files::change_of(&c_string(&folder[..folder.len().saturating_sub(1)])?);
        if matches!(made, Some(Change::Folder(_))) { Ok(()) } else { check_writable(&c_string(folder)?) }
    }
    /// Makes a memory file with the content of the file on disk stand for the name.
    pub(super) fn replace_file(&self) -> Result<MemoryFile, c_int> {
        memory_files::replace_file(&self.canonical, true, self.mode.unwrap_or(0o666))
    }
}

/// Whether a path leads to where links are the kernel's own.
fn is_kernels(path: &CStr) -> bool {
    [&b"/proc/"[..], b"/dev/", b"/sys/"].iter().any(|start| path.to_bytes().starts_with(start))
}

/// The part of a path up to its last slash, which it includes.
fn directory_part(path: &[u8]) -> &[u8] {
    &path[..path.iter().rposition(|&c| c == b'/').map_or(0, |slash| slash + 1)]
}

pub(super) fn c_string(bytes: &[u8]) -> Result<CString, c_int> {
    CString::new(bytes).map_err(|_| libc::EINVAL)
}

fn check_writable(path: &CStr) -> Result<(), c_int> {
    let answer = kernel::faccessat(libc::AT_FDCWD, path, libc::W_OK);
    if answer < 0 { Err(-answer as c_int) } else { Ok(()) }
}

/// The name under `/proc` of an open file.
pub fn name_of_descriptor(fd: c_int) -> CString {
    CString::new(alloc::format!("/proc/self/fd/{fd}")).unwrap_or_default()
}

/// Whether an open file has this canonical name.
pub fn is_at(fd: c_int, name: &CStr) -> bool {
    target_of(fd).is_ok_and(|target| target.as_c_str() == name)
}

/// The canonical name of an open file.
pub(super) fn target_of(fd: c_int) -> Result<CString, c_int> {
    let mut buffer = [0u8; libc::PATH_MAX as usize];
    let len = kernel::readlink(&name_of_descriptor(fd), &mut buffer);
    if len < 0 { Err(-len as c_int) } else { c_string(&buffer[..len as usize]) }
}

/// Opens a memory file for the program, which gets its own position in it.
fn open_memory(file: MemoryFile, flags: c_int) -> isize {
    if flags & libc::O_TRUNC != 0 {
        open::add_named(file.content, Tag::ReadModifyWrite);
    }
    let flags = flags & !(libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_DIRECTORY);
    let opened = kernel::openat(libc::AT_FDCWD, &name_of_descriptor(file.fd), flags);
    open::opened(opened, File::Memory(file.content))
}

/// The mask of permissions that new files do not get.
pub(super) fn umask() -> libc::mode_t {
    // The only call that tells it sets it, too.
    let mask = kernel::set_umask(0) as libc::mode_t;
    kernel::set_umask(mask);
    mask
}

/// Devices that may be opened as they are: writing to them changes nothing.
const HARMLESS: [&[u8]; 3] = [b"/dev/null", b"/dev/zero", b"/dev/full"];
/// Devices that give random bytes.
const RANDOM: [&[u8]; 2] = [b"/dev/random", b"/dev/urandom"];
/// What `creat` stands for.
const CREATE: c_int = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
/// Names of descriptors that every program has.
const STANDARD: [(&[u8], c_int); 2] = [(b"/dev/stdout", 1), (b"/dev/stderr", 2)];

/// Opens a file for the program; a negative result is an error number.
pub fn open_at(directory: c_int, path: &CStr, flags: c_int, mode: libc::mode_t) -> isize {
    try_open_at(directory, path, flags, mode).unwrap_or_else(negative)
}

fn try_open_at(directory: c_int, path: &CStr, flags: c_int, mode: libc::mode_t) -> Result<isize, c_int> {
    if forked::is_child() {
        let opened = forked::open(directory, path, flags, mode);
        return if opened < 0 { Err(-opened as c_int) } else { Ok(opened) };
    }
    refuse_made_folder(directory)?;
    if flags & libc::O_TMPFILE == libc::O_TMPFILE {
        let fd = memory_files::create()?;
        return Ok(open::opened(fd, memory_files::adopt(fd)?));
    }
    if let Some(text) = self_files::content(path).filter(|_| flags & libc::O_ACCMODE == libc::O_RDONLY) {
        let fd = memory_files::create()?;
        kernel::pwrite(fd as c_int, text.as_bytes(), 0);
        return Ok(open::opened(fd, memory_files::adopt(fd)?));
    }
    let creates = flags & libc::O_CREAT != 0;
    let is_new = creates && flags & libc::O_EXCL != 0;
    let last = if flags & libc::O_NOFOLLOW != 0 || is_new { Last::Itself } else { Last::Followed };
    let name = ResolvedPath::new(directory, path, last)?;
    if let Some((_, fd)) = STANDARD.into_iter().find(|(device, _)| *device == path.to_bytes()) {
        return Ok(open::duplicated(kernel::dup(fd), fd));
    }
    let writes = flags & libc::O_ACCMODE != libc::O_RDONLY || flags & libc::O_TRUNC != 0;
    let change = name.change();
    let exists = match change {
        Some(Change::Removed) => false,
        Some(Change::Memory(_) | Change::Folder(_) | Change::Link(_)) => true,
        None => name.mode.is_some(),
    };
    if exists && is_new {
        return Err(libc::EEXIST);
    }
    if change.is_none() && name.is(libc::S_IFLNK) {
        return Err(libc::ELOOP);
    }
    if !exists && !creates {
        if change.is_none() {
            sched::opened(name.canonical.to_bytes());
        }
        return Err(libc::ENOENT);
    }
    if !exists && path.to_bytes().ends_with(b"/") {
        return Err(libc::EISDIR);
    }
    match change {
        Some(Change::Link(_)) => return Err(libc::ELOOP),
        Some(Change::Memory(_)) if flags & libc::O_DIRECTORY != 0 => return Err(libc::ENOTDIR),
        Some(Change::Memory(file)) => return Ok(open_memory(file, flags)),
        Some(Change::Folder(_)) if writes => return Err(libc::EISDIR),
        // Something to be synchronised, closed and asked about: calls that take it for a folder say that they do not know it.
        Some(Change::Folder(_)) => return Ok(open::opened(memory_files::create()?, File::Folder)),
        Some(Change::Removed) | None => {}
    }
    if name.is_among(&RANDOM) {
        return Ok(open_memory(memory_files::replace_by_random(&name.canonical)?, flags));
    }
    let harmless = name.is_among(&HARMLESS);
    if exists && (!writes || harmless || name.is(libc::S_IFDIR)) {
        if !name.is(libc::S_IFREG) && !name.is(libc::S_IFDIR) && !harmless {
            unmodelled(text!("opens `{}`", name.canonical.to_bytes().escape_ascii()).as_str());
        }
        if name.is(libc::S_IFREG) {
            sched::opened(name.canonical.to_bytes());
        }
        let file = if name.is(libc::S_IFREG) { File::Disk(open::content_of(&name.canonical)) } else { File::Fixed };
        return Ok(open::opened(kernel::openat(libc::AT_FDCWD, &name.canonical, flags & !libc::O_CREAT), file));
    }
    if exists && !name.is(libc::S_IFREG) {
        unmodelled(text!("opens `{}` for writing", name.canonical.to_bytes().escape_ascii()).as_str());
        return Err(libc::EACCES);
    }
    name.check_writable()?;
    let mode = if exists { name.mode.unwrap_or(0o666) } else { mode & !umask() };
    let keeps_content = exists && flags & libc::O_TRUNC == 0;
    if keeps_content {
        sched::opened(name.canonical.to_bytes());
    }
    Ok(open_memory(memory_files::replace_file(&name.canonical, keeps_content, mode)?, flags))
}

/// What stands behind a name.
pub(super) enum Existing {
    /// Something on disk.
    OnDisk,
    /// A memory file.
    Memory(MemoryFile),
    /// A folder that the program made.
    Folder(libc::mode_t),
    /// A symbolic link that the program made.
    Link(LinkId),
}

/// A name that stands for something, and what that is; `ENOENT` if it stands for nothing.
pub(super) fn existing(directory: c_int, path: In<'_, c_char>, last: Last) -> Result<(ResolvedPath, Existing), c_int> {
    refuse_made_folder(directory)?;
    let name = ResolvedPath::new(directory, &path.string()?, last)?;
    match name.change() {
        Some(Change::Removed) => Err(libc::ENOENT),
        Some(Change::Memory(file)) => {
            open::add_named(file.content, Tag::Read);
            Ok((name, Existing::Memory(file)))
        }
        Some(Change::Folder(mode)) => Ok((name, Existing::Folder(mode))),
        Some(Change::Link(link)) => Ok((name, Existing::Link(link))),
        None if name.mode.is_none() => Err(libc::ENOENT),
        None => {
            if name.is(libc::S_IFREG) {
                open::add_named(open::content_of(&name.canonical), Tag::Read);
            }
            Ok((name, Existing::OnDisk))
        }
    }
}

/// A folder that the program made has no descriptor to start from.
pub(super) fn refuse_made_folder(directory: c_int) -> Result<(), c_int> {
    if open::get(directory).file == File::Folder {
        unmodelled("starts from a descriptor of a folder that it made");
        return Err(libc::EPERM);
    }
    Ok(())
}

/// Whether a path leads to a folder for the program and not, or to another one, for the kernel.
///
/// # Safety
/// The path is null or a C string.
pub unsafe fn is_folder_here_only(path: *const c_char) -> bool {
    // SAFETY: by the caller.
    let path = (!path.is_null()).then(|| unsafe { CStr::from_ptr(path) });
    let here = |path| ResolvedPath::new(libc::AT_FDCWD, path, Last::Followed).ok();
    let for_kernel = |path| target_of(OwnedFd::open(libc::AT_FDCWD, path, libc::O_PATH).ok()?.number()).ok();
    path.filter(|_| memory_files::any()).is_some_and(|path| match here(path) {
        Some(name) => {
            name.is_made_folder() || name.mode.is_some() && for_kernel(path).as_ref() != Some(&name.canonical)
        }
        None => for_kernel(path).is_some(),
    })
}

fn truncate_path(path: In<'_, c_char>, len: i64) -> Result<(), c_int> {
    let (name, what) = existing(libc::AT_FDCWD, path, Last::Followed)?;
    let file = match what {
        Existing::Memory(file) => file,
        Existing::Folder(_) => return Err(libc::EISDIR),
        Existing::Link(_) => return Err(libc::ELOOP),
        Existing::OnDisk if !name.is(libc::S_IFREG) => return Err(libc::EINVAL),
        Existing::OnDisk => {
            name.check_writable()?;
            name.replace_file()?
        }
    };
    open::add_named(file.content, Tag::ReadModifyWrite);
    let answer = kernel::ftruncate(file.fd, len);
    if answer < 0 { Err(-answer as c_int) } else { Ok(()) }
}

/// `stat` by name.
fn stat_at(directory: c_int, path: In<'_, c_char>, to: Out<'_, libc::stat>, flags: c_int) -> c_int {
    let on_disk = |directory, path: *const c_char| {
        // SAFETY: the kernel reads the path, which ends with a zero byte, and writes one `stat`, for which the program passed
        // this pointer.
        unsafe { sys!(SYS_newfstatat, directory, path, to.as_ptr(), flags) }
    };
    if flags & libc::AT_EMPTY_PATH != 0 || !memory_files::any() {
        return result(on_disk(directory, path.as_ptr())) as c_int;
    }
    let last = if flags & libc::AT_SYMLINK_NOFOLLOW != 0 { Last::Itself } else { Last::Followed };
    let answer = match existing(directory, path, last) {
        // SAFETY: the kernel writes one `stat`, for which the program passed this pointer.
        Ok((_, Existing::Memory(file))) => unsafe { sys!(SYS_fstat, file.fd, to.as_ptr()) },
        Ok((name, Existing::Folder(mode))) => {
            to.write_if_given(stat_of(&name.canonical, libc::S_IFDIR | mode, 2, 4096));
            0
        }
        Ok((name, Existing::Link(link))) => {
            let len = memory_files::target(link).len();
            to.write_if_given(stat_of(&name.canonical, libc::S_IFLNK | 0o777, 1, len as i64));
            0
        }
        Ok((name, Existing::OnDisk)) => on_disk(libc::AT_FDCWD, name.canonical.as_ptr()),
        Err(error) => negative(error),
    };
    result(answer) as c_int
}

/// What `stat` says of a folder or link that the program made. Its times are those of a file that was never changed.
fn stat_of(name: &CStr, mode: libc::mode_t, names: libc::nlink_t, len: i64) -> libc::stat {
    // SAFETY: `stat` is a structure of numbers, for which zero is a value.
    let mut stat: libc::stat = unsafe { core::mem::zeroed() };
    (stat.st_uid, stat.st_gid) = (kernel::user() as libc::uid_t, kernel::group() as libc::gid_t);
    (stat.st_mode, stat.st_nlink, stat.st_ino) = (mode, names, open::content_of(name).into());
    (stat.st_size, stat.st_blksize) = (len, 4096);
    stat
}

/// Whether a file exists and may be used, as `access` says it.
fn may_use(directory: c_int, path: In<'_, c_char>, mode: c_int) -> c_int {
    let answer = match existing(directory, path, Last::Followed) {
        Ok((_, Existing::Memory(_) | Existing::Folder(_) | Existing::Link(_))) => 0,
        Ok((name, Existing::OnDisk)) => kernel::faccessat(libc::AT_FDCWD, &name.canonical, mode),
        Err(error) => negative(error),
    };
    result(answer) as c_int
}

/// Makes something whose name is the template with digits in place of its `XXXXXX`: the first name that is free.
pub(super) fn make_temporary<R>(
    template: Out<'_, c_char>,
    suffix: usize,
    make: impl Fn(&CStr) -> Result<R, c_int>,
) -> Result<R, c_int> {
    const MARK: &[u8] = b"XXXXXX";
    let mut name = template.as_in().required_string().into_bytes();
    let start = name.len().checked_sub(suffix.saturating_add(MARK.len())).ok_or(libc::EINVAL)?;
    let digits = start..start + MARK.len();
    if &name[digits.clone()] != MARK {
        return Err(libc::EINVAL);
    }
    for attempt in 0u32..1_000_000 {
        for (i, digit) in name[digits.clone()].iter_mut().enumerate() {
            *digit = b'0' + (attempt / 10u32.pow(5 - i as u32) % 10) as u8;
        }
        let made = make(&c_string(&name)?);
        if !matches!(made, Err(libc::EEXIST)) {
            digits.for_each(|i| template.element(i).write(name[i] as c_char));
            return made;
        }
    }
    Err(libc::EEXIST)
}

/// `open` for the program.
fn open_path(directory: c_int, path: In<'_, c_char>, flags: c_int, mode: libc::mode_t) -> c_int {
    let opened = path.string().and_then(|path| try_open_at(directory, &path, flags, mode));
    result(opened.unwrap_or_else(negative)) as c_int
}

/// What a call returns that has no result but success or an error.
pub(super) fn answer(outcome: Result<(), c_int>) -> c_int {
    outcome.map_or_else(|error| fail(error) as c_int, |()| 0)
}

/// What a call returns that makes a file of a template.
fn temporary(template: Out<'_, c_char>, suffix: usize, flags: c_int) -> c_int {
    let flags = flags & !libc::O_ACCMODE | libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
    let open = |name: &CStr| match try_open_at(libc::AT_FDCWD, name, flags, 0o600)? {
        error @ ..0 => Err(-error as c_int),
        fd => Ok(fd),
    };
    make_temporary(template, suffix, open).unwrap_or_else(fail) as c_int
}

export! {
    /// Opens a file.
    fn open(path: In<'_, c_char>, flags: c_int, mode: libc::mode_t) -> c_int {
        open_path(libc::AT_FDCWD, path, flags, mode)
    }
    /// Opens a file.
    fn open64(path: In<'_, c_char>, flags: c_int, mode: libc::mode_t) -> c_int {
        open_path(libc::AT_FDCWD, path, flags, mode)
    }
    /// Opens a file below a directory.
    fn openat(directory: c_int, path: In<'_, c_char>, flags: c_int, mode: libc::mode_t) -> c_int {
        open_path(directory, path, flags, mode)
    }
    /// Opens a file below a directory.
    fn openat64(directory: c_int, path: In<'_, c_char>, flags: c_int, mode: libc::mode_t) -> c_int {
        open_path(directory, path, flags, mode)
    }
    /// Makes a file.
    fn creat(path: In<'_, c_char>, mode: libc::mode_t) -> c_int {
        open_path(libc::AT_FDCWD, path, CREATE, mode)
    }
    /// Makes a file.
    fn creat64(path: In<'_, c_char>, mode: libc::mode_t) -> c_int {
        open_path(libc::AT_FDCWD, path, CREATE, mode)
    }
    /// Makes a file with a new name.
    fn mkstemp(template: Out<'_, c_char>) -> c_int {
        temporary(template, 0, 0)
    }
    /// Makes a file with a new name.
    fn mkstemp64(template: Out<'_, c_char>) -> c_int {
        temporary(template, 0, 0)
    }
    /// Makes a file with a new name.
    fn mkostemp(template: Out<'_, c_char>, flags: c_int) -> c_int {
        temporary(template, 0, flags)
    }
    /// Makes a file with a new name and this many characters behind it.
    fn mkstemps(template: Out<'_, c_char>, suffix: c_int) -> c_int {
        temporary(template, suffix as usize, 0)
    }
    /// Sets a file's length.
    fn truncate(path: In<'_, c_char>, len: i64) -> c_int {
        answer(truncate_path(path, len))
    }
    /// Sets a file's length.
    fn truncate64(path: In<'_, c_char>, len: i64) -> c_int {
        answer(truncate_path(path, len))
    }
    /// Asks about a file.
    fn stat(path: In<'_, c_char>, to: Out<'_, libc::stat>) -> c_int {
        stat_at(libc::AT_FDCWD, path, to, 0)
    }
    /// Asks about a file.
    fn stat64(path: In<'_, c_char>, to: Out<'_, libc::stat>) -> c_int {
        stat_at(libc::AT_FDCWD, path, to, 0)
    }
    /// Asks about a file or link.
    fn lstat(path: In<'_, c_char>, to: Out<'_, libc::stat>) -> c_int {
        stat_at(libc::AT_FDCWD, path, to, libc::AT_SYMLINK_NOFOLLOW)
    }
    /// Asks about a file or link.
    fn lstat64(path: In<'_, c_char>, to: Out<'_, libc::stat>) -> c_int {
        stat_at(libc::AT_FDCWD, path, to, libc::AT_SYMLINK_NOFOLLOW)
    }
    /// Asks about a file.
    fn fstatat(directory: c_int, path: In<'_, c_char>, to: Out<'_, libc::stat>, flags: c_int) -> c_int {
        stat_at(directory, path, to, flags)
    }
    /// Asks about a file.
    fn fstatat64(directory: c_int, path: In<'_, c_char>, to: Out<'_, libc::stat>, flags: c_int) -> c_int {
        stat_at(directory, path, to, flags)
    }
    /// Asks whether a file exists and may be used.
    fn access(path: In<'_, c_char>, mode: c_int) -> c_int {
        may_use(libc::AT_FDCWD, path, mode)
    }
    /// Asks whether a file exists and may be used.
    fn faccessat(directory: c_int, path: In<'_, c_char>, mode: c_int, _flags: c_int) -> c_int {
        may_use(directory, path, mode)
    }
}
