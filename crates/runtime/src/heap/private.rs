//! The runtime's own heap. Its memory is put back to the checkpoint with everything else.

use core::alloc::{GlobalAlloc, Layout};
use core::ops::Range;

use super::arena::Arena;
use crate::cell::Keep;
use crate::sys;

const RANGE: Range<usize> = 0x4000_0000_0000..0x4010_0000_0000;

/// The allocator of Rust code in the runtime.
pub struct Private;

#[unsafe(link_section = "rp_keep")]
static MAPPED: Keep<bool> = Keep::new(false);

// Safety: an arena hands out disjoint, aligned memory.
unsafe impl GlobalAlloc for Private {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // Safety: one operating-system thread; the range is reserved for this arena.
        unsafe {
            if !*MAPPED.get() {
                if sys::reserve(RANGE.start, RANGE.len()).is_err() {
                    return core::ptr::null_mut();
                }
                *MAPPED.get() = true;
            }
            match Arena::allocate(RANGE.start as *mut Arena, &RANGE, layout.size(), layout.align()) {
                Some((at, _)) => at,
                None => core::ptr::null_mut(),
            }
        }
    }
    unsafe fn dealloc(&self, at: *mut u8, _layout: Layout) {
        // Safety: `at` came from `alloc`.
        unsafe { Arena::release(RANGE.start as *mut Arena, at) }
    }
}
