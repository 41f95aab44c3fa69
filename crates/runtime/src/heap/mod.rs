//! `malloc` and its relatives, for the whole process.
//!
//! | function | meaning |
//! |---|---|
//! | `malloc` `calloc` `memalign` `posix_memalign` `aligned_alloc` `valloc` `pvalloc` | a block from the running thread's slot |
//! | `free` | a visible event; the block goes to the running thread's free lists |
//! | `realloc` `reallocarray` | the free of the old block and a new one, which may be in the same place |
//! | `malloc_usable_size` | the size that was asked for: what `realloc` keeps and `free` is an access to |
//!
//! If the environment may deny memory, instrumented code asks before each of its allocations (`__rp_allocation`).
//!
//! A free made inside the C library is no event: a switch there would enter library code that believes itself alone.

pub mod arena;
pub mod private;

use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ptr;

use wire::layout::environment;
use wire::{Record, Tag};

use crate::cell::OneThread;
use crate::slots::Slot;
use crate::sync::Blocker;
use crate::{checkpoint, choice, hooks, lanes, objects, sched, serial, sys, unwritten};
use arena::{Arena, Block};

const PAGE: usize = crate::sys::PAGE;

fn fail(error: c_int) -> *mut c_void {
    sys::set_errno(error);
    ptr::null_mut()
}

/// Maps a slot; says whether it is mapped now.
fn mapped(slot: Slot) -> bool {
    slot.map().map(checkpoint::track).is_ok()
}

/// Whether the allocation that the program is about to ask for fails.
static DENIED: OneThread<Cell<bool>> = OneThread::new(Cell::new(false));

/// The program is about to ask for memory: the environment decides whether it gets some. The decision is made before
/// the call, since the library function that makes the allocation may not be interrupted.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub extern "C" fn __rp_allocation(site: u32, shared: u32) {
    if !sched::running() {
        return;
    }
    hooks::set_site(site);
    if sched::may(environment::ALLOCATION) {
        DENIED.set(choice::choose(0, 1) == 1);
    }
    if shared != 0 && !DENIED.get() {
        unwritten::choose_content();
    }
}

/// Hands out a block of the running thread and records it, unless the environment denies it.
fn allocate(size: usize, align: usize, zeroed: bool) -> *mut c_void {
    allocate_keeping(size, align, zeroed, if zeroed { size } else { 0 })
}

/// The same for a block whose first bytes, `kept` of them, have a content.
fn allocate_keeping(size: usize, align: usize, zeroed: bool, kept: usize) -> *mut c_void {
    if DENIED.take() {
        return fail(libc::ENOMEM);
    }
    let slot = sched::current_slot();
    if !mapped(slot) {
        return fail(libc::ENOMEM);
    }
    // SAFETY: the slot is mapped, page-aligned and was zero; the start of its heap is its arena's, which only this function
    // and `release` use.
    let take = || unsafe { Arena::allocate(slot.heap().start as *mut Arena, &slot.heap(), size, align) };
    let found = take().or_else(|| {
        // Room for header, alignment and the rounding to a size class too.
        let room = size.checked_add(align)?.checked_add(size / 8)?.checked_add(2 * PAGE)?;
        checkpoint::track(slot.grow(room).ok()?);
        take()
    });
    let Some((at, fresh)) = found else { return fail(libc::ENOMEM) };
    if zeroed && !fresh {
        // SAFETY: the block has `size` bytes and is nobody's yet.
        unsafe { at.write_bytes(0, size) };
    }
    if sched::running() {
        hooks::allocation(at as u64, size as u64, 0, sched::site());
        unwritten::made(at as u64, size, kept.min(size));
    }
    at.cast()
}

/// A block of the running thread for an object that the C library would keep; its content is not defined.
pub fn block(size: usize) -> Option<u64> {
    let at = allocate(size, 1, false) as u64;
    (at != 0).then_some(at)
}

/// Gives such a block back.
pub fn free_block(at: usize) {
    if let Block::Live { size } = inspect(at) {
        release(at, size, false);
    }
}

/// What lies at an address handed to `free` or a relative.
fn inspect(at: usize) -> Block {
    match Slot::of(at) {
        Some(slot) if slot.heap().contains(&at) && slot.heap().start + size_of::<Arena>() < at => {
            // SAFETY: the address is in the mapped part of the slot's heap, with room for a header between the arena and it.
            unsafe { Arena::inspect(at) }
        }
        _ => Block::Unknown,
    }
}

/// Whether an address is that of a block that was freed and not given out again.
pub fn is_freed(at: usize) -> bool {
    sched::running() && matches!(inspect(at), Block::Freed { .. })
}

/// Whether a free made by `caller` is an event.
fn is_visible(caller: usize) -> bool {
    sched::running() && !objects::in_c_library(caller) && !serial::skips(sched::site())
}

/// Waits for the thread's turn to free the block and says what is there then. Freeing a freed block is an event too:
/// whether it is one must not depend on who frees first while the thread waits.
fn arrive_at_free(at: usize) -> Block {
    match inspect(at) {
        Block::Live { size } | Block::Freed { size } => {
            sched::arrive(free_record(at, size), None, Blocker::None);
            inspect(at)
        }
        Block::Unknown => Block::Unknown,
    }
}

fn free_record(at: usize, size: usize) -> Record {
    Record::new(Tag::Free, 0, at as u64, sched::site(), u32::try_from(size).unwrap_or(u32::MAX))
}

/// Gives a live block back.
fn release(at: usize, size: usize, visible: bool) {
    unwritten::forget(at as u64, size as u64);
    lanes::access(Tag::Free, 0, at as u64, size as u64, sched::site());
    if visible {
        sched::commit(free_record(at, size), None);
    }
    if visible || serial::is_quiet() {
        sched::with_objects(|objects| objects.forget_range(at as u64, size as u64));
    }
    // The slot may not be mapped yet: a thread can free before it allocates.
    let slot = sched::current_slot();
    if mapped(slot) {
        // SAFETY: callers have found the block live; the slot is mapped, so its arena is there.
        unsafe { Arena::release(slot.heap().start as *mut Arena, at as *mut u8) };
    }
}

fn complain(at: usize, block: Block, visible: bool, what: &str) {
    if let (Block::Freed { size }, true) = (block, visible) {
        sched::commit(free_record(at, size), None);
    }
    if sched::running() {
        let text = match block {
            Block::Freed { .. } => crate::text::text!("{what} a block that was freed before"),
            _ => crate::text::text!("{what} memory that no allocation returned"),
        };
        sched::misuse(at as u64, text.as_str());
    }
}

extern "C" fn free_from(at: *mut c_void, caller: usize) {
    if at.is_null() {
        return;
    }
    let (at, visible) = (at as usize, is_visible(caller));
    let block = if visible { arrive_at_free(at) } else { inspect(at) };
    match block {
        Block::Live { size } => release(at, size, visible),
        other => complain(at, other, visible, "frees"),
    }
}

extern "C" fn realloc_from(old: *mut c_void, size: usize, caller: usize) -> *mut c_void {
    if old.is_null() {
        return allocate(size, 1, false);
    }
    if DENIED.take() && size > 0 {
        return fail(libc::ENOMEM);
    }
    let (at, visible) = (old as usize, is_visible(caller));
    let block = if visible { arrive_at_free(at) } else { inspect(at) };
    let Block::Live { size: old_size } = block else {
        complain(at, block, visible, "reallocates");
        return fail(libc::ENOMEM);
    };
    if size == 0 {
        release(at, old_size, visible);
        return ptr::null_mut();
    }
    // The new block is cut before the old one is given back, so they are never the same.
    let new = allocate_keeping(size, 1, false, old_size);
    if !new.is_null() {
        // SAFETY: both blocks are live, apart, and at least as long.
        unsafe { ptr::copy_nonoverlapping(old.cast::<u8>(), new.cast::<u8>(), old_size.min(size)) };
        release(at, old_size, visible);
    }
    new
}

/// The C functions.
#[cfg(not(test))]
mod exported {
    use core::arch::naked_asm;

    use super::*;

    #[unsafe(no_mangle)]
    extern "C" fn malloc(size: usize) -> *mut c_void {
        allocate(size, 1, false)
    }
    #[unsafe(no_mangle)]
    extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
        match count.checked_mul(size) {
            Some(size) => allocate(size, 1, true),
            None => fail(libc::ENOMEM),
        }
    }
    #[cfg(target_arch = "x86_64")]
    #[unsafe(no_mangle)]
    #[unsafe(naked)]
    extern "C" fn free(at: *mut c_void) {
        naked_asm!("mov rsi, [rsp]", "jmp {free_from}", free_from = sym free_from)
    }
    #[cfg(target_arch = "x86_64")]
    #[unsafe(no_mangle)]
    #[unsafe(naked)]
    extern "C" fn realloc(old: *mut c_void, size: usize) -> *mut c_void {
        naked_asm!("mov rdx, [rsp]", "jmp {realloc_from}", realloc_from = sym realloc_from)
    }
    #[cfg(target_arch = "aarch64")]
    #[unsafe(no_mangle)]
    #[unsafe(naked)]
    extern "C" fn free(at: *mut c_void) {
        naked_asm!("mov x1, x30", "b {free_from}", free_from = sym free_from)
    }
    #[cfg(target_arch = "aarch64")]
    #[unsafe(no_mangle)]
    #[unsafe(naked)]
    extern "C" fn realloc(old: *mut c_void, size: usize) -> *mut c_void {
        naked_asm!("mov x2, x30", "b {realloc_from}", realloc_from = sym realloc_from)
    }
    #[unsafe(no_mangle)]
    extern "C" fn reallocarray(old: *mut c_void, count: usize, size: usize) -> *mut c_void {
        match count.checked_mul(size) {
            Some(size) => realloc_from(old, size, reallocarray as *const () as usize),
            None => fail(libc::ENOMEM),
        }
    }
    #[unsafe(no_mangle)]
    extern "C" fn memalign(align: usize, size: usize) -> *mut c_void {
        if align.is_power_of_two() { allocate(size, align, false) } else { fail(libc::EINVAL) }
    }
    #[unsafe(no_mangle)]
    extern "C" fn aligned_alloc(align: usize, size: usize) -> *mut c_void {
        memalign(align, size)
    }
    #[unsafe(no_mangle)]
    extern "C" fn posix_memalign(out: *mut *mut c_void, align: usize, size: usize) -> c_int {
        if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
            return libc::EINVAL;
        }
        // `errno` must stay as it is.
        let errno = sys::errno();
        let at = allocate(size, align, false);
        sys::set_errno(errno);
        if at.is_null() {
            return libc::ENOMEM;
        }
        crate::memory::write(out, at);
        0
    }
    #[unsafe(no_mangle)]
    extern "C" fn valloc(size: usize) -> *mut c_void {
        allocate(size, PAGE, false)
    }
    #[unsafe(no_mangle)]
    extern "C" fn pvalloc(size: usize) -> *mut c_void {
        match size.checked_next_multiple_of(PAGE) {
            Some(size) => allocate(size, PAGE, false),
            None => fail(libc::ENOMEM),
        }
    }
    #[unsafe(no_mangle)]
    extern "C" fn malloc_usable_size(at: *mut c_void) -> usize {
        match inspect(at as usize) {
            Block::Live { size } => size,
            _ => 0,
        }
    }
}
