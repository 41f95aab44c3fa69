//! Files that the program has changed: memory files in place of those on disk, and names that were removed.
//!
//! The table belongs to the process, so the checkpoint restores it. The content of a memory file belongs to the kernel,
//! so [`checkpoint`] copies it and [`restore`] copies it back.

use alloc::collections::BTreeMap;
use alloc::ffi::CString;
use core::ffi::{CStr, c_int};

use super::kernel::{self, OwnedFd};
use super::{open, random, unmodelled};
use crate::cell::{Global, Keep};
use crate::descriptors;

/// A memory file in place of a file on disk.
#[derive(Clone, Copy, Debug)]
pub struct MemoryFile {
    /// The runtime's own descriptor of it.
    pub fd: c_int,
    /// The cell of its content.
    pub content: u32,
    /// A memory file with its content at the checkpoint, if it existed then.
    saved: Option<c_int>,
}

/// What the program has made of a name.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// It stands for a memory file.
    Memory(MemoryFile),
    /// It was removed.
    Removed,
}

/// The names that the program has changed.
static CHANGES: Global<BTreeMap<CString, Change>> = Global::new(BTreeMap::new());

/// Most memory files made in one run.
const MOST: usize = 256;

/// Descriptors of memory files made since the checkpoint, to be closed before the next run.
struct NewFiles {
    fds: [c_int; MOST],
    len: usize,
}

#[unsafe(link_section = "rp_keep")]
static NEW_FILES: Keep<NewFiles> = Keep::new(NewFiles { fds: [0; MOST], len: 0 });

/// Whether the program has changed any file.
pub fn any() -> bool {
    CHANGES.with(|changes| !changes.is_empty())
}

/// What the program has made of a name, if it changed it.
pub fn change_of(name: &CStr) -> Option<Change> {
    CHANGES.with(|changes| changes.get(name).copied())
}

/// Removes a name; what it stood for if the program had changed it before.
pub fn remove(name: CString) -> Option<Change> {
    CHANGES.with(|changes| changes.insert(name, Change::Removed))
}

/// Moves what the program has made of one name to another.
pub fn rename(from: CString, to: CString) {
    if from != to
        && let Some(change) = remove(from)
    {
        CHANGES.with(|changes| changes.insert(to, change));
    }
}

/// Copies the content of all memory files.
pub fn checkpoint() {
    CHANGES.with(|changes| {
        for change in changes.values_mut() {
            if let Change::Memory(file) = change {
                file.saved = create().ok().map(descriptors::hide);
                if let Some(saved) = file.saved {
                    copy(file.fd, saved);
                }
            }
        }
    });
    NEW_FILES.with(|files| files.len = 0);
}

/// Copies contents back, and closes the memory files made since the checkpoint.
pub fn restore() {
    NEW_FILES.with(|files| {
        for fd in &files.fds[..files.len] {
            kernel::close(*fd);
        }
        files.len = 0;
    });
    CHANGES.with(|changes| {
        for change in changes.values() {
            if let Change::Memory(MemoryFile { fd, saved: Some(saved), .. }) = change {
                kernel::ftruncate(*fd, 0);
                copy(*saved, *fd);
            }
        }
    });
}

/// Makes a memory file without a name.
///
/// # Errors
/// The error number.
pub fn create() -> Result<isize, c_int> {
    let fd = kernel::memfd_create(c"file", libc::MFD_CLOEXEC);
    if fd < 0 { Err(-fd as c_int) } else { Ok(fd) }
}

/// Copies the whole content of a file.
fn copy(from: c_int, to: c_int) {
    let mut position = 0i64;
    let mut buffer = [0u8; 4096];
    loop {
        let len = kernel::pread(from, &mut buffer, position);
        if len <= 0 {
            return;
        }
        kernel::pwrite(to, &buffer[..len as usize], position);
        position += len as i64;
    }
}

/// Makes a new memory file stand for a name. It has the content of the file on disk if `keeps_content`, else none.
///
/// # Errors
/// The error number.
pub fn replace_file(name: &CStr, keeps_content: bool, mode: libc::mode_t) -> Result<MemoryFile, c_int> {
    if NEW_FILES.with(|files| files.len == MOST) {
        unmodelled("makes more than 256 files");
        return Err(libc::EMFILE);
    }
    let fd = descriptors::hide(create()?);
    NEW_FILES.with(|files| {
        files.fds[files.len] = fd;
        files.len += 1;
    });
    kernel::fchmod(fd, mode & 0o7777);
    if keeps_content {
        copy(OwnedFd::open(libc::AT_FDCWD, name, libc::O_RDONLY)?.number(), fd);
    }
    let file = MemoryFile { fd, content: open::new_content(), saved: None };
    CHANGES.with(|changes| changes.insert(CString::from(name), Change::Memory(file)));
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
