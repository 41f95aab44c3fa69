//! The runtime's end of the shared memory.

use core::sync::atomic::{AtomicU32, Ordering};

use wire::layout::{self, CHOICES_OFFSET, MESSAGE_OFFSET, PEERS_CAPACITY, PEERS_OFFSET, SEGMENTS_OFFSET, TRACE_OFFSET};
use wire::{
    CHOICE_CAPACITY, Chosen, Header, MESSAGE_CAPACITY, Patience, Record, Reply, ReplyKind, Request, SEGMENT_CAPACITY,
    Segment,
};

use crate::cell::Keep;
use crate::sys::{self, PAGE, sys};

/// Where the shared memory is mapped.
pub const BASE: usize = 0x3800_0000_0000;

/// What is kept between two requests.
struct Bell {
    /// The last request seen.
    seen: u32,
    /// The process that started this one.
    host: isize,
    patience: Patience,
}

#[used]
#[unsafe(link_section = "rp_keep")]
static BELL: Keep<Bell> = Keep::new(Bell { seen: 0, host: 0, patience: Patience::new() });

/// Maps the shared memory behind a descriptor and closes that.
///
/// # Errors
/// Why it cannot be used.
pub fn attach(fd: i32) -> Result<(), &'static str> {
    let map = |len: usize| {
        let flags = libc::MAP_SHARED | libc::MAP_FIXED;
        // SAFETY: the runtime keeps this range of addresses for the shared memory, so no other mapping is replaced.
        unsafe { sys!(SYS_mmap, BASE, len, libc::PROT_READ | libc::PROT_WRITE, flags, fd, 0) as usize == BASE }
    };
    if !map(PAGE) {
        return Err("the shared memory cannot be mapped");
    }
    let header = header();
    if header.magic.load(Ordering::Acquire) != wire::MAGIC || header.version.load(Ordering::Acquire) != wire::VERSION {
        return Err("the shared memory is of another version of raceproof: build the program again");
    }
    let records = header.trace_capacity.load(Ordering::Acquire) as usize;
    if !records.checked_mul(size_of::<Record>()).is_some_and(|len| map(TRACE_OFFSET + len)) {
        return Err("the shared memory cannot be mapped");
    }
    sys::close(fd);
    BELL.with(|bell| bell.host = parent());
    Ok(())
}

/// Gives up the shared memory, in a process that was forked: what it writes there is its own.
pub fn detach() {
    let (len, flags) =
        (TRACE_OFFSET + trace().end as usize - trace().start as usize, libc::MAP_PRIVATE | libc::MAP_FIXED);
    let flags = flags | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let mut page = [0u8; PAGE];
    // SAFETY: the header is a page that is mapped, and nothing else of the copy is read. The new mapping takes the place of
    // the shared memory, for which this range of addresses is kept.
    unsafe {
        core::ptr::copy_nonoverlapping(BASE as *const u8, page.as_mut_ptr(), PAGE);
        if sys!(SYS_mmap, BASE, len, libc::PROT_READ | libc::PROT_WRITE, flags, -1isize, 0) as usize != BASE {
            sys::leave(2);
        }
        core::ptr::copy_nonoverlapping(page.as_ptr(), BASE as *mut u8, PAGE);
    }
}

/// The header.
pub fn header() -> &'static Header {
    // SAFETY: `attach` maps it before anything else is done, for as long as the process lives, and it is only ever
    // changed through atomics and the request and reply cells.
    unsafe { &*(BASE as *const Header) }
}

/// The current request.
pub fn request() -> Request {
    // SAFETY: the host does not write the request between ringing and the answer.
    unsafe { header().request.get().read_volatile() }
}

/// A segment of the current request.
pub fn segment(index: u32) -> Segment {
    let segments = (BASE + SEGMENTS_OFFSET) as *const Segment;
    // SAFETY: below the capacity of its area, which is mapped; the host does not write it between ringing and the answer.
    unsafe { segments.add(index as usize % SEGMENT_CAPACITY).read_volatile() }
}

/// The value that the current request decides for a choice of an event.
pub fn decided(thread: u32, position: u32, index: u32) -> Option<i64> {
    let choices = (BASE + CHOICES_OFFSET) as *const Chosen;
    // SAFETY: below the capacity of its area, which is mapped; the host does not write it between ringing and the answer.
    let at = |i: usize| unsafe { choices.add(i % CHOICE_CAPACITY).read_volatile() };
    let key = |c: &Chosen| (c.thread, c.position, c.index);
    let (mut low, mut high) = (0, request().choices as usize);
    while low < high {
        let middle = low + (high - low) / 2;
        let chosen = at(middle);
        match key(&chosen).cmp(&(thread, position, index)) {
            core::cmp::Ordering::Equal => return Some(chosen.value),
            core::cmp::Ordering::Less => low = middle + 1,
            core::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}

/// The script for the program's peers.
pub fn peers() -> &'static [u8] {
    let len = (header().peers_len.load(Ordering::Relaxed) as usize).min(PEERS_CAPACITY);
    // SAFETY: at most the capacity of its area, which is mapped for as long as the process lives; the host wrote it before
    // the process started and does not change it.
    unsafe { core::slice::from_raw_parts((BASE + PEERS_OFFSET) as *const u8, len) }
}

/// The trace area.
pub fn trace() -> core::ops::Range<*mut Record> {
    let start = (BASE + TRACE_OFFSET) as *mut Record;
    let records = header().trace_capacity.load(Ordering::Relaxed) as usize;
    start..start.wrapping_add(records)
}

/// Number of records in the trace area below a cursor into it.
pub fn records_before(cursor: *const Record) -> u64 {
    ((cursor as usize - trace().start as usize) / size_of::<Record>()) as u64
}

fn futex(word: &AtomicU32, operation: i32, value: u32) {
    let limit = libc::timespec { tv_sec: 1, tv_nsec: 0 };
    // SAFETY: word and limit outlive the call; a wake-up ignores the limit.
    unsafe { sys!(SYS_futex, word as *const AtomicU32, operation, value, &raw const limit) };
}

/// The process that started this one.
fn parent() -> isize {
    // SAFETY: has no arguments and touches no memory.
    unsafe { sys!(SYS_getppid) }
}

/// Waits for the next request.
pub fn wait() {
    let requested = &header().requested;
    BELL.with(|bell| wait_with(bell, requested));
}

fn wait_with(bell: &mut Bell, requested: &AtomicU32) {
    let crowded = header().crowded.load(Ordering::Relaxed) != 0;
    for _ in 0..if crowded { 1 } else { bell.patience.looks() } {
        let now = requested.load(Ordering::Acquire);
        if now != bell.seen {
            bell.seen = now;
            return bell.patience.caught();
        }
        core::hint::spin_loop();
    }
    bell.patience.missed();
    loop {
        // The host looks at this after it has rung.
        header().runtime_sleeps.store(1, Ordering::SeqCst);
        if requested.load(Ordering::SeqCst) == bell.seen {
            futex(requested, libc::FUTEX_WAIT, bell.seen);
        }
        header().runtime_sleeps.store(0, Ordering::Relaxed);
        let now = requested.load(Ordering::Acquire);
        if now != bell.seen {
            bell.seen = now;
            return;
        }
        if parent() != bell.host {
            // The host is gone.
            sys::leave(0);
        }
    }
}

/// Writes the reply; the caller rings.
pub fn reply(reply: Reply, kind: ReplyKind, message: &str) {
    let len = message.len().min(MESSAGE_CAPACITY);
    // SAFETY: the message area has that capacity, and the host does not read it or the reply before the runtime rings.
    unsafe {
        core::ptr::copy_nonoverlapping(message.as_ptr(), (BASE + MESSAGE_OFFSET) as *mut u8, len);
        header().reply.get().write_volatile(Reply { kind: kind as u32, message_len: len as u32, ..reply });
    }
}

/// Tells the host that the reply is there.
pub fn ring() {
    let answered = &header().answered;
    answered.store(BELL.with(|bell| bell.seen), Ordering::SeqCst);
    if header().host_sleeps.load(Ordering::SeqCst) != 0 {
        futex(answered, libc::FUTEX_WAKE, 1);
    }
}

/// The process is up: says where the executable is loaded.
pub fn started(load_base: u64) {
    header().load_base.store(load_base, Ordering::Relaxed);
    running_process();
}

/// This process runs the program.
pub fn running_process() {
    // SAFETY: has no arguments and touches no memory.
    let pid = unsafe { sys!(SYS_getpid) };
    header().running_pid.store(pid as u32, Ordering::Release);
}

/// Whether the process makes one run only.
pub fn runs_once() -> bool {
    header().isolation.load(Ordering::Relaxed) == layout::isolation::ONCE
}

/// Whether every run is a process forked at the checkpoint.
pub fn forks() -> bool {
    header().isolation.load(Ordering::Relaxed) == layout::isolation::FORK
}
