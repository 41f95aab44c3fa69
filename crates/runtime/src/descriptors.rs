//! File descriptors: shared with the kernel, so put back one by one.

use crate::cell::Keep;
use crate::kept::{self, Table};
use crate::sys::{self, sys};

/// A descriptor open at the checkpoint.
#[derive(Clone, Copy)]
struct Descriptor {
    fd: i32,
    /// A duplicate, out of the program's way, to get it back if the program closes it.
    spare: i32,
    /// Its offset; negative where there is none.
    offset: i64,
    /// Length of the file if it may be cut back to it: one that only this process writes.
    length: Option<i64>,
}

/// The descriptors of the checkpoint.
struct Descriptors {
    open: Table<Descriptor>,
    /// The last run opened or closed descriptors.
    used: bool,
}

#[unsafe(link_section = "rp_keep")]
static DESCRIPTORS: Keep<Descriptors> = Keep::new(Descriptors { open: Table::new(kept::DESCRIPTORS), used: false });

/// Descriptors of the runtime are from here on.
pub const FIRST_OWN: i32 = 900;
/// Program descriptors that are looked at.
const MOST: i32 = FIRST_OWN;

/// Moves a descriptor of the runtime out of the program's way.
pub fn hide(fd: isize) -> i32 {
    let fd = fd as i32;
    let moved = sys::fcntl(fd, libc::F_DUPFD_CLOEXEC, FIRST_OWN);
    if moved < 0 {
        return fd;
    }
    sys::close(fd);
    moved as i32
}

fn offset(fd: i32) -> i64 {
    sys::seek(fd, 0, libc::SEEK_CUR)
}

/// Notes the descriptors that are open now.
pub fn checkpoint() {
    for fd in 0..MOST {
        let flags = sys::fcntl(fd, libc::F_GETFL, 0);
        if flags < 0 {
            continue;
        }
        let spare = sys::fcntl(fd, libc::F_DUPFD_CLOEXEC, FIRST_OWN) as i32;
        let writes = flags as i32 & libc::O_ACCMODE != libc::O_RDONLY;
        // Sealable files live in memory alone: nobody else's are cut.
        let in_memory = sys::fcntl(fd, libc::F_GET_SEALS, 0) >= 0;
        let offset = offset(fd);
        let length = (writes && in_memory).then(|| sys::seek(fd, 0, libc::SEEK_END));
        sys::seek(fd, offset.max(0), libc::SEEK_SET);
        DESCRIPTORS.with(|descriptors| descriptors.open.push(Descriptor { fd, spare, offset, length }));
    }
}

/// The last run opened or closed descriptors.
pub fn note_use() {
    DESCRIPTORS.with(|descriptors| descriptors.used = true);
}

/// Puts the descriptors back.
pub fn restore() {
    DESCRIPTORS.with(|Descriptors { open, used }| {
        if core::mem::take(used) {
            let mut known = open.items().iter().map(|d| d.fd).peekable();
            for fd in 0..MOST {
                if known.next_if_eq(&fd).is_none() {
                    sys::close(fd);
                }
            }
            for d in open.items() {
                // SAFETY: touches no memory.
                unsafe { sys!(SYS_dup3, d.spare, d.fd, 0) };
            }
        }
        for d in open.items().iter().filter(|d| d.offset >= 0 && offset(d.fd) != d.offset) {
            if let Some(length) = d.length {
                // SAFETY: touches no memory of the process; only files that live in memory alone are cut.
                unsafe { sys!(SYS_ftruncate, d.fd, length) };
            }
            sys::seek(d.fd, d.offset, libc::SEEK_SET);
        }
    });
}
