//! What instrumented code calls before it touches memory: the `__rp_` functions of `docs/runtime-abi.md`.
//!
//! The common path of a hook is one comparison of positions, one bounds check and one store of a record.

use core::cell::Cell;
use core::ffi::{c_char, c_void};

use wire::layout::environment;
use wire::record::{flag, order};
use wire::{Record, Tag};

use crate::cell::OneThread;
use crate::libc_models::children::forked;
use crate::{choice, interrupts, lanes, memory, rounds, sched, section, serial, unwritten};

/// What the common path needs of the running thread.
pub struct Hot {
    /// Where the next record goes: in the trace area, at most at its end.
    pub cursor: Cell<*mut Record>,
    /// No event record may start from here on: in the trace area, or its end.
    pub end: Cell<*mut Record>,
    /// Number of the running thread's next event.
    pub position: Cell<u32>,
    /// At this position [`sched::take_turn`] is asked: `stop`, or earlier where something has to be looked at.
    pub limit: Cell<u32>,
    /// At this position the scheduler is asked.
    pub stop: Cell<u32>,
    /// Position after the event of the library call that is being described; `NO_CALL` when there is none.
    call: Cell<u32>,
    /// Position at which a library call took its turn and has made no event yet; `NO_CALL` when there is none.
    begun: Cell<u32>,
    /// Where the cursor was when the last library call's event was complete: while nothing was appended since, what the call
    /// turns out to touch can still be added.
    closed: Cell<*mut Record>,
    /// Failure order of the current compare-exchange.
    failure: Cell<u8>,
}

const NO_CALL: u32 = u32::MAX;

/// In `begun`: the library call makes no event. No thread comes to this position.
const SKIPPED_CALL: u32 = u32::MAX - 1;

/// In `failure`: the atomic access made no event.
const SKIPPED_ATOMIC: u8 = u8::MAX;

/// The running thread.
pub static HOT: OneThread<Hot> = OneThread::new(Hot {
    cursor: Cell::new(core::ptr::null_mut()),
    end: Cell::new(core::ptr::null_mut()),
    position: Cell::new(0),
    limit: Cell::new(0),
    stop: Cell::new(0),
    call: Cell::new(NO_CALL),
    begun: Cell::new(NO_CALL),
    closed: Cell::new(core::ptr::null_mut()),
    failure: Cell::new(0),
});

impl Hot {
    /// Whether [`sched::take_turn`] has to be asked before the next event: also where events that are not looked at here
    /// have gone past what was to be looked at.
    #[inline(always)]
    pub fn at_limit(&self) -> bool {
        self.position.get() >= self.limit.get()
    }
    /// Whether the scheduler has to be asked before the next event.
    #[inline(always)]
    pub fn at_stop(&self) -> bool {
        self.position.get() == self.stop.get()
    }
    /// The running thread executed an event.
    #[inline(always)]
    pub fn advance(&self) {
        self.position.set(self.position.get() + 1);
    }
    /// The next event is looked at, whether or not the scheduler is asked.
    pub fn watch_next(&self) {
        self.limit.set(self.position.get());
    }
}

/// The last site the running thread reached. Instrumented code writes it, too.
#[cfg_attr(not(test), unsafe(export_name = "__rp_site"))]
pub static SITE: OneThread<Cell<u32>> = OneThread::new(Cell::new(wire::NO_SITE));

/// Sets the last site that the running thread reached.
#[inline(always)]
pub fn set_site(site: u32) {
    SITE.set(site);
}

/// Appends a record.
#[inline(always)]
pub fn append(record: Record) {
    let mut at = HOT.cursor.get();
    if at >= HOT.end.get() {
        at = sched::trace_full();
    }
    // SAFETY: `cursor` starts at the start of the trace area, only moves up to its end, and is below `end` here.
    unsafe { at.write(record) };
    HOT.cursor.set(at.wrapping_add(1));
}

/// Appends records that belong together.
pub fn append_all(records: &[Record]) {
    make_room(records.len());
    records.iter().for_each(|record| append(*record));
}

/// Ends the run if the trace area has no room for `records` more.
pub fn make_room(records: usize) {
    let room = (HOT.end.get() as usize).saturating_sub(HOT.cursor.get() as usize);
    if room / size_of::<Record>() < records {
        HOT.cursor.set(sched::trace_full());
    }
}

/// One event that needs nothing but its turn.
#[inline(always)]
fn event(record: Record) {
    set_site(record.site());
    if HOT.at_limit() && !sched::take_turn(&[record]) {
        return;
    }
    append(record);
    HOT.advance();
}

/// Nothing has to be looked at before the scheduler is asked.
pub fn follow_limit() {
    HOT.limit.set(HOT.stop.get());
}

/// An object came into being; `flags` as of `Tag::Alloc`.
pub fn allocation(start: u64, size: u64, flags: u8, site: u32) {
    lanes::allocated(start, size);
    let record = Record::new(Tag::Alloc, flags, start, site, u32::try_from(size).unwrap_or(u32::MAX));
    if serial::is_quiet() {
        serial::allocated(record);
    } else {
        append(record);
    }
}

/// Forgets the current library call: another event came between.
pub fn close_call() {
    HOT.call.set(NO_CALL);
    HOT.begun.set(NO_CALL);
}

/// Lets what is added from here on belong to the event just committed.
pub fn reopen_event() {
    HOT.call.set(HOT.position.get());
}

/// One access of a library call's event; the first one makes the event.
pub fn add(tag: Tag, order: u8, start: u64, len: u64) {
    if forked::is_child() {
        return forked::note_access(tag, start, len, SITE.get());
    }
    lanes::access(tag, order, start, len, SITE.get());
    let begins = !section::is_open() && HOT.call.get() != HOT.position.get();
    if HOT.begun.get() == SKIPPED_CALL || begins && HOT.at_limit() && serial::skips(SITE.get()) {
        return;
    }
    let (mut start, mut left) = (start, len);
    if unwritten::any() && matches!(tag, Tag::Write | Tag::ReadModifyWrite) {
        unwritten::write(start, len);
    }
    // A record holds a 32-bit length.
    while left > 0 {
        let part = u32::try_from(left).unwrap_or(u32::MAX);
        let record = |flags| Record::new(tag, flags, start, SITE.get(), part);
        if section::is_open() {
            section::access(record(order), false);
        } else if HOT.call.get() == HOT.position.get() {
            interrupts::note(&record(order));
            append(record(order | flag::MORE));
        } else {
            event(record(order));
        }
        reopen_event();
        start = start.wrapping_add(u64::from(part));
        left -= u64::from(part);
    }
}

/// One more access of the event being made, from a site of its own: for an event that began with `Tag::Section`.
pub fn append_access(tag: Tag, order: u8, start: u64, len: u64, site: u32) {
    if sched::running() {
        append(Record::new(tag, order | flag::MORE, start, site, u32::try_from(len).unwrap_or(u32::MAX)));
    }
}

/// One more access of the event of the library call whose model runs. A call that was not announced by instrumented code has
/// no such event, and makes none: a model that is under way must not be interrupted.
pub fn extend(tag: Tag, order: u8, start: u64, len: u32) {
    if section::is_open() || HOT.call.get() == HOT.position.get() {
        add(tag, order, start, len.into());
    } else if HOT.closed.get() == HOT.cursor.get() {
        append(Record::new(tag, order | flag::MORE, start, SITE.get(), len));
        HOT.closed.set(HOT.cursor.get());
    }
}

/// Where effects of library calls go: into the event of the current call.
pub struct InEvent;

impl effects::Sink for InEvent {
    fn access(tag: Tag, start: u64, len: u64) {
        add(tag, order::PLAIN, start, len);
    }
    fn stream(file: *const c_void) {
        __rp_add_stream(file);
    }
    fn unlocked(file: *const c_void) {
        __rp_add_unlocked(file);
    }
    fn file(fd: i32, used: u32) {
        crate::libc_models::open::add_use(fd, used);
    }
    fn closed(file: *const c_void) {
        add_closing(file);
    }
    fn is_started_with(string: u64) -> bool {
        crate::entry::is_started_with(string)
    }
    fn buffer(start: u64, len: u64) {
        add(Tag::ReadModifyWrite, order::RELAXED, start, len);
    }
    fn unmodelled(what: &str) {
        if sched::running() {
            sched::unmodelled(what);
        }
    }
}

effects::export_hooks!(InEvent);

/// Tag and order out of a hook's `kind_order` argument.
pub fn kind(kind_order: u32) -> (Tag, u8) {
    let tag = match kind_order as u8 {
        1 => Tag::Read,
        2 => Tag::Write,
        4 => Tag::Free,
        _ => Tag::ReadModifyWrite,
    };
    (tag, (kind_order >> 8) as u8 & order::MASK)
}

/// The whole of a library call whose accesses are known beforehand.
pub fn call(site: u32, accesses: impl FnOnce()) {
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
    if HOT.at_limit() && serial::skips(site) {
        set_site(site);
        HOT.failure.set(SKIPPED_ATOMIC);
        return;
    }
    let (tag, order) = kind(kind_order);
    event(Record::new(tag, order, p as u64, site, size));
    HOT.failure.set((kind_order >> 16) as u8 & order::MASK);
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_cas_result(success: u32) {
    if success != 0 || HOT.failure.get() == SKIPPED_ATOMIC || !sched::running() {
        return;
    }
    // SAFETY: the event of the compare-exchange was appended just before, without a switch since, so its record is the one
    // below the cursor and belongs to the trace area.
    let last = unsafe { &mut *HOT.cursor.get().sub(1) };
    if last.tag() == Some(Tag::ReadModifyWrite) {
        let flags = if section::is_open() { last.flags() } else { HOT.failure.get() };
        *last = Record::new(Tag::Read, flags, last.address(), last.site(), last.argument());
    }
}

/// Whether a weak compare-exchange fails although the values are equal. At most once in a row: the next one of the thread
/// on that address does not.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_weak(p: *const c_void, site: u32) -> u32 {
    if !sched::running() || !sched::may(environment::SPURIOUS) {
        return 0;
    }
    set_site(site);
    let again = sched::with_failed_exchange(|failed| core::mem::take(failed) == p as u64);
    if again || choice::choose_quietly(0, 1) == 0 {
        return 0;
    }
    // The program tries again although nothing has changed.
    rounds::effect();
    sched::with_failed_exchange(|failed| *failed = p as u64);
    1
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
    set_site(site);
    if HOT.at_limit() {
        if serial::skips(site) {
            close_call();
            HOT.begun.set(SKIPPED_CALL);
            HOT.closed.set(core::ptr::null_mut());
            return;
        }
        sched::take_turn(&[]);
    }
    close_call();
    HOT.begun.set(HOT.position.get());
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
extern "C" fn __rp_add_string(kind_order: u32, p: *const c_char, max: u64) {
    if p.is_null() {
        return;
    }
    let len = memory::string_len(p, max as usize) as u64;
    __rp_add(kind_order, p.cast(), len.saturating_add(1).min(max));
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_add_wide(kind_order: u32, p: *const libc::wchar_t, max: u64) {
    if p.is_null() {
        return;
    }
    let len = (0..max).find(|index| memory::read(p.wrapping_add(*index as usize)) == 0);
    let characters = len.map_or(max, |len| len + 1);
    __rp_add(kind_order, p.cast(), characters.saturating_mul(size_of::<libc::wchar_t>() as u64));
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_add_stream(file: *const c_void) {
    add_stream(file, order::RELAXED);
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_add_unlocked(file: *const c_void) {
    if is_output(file) {
        add(Tag::ReadModifyWrite, order::PLAIN, wire::LIBRARY_STATE + 8 * u64::from(wire::UNLOCKED_OUTPUT), 8);
    }
    add_stream(file, order::PLAIN);
}

/// Whether a stream is standard output or standard error, which have no cell: to print does not make threads depend on
/// each other.
fn is_output(file: *const c_void) -> bool {
    unsafe extern "C" {
        static stdout: *const c_void;
        static stderr: *const c_void;
    }
    // SAFETY: the C library defines both and sets them before `main`; the program has no second thread that writes them.
    unsafe { file == stdout || file == stderr }
}

/// The descriptor of a stream that is about to be closed.
fn add_closing(file: *const c_void) {
    // SAFETY: the program hands the same pointer to a library function that closes a stream.
    unsafe { crate::libc_models::open::add_closing(file) };
}

/// A stream, its file, and its buffer where that is the program's.
fn add_stream(file: *const c_void, order: u8) {
    if is_output(file) {
        effects::streams::buffer_of::<InEvent>(file);
        return;
    }
    if !file.is_null() {
        add(Tag::ReadModifyWrite, order, file as u64, 1);
        if crate::heap::is_freed(file as usize) {
            return crate::libc_models::open::add_file_of_closed(file);
        }
        effects::streams::buffer_of::<InEvent>(file);
    }
    // SAFETY: the program hands the same pointer to a library function that takes a stream or null.
    unsafe { crate::libc_models::open::add_file_of(file) };
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_add_state(code: u32) {
    let (tag, order) = kind(code >> 8);
    // Functions that have no model here, as `closedir`, change the table as well.
    if u32::from(code as u8) == wire::DESCRIPTORS && sched::running() {
        sched::note_io();
    }
    add(tag, order, wire::LIBRARY_STATE + 8 * u64::from(code as u8), 8);
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_add_state_without(code: u32, own: *const c_void) {
    if own.is_null() {
        __rp_add_state(code);
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_call_end() {
    // A call that took a turn is an event, even if it touched nothing (a copy of no bytes): a thread stops only before
    // events, or two runs of one schedule would differ in where it stands.
    if HOT.begun.get() == HOT.position.get() && sched::running() && !section::is_open() {
        append(Record::new(Tag::Yield, 0, 0, SITE.get(), 0));
        HOT.advance();
    } else if HOT.call.get() == HOT.position.get() {
        HOT.closed.set(HOT.cursor.get());
    }
    close_call();
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_stack(p: *mut c_void, size: u64, site: u32) {
    if sched::running() {
        allocation(p as u64, size, flag::STACK, site);
        if site == wire::NO_SITE {
            // A parameter that was passed by value.
            unwritten::made_as_copy(p as u64, size);
        } else if sched::may(environment::UNINITIALISED) {
            set_site(site);
            unwritten::choose_content();
            unwritten::made(p as u64, size as usize, 0);
        }
    }
}

/// The value of a register that was never written, 0 or -1. `is_read`: whether it is asked for where the program reads it.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_unwritten(is_read: u32, site: u32) -> i32 {
    if !sched::running() || !sched::may(environment::UNINITIALISED) {
        return 0;
    }
    set_site(site);
    unwritten::register(is_read != 0)
}
