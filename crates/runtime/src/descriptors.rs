//! File descriptors: shared with the kernel, so put back one by one.
//!
//! The runtime's own have numbers that the program cannot get: from [`first_own`] on, above the limit that the program
//! sees. The process's real limit is higher by the room for them.

use crate::cell::{Global, Keep};
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
    /// The flags of the open file (`O_NONBLOCK` and others).
    status: i32,
    /// Whether it closes when another program is executed.
    closes: bool,
}

/// The descriptors of the checkpoint.
struct Descriptors {
    open: Table<Descriptor>,
    /// The last run opened or closed descriptors.
    used: bool,
    /// The lowest number of the runtime's own.
    first_own: i32,
}

/// As long as nobody has looked at the limits.
const USUAL_FIRST: i32 = 900;

#[used]
#[unsafe(link_section = "rp_keep")]
static DESCRIPTORS: Keep<Descriptors> =
    Keep::new(Descriptors { open: Table::new(kept::DESCRIPTORS), used: false, first_own: USUAL_FIRST });

/// The limits on numbers of descriptors that the program sees, as `getrlimit` tells them.
static LIMIT: Global<(u64, u64)> = Global::new((USUAL_FIRST as u64, USUAL_FIRST as u64));

/// Numbers for the runtime's own.
const ROOM: u64 = 8192;
/// The kernel's tables grow with the highest number in use.
const HIGHEST_FIRST: u64 = 1 << 16;
/// Numbers below this one are left to the program, if the limits allow it.
const LOWEST_FIRST: u64 = 1024;

/// `struct rlimit` of the kernel.
pub type Limit = [u64; 2];

/// Asks for a limit of the process, and sets it if there is a new one.
///
/// # Errors
/// The error number.
pub fn kernel_limit(which: i32, new: Option<Limit>) -> Result<Limit, i32> {
    let mut old: Limit = [0; 2];
    let new = new.as_ref().map_or(core::ptr::null(), |new| new.as_ptr());
    // SAFETY: the kernel reads the new limits, if there are any, and writes the old ones; both live over the call.
    let answer = unsafe { sys!(SYS_prlimit64, 0, which, new, old.as_mut_ptr()) };
    if answer < 0 { Err(-answer as i32) } else { Ok(old) }
}

/// Decides which numbers are the runtime's own; to be called before it opens any.
pub fn reserve() {
    let which = libc::RLIMIT_NOFILE as i32;
    let Ok([soft, hard]) = kernel_limit(which, None) else { return };
    let wanted = soft.clamp(LOWEST_FIRST, HIGHEST_FIRST);
    let raised = hard >= wanted + ROOM && kernel_limit(which, Some([wanted + ROOM, hard])).is_ok()
        || kernel_limit(which, Some([wanted + ROOM, wanted + ROOM])).is_ok();
    let first = if raised {
        wanted
    } else {
        // The program has to do with less.
        let _ = kernel_limit(which, Some([hard, hard]));
        wanted.min(hard - hard.min(ROOM) / 4)
    };
    LIMIT.set((soft, hard));
    DESCRIPTORS.with(|descriptors| descriptors.first_own = first as i32);
}

/// The lowest number of the runtime's own descriptors.
pub fn first_own() -> i32 {
    DESCRIPTORS.with(|descriptors| descriptors.first_own)
}

/// Whether this is the number of a descriptor that the program cannot have.
pub fn is_own(fd: i32) -> bool {
    fd >= first_own()
}

/// The limits that the program sees.
pub fn visible_limit() -> Limit {
    let (soft, hard) = LIMIT.value();
    [soft, hard]
}

/// Changes the limits that the program sees.
///
/// # Errors
/// The error number.
pub fn set_visible_limit([soft, hard]: Limit) -> Result<(), i32> {
    let (_, most) = LIMIT.value();
    if soft > hard {
        return Err(libc::EINVAL);
    }
    if hard > most {
        return Err(libc::EPERM);
    }
    LIMIT.set((soft, hard));
    Ok(())
}

/// Whether the program may have a descriptor of this number.
pub fn is_allowed(fd: i32) -> bool {
    !is_own(fd) && (fd as u64) < LIMIT.value().0
}

/// Moves a descriptor of the runtime out of the program's way.
///
/// # Errors
/// The error number, if there is no number left; the descriptor is closed then.
pub fn hide(fd: isize) -> Result<i32, i32> {
    let fd = fd as i32;
    let moved = sys::fcntl(fd, libc::F_DUPFD_CLOEXEC, first_own());
    sys::close(fd);
    if moved < 0 { Err(-moved as i32) } else { Ok(moved as i32) }
}

fn offset(fd: i32) -> i64 {
    sys::seek(fd, 0, libc::SEEK_CUR)
}

/// Notes the descriptors that are open now.
pub fn checkpoint() {
    let first_own = first_own();
    for_each_number(|fd| {
        let status = sys::fcntl(fd, libc::F_GETFL, 0);
        if fd >= first_own || status < 0 {
            return;
        }
        let spare = sys::fcntl(fd, libc::F_DUPFD_CLOEXEC, first_own) as i32;
        let writes = status as i32 & libc::O_ACCMODE != libc::O_RDONLY;
        // Sealable files live in memory alone: nobody else's are cut.
        let in_memory = sys::fcntl(fd, libc::F_GET_SEALS, 0) >= 0;
        let offset = offset(fd);
        let length = (writes && in_memory).then(|| sys::seek(fd, 0, libc::SEEK_END));
        sys::seek(fd, offset.max(0), libc::SEEK_SET);
        let closes = sys::fcntl(fd, libc::F_GETFD, 0) == libc::FD_CLOEXEC as isize;
        let descriptor = Descriptor { fd, spare, offset, length, status: status as i32, closes };
        DESCRIPTORS.with(|descriptors| descriptors.open.push(descriptor));
    });
}

/// Calls `visit` with the number of every open descriptor, ascending.
pub fn for_each_number(mut visit: impl FnMut(i32)) {
    let folder = sys::open(c"/proc/self/fd", libc::O_RDONLY | libc::O_DIRECTORY);
    if folder < 0 {
        return (0..first_own()).for_each(visit);
    }
    let mut last = -1;
    let mut entries = [0u8; 2048];
    loop {
        // SAFETY: the kernel writes at most as many bytes as the array has.
        let len = unsafe { sys!(SYS_getdents64, folder, entries.as_mut_ptr(), entries.len()) };
        if len <= 0 {
            break;
        }
        let mut left = &entries[..len as usize];
        // An entry: two numbers of eight bytes, its length in two, its type in one, its name.
        while let Some(size) = left.get(16..18).map(|size| usize::from(u16::from_ne_bytes([size[0], size[1]]))) {
            let name = left.get(19..size).unwrap_or_default().split(|byte| *byte == 0).next().unwrap_or_default();
            let number = core::str::from_utf8(name).ok().and_then(|name| name.parse().ok());
            if let Some(fd) = number.filter(|fd| *fd != folder as i32 && *fd > last) {
                last = fd;
                visit(fd);
            }
            left = left.get(size.max(1)..).unwrap_or_default();
        }
    }
    sys::close(folder as i32);
}

/// The last run opened or closed descriptors.
pub fn note_use() {
    DESCRIPTORS.with(|descriptors| descriptors.used = true);
}

/// Puts the descriptors back.
pub fn restore() {
    DESCRIPTORS.with(|Descriptors { open, used, first_own }| {
        if core::mem::take(used) {
            let mut next = 0;
            for d in open.items() {
                close_all(next, d.fd - 1);
                next = d.fd + 1;
                let flags = if d.closes { libc::O_CLOEXEC } else { 0 };
                // SAFETY: touches no memory.
                unsafe { sys!(SYS_dup3, d.spare, d.fd, flags) };
            }
            close_all(next, *first_own - 1);
        }
        for d in open.items() {
            if sys::fcntl(d.fd, libc::F_GETFL, 0) != d.status as isize {
                sys::fcntl(d.fd, libc::F_SETFL, d.status);
            }
            if d.offset < 0 || offset(d.fd) == d.offset {
                continue;
            }
            if let Some(length) = d.length {
                // SAFETY: touches no memory of the process; only files that live in memory alone are cut.
                unsafe { sys!(SYS_ftruncate, d.fd, length) };
            }
            sys::seek(d.fd, d.offset, libc::SEEK_SET);
        }
    });
}

/// Closes all descriptors from one number to another, which may be none.
fn close_all(first: i32, last: i32) {
    // SAFETY: touches no memory; no Rust object owns a descriptor in this library.
    if first <= last && unsafe { sys!(SYS_close_range, first, last, 0) } < 0 {
        (first..=last).for_each(sys::close);
    }
}
