//! Sections that no other thread interrupts: one event, with all that is done in them.
//!
//! While a section is open every access comes to [`access`], because the hooks' limit is kept at the position: the first
//! thing that is visible makes the event, the rest adds to it. Nothing in a section asks the scheduler; an operation that
//! does is not covered by the model: it closes the section and is noted.
//!
//! When an assumption fails in a section, the section has not happened for the others: what it wrote is put back.

use alloc::vec::Vec;

use wire::record::{flag, order};
use wire::{Record, Tag};

use crate::cell::Global;
use crate::hooks::{self, HOT};
use crate::{rounds, sched};

/// The section under way. Only the running thread can have one.
struct Section {
    /// How many sections are nested; 0 when there is none.
    depth: u32,
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

static SECTION: Global<Section> =
    Global::new(Section { depth: 0, opened: false, site: 0, choices: 0, written: Vec::new(), exact: true });

/// The section. The borrow must not be held over a switch.
fn section() -> &'static mut Section {
    // Safety: one thread runs, and no borrow outlives the functions below.
    unsafe { &mut *SECTION.get() }
}

/// Whether a section is open.
#[inline]
pub fn is_open() -> bool {
    section().depth > 0
}

/// Enters a section: a scheduling point before the outermost one.
pub fn enter(site: u32) {
    if !sched::running() {
        return;
    }
    if !is_open() {
        rounds::effect();
        let hot = HOT.get();
        // Safety: no borrow is held over the switch.
        if unsafe { (*hot).position == (*hot).limit } {
            sched::take_turn(&[Record::new(Tag::Section, 0, 0, site, 0)]);
        }
        hooks::close_call();
        *section() = Section { depth: 0, opened: false, site, choices: 0, written: Vec::new(), exact: true };
        // Safety: no borrow outlives the statement.
        unsafe { (*hot).limit = (*hot).position };
    }
    section().depth += 1;
}

/// Leaves a section.
pub fn leave() {
    match section().depth {
        0 => {}
        1 => close(),
        _ => section().depth -= 1,
    }
}

/// Ends the section under way, if there is one.
pub fn close() {
    if is_open() {
        section().depth = 0;
        section().written.clear();
        hooks::follow_limit();
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
    if !section().opened {
        section().opened = true;
        hooks::append(Record::new(Tag::Section, 0, 0, section().site, 0));
        // Safety: no borrow outlives the block.
        unsafe {
            let hot = HOT.get();
            (*hot).position += 1;
            (*hot).limit = (*hot).position;
        }
    }
}

/// The number of the section's next choice; `None` when no section is open.
pub fn choice() -> Option<u32> {
    is_open().then(|| {
        open();
        section().choices += 1;
        section().choices - 1
    })
}

/// An access made in the section. `before`: the memory has not been written yet.
pub fn access(record: Record, before: bool) {
    open();
    let tag = match record.tag() {
        Some(tag @ (Tag::Read | Tag::Write | Tag::ReadModifyWrite | Tag::Free)) => tag,
        // A fence in a section means nothing.
        _ => return,
    };
    match tag {
        Tag::Read => {}
        Tag::Write | Tag::ReadModifyWrite if before => {
            let len = record.argument() as usize;
            // Safety: the program is about to write there.
            let bytes = unsafe { core::slice::from_raw_parts(record.address() as *const u8, len) };
            section().written.push((record.address(), bytes.into()));
        }
        _ => section().exact = false,
    }
    let flags = order::SEQ_CST | flag::MORE;
    hooks::append(Record::new(tag, flags, record.address(), record.site(), record.argument()));
}

/// Puts back what the section wrote.
pub fn undo() {
    if !is_open() {
        return;
    }
    for (address, bytes) in core::mem::take(&mut section().written).into_iter().rev() {
        // Safety: the program wrote there in this section.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len()) };
    }
    if !section().exact {
        sched::unmodelled("makes an assumption that fails in an atomic section after a call of a library function");
    }
}
