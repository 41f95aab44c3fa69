//! The copy of the process between `fork` and `exec`. It is a real process with a copy of all memory. Its calls change its
//! own copy of the model and its own descriptors, it makes no events, and it has one thread, which nobody schedules.
//!
//! It ends when it asks for another program or exits, and says so to the process that it was forked from, with what it wrote
//! to pipes and what it read of the memory that it is a copy of: that was read when the process was forked. Files that it
//! opens are not opened yet: the program that it executes gets them. What it does besides is not followed; a copy that goes
//! on without `exec`, or uses locks, is named.

use alloc::ffi::CString;
use alloc::vec::Vec;
use core::cell::Cell;
use core::ffi::{CStr, c_char, c_int};

use wire::Tag;

use super::request::{Request, What, put_number, put_text, take_number, take_text};
use crate::cell::{Global, OneThread};
use crate::hooks::HOT;
use crate::libc_models::channels::{self, ChannelId};
use crate::libc_models::open::{self, File};
use crate::libc_models::{kernel, negative};
use crate::run::RUN;
use crate::sys::{self, sys};
use crate::{link, sched};

/// What the copy knows about itself.
struct Forked {
    /// Where it reports to; `None` in every other process.
    report: Cell<Option<c_int>>,
    /// What it did: `HAS_…`.
    did: Cell<u64>,
}

static FORKED: OneThread<Forked> = OneThread::new(Forked { report: Cell::new(None), did: Cell::new(0) });

/// It has asked for another program, which could not be executed.
const HAS_TRIED: u64 = 1;
/// It changed files, or something about itself that the program it executes would inherit and does not.
const HAS_CHANGED: u64 = 2;
/// It used a lock or another thread's object.
const HAS_SYNCHRONISED: u64 = 4;

/// An access to memory: address, bytes and site.
pub type Read = (u64, u64, u32);

/// What the copy has touched: where, how many bytes, whether it read what was there at the fork, and from which site.
static TOUCHED: Global<Vec<(Read, bool)>> = Global::new(Vec::new());

/// More than this many accesses are not followed.
const MOST: usize = 1 << 12;

/// How many bytes were in each channel at the fork.
static LENGTHS: Global<Vec<usize>> = Global::new(Vec::new());

/// The files that the copy has opened.
static PATHS: Global<Vec<What>> = Global::new(Vec::new());

/// Whether this process is such a copy.
pub fn is_child() -> bool {
    FORKED.report.get().is_some()
}

/// What a copy reports.
#[derive(Debug)]
pub struct Report {
    /// How it ended.
    pub end: End,
    /// What it wrote to channels.
    pub written: Vec<(ChannelId, Vec<u8>)>,
    /// What it read of the memory at the fork.
    pub reads: Vec<Read>,
    /// It used a lock, or touched more than is followed.
    pub goes_too_far: bool,
}

/// How a copy ended.
#[derive(Debug)]
pub enum End {
    /// It asks for another program. `has_changed`: something about the process that this would inherit is not passed on.
    Executes {
        /// What is to be executed.
        request: Request,
        /// It changed users, priorities or limits.
        has_changed: bool,
    },
    /// It ended by itself.
    Exited {
        /// As `wait` gives it.
        status: c_int,
        /// It had asked for another program before, which could not be executed.
        has_tried: bool,
    },
    /// It waits for something that only the process it was forked from could bring about.
    Waits,
}

const EXECUTES: u64 = 0;
const EXITED: u64 = 1;
const WAITS: u64 = 2;

/// What a copy has reported; `None` if it ended without.
pub fn parse(mut bytes: &[u8]) -> Option<Report> {
    let bytes = &mut bytes;
    let count = take_number(bytes)?;
    let one = |bytes: &mut &[u8]| Some((take_number(bytes)? as ChannelId, take_text(bytes)?.to_vec()));
    let written = (0..count).map(|_| one(bytes)).collect::<Option<Vec<_>>>()?;
    let count = take_number(bytes)?;
    let one = |bytes: &mut &[u8]| Some((take_number(bytes)?, take_number(bytes)?, take_number(bytes)? as u32));
    let reads = (0..count).map(|_| one(bytes)).collect::<Option<Vec<_>>>()?;
    let (kind, number, did) = (take_number(bytes)?, take_number(bytes)?, take_number(bytes)?);
    let end = match kind {
        EXECUTES => End::Executes { request: Request::from_bytes(bytes)?, has_changed: did & HAS_CHANGED != 0 },
        EXITED => End::Exited { status: number as c_int, has_tried: did & HAS_TRIED != 0 },
        _ => End::Waits,
    };
    Some(Report { end, written, reads, goes_too_far: did & HAS_SYNCHRONISED != 0 })
}

/// This process has just been forked: it is a copy that reports to a descriptor.
pub fn begin(report: c_int, parent: isize) {
    // SAFETY: the calls take numbers, or a structure that lives over them, and change this process alone.
    unsafe {
        sys!(SYS_prctl, libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        if sys!(SYS_getppid) != parent {
            sys::leave(1);
        }
        // A fault ends it as it ends any process.
        let default = [libc::SIG_DFL as u64, 0, 0, 0];
        for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT] {
            sys!(SYS_rt_sigaction, signal, default.as_ptr(), 0, 8);
        }
    }
    link::detach();
    RUN.in_thread.set(false);
    HOT.limit.set(HOT.position.get());
    HOT.stop.set(HOT.position.get());
    FORKED.report.set(Some(report));
    LENGTHS.set(channels::lengths());
}

/// Reports and ends the process.
fn report(kind: u64, number: u64, request: &[u8]) -> ! {
    let Some(to) = FORKED.report.get() else { sys::leave(2) };
    let mut bytes = Vec::new();
    let written = LENGTHS.with(|lengths| channels::added_since(lengths));
    put_number(&mut bytes, written.len() as u64);
    for (channel, added) in written {
        put_number(&mut bytes, channel.into());
        put_text(&mut bytes, &added);
    }
    let mut reads: Vec<Read> =
        TOUCHED.with(|touched| touched.iter().filter(|(_, reads)| *reads).map(|(r, _)| *r).collect());
    reads.sort_unstable();
    reads.dedup();
    put_number(&mut bytes, reads.len() as u64);
    for (at, len, site) in reads {
        [at, len, site.into()].into_iter().for_each(|n| put_number(&mut bytes, n));
    }
    [kind, number, FORKED.did.get()].into_iter().for_each(|n| put_number(&mut bytes, n));
    bytes.extend(request);
    let mut left = &bytes[..];
    while !left.is_empty() {
        // SAFETY: the kernel reads the bytes, which live over the call.
        let done = unsafe { sys!(SYS_write, to, left.as_ptr(), left.len()) };
        if done <= 0 {
            break;
        }
        left = &left[done as usize..];
    }
    sys::leave(0)
}

/// The copy asks for another program.
pub fn execute(request: &Request) -> ! {
    report(EXECUTES, 0, &request.to_bytes())
}

/// The copy ends with this status, as `wait` gives it.
pub fn exit(status: c_int) -> ! {
    report(EXITED, status as u64, &[])
}

/// The copy would wait for ever.
pub fn wait_for_ever() -> ! {
    report(WAITS, 0, &[])
}

/// The copy asked for another program, which cannot be executed.
pub fn note_failure() {
    note(HAS_TRIED);
}

/// The copy changed something about itself that the program it executes would inherit and does not.
pub fn note_change() {
    note(HAS_CHANGED);
}

/// The copy uses a lock or another object that threads share.
pub fn note_synchronisation() {
    note(HAS_SYNCHRONISED);
}

fn note(what: u64) {
    if is_child() {
        FORKED.did.set(FORKED.did.get() | what);
    }
}

/// The copy touches memory.
#[cold]
pub fn note_access(tag: Tag, at: u64, len: u64, site: u32) {
    let covers = |(start, size, _): &Read| *start <= at && at + len <= start + size;
    TOUCHED.with(|touched| {
        let is_own = touched.iter().any(|(access, reads)| !reads && covers(access));
        let reads = tag != Tag::Write;
        if touched.iter().any(|(access, known)| *known == reads && covers(access) && access.2 == site) {
            return;
        }
        if touched.len() == MOST {
            return note_synchronisation();
        }
        if !reads || !is_own {
            touched.push(((at, len, site), reads));
        }
    });
}

/// The copy reads what a call is given.
pub fn note_read(at: *const c_char, len: usize) {
    if is_child() {
        note_access(Tag::Read, at as u64, len as u64, sched::site());
    }
}

/// The file that the copy opened with this number.
pub fn path_of(number: u32) -> What {
    let nothing = What::Path { path: CString::from(c"/dev/null"), flags: libc::O_RDWR, mode: 0 };
    PATHS.with(|paths| paths.get(number as usize).cloned()).unwrap_or(nothing)
}

/// Opens a file in the copy: nothing is made or cut before the program is executed that gets the file.
pub fn open(directory: c_int, path: &CStr, flags: c_int, mode: libc::mode_t) -> isize {
    let changes = flags & libc::O_ACCMODE != libc::O_RDONLY || flags & (libc::O_CREAT | libc::O_TRUNC) != 0;
    let exists = kernel::faccessat(directory, path, libc::F_OK) >= 0;
    let opened = match (exists, flags & libc::O_CREAT != 0) {
        (true, true) if flags & libc::O_EXCL != 0 => negative(libc::EEXIST),
        (true, _) if changes => match kernel::faccessat(directory, path, libc::W_OK) {
            0 => kernel::openat(directory, path, flags & !(libc::O_CREAT | libc::O_TRUNC | libc::O_EXCL)),
            error => error,
        },
        (true, _) => kernel::openat(directory, path, flags),
        (false, false) => negative(libc::ENOENT),
        (false, true) => kernel::openat(libc::AT_FDCWD, c"/dev/null", libc::O_RDWR | flags & libc::O_CLOEXEC),
    };
    if directory != libc::AT_FDCWD && !path.to_bytes().starts_with(b"/") {
        note_change();
    }
    let number = PATHS.with(|paths| {
        paths.push(What::Path { path: path.into(), flags: flags & !libc::O_CLOEXEC, mode });
        paths.len() as u32 - 1
    });
    open::opened(opened, File::Later(number))
}

/// The thread that runs, also in a copy.
pub fn running_thread() -> Option<sched::Thread> {
    (sched::running() || is_child()).then(sched::current)
}
