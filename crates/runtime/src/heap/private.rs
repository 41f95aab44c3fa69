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
#[used]
#[unsafe(link_section = "rp_keep")]
static END: Keep<usize> = Keep::new(RANGE.start);

fn end() -> usize {
    END.with(|end| *end)
}

/// Maps at least `bytes` more; says whether that was possible.
fn grow(bytes: usize) -> bool {
    let now = end();
    let Some(len) = bytes.checked_next_multiple_of(STEP).filter(|len| *len <= RANGE.end - now) else { return false };
    let done = sys::reserve(now, len).is_ok();
    if done {
        END.with(|end| *end = now + len);
        checkpoint::track(now..now + len);
    }
    done
}

// SAFETY: an arena hands out memory that is aligned as asked and overlaps no live block.
unsafe impl GlobalAlloc for Private {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        // SAFETY: only called when something is mapped; the range up to its end is, page-aligned, was zero, and belongs to
        // this arena alone.
        let take = || unsafe { Arena::allocate(RANGE.start as *mut Arena, &(RANGE.start..end()), size, align) };
        let mut found = if end() > RANGE.start { take() } else { None };
        if found.is_none() && grow(size.saturating_add(size / 8).saturating_add(align).saturating_add(STEP)) {
            found = take();
        }
        found.map_or(core::ptr::null_mut(), |(at, _)| at)
    }
    unsafe fn dealloc(&self, at: *mut u8, _layout: Layout) {
        // SAFETY: by the caller `at` came from `alloc` and was not given back, so it is live.
        unsafe { Arena::release(RANGE.start as *mut Arena, at) }
    }
}
