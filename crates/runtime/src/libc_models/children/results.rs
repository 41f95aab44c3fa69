//! What children did, kept for later runs: the first time that a child is asked for it runs, and from then on its results
//! are those of the first time. So every run sees the same, also if the child tells the time, and what a child does to files
//! is done once.
//!
//! The results are in a file in memory that all processes of a search share: each entry is the length of what was asked for,
//! that of the result, and both. Entries are only added.

use alloc::vec;
use alloc::vec::Vec;

use crate::cell::Keep;
use crate::libc_models::kernel::{self, OwnedFd};
use crate::libc_models::paths;
use crate::sys::sys;

/// The file's descriptor.
#[used]
#[unsafe(link_section = "rp_keep")]
static FILE: Keep<Option<i32>> = Keep::new(None);

/// Takes over the file; to be called before there are runs.
pub fn keep_in(fd: i32) {
    FILE.with(|file| *file = Some(fd));
}

/// Moves the file out of the program's way.
pub fn hide() {
    FILE.with(|file| *file = file.and_then(|fd| crate::descriptors::hide(fd as isize).ok()));
}

/// The file, made where nobody shares it.
fn file() -> Option<i32> {
    FILE.with(|file| {
        if file.is_none() {
            let made = kernel::memfd_create(c"children", libc::MFD_CLOEXEC);
            *file = (made >= 0).then(|| crate::descriptors::hide(made).ok()).flatten();
        }
        *file
    })
}

/// Reads all bytes at an offset; whether they are there.
fn read_at(fd: i32, mut to: &mut [u8], mut offset: i64) -> bool {
    while !to.is_empty() {
        let len = kernel::pread(fd, to, offset);
        if len <= 0 {
            return false;
        }
        to = &mut to[len as usize..];
        offset += len as i64;
    }
    true
}

fn write_at(fd: i32, mut from: &[u8], mut offset: i64) -> bool {
    while !from.is_empty() {
        let len = kernel::pwrite(fd, from, offset);
        if len <= 0 {
            return false;
        }
        from = &from[len as usize..];
        offset += len as i64;
    }
    true
}

/// Where an entry's parts are.
struct Entry {
    start: i64,
    asked: usize,
    result: usize,
}

/// Bytes before an entry's parts.
const HEAD: i64 = 16;

impl Entry {
    fn at(fd: i32, start: i64) -> Option<Self> {
        let mut head = [0u8; HEAD as usize];
        if !read_at(fd, &mut head, start) {
            return None;
        }
        let (asked, result) = head.split_at(8);
        let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).unwrap_or(0) as usize;
        // One that is being written has no head yet.
        (number(asked) > 0).then(|| Self { start, asked: number(asked), result: number(result) })
    }
    fn end(&self) -> i64 {
        self.start + HEAD + (self.asked + self.result) as i64
    }
}

fn find_in(fd: i32, asked: &[u8]) -> Option<Vec<u8>> {
    let mut start = 0;
    while let Some(entry) = Entry::at(fd, start) {
        start = entry.end();
        let mut same = vec![0; if entry.asked == asked.len() { asked.len() } else { 0 }];
        if entry.asked != asked.len() || !read_at(fd, &mut same, entry.start + HEAD) || same != asked {
            continue;
        }
        let mut result = vec![0; entry.result];
        return read_at(fd, &mut result, entry.start + HEAD + entry.asked as i64).then_some(result);
    }
    None
}

/// The results of a child, from the first time that it was asked for, with at least a byte. If there is none yet, `make` gives it while other
/// processes of the search wait; `None` if it cannot, and the next one tries again.
pub fn find_or_make(asked: &[u8], make: impl FnOnce() -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let Some(fd) = file() else { return make() };
    if let Some(found) = find_in(fd, asked) {
        return Some(found);
    }
    // A lock belongs to what is opened, so this process opens the file once more. It ends with that, however this ends.
    let own = OwnedFd::open(libc::AT_FDCWD, &paths::name_of_descriptor(fd), libc::O_RDWR).ok();
    if let Some(own) = &own {
        // SAFETY: takes numbers only.
        unsafe { sys!(SYS_flock, own.number(), libc::LOCK_EX) };
    }
    if let Some(found) = find_in(fd, asked) {
        return Some(found);
    }
    let result = make()?;
    let mut start = 0;
    while let Some(entry) = Entry::at(fd, start) {
        start = entry.end();
    }
    let mut head = [0u8; HEAD as usize];
    head[..8].copy_from_slice(&(asked.len() as u64).to_le_bytes());
    head[8..].copy_from_slice(&(result.len() as u64).to_le_bytes());
    // The head comes last: who looks meanwhile finds whole entries only.
    let _ = write_at(fd, asked, start + HEAD)
        && write_at(fd, &result, start + HEAD + asked.len() as i64)
        && write_at(fd, &head, start);
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_has_one_result() {
        let _alone = crate::libc_models::tests::alone();
        assert_eq!(find_or_make(b"one", || None), None, "tried again");
        assert_eq!(find_or_make(b"one", || Some(b"1".into())), Some(b"1".into()));
        assert_eq!(find_or_make(b"two", || Some(std::vec![7; 100_000])), Some(std::vec![7; 100_000]));
        assert_eq!(find_or_make(b"one", || Some(b"9".into())), Some(b"1".into()));
        assert_eq!(find_or_make(b"two", || None), Some(std::vec![7; 100_000]));
        assert_eq!(find_or_make(b"three", || Some(Vec::new())), Some(Vec::new()));
        assert_eq!(find_or_make(b"three", || None), Some(Vec::new()));
    }
}
