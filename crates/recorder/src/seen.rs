//! What a thread has logged since its last record, so that it need not log the like again.
//!
//! Inlined code looks up each plain access in the thread's table and enters it (`docs/runtime-abi.md`, recording). Threads
//! that synchronise often have the table that stays empty: all that they do is logged. One that fills a buffer without
//! a record of an event gets its own, which is emptied and taken away when there is one (decision 25).

use core::cell::Cell;

use wire::log::SEEN;

use crate::thread::local;

/// A table; all-zero is empty.
pub type Seen = [u64; SEEN];

/// The table of a thread that has none.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[allow(non_upper_case_globals, reason = "the name that instrumented code knows")]
pub static __rp_nothing_seen: Seen = [0; SEEN];

/// A thread's own table.
pub struct ThreadTable {
    table: [Cell<u64>; SEEN],
    /// Whether the thread has logged an event since its buffer was empty.
    had_event: Cell<bool>,
}

impl ThreadTable {
    /// The address by which inlined code knows the table.
    fn address(&self) -> *const Seen {
        self.table.as_ptr().cast()
    }

    /// The buffer is empty again: from here on what was logged is not logged again, if the last one had no event.
    pub fn buffer_emptied(&self) {
        if !self.had_event.take() {
            local().seen.set(self.address());
        }
    }

    /// An event is logged: what was logged before does not stand for what comes.
    #[inline(always)]
    pub fn event_logged(&self) {
        self.had_event.set(true);
        if core::ptr::eq(local().seen.get(), self.address()) {
            local().seen.set(&raw const __rp_nothing_seen);
            self.table.iter().for_each(|entry| entry.set(0));
        }
    }
}
