//! Sections that no other thread interrupts: one event, with all that is done in them.
//!
//! While a section is open, every access calls [`access`], because the hooks' limit is kept at the position: the first
//! thing that is visible makes the event, the rest adds to it. Nothing in a section asks the scheduler; an operation that
//! does is not covered by the model: it closes the section and is noted.
//!
//! When an assumption fails in a section, the section has not happened for the others: what it wrote is put back.

use alloc::vec::Vec;
use core::cell::Cell;

use wire::record::{flag, order};
use wire::{Record, Tag};

use crate::cell::{Global, OneThread};
use crate::hooks::{self, HOT};
use crate::{memory, rounds, sched, unwritten};

/// The current section. Only the running thread can have one.
struct Section {
    /// Whether its event was made.
    opened: bool,
    /// Where it began.
    site: u32,
    /// Number of choices made in it.
    choices: u32,
    /// What it wrote over, in order: address and the bytes that were there.
    written: Vec<(u64, Vec<u8>)>,
    /// Whether `written` has all of it.
    exact: bool,
}

impl Section {
    /// One that has done nothing.
    const NEW: Self = Self { opened: false, site: 0, choices: 0, written: Vec::new(), exact: true };
}

static SECTION: Global<Section> = Global::new(Section::NEW);

/// How many sections are nested; 0 when there is none.
static DEPTH: OneThread<Cell<u32>> = OneThread::new(Cell::new(0));

/// Whether a section is open.
#[inline]
pub fn is_open() -> bool {
    DEPTH.get() > 0
}

/// Enters a section: a scheduling point before the outermost one.
pub fn enter(site: u32) {
    if !sched::running() {
        return;
    }
    if !is_open() {
        rounds::effect();
        if HOT.at_limit() {
            sched::take_turn(&[Record::new(Tag::Section, 0, 0, site, 0)]);
        }
        hooks::close_call();
        SECTION.set(Section { site, ..Section::NEW });
        HOT.watch_next();
    }
    DEPTH.set(DEPTH.get() + 1);
}

/// Leaves a section.
pub fn leave() {
    match DEPTH.get() {
        0 => {}
        1 => {
            // Entering took a turn, so there is an event even if nothing visible was done.
            open();
            close();
        }
        depth => DEPTH.set(depth - 1),
    }
}

/// Ends the current section, if there is one.
pub fn close() {
    if is_open() {
        DEPTH.set(0);
        SECTION.with(|section| section.written.clear());
        sched::look_again();
    }
}

/// Ends the section for an operation that asks the scheduler, which the model does not cover.
#[cold]
pub fn interrupt() {
    close();
    sched::unmodelled("does more than access memory in an atomic section");
}

/// Makes the section's event if it was not made.
fn open() {
    let (was_open, site) = SECTION.with(|section| (core::mem::replace(&mut section.opened, true), section.site));
    if !was_open {
        hooks::append(Record::new(Tag::Section, 0, 0, site, 0));
        HOT.advance();
        HOT.watch_next();
    }
}

/// The number of the section's next choice; `None` when no section is open.
pub fn choice() -> Option<u32> {
    is_open().then(|| {
        open();
        SECTION.with(|section| {
            section.choices += 1;
            section.choices - 1
        })
    })
}

/// An access made in the section. `before`: the memory has not been written yet.
pub fn access(record: Record, before: bool) {
    open();
    if before && unwritten::any() {
        unwritten::access(&record);
    }
    let tag = match record.tag() {
        Some(tag @ (Tag::Read | Tag::Write | Tag::ReadModifyWrite | Tag::Free)) => tag,
        // A fence in a section means nothing.
        _ => return,
    };
    match tag {
        Tag::Read => {}
        Tag::Write | Tag::ReadModifyWrite if before => {
            let bytes = memory::bytes(record.address(), record.argument() as usize);
            SECTION.with(|section| section.written.push((record.address(), bytes)));
        }
        _ => SECTION.with(|section| section.exact = false),
    }
    let flags = order::SEQ_CST | flag::MORE;
    hooks::append(Record::new(tag, flags, record.address(), record.site(), record.argument()));
}

/// Puts back what the section wrote.
pub fn undo() {
    if !is_open() {
        return;
    }
    let (written, exact) = SECTION.with(|section| (core::mem::take(&mut section.written), section.exact));
    for (address, bytes) in written.into_iter().rev() {
        memory::write_bytes(address, &bytes);
    }
    if !exact {
        sched::unmodelled("makes an assumption that fails in an atomic section after a call of a library function");
    }
}
