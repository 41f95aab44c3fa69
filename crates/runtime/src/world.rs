//! What of the process a program can see and memory does not hold, as text: descriptors, mappings of files, attributes.
//!
//! Every run must begin with the same. The host may ask to have that checked (`--verify-isolation`): the text of the first
//! run is kept, and compared with that of every other one.

use core::fmt::Write;

use crate::cell::Keep;
use crate::descriptors::{self, kernel_limit};
use crate::kept;
use crate::sys::{self, sys};
use crate::text::{Text, text};

/// The text at the checkpoint.
struct First {
    len: Option<usize>,
}

#[used]
#[unsafe(link_section = "rp_keep")]
static FIRST: Keep<First> = Keep::new(First { len: None });

/// Half of the room: the text of the first run, and that of another.
const ROOM: usize = (kept::WORLD.end - kept::WORLD.start) / 2;

/// Kept memory that text is appended to; what does not fit is left out.
struct Page {
    start: usize,
    len: usize,
}

impl Write for Page {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        let len = text.len().min(ROOM - self.len);
        // SAFETY: the half that starts there has room for `ROOM` bytes, is mapped, and no other code uses it.
        unsafe { core::ptr::copy_nonoverlapping(text.as_ptr(), (self.start + self.len) as *mut u8, len) };
        self.len += len;
        Ok(())
    }
}

/// The text in one of the halves.
fn lines(start: usize, len: usize) -> core::str::Lines<'static> {
    // SAFETY: `len` bytes of it have been written, all of them parts of `str`; only a cut at the end may split one, which the
    // check notices.
    core::str::from_utf8(unsafe { core::slice::from_raw_parts(start as *const u8, len) }).unwrap_or_default().lines()
}

/// Keeps the text of the checkpoint.
pub fn checkpoint() {
    let mut page = Page { start: kept::WORLD.start, len: 0 };
    describe(&mut page);
    FIRST.with(|first| first.len = Some(page.len));
}

/// What differs from the checkpoint, if something does.
pub fn difference() -> Option<Text> {
    let len = FIRST.with(|first| first.len)?;
    let mut page = Page { start: kept::WORLD.start + ROOM, len: 0 };
    describe(&mut page);
    let (mut first, mut now) = (lines(kept::WORLD.start, len), lines(page.start, page.len));
    loop {
        match (first.next(), now.next()) {
            (None, None) => return None,
            (one, other) if one == other => {}
            (one, other) => {
                let (one, other) = (one.unwrap_or("nothing"), other.unwrap_or("nothing"));
                return Some(text!("a run does not begin as the first one did: it has {other}, the first had {one}"));
            }
        }
    }
}

fn describe(page: &mut Page) {
    let first_own = descriptors::first_own();
    descriptors::for_each_number(|fd| {
        if fd < first_own {
            let (status, flags) = (sys::fcntl(fd, libc::F_GETFL, 0), sys::fcntl(fd, libc::F_GETFD, 0));
            let offset = sys::seek(fd, 0, libc::SEEK_CUR);
            let _ = writeln!(page, "descriptor {fd} with flags {status:#o} and {flags}, position {offset}");
        }
    });
    for which in 0..16 {
        let _ = writeln!(page, "limit {which} of {:?}", kernel_limit(which, None));
    }
    file(page, c"/proc/self/status", |line| {
        const NAMES: [&str; 9] =
            ["Umask:", "Uid:", "Gid:", "Groups:", "NSsid:", "SigBlk:", "SigIgn:", "SigCgt:", "NoNewPrivs:"];
        NAMES.iter().any(|name| line.starts_with(name))
    });
    file(page, c"/proc/self/timerslack_ns", |_| true);
    file(page, c"/proc/self/personality", |_| true);
    // Memory without a file may have grown; it is zero.
    file(page, c"/proc/self/maps", |line| line.contains(" /") && line.contains("-s ") || line.contains("-xp "));
    // SAFETY: takes numbers and touches no memory.
    let priority = unsafe { sys!(SYS_getpriority, libc::PRIO_PROCESS, 0) };
    let _ = writeln!(page, "priority {priority}");
    let mut folder = [0u8; 1024];
    // SAFETY: the kernel reads the name and writes at most as many bytes as there is room for.
    let len =
        unsafe { sys!(SYS_readlinkat, libc::AT_FDCWD, c"/proc/self/cwd".as_ptr(), folder.as_mut_ptr(), folder.len()) };
    let folder = core::str::from_utf8(&folder[..len.max(0) as usize]).unwrap_or_default();
    let _ = writeln!(page, "working folder {folder}");
}

/// Appends the lines of a file that matter.
fn file(page: &mut Page, name: &core::ffi::CStr, matters: impl Fn(&str) -> bool) {
    let fd = sys::open(name, libc::O_RDONLY);
    if fd < 0 {
        return;
    }
    let room = kept::TEXT;
    let mut len = 0;
    loop {
        // SAFETY: the kernel writes at most as many bytes as are left of the room, which is mapped and used by nobody while
        // this function runs.
        let got = unsafe { sys!(SYS_read, fd, room.start + len, room.len() - len) };
        if got <= 0 {
            break;
        }
        len += got as usize;
    }
    sys::close(fd as i32);
    lines(room.start, len).filter(|line| matters(line)).for_each(|line| {
        let _ = writeln!(page, "{line}");
    });
}
