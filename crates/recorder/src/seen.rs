//! What a thread has logged since its last record, so that it need not log the like again.
//!
//! Inlined code looks up each plain access in the thread's table and enters it (`docs/runtime-abi.md`, recording). Threads
//! that synchronise often have a table that stays empty: all that they do is logged. One that fills a buffer without a
//! record of an event gets its own, which is emptied and taken away when there is one (decision 25). The table grows with
//! the number of buffers that were filled meanwhile, so emptying it costs no more than filling them did (decision 101).

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr::null;

use wire::log::SEEN;

use crate::thread::{local, map};

/// The table of a thread that has none: one entry, which stays empty.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[allow(non_upper_case_globals, reason = "the name that instrumented code knows")]
pub static __rp_nothing_seen: u64 = 0;

/// Entries that a table has at first, and how many times as many it has when it grows.
const FIRST: usize = 1 << 14;
const GROWTH: usize = 4;

/// The table that inlined code uses: its first entry, and the number of its last.
#[derive(Clone, Copy)]
pub struct InUse(*const u64, usize);

impl InUse {
    /// Lets the calling thread log everything.
    pub const NOTHING: Self = Self(&raw const __rp_nothing_seen, 0);

    /// What the calling thread uses.
    pub fn now() -> Self {
        Self(local().seen.get(), local().last_seen.get())
    }

    /// Lets the calling thread use it.
    pub fn set(self) {
        local().seen.set(self.0);
        local().last_seen.set(self.1);
    }
}

/// A thread's own table.
pub struct ThreadTable {
    /// Room for [`SEEN`] entries, once it was needed; those in use are the only ones that are not zero.
    room: Cell<*const Cell<u64>>,
    /// Entries in use.
    size: Cell<usize>,
    /// Buffers filled since the last event.
    filled: Cell<usize>,
    /// Whether the thread has logged an event since its buffer was empty.
    had_event: Cell<bool>,
}

impl ThreadTable {
    /// The buffer is empty again: from here on what was logged is not logged again, if the last one had no event.
    pub fn buffer_emptied(&self) {
        if self.had_event.take() {
            return;
        }
        self.filled.set(self.filled.get() + 1);
        if self.room.get().is_null() {
            self.room.set(map(SEEN * size_of::<u64>(), libc::MAP_NORESERVE).cast());
        }
        let size = self.size.get();
        if size == 0 {
            self.size.set(FIRST);
        } else if size < SEEN && self.filled.get() >= GROWTH * size / FIRST {
            // What is entered stays true, wherever it is looked for now.
            self.size.set(size * GROWTH);
        } else {
            return;
        }
        InUse(self.room.get().cast(), self.size.get() - 1).set();
    }

    /// An event is logged: what was logged before does not stand for what comes.
    #[inline(always)]
    pub fn event_logged(&self) {
        self.had_event.set(true);
        // In a handler of a signal none is in use: its events come into the log when it is over.
        if local().seen.get() == self.room.get().cast() {
            self.empty();
        }
    }

    #[cold]
    fn empty(&self) {
        InUse::NOTHING.set();
        let size = self.size.take();
        self.filled.set(0);
        // SAFETY: so many entries are in the room, which is the thread's own; the memory is mapped until `give_back`.
        let entries = unsafe { core::slice::from_raw_parts(self.room.get(), size) };
        entries.iter().for_each(|entry| entry.set(0));
    }

    /// Gives the memory back; to be called by the thread, for the last time.
    pub fn give_back(&self) {
        InUse::NOTHING.set();
        self.size.set(0);
        let room = self.room.replace(null());
        if !room.is_null() {
            // SAFETY: `buffer_emptied` mapped that much; nothing refers to it any more.
            unsafe { libc::munmap(room.cast_mut().cast::<c_void>(), SEEN * size_of::<u64>()) };
        }
    }
}
