//! File descriptors: shared with the kernel, so put back one by one.

use crate::cell::Keep;
use crate::kept::{self, Table};
use crate::sys::sys;

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

struct State {
    open: Table<Descriptor>,
    /// The last run opened or closed descriptors.
    used: bool,
}

#[unsafe(link_section = "rp_keep")]
static STATE: Keep<State> = Keep::new(State { open: Table::new(kept::DESCRIPTORS), used: false });

/// Descriptors of the runtime are from here on.
pub const FIRST_OWN: i32 = 900;
/// Program descriptors that are looked at.
const MOST: i32 = FIRST_OWN;

/// Moves a descriptor of the runtime out of the program's way.
pub fn hide(fd: isize) -> i32 {
    // Safety: on a descriptor of ours.
    unsafe {
        let moved = sys!(SYS_fcntl, fd, libc::F_DUPFD_CLOEXEC, FIRST_OWN);
        if moved < 0 {
            return fd as i32;
        }
        sys!(SYS_close, fd);
        moved as i32
    }
}

fn offset(fd: i32) -> i64 {
    // Safety: only looks.
    unsafe { sys!(SYS_lseek, fd, 0, libc::SEEK_CUR) as i64 }
}

/// Notes the descriptors that are open now.
pub fn checkpoint() {
    // Safety: no borrow outlives the block.
    let open = unsafe { &mut (*STATE.get()).open };
    for fd in 0..MOST {
        // Safety: system calls that look at a descriptor or duplicate it.
        unsafe {
            let flags = sys!(SYS_fcntl, fd, libc::F_GETFL);
            if flags < 0 {
                continue;
            }
            let spare = sys!(SYS_fcntl, fd, libc::F_DUPFD_CLOEXEC, FIRST_OWN) as i32;
            let writes = flags as i32 & libc::O_ACCMODE != libc::O_RDONLY;
            // Sealable files live in memory alone: nobody else's are cut.
            let in_memory = sys!(SYS_fcntl, fd, libc::F_GET_SEALS) >= 0;
            let offset = offset(fd);
            let length = (writes && in_memory).then(|| sys!(SYS_lseek, fd, 0, libc::SEEK_END) as i64);
            sys!(SYS_lseek, fd, offset.max(0), libc::SEEK_SET);
            open.push(Descriptor { fd, spare, offset, length });
        }
    }
}

/// The last run opened or closed descriptors.
pub fn note_use() {
    // Safety: no borrow outlives the statement.
    unsafe { (*STATE.get()).used = true };
}

/// Puts the descriptors back.
pub fn restore() {
    // Safety: no borrow outlives the block.
    let State { open, used } = unsafe { &mut *STATE.get() };
    let used = core::mem::take(used);
    // Safety: system calls on descriptors noted at the checkpoint, or opened by the program since.
    unsafe {
        if used {
            let mut known = open.items().iter().map(|d| d.fd).peekable();
            for fd in 0..MOST {
                if known.next_if_eq(&fd).is_none() {
                    sys!(SYS_close, fd);
                }
            }
            for d in open.items() {
                sys!(SYS_dup3, d.spare, d.fd, 0);
            }
        }
        for d in open.items().iter().filter(|d| d.offset >= 0) {
            if offset(d.fd) != d.offset {
                if let Some(length) = d.length {
                    sys!(SYS_ftruncate, d.fd, length);
                }
                sys!(SYS_lseek, d.fd, d.offset, libc::SEEK_SET);
            }
        }
    }
}
