//! Appending records, and writing full buffers to the file.

use core::sync::atomic::Ordering;

use wire::Tag;
use wire::log::{BUFFER, BlockHead, SLOTS, block, head, words};

use crate::entry::{board, file};
use crate::thread::{__rp_local, FULL, State, has_state, state};

/// The next sequence number.
#[inline(always)]
pub fn number() -> u64 {
    board().sequence.fetch_add(1, Ordering::SeqCst) + 1
}

/// Appends a record; `numbers` are its sequence number and what else it has.
pub fn append(tag: u8, flags: u8, address: u64, site: u32, argument: u32, numbers: [u64; 2]) {
    state().aside.bring_in();
    let record = [head(tag, flags, address), u64::from(site) | u64::from(argument) << 32, numbers[0], numbers[1]];
    let (len, is_event) = words(tag, flags);
    append_words(&record[..len]);
    if is_event {
        state().event_logged();
    }
}

/// Appends the words of a record or of a plain access.
#[inline(always)]
pub fn append_words(record: &[u64]) {
    // Safety: the thread's own variables and buffer; there is room for a record below the margin's end.
    unsafe {
        let local = __rp_local();
        if (*local).cursor % BUFFER > FULL {
            flush();
        }
        let at = (*local).cursor as *mut u64;
        // The first word last: what starts with it is whole.
        for (i, word) in record.iter().enumerate().rev() {
            at.add(i).write_volatile(*word);
        }
        (*local).cursor += size_of_val(record);
    }
}

/// An event with a sequence number.
pub fn event(tag: Tag, flags: u8, address: u64, site: u32, argument: u32) {
    append(tag as u8, flags, address, site, argument, [number(), 0]);
}

/// An event at the site of the call under way.
pub fn here(tag: Tag, flags: u8, address: *const core::ffi::c_void, argument: u32) {
    event(tag, flags, address as u64, site(), argument);
}

/// The site of the call under way.
pub fn site() -> u32 {
    // Safety: the thread's own variables.
    unsafe { (*__rp_local()).site }
}

/// The range of the calling thread's stack, from where its variables are.
pub fn stack_range() {
    // Safety: asks about the calling thread.
    unsafe {
        let mut attributes: libc::pthread_attr_t = core::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &mut attributes) != 0 {
            return;
        }
        let (mut start, mut size) = (core::ptr::null_mut(), 0);
        libc::pthread_attr_getstack(&attributes, &mut start, &mut size);
        libc::pthread_attr_destroy(&mut attributes);
        let number = number();
        append(wire::log::tag::STACK_RANGE, 0, start as u64, wire::NO_SITE, 0, [number, size as u64]);
    }
}

/// Inlined code calls this when the buffer is full, with the cursor, which it has in a register. Returns the new one.
///
/// A thread that has no buffer yet has a full one, so to speak.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_flush(cursor: usize) -> usize {
    // Safety: the thread's own variables.
    unsafe {
        if has_state() {
            (*__rp_local()).cursor = cursor;
        }
        flush();
        state().aside.bring_in();
        (*__rp_local()).cursor
    }
}

/// Writes the calling thread's buffer to the file and empties it.
pub fn flush() {
    let state = state();
    // Safety: the thread's own variables and buffer.
    unsafe {
        let local = __rp_local();
        let words = (*local).cursor % BUFFER / 8;
        if state.aside.depth > 0 {
            (*local).cursor = state.aside.start_again();
            return;
        }
        if state.slot >= SLOTS {
            (*local).cursor -= words * 8;
            return;
        }
        let errno = *libc::__errno_location();
        if board().cut.load(Ordering::Relaxed) == 0 {
            write(state, words);
        } else {
            // Numbers below the cut may still be in the buffer.
            write_if_before_cut(state, words);
        }
        (*local).cursor = state.buffer() as usize;
        state.buffer_emptied();
        *libc::__errno_location() = errno;
    }
}

/// # Safety
/// The state is the calling thread's.
unsafe fn write(state: &mut State, words: usize) {
    // Safety: the caller's; the block is in `packed`.
    unsafe {
        let len = state.pack(words);
        let (place, bytes) = state.packed.split_at_mut(BlockHead::SIZE);
        place.copy_from_slice(&BlockHead::new(block::WORDS, state.number, &bytes[..len]).to_bytes());
        let size = BlockHead::SIZE + len;
        let written = board().written.fetch_add(size as u64, Ordering::Relaxed) + size as u64;
        if written > board().most.load(Ordering::Relaxed) {
            let now = board().sequence.load(Ordering::SeqCst).max(1);
            let _ = board().cut.compare_exchange(0, now, Ordering::SeqCst, Ordering::Relaxed);
        }
        // One call: blocks of different threads do not mix. What cannot be written is missed by the host.
        loop {
            let done = libc::write(file(), state.packed.as_ptr().cast(), size);
            if done >= 0 || *libc::__errno_location() != libc::EINTR {
                break;
            }
        }
    }
}

/// # Safety
/// The state is the calling thread's.
unsafe fn write_if_before_cut(state: &mut State, count: usize) {
    // Safety: the buffer is the thread's own.
    let used = unsafe { core::slice::from_raw_parts_mut(state.buffer(), count) };
    let cut = board().cut.load(Ordering::Relaxed);
    let mut at = 0;
    let mut before = !state.past_cut;
    while before && at < count {
        let word = used[at];
        if word & wire::log::IS_RECORD == 0 {
            at += 1;
            continue;
        }
        let (len, numbered) = words((word >> 48) as u8, (word >> 56) as u8 & 0x7f);
        before = !numbered || used.get(at + 2).is_some_and(|number| *number <= cut);
        at += if before { len } else { 0 };
    }
    state.past_cut |= !before;
    let at = if state.past_cut { at } else { count };
    used[at.min(count)..].fill(0);
    if at > 0 && !used.is_empty() && used[0] != 0 {
        // Safety: as above.
        unsafe { write(state, at.min(count)) };
    }
}
