//! The runtime's own heap. Its memory is put back to the checkpoint with everything else.

use core::alloc::{GlobalAlloc, Layout};
use core::ops::Range;

use super::arena::Arena;
use crate::cell::Keep;
use crate::{checkpoint, sys};

/// All it may take.
const RANGE: Range<usize> = 0x4000_0000_0000..0x4010_0000_0000;
/// It grows by this much.
const STEP: usize = 0x20_0000;

/// The allocator of Rust code in the runtime.
pub struct Private;

/// Where the mapped part ends.
#[unsafe(link_section = "rp_keep")]
static END: Keep<usize> = Keep::new(RANGE.start);

/// Maps at least `bytes` more; says whether that was possible.
fn grow(bytes: usize) -> bool {
    // Safety: no borrow outlives the expression; so below.
    let now = unsafe { *END.get() };
    let Some(len) = bytes.checked_next_multiple_of(STEP).filter(|len| *len <= RANGE.end - now) else { return false };
    let done = sys::reserve(now, len).is_ok();
    if done {
        unsafe { *END.get() = now + len };
        checkpoint::track(now..now + len);
    }
    done
}

// Safety: an arena hands out disjoint, aligned memory.
unsafe impl GlobalAlloc for Private {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        // Safety: one operating-system thread; the range is mapped and reserved for this arena.
        let take = || unsafe { Arena::allocate(RANGE.start as *mut Arena, &(RANGE.start..*END.get()), size, align) };
        let has_arena = unsafe { *END.get() } > RANGE.start;
        let mut found = if has_arena { take() } else { None };
        if found.is_none() && grow(size.saturating_add(size / 8).saturating_add(align).saturating_add(STEP)) {
            found = take();
        }
        found.map_or(core::ptr::null_mut(), |(at, _)| at)
    }
    unsafe fn dealloc(&self, at: *mut u8, _layout: Layout) {
        // Safety: `at` came from `alloc`.
        unsafe { Arena::release(RANGE.start as *mut Arena, at) }
    }
}
