//! Accesses that are more than one word: library calls, copies, accesses of sites with large numbers.

use core::ffi::c_void;

use effects::strings::string_len;
use wire::Tag;
use wire::log::MORE;
use wire::record::{flag, order};

use crate::log::{append, number};
use crate::thread::state;

/// A library call that is being described.
#[derive(Clone, Copy)]
pub struct Call {
    site: u32,
    /// Whether it has an access already.
    started: bool,
}

/// Logs an access; `first` if it is an event of its own and not part of the one before.
pub fn access(tag: Tag, order: u8, start: u64, len: u64, site: u32, mut first: bool) {
    let (mut start, mut left) = (start, len);
    while left > 0 {
        let part = u32::try_from(left).unwrap_or(u32::MAX);
        let flags = order | if first { 0 } else { MORE };
        let number = if first && order != 0 { number() } else { 0 };
        append(tag as u8, flags, start, site, part, [number, 0]);
        first = false;
        start = start.wrapping_add(u64::from(part));
        left -= u64::from(part);
    }
}

/// One access of the library call that is being described.
pub fn add(tag: Tag, order: u8, start: u64, len: u64) {
    let call = &state().call;
    let Call { site, started } = call.get();
    if len > 0 && start != 0 {
        access(tag, order, start, len, site, !started);
        call.set(Call { site, started: true });
    }
}

/// Where effects of library calls go: into the log. What is not known of a call is not in the recording.
pub struct Logged;

impl effects::Sink for Logged {
    fn access(tag: Tag, start: u64, len: u64) {
        add(tag, order::PLAIN, start, len);
    }
    fn stream(file: *const c_void) {
        __rp_add_stream(file);
    }
    fn unlocked(file: *const c_void) {
        __rp_add_unlocked(file);
    }
    fn buffer(start: u64, len: u64) {
        add(Tag::ReadModifyWrite, order::RELAXED, start, len);
    }
    fn unmodelled(_: &str) {}
}

effects::export_hooks!(Logged);

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

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_read(p: *const c_void, size: u32, site: u32) {
    access(Tag::Read, 0, p as u64, size.into(), site, true);
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_write(p: *mut c_void, size: u32, site: u32) {
    access(Tag::Write, 0, p as u64, size.into(), site, true);
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_copy(to: *mut c_void, from: *const c_void, len: u64, site: u32) {
    access(Tag::Read, 0, from as u64, len, site, true);
    access(Tag::Write, 0, to as u64, len, site, false);
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_set(to: *mut c_void, len: u64, site: u32) {
    access(Tag::Write, 0, to as u64, len, site, true);
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_call_begin(site: u32) {
    state().call.set(Call { site, started: false });
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_add(kind_order: u32, p: *const c_void, len: u64) {
    let (tag, order) = kind(kind_order);
    add(tag, order, p as u64, len);
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_add_string(kind_order: u32, p: *const c_void, max: u64) {
    let (tag, order) = kind(kind_order);
    if p.is_null() {
        return;
    }
    add(tag, order, p as u64, string_len(p as u64, false, max));
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_add_wide(kind_order: u32, p: *const c_void, max: u64) {
    let (tag, order) = kind(kind_order);
    if p.is_null() {
        return;
    }
    add(tag, order, p as u64, string_len(p as u64, true, max));
}

/// Streams are locked by the library; which one waits for which is not recorded. That a stream is used is: it may not be
/// closed at the same time, which writes to it.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_add_stream(file: *const c_void) {
    if !is_output(file) {
        add(Tag::Read, order::PLAIN, file as u64, 1);
    }
    effects::streams::buffer_of::<Logged>(file);
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_add_unlocked(file: *const c_void) {
    let at = match is_output(file) {
        true => wire::LIBRARY_STATE + 8 * u64::from(wire::UNLOCKED_OUTPUT),
        false => file as u64,
    };
    add(Tag::ReadModifyWrite, order::PLAIN, at, 1);
    effects::streams::buffer_of::<Logged>(file);
}

/// Whether a stream is standard output or standard error, whose uses are not recorded.
pub fn is_output(file: *const c_void) -> bool {
    unsafe extern "C" {
        static stdout: *const c_void;
        static stderr: *const c_void;
    }
    // SAFETY: the C library defines both and sets them before `main`.
    unsafe { file == stdout || file == stderr }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_add_state_without(code: u32, own: *const c_void) {
    if own.is_null() {
        __rp_add_state(code);
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_add_state(code: u32) {
    let (tag, order) = kind(code >> 8);
    if order == 0 {
        add(tag, order, wire::LIBRARY_STATE + 8 * u64::from(code as u8), 8);
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_call_end() {
    let call = &state().call;
    call.set(Call { started: false, ..call.get() });
}

/// What our OpenMP library does not support ends the recording.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_refuse(what: *const c_void) -> ! {
    let len = string_len(what as u64, false, 256).saturating_sub(1);
    let mut text = [0; 256];
    let text = &mut text[..(len as usize).min(256)];
    effects::memory::read_bytes(what as u64, text);
    crate::entry::refuse(core::str::from_utf8(text).unwrap_or("the program does something that is not supported"))
}

/// The same for a function that the library lacks.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_refuse_call() -> ! {
    crate::entry::refuse("the program uses a directive of OpenMP that is not supported")
}

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_stack(p: *mut c_void, size: u64, site: u32) {
    let size = u32::try_from(size).unwrap_or(u32::MAX);
    append(Tag::Alloc as u8, flag::STACK, p as u64, site, size, [0, 0]);
}

/// A loop goes round. Real threads just do; arguments are for the controlled runtime.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_round() {}

/// An assumption does not hold: the thread stays here.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_give_up() -> ! {
    loop {
        // SAFETY: only waits for a signal.
        unsafe { libc::pause() };
    }
}

/// The error that must not be reached.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_error() -> ! {
    // SAFETY: ends the process, whatever its state.
    unsafe { libc::abort() }
}
