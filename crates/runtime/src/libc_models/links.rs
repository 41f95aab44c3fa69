//! Symbolic links. Those that the program makes stay in memory for the run ([`super::memory_files`]).
//!
//! The kernel follows the links on disk and knows no others. So from the moment that the program makes a link, or removes one
//! that is on disk, a path is followed here, part by part (`follow`).

use alloc::collections::VecDeque;
use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int, c_void};

use super::kernel::{self, OwnedFd};
use super::memory_files::{self, Change};
use super::paths::{Existing, Last, ResolvedPath, answer, c_string, existing, refuse_made_folder, target_of};
use super::program_memory::{In, Out};
use super::{fail, negative, result};

/// How many links a path may lead through.
const LINKS: usize = 40;

/// Follows a path below a directory through links on disk and links of the program.
pub(super) fn follow(directory: c_int, path: &[u8], last: Last) -> Result<ResolvedPath, c_int> {
    let mut at = if path.starts_with(b"/") {
        Vec::new()
    } else {
        let start = OwnedFd::open(directory, c".", libc::O_PATH)?;
        target_of(start.number())?.into_bytes()
    };
    if at == b"/" {
        at.clear();
    }
    let mut mode = Some(libc::S_IFDIR);
    let mut is_made = memory_files::is_folder(&at);
    let mut parts = parts(path);
    let mut links = 0;
    if parts.is_empty() {
        return Err(libc::ENOENT);
    }
    while let Some(part) = parts.pop_front() {
        if part == b".." {
            at.truncate(at.iter().rposition(|&c| c == b'/').unwrap_or(0));
            (mode, is_made) = (Some(libc::S_IFDIR), memory_files::is_folder(&at));
        }
        if part == b"." || part == b".." {
            continue;
        }
        let folder = at.len();
        at.push(b'/');
        at.extend_from_slice(&part);
        let name = c_string(&at)?;
        let is_last = parts.is_empty();
        let follows = !is_last || last == Last::Followed;
        let change = memory_files::change_of(&name);
        let on_disk = if is_made || change.is_some() { None } else { link_mode(&name) };
        let target = match change {
            Some(Change::Link(link)) if follows => Some(memory_files::target(link)),
            None if follows && on_disk.is_some_and(|mode| mode & libc::S_IFMT == libc::S_IFLNK) => Some(read(&name)?),
            _ => None,
        };
        if let Some(target) = target {
            links += 1;
            if links > LINKS {
                return Err(libc::ELOOP);
            }
            at.truncate(if target.starts_with(b"/") { 0 } else { folder });
            self::parts(&target).into_iter().rev().for_each(|part| parts.push_front(part));
            (mode, is_made) = (Some(libc::S_IFDIR), memory_files::is_folder(&at));
            continue;
        }
        let is_folder = matches!(change, Some(Change::Folder(_)));
        if !is_last && !is_folder && on_disk.is_none_or(|mode| mode & libc::S_IFMT != libc::S_IFDIR) {
            let is_there = on_disk.is_some() || matches!(change, Some(Change::Memory(_)));
            return Err(if is_there { libc::ENOTDIR } else { libc::ENOENT });
        }
        (mode, is_made) = (on_disk, is_folder);
    }
    let canonical = if at.is_empty() { CString::from(c"/") } else { c_string(&at)? };
    Ok(ResolvedPath { canonical, mode })
}

/// The parts of a path. A slash at its end stands for what a link leads to, as `/.` does.
fn parts(path: &[u8]) -> VecDeque<Vec<u8>> {
    let mut parts: VecDeque<Vec<u8>> =
        path.split(|&c| c == b'/').filter(|part| !part.is_empty()).map(<[u8]>::to_vec).collect();
    if path.ends_with(b"/") {
        parts.push_back(b".".to_vec());
    }
    parts
}

/// The mode of what has this name on disk, be it a link.
fn link_mode(name: &CStr) -> Option<libc::mode_t> {
    let fd = OwnedFd::open(libc::AT_FDCWD, name, libc::O_PATH | libc::O_NOFOLLOW).ok()?;
    kernel::mode(fd.number()).ok()
}

/// What a link on disk leads to.
fn read(name: &CStr) -> Result<Vec<u8>, c_int> {
    let mut buffer = [0u8; libc::PATH_MAX as usize];
    let len = kernel::readlink(name, &mut buffer);
    if len < 0 { Err(-len as c_int) } else { Ok(buffer[..len as usize].to_vec()) }
}

/// Makes a link, in memory.
fn link_at(target: In<'_, c_char>, directory: c_int, path: In<'_, c_char>) -> Result<(), c_int> {
    refuse_made_folder(directory)?;
    let (target, path) = (target.string()?, path.string()?);
    if target.is_empty() {
        return Err(libc::ENOENT);
    }
    let name = ResolvedPath::new(directory, &path, Last::Itself)?;
    name.check_free()?;
    memory_files::make_link(name.canonical, target);
    Ok(())
}

/// Stores what a link leads to, without a zero byte; how many bytes.
fn read_at(directory: c_int, path: In<'_, c_char>, to: Out<'_, c_void>, room: usize) -> Result<isize, c_int> {
    let (name, what) = existing(directory, path, Last::Itself)?;
    let target = match what {
        Existing::Link(link) => memory_files::target(link),
        Existing::OnDisk => read(&name.canonical)?,
        Existing::Memory(_) | Existing::Folder(_) => return Err(libc::EINVAL),
    };
    let len = target.len().min(room);
    to.buffer(len).store(&target[..len]);
    Ok(len as isize)
}

export! {
    /// Makes a link.
    fn symlink(target: In<'_, c_char>, path: In<'_, c_char>) -> c_int {
        answer(link_at(target, libc::AT_FDCWD, path))
    }
    /// Makes a link below a directory.
    fn symlinkat(target: In<'_, c_char>, directory: c_int, path: In<'_, c_char>) -> c_int {
        answer(link_at(target, directory, path))
    }
    /// Reads a link.
    fn readlink(path: In<'_, c_char>, to: Out<'_, c_void>, room: usize) -> isize {
        if room == 0 { fail(libc::EINVAL) } else { result(read_at(libc::AT_FDCWD, path, to, room).unwrap_or_else(negative)) }
    }
    /// Reads a link below a directory.
    fn readlinkat(directory: c_int, path: In<'_, c_char>, to: Out<'_, c_void>, room: usize) -> isize {
        if room == 0 { fail(libc::EINVAL) } else { result(read_at(directory, path, to, room).unwrap_or_else(negative)) }
    }
}
