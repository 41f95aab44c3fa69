//! A thread's memory: thread-locals, stack and heap, at addresses that follow from its spawn path.
//!
//! ```text
//! slot + 0              thread-locals
//!      + STACK_GUARD    no access: catches stack overflow
//!      + STACK          stack, growing down from STACK_END
//!      + ARGUMENTS      copies of the program's arguments and environment (initial thread)
//!      + HEAP           heap, to the end of the slot
//! ```
//! The initial thread has slot 0 and its k-th child slot k. Deeper paths, and children beyond [`DIRECT`], are hashed
//! into the upper half; two paths that meet there are told apart by creation order, which is then not the same under
//! every schedule, so this is reported. Slots are mapped when first used and stay mapped.

use core::ops::Range;

use crate::cell::Keep;
use crate::sys::{self, sys};

/// Where the initial thread's slot starts.
const MAIN_BASE: usize = 0x1000_0000_0000;
const MAIN_SIZE: usize = 0x0100_0000_0000;
/// Where slot 1 starts.
const BASE: usize = MAIN_BASE + MAIN_SIZE;
const SIZE: usize = 0x1_0000_0000;
/// Slots below this are for the initial thread's children, those from it on for other paths.
pub const DIRECT: u32 = 4096;
/// Number of slots.
pub const COUNT: u32 = 2 * DIRECT;

/// Most bytes of thread-locals.
pub const TLS_CAPACITY: usize = STACK_GUARD;
const STACK_GUARD: usize = 0x0100_0000;
const STACK: usize = STACK_GUARD + 0x1_0000;
const STACK_END: usize = STACK + 0x80_0000;
const ARGUMENTS: usize = 0x0200_0000;
const HEAP: usize = 0x0400_0000;

/// All memory of all slots.
pub const ALL: Range<usize> = MAIN_BASE..BASE + SIZE * (COUNT as usize - 1);

/// A slot's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot(pub u32);

impl Slot {
    /// The initial thread's.
    pub const MAIN: Self = Self(0);

    /// All its memory.
    pub const fn range(self) -> Range<usize> {
        match self.0 {
            0 => MAIN_BASE..MAIN_BASE + MAIN_SIZE,
            n => {
                let start = BASE + (n as usize - 1) * SIZE;
                start..start + SIZE
            }
        }
    }
    /// The slot that holds an address.
    pub const fn of(address: usize) -> Option<Self> {
        match address {
            MAIN_BASE..BASE => Some(Self::MAIN),
            _ if ALL.start <= address && address < ALL.end => Some(Self(((address - BASE) / SIZE) as u32 + 1)),
            _ => None,
        }
    }
    /// Its thread-locals.
    pub const fn tls(self) -> *mut u8 {
        self.range().start as *mut u8
    }
    /// Where nothing may be touched below the stack.
    pub const fn guard(self) -> Range<usize> {
        let start = self.range().start;
        start + STACK_GUARD..start + STACK
    }
    /// The end of its stack.
    pub const fn stack_end(self) -> *mut u8 {
        (self.range().start + STACK_END) as *mut u8
    }
    /// Room for the program's arguments and environment.
    pub const fn arguments(self) -> Range<usize> {
        let start = self.range().start;
        start + ARGUMENTS..start + HEAP
    }
    /// Its heap.
    pub const fn heap(self) -> Range<usize> {
        self.range().start + HEAP..self.range().end
    }
    /// Whether it has been mapped.
    pub fn is_mapped(self) -> bool {
        // Safety: no borrow outlives the expression.
        unsafe { (*MAPPED.get())[self.0 as usize / 64] & 1 << (self.0 % 64) != 0 }
    }
    /// Maps it if it is not yet; says whether it was now.
    ///
    /// # Errors
    /// The error number.
    pub fn map(self) -> Result<bool, i32> {
        if self.is_mapped() {
            return Ok(false);
        }
        let range = self.range();
        sys::reserve(range.start, range.len())?;
        let guard = self.guard();
        // Safety: the guard lies in the mapping just made.
        unsafe { sys!(SYS_mprotect, guard.start, guard.len(), libc::PROT_NONE) };
        // Safety: no borrow outlives the statement.
        unsafe { (*MAPPED.get())[self.0 as usize / 64] |= 1 << (self.0 % 64) };
        Ok(true)
    }
    /// All mapped slots.
    pub fn mapped() -> impl Iterator<Item = Self> {
        (0..COUNT).map(Self).filter(|slot| slot.is_mapped())
    }
}

#[unsafe(link_section = "rp_keep")]
static MAPPED: Keep<[u64; COUNT as usize / 64]> = Keep::new([0; COUNT as usize / 64]);

/// The preferred slot of the `k`-th child (from 1) of the thread in `parent`.
pub fn preferred(parent: Slot, k: u32) -> Slot {
    if parent == Slot::MAIN && k < DIRECT {
        return Slot(k);
    }
    // Finalizer of a 64-bit mixing hash: neighbours spread over the upper half.
    let mut hash = u64::from(parent.0) << 32 | u64::from(k);
    hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    Slot(DIRECT + ((hash ^ hash >> 33) % u64::from(DIRECT)) as u32)
}

/// The slot tried after `slot` turned out to be taken.
pub fn next(slot: Slot) -> Slot {
    Slot(DIRECT + (slot.0 + 1 - DIRECT) % DIRECT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_do_not_overlap_and_find_their_addresses() {
        let mut end = MAIN_BASE;
        for slot in (0..COUNT).map(Slot) {
            assert_eq!(slot.range().start, end);
            end = slot.range().end;
            for address in [slot.range().start, slot.heap().start, end - 1] {
                assert_eq!(Slot::of(address), Some(slot));
            }
        }
        assert_eq!(end, ALL.end);
        assert_eq!((Slot::of(MAIN_BASE - 1), Slot::of(end)), (None, None));
    }

    #[test]
    fn deeper_paths_stay_in_the_upper_half() {
        assert_eq!(preferred(Slot::MAIN, 1), Slot(1));
        for k in 1..1000 {
            let slot = preferred(Slot(7), k);
            assert!((DIRECT..COUNT).contains(&slot.0));
            assert!((DIRECT..COUNT).contains(&next(slot).0));
        }
        assert_eq!(next(Slot(COUNT - 1)), Slot(DIRECT));
        assert!(preferred(Slot::MAIN, DIRECT).0 >= DIRECT);
    }
}
