//! Files that the program has changed: memory files in place of those on disk, and names that were removed.
//!
//! The tables belong to the process, so the checkpoint restores them. The content of a memory file belongs to the kernel,
//! with or without a name, so [`checkpoint`] copies it and [`restore`] copies it back, with permissions and times.

use alloc::collections::BTreeMap;
use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ffi::{CStr, c_int};

use super::children::forked;
use super::kernel::{self, OwnedFd};
use super::{open, random, unmodelled};
use crate::cell::{Global, Keep};
use crate::descriptors;
use crate::kept::{self, Table};

/// A memory file in place of a file on disk.
#[derive(Clone, Copy, Debug)]
pub struct MemoryFile {
    /// The runtime's own descriptor of it.
    pub fd: c_int,
    /// The cell of its content.
    pub content: u32,
}

/// What the program has made of a name.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// It stands for a memory file.
    Memory(MemoryFile),
    /// It stands for a folder that the program made, with these permissions.
    Folder(libc::mode_t),
    /// It is a symbolic link.
    Link(LinkId),
    /// It was removed.
    Removed,
}

/// A symbolic link that the program made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkId(usize);

/// What the links that the program made lead to.
static TARGETS: Global<Vec<CString>> = Global::new(Vec::new());

/// Whether names may be links that the kernel does not know, or are links no longer that it knows.
static CHANGES_LINKS: Global<bool> = Global::new(false);

/// The names that the program has changed.
static CHANGES: Global<BTreeMap<CString, Change>> = Global::new(BTreeMap::new());

/// A memory file at the checkpoint.
#[derive(Clone, Copy)]
struct Saved {
    /// A memory file with its content.
    fd: c_int,
    mode: libc::mode_t,
    times: kernel::Times,
}

/// All memory files, whether or not they have a name, by the runtime's own descriptors of them: what they were at the
/// checkpoint, if they existed then.
static CONTENTS: Global<BTreeMap<c_int, Option<Saved>>> = Global::new(BTreeMap::new());

/// Descriptors of memory files made since the checkpoint, to be closed before the next run.
#[used]
#[unsafe(link_section = "rp_keep")]
static NEW_FILES: Keep<Table<c_int>> = Keep::new(Table::new(kept::NEW_FILES));

/// Whether the program has changed any file.
pub fn any() -> bool {
    CHANGES.with(|changes| !changes.is_empty())
}

/// Whether the program has changed what another program would find on disk.
pub fn hides_files() -> bool {
    CHANGES.with(|changes| changes.keys().any(|name| !name.to_bytes().starts_with(b"/dev/")))
}

/// A descriptor of the runtime's own of what is open under a number; it is closed before the next run.
pub fn hold(fd: c_int) -> Option<c_int> {
    let own = descriptors::hide(kernel::dup(fd)).ok()?;
    NEW_FILES.with(|files| files.push(own));
    Some(own)
}

/// What the program has made of a name, if it changed it.
pub fn change_of(name: &CStr) -> Option<Change> {
    CHANGES.with(|changes| changes.get(name).copied())
}

/// Removes a name; what it stood for if the program had changed it before.
pub fn remove(name: CString) -> Option<Change> {
    forked::note_change();
    CHANGES.with(|changes| changes.insert(name, Change::Removed))
}

/// Moves what the program has made of one name to another, and what it has made below it.
pub fn rename(from: CString, to: CString) {
    if from == to {
        return;
    }
    for (below, change) in CHANGES.with(|changes| below(changes, &from)) {
        let mut moved = to.to_bytes().to_vec();
        moved.extend_from_slice(&below.to_bytes()[from.to_bytes().len()..]);
        remove(below);
        if let Ok(moved) = CString::new(moved) {
            CHANGES.with(|changes| changes.insert(moved, change));
        }
    }
    if let Some(change) = remove(from) {
        CHANGES.with(|changes| changes.insert(to, change));
    }
}

/// Makes a folder stand for a name.
pub fn make_folder(name: CString, mode: libc::mode_t) {
    forked::note_change();
    CHANGES.with(|changes| changes.insert(name, Change::Folder(mode)));
}

/// Makes a symbolic link of a name.
pub fn make_link(name: CString, target: CString) {
    forked::note_change();
    note_links();
    let link = TARGETS.with(|targets| {
        targets.push(target);
        LinkId(targets.len() - 1)
    });
    CHANGES.with(|changes| changes.insert(name, Change::Link(link)));
}

/// What a link leads to.
pub fn target(LinkId(link): LinkId) -> Vec<u8> {
    TARGETS.with(|targets| targets[link].to_bytes().to_vec())
}

/// From now on the kernel cannot follow paths.
pub fn note_links() {
    CHANGES_LINKS.with(|changed| *changed = true);
}

/// Whether the kernel cannot follow paths.
pub fn changes_links() -> bool {
    CHANGES_LINKS.with(|changed| *changed)
}

/// Whether a name stands for a folder that the program made.
pub fn is_folder(name: &[u8]) -> bool {
    CString::new(name).is_ok_and(|name| matches!(change_of(&name), Some(Change::Folder(_))))
}

/// Makes a name stand for a memory file or link that has one.
pub fn add_name(name: CString, what: Change) {
    forked::note_change();
    CHANGES.with(|changes| changes.insert(name, what));
}

/// What the program has made of names below a folder, at any depth.
fn below(changes: &BTreeMap<CString, Change>, folder: &CStr) -> Vec<(CString, Change)> {
    let is_below =
        |name: &CStr| name.to_bytes().strip_prefix(folder.to_bytes()).is_some_and(|rest| rest.starts_with(b"/"));
    changes.iter().filter(|(name, _)| is_below(name)).map(|(name, change)| (name.clone(), *change)).collect()
}

/// What the program has made of the names right in a folder, by their last parts.
pub fn changes_in(folder: &CStr) -> Vec<(CString, Change)> {
    let folder = folder.to_bytes();
    let start = if folder == b"/" { 1 } else { folder.len() + 1 };
    let inside = |name: &CString| {
        let name = name.to_bytes();
        let rest = name.get(start..).filter(|rest| !rest.is_empty() && !rest.contains(&b'/'))?;
        (name.starts_with(folder) && name[start - 1] == b'/').then(|| CString::new(rest).ok()).flatten()
    };
    CHANGES.with(|changes| changes.iter().filter_map(|(name, change)| Some((inside(name)?, *change))).collect())
}

/// Copies the content of all memory files.
pub fn checkpoint() {
    CONTENTS.with(|contents| {
        for (fd, saved) in contents.iter_mut() {
            *saved = save(*fd).ok();
        }
    });
    NEW_FILES.with(Table::clear);
}

fn save(file: c_int) -> Result<Saved, c_int> {
    let fd = descriptors::hide(create()?)?;
    copy(file, fd);
    let (mode, times) = kernel::attributes(file)?;
    Ok(Saved { fd, mode, times })
}

/// Puts memory files back, and closes those made since the checkpoint.
pub fn restore() {
    NEW_FILES.with(|files| {
        for fd in files.items() {
            kernel::close(*fd);
        }
        files.clear();
    });
    CONTENTS.with(|contents| {
        for (fd, saved) in contents.iter() {
            saved.iter().for_each(|saved| put_back(*fd, saved));
        }
    });
}

fn put_back(fd: c_int, saved: &Saved) {
    copy(saved.fd, fd);
    if let Ok((mode, times)) = kernel::attributes(fd) {
        if mode != saved.mode {
            kernel::fchmod(fd, saved.mode & 0o7777);
        }
        if times != saved.times {
            kernel::set_times(fd, &saved.times);
        }
    }
}

/// Makes a memory file without a name.
///
/// # Errors
/// The error number.
pub fn create() -> Result<isize, c_int> {
    let fd = kernel::memfd_create(c"file", libc::MFD_CLOEXEC);
    if fd < 0 { Err(-fd as c_int) } else { Ok(fd) }
}

/// Takes a memory file with the content of this number into the table; `fd` is the runtime's own descriptor of it.
fn register(fd: c_int, content: u32) -> Result<MemoryFile, c_int> {
    if !NEW_FILES.with(|files| files.push(fd)) {
        kernel::close(fd);
        unmodelled("makes more files than fit into one run");
        return Err(libc::EMFILE);
    }
    CONTENTS.with(|contents| contents.insert(fd, None));
    Ok(MemoryFile { fd, content })
}

/// Takes a memory file into the table that the program has open under this number.
///
/// # Errors
/// The error number; it is closed then.
pub fn adopt(fd: isize) -> Result<open::File, c_int> {
    let own = kernel::dup(fd as c_int);
    let registered = if own < 0 {
        Err(-own as c_int)
    } else {
        descriptors::hide(own).and_then(|own| register(own, open::new_content()))
    };
    registered.map(|file| open::File::Memory(file.content)).inspect_err(|_| {
        kernel::close(fd as c_int);
    })
}

/// Makes the content and length of a file those of another, where they differ.
fn copy(from: c_int, to: c_int) {
    const LEN: usize = 1 << 14;
    let (mut position, mut wanted, mut present) = (0i64, [0u8; LEN], [0u8; LEN]);
    loop {
        let len = kernel::pread(from, &mut wanted, position);
        if len <= 0 {
            break;
        }
        let wanted = &wanted[..len as usize];
        let same =
            kernel::pread(to, &mut present[..wanted.len()], position) == len && present[..wanted.len()] == *wanted;
        if !same {
            kernel::pwrite(to, wanted, position);
        }
        position += len as i64;
    }
    if kernel::length(to) != Ok(position) {
        kernel::ftruncate(to, position);
    }
}

/// Makes a new memory file stand for a name. It has the content of the file on disk if `keeps_content`, else none.
///
/// # Errors
/// The error number.
pub fn replace_file(name: &CStr, keeps_content: bool, mode: libc::mode_t) -> Result<MemoryFile, c_int> {
    forked::note_change();
    let own = descriptors::hide(create()?).inspect_err(|_| unmodelled("keeps too many files"))?;
    let file = register(own, open::content_of(name))?;
    kernel::fchmod(file.fd, mode & 0o7777);
    if keeps_content {
        copy(OwnedFd::open(libc::AT_FDCWD, name, libc::O_RDONLY)?.number(), file.fd);
    }
    let before = CHANGES.with(|changes| changes.insert(CString::from(name), Change::Memory(file)));
    if before.is_none() {
        // It takes the place of the file on disk; after a removal it is another file.
        open::redirect(name, file.fd, file.content);
    }
    Ok(file)
}

/// How many random bytes a file of them has.
const RANDOM_LEN: i64 = 1 << 18;

/// Makes a memory file of random bytes stand for a name.
///
/// # Errors
/// The error number.
pub fn replace_by_random(name: &CStr) -> Result<MemoryFile, c_int> {
    let file = replace_file(name, false, 0o666)?;
    let mut buffer = [0u8; 4096];
    for page in 0..RANDOM_LEN / buffer.len() as i64 {
        for (i, chunk) in buffer.chunks_mut(8).enumerate() {
            chunk.copy_from_slice(&random::number(page as u64, i as u64).to_le_bytes());
        }
        kernel::pwrite(file.fd, &buffer, page * buffer.len() as i64);
    }
    Ok(file)
}
