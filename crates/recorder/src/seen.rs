//! What a thread has logged since its last record, so that it need not log the like again.
//!
//! Inlined code looks up each plain access in the thread's table and enters it (`docs/runtime-abi.md`, recording). Threads
//! that synchronise often have the table that stays empty: all that they do is logged. One that fills a buffer without
//! a record of an event gets its own, which is emptied and taken away when there is one (decision 25).

use wire::log::SEEN;

use crate::thread::{__rp_local, State};

/// A table; all-zero is empty.
pub type Seen = [u64; SEEN];

/// The table of a thread that has none.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[allow(non_upper_case_globals, reason = "the name that instrumented code knows")]
pub static __rp_nothing_seen: Seen = [0; SEEN];

impl State {
    /// The buffer is empty again: from here on what was logged is not logged again, if the last one had no event.
    pub fn buffer_emptied(&mut self) {
        let (table, had_event) = &mut self.seen;
        if !core::mem::take(had_event) {
            // Safety: the thread's own variables; the table is empty or in use.
            unsafe { (*__rp_local()).seen = table };
        }
    }

    /// An event is logged: what was logged before does not stand for what comes.
    #[inline(always)]
    pub fn event_logged(&mut self) {
        let (table, had_event) = &mut self.seen;
        *had_event = true;
        // Safety: the thread's own variables.
        let local = unsafe { &mut *__rp_local() };
        if core::ptr::eq(local.seen, table) {
            local.seen = &raw const __rp_nothing_seen;
            table.fill(0);
        }
    }
}
