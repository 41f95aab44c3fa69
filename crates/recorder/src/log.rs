//! Appending records, and writing full buffers to the file.

use core::sync::atomic::Ordering;

use wire::Tag;
use wire::log::{BUFFER, BlockHead, SLOTS, head, words};

use crate::entry::{board, file};
use crate::real::{self, errno, set_errno};
use crate::thread::{FULL, ThreadState, has_state, local, state};

/// The next sequence number.
#[inline(always)]
pub fn number() -> u64 {
    board().sequence.fetch_add(1, Ordering::SeqCst) + 1
}

/// Appends a record; `numbers` are its sequence number and what else it has.
pub fn append(tag: u8, flags: u8, address: u64, site: u32, argument: u32, numbers: [u64; 2]) {
    let state = state();
    state.bring_in_aside();
    let record = [head(tag, flags, address), u64::from(site) | u64::from(argument) << 32, numbers[0], numbers[1]];
    let (len, is_event) = words(tag, flags);
    append_words(&record[..len]);
    state.record_words.set(state.record_words.get() + len);
    if is_event {
        state.seen.event_logged();
    }
}

/// Appends the words of a record or of a plain access.
#[inline(always)]
pub fn append_words(record: &[u64]) {
    if local().cursor.get() % BUFFER > FULL {
        flush();
    }
    let at = local().cursor.get() as *mut u64;
    // The first word last: what starts with it is whole.
    for (i, word) in record.iter().enumerate().rev() {
        // SAFETY: the cursor is in a buffer that only the calling thread writes, at least `MARGIN` bytes before its end,
        // which is more than any record has.
        unsafe { at.add(i).write_volatile(*word) };
    }
    local().cursor.set(local().cursor.get() + size_of_val(record));
}

/// An event with a sequence number.
pub fn event(tag: Tag, flags: u8, address: u64, site: u32, argument: u32) {
    append(tag as u8, flags, address, site, argument, [number(), 0]);
}

/// An event at the site of the current call.
pub fn here(tag: Tag, flags: u8, address: *const core::ffi::c_void, argument: u32) {
    event(tag, flags, address as u64, site(), argument);
}

/// The site of the current call.
pub fn site() -> u32 {
    local().site.get()
}

/// The range of the calling thread's stack, from where its variables are.
pub fn stack_range() {
    let (mut start, mut size) = (core::ptr::null_mut(), 0);
    // SAFETY: all zero is a value of the structure, which the first call initialises for the calling thread, the second
    // reads, and the third gives back.
    unsafe {
        let mut attributes: libc::pthread_attr_t = core::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
            return;
        }
        libc::pthread_attr_getstack(&attributes, &mut start, &mut size);
        libc::pthread_attr_destroy(&mut attributes);
    }
    range(start as u64, size as u64);
}

/// Memory in which there is something else from now on.
pub fn range(start: u64, size: u64) {
    append(wire::log::tag::RANGE, 0, start, wire::NO_SITE, 0, [number(), size]);
}

/// Inlined code calls this when the buffer is full, with the cursor, which it has in a register. Returns the new one.
///
/// A thread that has no buffer yet starts with a cursor that says "full", so it comes here first and gets one.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_flush(cursor: usize) -> usize {
    if has_state() {
        local().cursor.set(cursor);
    }
    flush();
    state().bring_in_aside();
    local().cursor.get()
}

/// Writes the calling thread's buffer to the file and empties it.
pub fn flush() {
    let (state, cursor) = (state(), &local().cursor);
    let words = cursor.get() % BUFFER / 8;
    if state.aside.depth.get() > 0 {
        cursor.set(state.aside.start_again());
        return;
    }
    if state.slot.get() >= SLOTS {
        cursor.set(cursor.get() - words * 8);
        return;
    }
    let error = errno();
    if board().cut.load(Ordering::Relaxed) == 0 {
        write(state, words);
    } else {
        // Numbers below the cut may still be in the buffer.
        write_if_before_cut(state, words);
    }
    cursor.set(state.buffer());
    state.seen.buffer_emptied();
    set_errno(error);
}

/// Writes the first words of the calling thread's buffer.
fn write(state: &ThreadState, words: usize) {
    state.pack(words, |block| {
        let size = block.len() as u64;
        let plain = words.saturating_sub(state.record_words.take()) as u64;
        board().plain.fetch_add(plain, Ordering::Relaxed);
        count_written(size);
        write_parts([block, &[]]);
    });
}

/// Counts bytes that are about to be written; stops the recording where they are too many.
fn count_written(size: u64) {
    let written = board().written.fetch_add(size, Ordering::Relaxed) + size;
    if written > board().most.load(Ordering::Relaxed) {
        let now = board().sequence.load(Ordering::SeqCst).max(1);
        let _ = board().cut.compare_exchange(0, now, Ordering::SeqCst, Ordering::Relaxed);
    }
}

/// Writes a block in one call: blocks of different threads do not mix. What cannot be written is missed by the host.
fn write_parts(parts: [&[u8]; 2]) {
    let parts = parts.map(|part| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
    loop {
        // SAFETY: the kernel only reads the parts.
        let done = unsafe { real::writev(file(), parts.as_ptr(), parts.len() as core::ffi::c_int) };
        if done >= 0 || errno() != libc::EINTR {
            break;
        }
    }
}

/// Writes a block that is no buffer of a thread's, while the recording goes on.
pub fn append_block(kind: u32, thread: u32, bytes: &[u8]) {
    if file() >= 0 && board().cut.load(Ordering::Relaxed) == 0 {
        count_written((BlockHead::SIZE + bytes.len()) as u64);
        write_parts([&BlockHead::new(kind, thread, bytes).to_bytes(), bytes]);
    }
}

/// Writes what is numbered below the cut, of the first words of the calling thread's buffer.
fn write_if_before_cut(state: &ThreadState, count: usize) {
    let used = state.words(count);
    let cut = board().cut.load(Ordering::Relaxed);
    let mut at = 0;
    let mut before = !state.past_cut.get();
    while before && at < count {
        let word = used[at].get();
        if word & wire::log::IS_RECORD == 0 {
            at += 1;
            continue;
        }
        let (len, numbered) = words((word >> 48) as u8, (word >> 56) as u8 & 0x7f);
        before = !numbered || used.get(at + 2).is_some_and(|number| number.get() <= cut);
        at += if before { len } else { 0 };
    }
    if !before {
        state.past_cut.set(true);
    }
    let at = if state.past_cut.get() { at } else { count };
    used[at.min(count)..].iter().for_each(|word| word.set(0));
    if at > 0 && used.first().is_some_and(|word| word.get() != 0) {
        write(state, at.min(count));
    }
}
