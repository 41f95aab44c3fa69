//! What instrumented code calls before it touches memory: the `__rp_` functions of `docs/runtime-abi.md`.
//!
//! The common path of a hook is one comparison of positions, one bounds check and one store of a record.

use core::ffi::{c_char, c_void};

use wire::record::{flag, order};
use wire::{Record, Tag};

use crate::cell::Global;
use crate::{sched, section};

/// What the common path needs of the running thread.
pub struct Hot {
    /// Where the next record goes.
    pub cursor: *mut Record,
    /// No event record may start from here on.
    pub end: *mut Record,
    /// Number of the running thread's next event.
    pub position: u32,
    /// At this position [`sched::take_turn`] is asked: `stop`, or earlier where something has to be looked at.
    pub limit: u32,
    /// At this position the scheduler is asked.
    pub stop: u32,
    /// Position after the event of the library call that is being described; `NO_CALL` when there is none.
    call: u32,
    /// Failure order of the compare-exchange under way.
    failure: u8,
}

const NO_CALL: u32 = u32::MAX;

/// The running thread.
pub static HOT: Global<Hot> = Global::new(Hot {
    cursor: core::ptr::null_mut(),
    end: core::ptr::null_mut(),
    position: 0,
    limit: 0,
    stop: 0,
    call: NO_CALL,
    failure: 0,
});

/// The last site the running thread reached.
#[cfg_attr(not(test), unsafe(export_name = "__rp_site"))]
pub static SITE: Global<u32> = Global::new(wire::NO_SITE);

/// Appends a record.
#[inline(always)]
pub fn append(record: Record) {
    let hot = HOT.get();
    // Safety: `cursor` is below `end`, inside the trace area.
    unsafe {
        if (*hot).cursor >= (*hot).end {
            sched::trace_full();
        }
        (*hot).cursor.write(record);
        (*hot).cursor = (*hot).cursor.add(1);
    }
}

/// Appends records that belong together.
pub fn append_all(records: &[Record]) {
    make_room(records.len());
    records.iter().for_each(|record| append(*record));
}

/// Ends the run if the trace area has no room for `records` more.
pub fn make_room(records: usize) {
    // Safety: no borrow outlives the expression; both point into the trace area.
    let room = unsafe { (*HOT.get()).end.offset_from((*HOT.get()).cursor) };
    if room < records as isize {
        sched::trace_full();
    }
}

/// One event that needs nothing but its turn.
#[inline(always)]
fn event(record: Record) {
    let hot = HOT.get();
    // Safety: no borrow is held over the switch.
    unsafe {
        *SITE.get() = record.site();
        if (*hot).position == (*hot).limit && !sched::take_turn(&[record]) {
            return;
        }
        append(record);
        (*hot).position += 1;
    }
}

/// Nothing has to be looked at before the scheduler is asked.
pub fn follow_limit() {
    // Safety: no borrow outlives the statement.
    unsafe { (*HOT.get()).limit = (*HOT.get()).stop };
}

/// An object came into being; `flags` as of `Tag::Alloc`.
pub fn allocation(start: u64, size: u64, flags: u8, site: u32) {
    append(Record::new(Tag::Alloc, flags, start, site, u32::try_from(size).unwrap_or(u32::MAX)));
}

/// Forgets the library call under way: another event came between.
pub fn close_call() {
    // Safety: no borrow outlives the statement.
    unsafe { (*HOT.get()).call = NO_CALL };
}

/// Lets what is added from here on belong to the event just committed.
pub fn reopen_event() {
    let hot = HOT.get();
    // Safety: no borrow outlives the statement.
    unsafe { (*hot).call = (*hot).position };
}

/// One access of a library call's event; the first one makes the event.
pub fn add(tag: Tag, order: u8, start: u64, len: u64) {
    let hot = HOT.get();
    let (mut start, mut left) = (start, len);
    // A record holds a 32-bit length.
    while left > 0 {
        let part = u32::try_from(left).unwrap_or(u32::MAX);
        // Safety: no borrow is held over the switch that `event` may make.
        unsafe {
            let record = |flags| Record::new(tag, flags, start, *SITE.get(), part);
            if section::is_open() {
                section::access(record(order), false);
            } else if (*hot).call == (*hot).position {
                append(record(order | flag::MORE));
            } else {
                event(record(order));
            }
            (*hot).call = (*hot).position;
        }
        start = start.wrapping_add(u64::from(part));
        left -= u64::from(part);
    }
}

/// Tag and order out of a hook's `kind_order` argument.
fn kind(kind_order: u32) -> (Tag, u8) {
    let tag = match kind_order as u8 {
        1 => Tag::Read,
        2 => Tag::Write,
        4 => Tag::Free,
        _ => Tag::ReadModifyWrite,
    };
    (tag, (kind_order >> 8) as u8 & order::MASK)
}

/// The whole of a library call whose accesses are known beforehand.
fn call(site: u32, accesses: impl FnOnce()) {
    __rp_call_begin(site);
    accesses();
    __rp_call_end();
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_read(p: *const c_void, size: u32, site: u32) {
    event(Record::new(Tag::Read, 0, p as u64, site, size));
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_write(p: *mut c_void, size: u32, site: u32) {
    event(Record::new(Tag::Write, 0, p as u64, site, size));
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_atomic(p: *mut c_void, size: u32, kind_order: u32, site: u32) {
    let (tag, order) = kind(kind_order);
    event(Record::new(tag, order, p as u64, site, size));
    // Safety: no borrow outlives the statement.
    unsafe { (*HOT.get()).failure = (kind_order >> 16) as u8 & order::MASK };
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_cas_result(success: u32) {
    if success != 0 || !sched::running() {
        return;
    }
    let hot = HOT.get();
    // Safety: no switch can come between the event and its result, so its record is the last one.
    unsafe {
        let last = (*hot).cursor.sub(1);
        if (*last).tag() == Some(Tag::ReadModifyWrite) {
            let flags = if section::is_open() { (*last).flags() } else { (*hot).failure };
            *last = Record::new(Tag::Read, flags, (*last).address(), (*last).site(), (*last).argument());
        }
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_fence(order: u32, site: u32) {
    event(Record::new(Tag::Fence, order as u8 & order::MASK, 0, site, 0));
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_copy(to: *mut c_void, from: *const c_void, len: u64, site: u32) {
    call(site, || {
        add(Tag::Read, order::PLAIN, from as u64, len);
        add(Tag::Write, order::PLAIN, to as u64, len);
    });
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_set(to: *mut c_void, len: u64, site: u32) {
    call(site, || add(Tag::Write, order::PLAIN, to as u64, len));
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_call_begin(site: u32) {
    let hot = HOT.get();
    // Safety: no borrow is held over the switch.
    unsafe {
        *SITE.get() = site;
        if (*hot).position == (*hot).limit {
            sched::take_turn(&[]);
        }
    }
    close_call();
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_add(kind_order: u32, p: *const c_void, len: u64) {
    // A null pointer to a library function stands for nothing.
    if !p.is_null() {
        let (tag, order) = kind(kind_order);
        add(tag, order, p as u64, len);
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn __rp_add_string(kind_order: u32, p: *const c_char, max: u64) {
    if p.is_null() {
        return;
    }
    // Safety: the program hands the same string to the library.
    let len = unsafe { libc::strnlen(p, max as usize) } as u64;
    __rp_add(kind_order, p.cast(), len.saturating_add(1).min(max));
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn __rp_add_wide(kind_order: u32, p: *const libc::wchar_t, max: u64) {
    if p.is_null() {
        return;
    }
    let mut len = 0;
    // Safety: the program hands the same string to the library.
    while len < max && unsafe { *p.add(len as usize) } != 0 {
        len += 1;
    }
    let characters = len.saturating_add(1).min(max);
    __rp_add(kind_order, p.cast(), characters.saturating_mul(size_of::<libc::wchar_t>() as u64));
}

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C" fn __rp_add_stream(file: *const c_void) {
    unsafe extern "C" {
        static stdout: *const c_void;
        static stderr: *const c_void;
    }
    // Safety: the C library's variables.
    if unsafe { file != stdout && file != stderr } {
        if !file.is_null() {
            add(Tag::ReadModifyWrite, order::RELAXED, file as u64, 1);
        }
        // Safety: the program hands the same stream to the library.
        unsafe { crate::libc_models::open::add_file_of(file) };
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_add_state(code: u32) {
    let (tag, order) = kind(code >> 8);
    add(tag, order, wire::LIBRARY_STATE + 8 * u64::from(code as u8), 8);
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_call_end() {
    close_call();
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_stack(p: *mut c_void, size: u64, site: u32) {
    if sched::running() {
        allocation(p as u64, size, flag::STACK, site);
    }
}
