//! Changes of names: files and folders that are made, removed, renamed, linked, and their permissions. All of it stays in
//! memory for the run ([`super::memory_files`]).

use alloc::collections::BTreeMap;
use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int};

use wire::Tag;

use super::kernel::{self, OwnedFd};
use super::memory_files::{self, Change, MemoryFile};
use super::paths::{self, Existing, Last, ResolvedPath, answer, existing, refuse_made_folder, umask};
use super::program_memory::{In, Out};
use super::{fail, negative, open, result, unmodelled};

fn remove_at(directory: c_int, path: In<'_, c_char>) -> Result<(), c_int> {
    let (name, what) = existing(directory, path, Last::Itself)?;
    match what {
        Existing::Folder(_) => return Err(libc::EISDIR),
        Existing::OnDisk if name.is(libc::S_IFDIR) => return Err(libc::EISDIR),
        Existing::OnDisk => name.check_directory_writable()?,
        Existing::Memory(_) | Existing::Link(_) => {}
    }
    if name.is(libc::S_IFLNK) {
        memory_files::note_links();
    }
    memory_files::remove(name.canonical);
    Ok(())
}

/// Makes a folder, in memory.
fn make_folder(directory: c_int, path: &CStr, mode: libc::mode_t) -> Result<(), c_int> {
    refuse_made_folder(directory)?;
    let name = ResolvedPath::new(directory, path, Last::Itself)?;
    name.check_free()?;
    memory_files::make_folder(name.canonical, mode & 0o7777 & !umask());
    Ok(())
}

/// Removes a folder that is empty.
fn remove_folder(directory: c_int, path: In<'_, c_char>) -> Result<(), c_int> {
    let (name, what) = existing(directory, path, Last::Itself)?;
    match what {
        Existing::Folder(_) => {}
        Existing::OnDisk if name.is(libc::S_IFDIR) => name.check_directory_writable()?,
        _ => return Err(libc::ENOTDIR),
    }
    if entries(&name.canonical, matches!(what, Existing::OnDisk))?.is_empty() {
        memory_files::remove(name.canonical);
        return Ok(());
    }
    Err(libc::ENOTEMPTY)
}

/// An entry of a folder: its name, and what it is (`DT_REG` and others).
pub type FolderEntry = (CString, u8);

/// What is in a folder, by name: what is there on disk, if it is, with what the program has changed.
fn entries(folder: &CStr, is_on_disk: bool) -> Result<Vec<FolderEntry>, c_int> {
    let mut entries = BTreeMap::new();
    if is_on_disk {
        let fd = OwnedFd::open(libc::AT_FDCWD, folder, libc::O_RDONLY | libc::O_DIRECTORY)?;
        kernel::for_each_entry(fd.number(), |name, kind| {
            entries.insert(CString::from(name), kind);
        })?;
    }
    for (name, change) in memory_files::changes_in(folder) {
        match change {
            Change::Memory(_) => entries.insert(name, libc::DT_REG),
            Change::Folder(_) => entries.insert(name, libc::DT_DIR),
            Change::Link(_) => entries.insert(name, libc::DT_LNK),
            Change::Removed => entries.remove(&name),
        };
    }
    Ok(entries.into_iter().collect())
}

/// What is in the folder that a path names.
pub fn list(path: In<'_, c_char>) -> Result<Vec<FolderEntry>, c_int> {
    let (name, what) = existing(libc::AT_FDCWD, path, Last::Followed)?;
    match what {
        Existing::Folder(_) => entries(&name.canonical, false),
        Existing::OnDisk if name.is(libc::S_IFDIR) => entries(&name.canonical, true),
        _ => Err(libc::ENOTDIR),
    }
}

/// The memory file behind a name; one takes the place of a file on disk.
fn file_to_change(directory: c_int, path: In<'_, c_char>, last: Last) -> Result<(ResolvedPath, MemoryFile), c_int> {
    let (name, what) = existing(directory, path, last)?;
    let file = match what {
        Existing::Memory(file) => file,
        Existing::OnDisk if name.is(libc::S_IFREG) => {
            name.check_writable()?;
            name.replace_file()?
        }
        _ => {
            unmodelled("changes what is known about a folder, link or device");
            return Err(libc::EPERM);
        }
    };
    open::add_named(file.content, Tag::ReadModifyWrite);
    Ok((name, file))
}

/// Changes permissions, owner or times of a file by its name.
fn change_attributes(directory: c_int, path: In<'_, c_char>, change: impl FnOnce(c_int) -> isize) -> c_int {
    let changed = file_to_change(directory, path, Last::Followed).map_or_else(negative, |(_, file)| change(file.fd));
    result(changed) as c_int
}

/// A path below a directory.
type At<'call> = (c_int, In<'call, c_char>);

/// Gives a file one more name.
fn link_at((from_dir, from): At<'_>, (to_dir, to): At<'_>, last: Last) -> Result<(), c_int> {
    let what = match existing(from_dir, from, last)? {
        (_, Existing::Link(link)) => Change::Link(link),
        _ => Change::Memory(file_to_change(from_dir, from, last)?.1),
    };
    let new = ResolvedPath::new(to_dir, &to.string()?, Last::Itself)?;
    new.check_free()?;
    memory_files::add_name(new.canonical, what);
    Ok(())
}

fn rename_at((from_dir, from): At<'_>, (to_dir, to): At<'_>) -> Result<(), c_int> {
    let (old, what) = existing(from_dir, from, Last::Itself)?;
    refuse_made_folder(to_dir)?;
    let new = ResolvedPath::new(to_dir, &to.string()?, Last::Itself)?;
    let is_folder = matches!(what, Existing::Folder(_));
    match new.change() {
        Some(Change::Folder(_)) if !is_folder => return Err(libc::EISDIR),
        Some(Change::Folder(_)) if !entries(&new.canonical, false)?.is_empty() => return Err(libc::ENOTEMPTY),
        Some(Change::Memory(_) | Change::Link(_)) if is_folder => return Err(libc::ENOTDIR),
        Some(_) => {}
        None if new.is(libc::S_IFDIR) || is_folder && new.mode.is_some() => {
            unmodelled("renames to a directory on disk");
            return Err(libc::EPERM);
        }
        None => {}
    }
    if is_folder && new.canonical.to_bytes().strip_prefix(old.canonical.to_bytes()).is_some_and(|r| r.starts_with(b"/"))
    {
        return Err(libc::EINVAL);
    }
    if matches!(what, Existing::OnDisk) && !old.is(libc::S_IFREG) {
        unmodelled("renames a directory, link or device");
        return Err(libc::EPERM);
    }
    new.check_directory_writable()?;
    if new.is(libc::S_IFLNK) {
        memory_files::note_links();
    }
    if matches!(what, Existing::OnDisk) {
        old.replace_file()?;
    }
    memory_files::rename(old.canonical, new.canonical);
    Ok(())
}

export! {
    /// Removes a file.
    fn unlink(path: In<'_, c_char>) -> c_int {
        answer(remove_at(libc::AT_FDCWD, path))
    }
    /// Removes a file or a folder.
    fn unlinkat(directory: c_int, path: In<'_, c_char>, flags: c_int) -> c_int {
        let is_folder = flags & libc::AT_REMOVEDIR != 0;
        answer(if is_folder { remove_folder(directory, path) } else { remove_at(directory, path) })
    }
    /// Removes a file or a folder.
    fn remove(path: In<'_, c_char>) -> c_int {
        answer(match remove_at(libc::AT_FDCWD, path) {
            Err(libc::EISDIR) => remove_folder(libc::AT_FDCWD, path),
            outcome => outcome,
        })
    }
    /// Removes a folder.
    fn rmdir(path: In<'_, c_char>) -> c_int {
        answer(remove_folder(libc::AT_FDCWD, path))
    }
    /// Makes a folder.
    fn mkdir(path: In<'_, c_char>, mode: libc::mode_t) -> c_int {
        answer(path.string().and_then(|path| make_folder(libc::AT_FDCWD, &path, mode)))
    }
    /// Makes a folder.
    fn mkdirat(directory: c_int, path: In<'_, c_char>, mode: libc::mode_t) -> c_int {
        answer(path.string().and_then(|path| make_folder(directory, &path, mode)))
    }
    /// Makes a folder with a new name.
    fn mkdtemp(template: Out<'_, c_char>) -> *mut c_char {
        let made = paths::make_temporary(template, 0, |name| make_folder(libc::AT_FDCWD, name, 0o700));
        match made {
            Ok(()) => template.as_ptr(),
            Err(error) => {
                fail(error);
                core::ptr::null_mut()
            }
        }
    }
    /// Gives a file one more name.
    fn link(from: In<'_, c_char>, to: In<'_, c_char>) -> c_int {
        answer(link_at((libc::AT_FDCWD, from), (libc::AT_FDCWD, to), Last::Itself))
    }
    /// Gives a file one more name.
    fn linkat(from_dir: c_int, from: In<'_, c_char>, to_dir: c_int, to: In<'_, c_char>, flags: c_int) -> c_int {
        let last = if flags & libc::AT_SYMLINK_FOLLOW != 0 { Last::Followed } else { Last::Itself };
        answer(link_at((from_dir, from), (to_dir, to), last))
    }
    /// Sets permissions.
    fn chmod(path: In<'_, c_char>, mode: libc::mode_t) -> c_int {
        change_attributes(libc::AT_FDCWD, path, |fd| kernel::fchmod(fd, mode))
    }
    /// Sets permissions.
    fn fchmodat(directory: c_int, path: In<'_, c_char>, mode: libc::mode_t, _flags: c_int) -> c_int {
        change_attributes(directory, path, |fd| kernel::fchmod(fd, mode))
    }
    /// Renames a file.
    fn rename(from: In<'_, c_char>, to: In<'_, c_char>) -> c_int {
        answer(rename_at((libc::AT_FDCWD, from), (libc::AT_FDCWD, to)))
    }
    /// Renames a file.
    fn renameat(from_dir: c_int, from: In<'_, c_char>, to_dir: c_int, to: In<'_, c_char>) -> c_int {
        answer(rename_at((from_dir, from), (to_dir, to)))
    }
}
