//! A thread's memory: stack, thread-locals and heap, at addresses that follow from its spawn path.
//!
//! ```text
//! slot + 0       not mapped: catches stack overflow
//!      + STACK   stack, growing down from TLS
//!      + TLS     thread-locals
//!      + HEAP    heap, mapped as far as it is used
//! ```
//! The initial thread has slot 0 and its k-th child slot k; the children of those have a part of their own, and so have
//! the first children of these. Deeper paths, and children beyond these parts, are hashed: the first few children of a thread
//! to a bucket, and the rest to runs of buckets, so that only families can meet. Two paths with the same hash get slots in the
//! order of their creation, which differs between schedules, so this is reported. Hashed slots, and those of the
//! great-grandchildren, are smaller than the others, since there are many. Slots are mapped when first used and stay mapped.
//! What a small thread touches lies within two megabytes, one page table, since the kernel walks those to find what a run has
//! written.

use core::ops::Range;

use crate::cell::Keep;
use crate::sys;

/// Where the initial thread's slot starts.
const MAIN_BASE: usize = 0x1000_0000_0000;
const MAIN_SIZE: usize = 0x0100_0000_0000;
/// Where slot 1 starts.
const BASE: usize = MAIN_BASE + MAIN_SIZE;
const SIZE: usize = 0x8000_0000;
/// Of the slots from `NESTED` on: all of them end below where the kernel puts executables.
const SMALL_SIZE: usize = 0x600_0000;
/// Where those start.
const SMALL_BASE: usize = BASE + (NESTED as usize - 1) * SIZE;
/// Slots below this are for the initial thread's children.
const DIRECT: u32 = 4096;
/// So many of these have so many slots for their own children, up to the hashed ones.
const WIDTH: u32 = 64;
/// The slots of the first children of those start here.
const NESTED: u32 = DIRECT + WIDTH * WIDTH;
/// Siblings that are hashed together, the first of a thread; and the others.
const BUCKET: u32 = 8;
const RUN: u32 = 512;
/// The hashed slots start here.
const HASHED: u32 = NESTED + WIDTH * WIDTH * BUCKET;
/// Number of slots of either kind of family.
const FAMILIES: u32 = 1 << 18;
/// Number of hashed slots.
pub const HASHED_COUNT: u32 = 2 * FAMILIES;
/// Number of slots.
pub const COUNT: u32 = HASHED + HASHED_COUNT;

const STACK: usize = 0x8_0000;
const TLS: usize = STACK + 0x80_0000;
const HEAP: usize = TLS + TLS_CAPACITY;
/// Most bytes of thread-locals.
pub const TLS_CAPACITY: usize = 0x10_0000;
/// The least that is mapped, from the start of the slot. All that is mapped is a multiple of it.
const LEAST: usize = 0x100_0000;

/// All memory of all slots.
pub const ALL: Range<usize> = MAIN_BASE..SMALL_BASE + SMALL_SIZE * (COUNT - NESTED) as usize;

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
            n @ NESTED.. => {
                let start = SMALL_BASE + (n - NESTED) as usize * SMALL_SIZE;
                start..start + SMALL_SIZE
            }
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
            BASE..SMALL_BASE => Some(Self(((address - BASE) / SIZE) as u32 + 1)),
            _ if ALL.start <= address && address < ALL.end => {
                Some(Self(((address - SMALL_BASE) / SMALL_SIZE) as u32 + NESTED))
            }
            _ => None,
        }
    }
    /// Its thread-locals.
    pub const fn tls(self) -> *mut u8 {
        (self.range().start + TLS) as *mut u8
    }
    /// Where nothing may be touched below the stack.
    pub const fn guard(self) -> Range<usize> {
        let start = self.range().start;
        start..start + STACK
    }
    /// Its stack.
    pub const fn stack(self) -> Range<usize> {
        let start = self.range().start;
        start + STACK..start + TLS
    }
    /// The end of its stack.
    pub const fn stack_end(self) -> *mut u8 {
        (self.range().start + TLS) as *mut u8
    }
    /// Its heap as far as it is mapped.
    pub fn heap(self) -> Range<usize> {
        let start = self.range().start;
        start + HEAP..start + HEAP.max(self.mapped_len())
    }
    /// Bytes mapped, counted from the start of the slot; 0 before it is used.
    fn mapped_len(self) -> usize {
        MAPPED.with(|mapped| usize::from(mapped[self.0 as usize])) * LEAST
    }
    /// Whether it has been mapped.
    pub fn is_mapped(self) -> bool {
        self.mapped_len() > 0
    }
    /// Maps it if it is not yet; returns what was mapped now.
    ///
    /// # Errors
    /// The error number.
    pub fn map(self) -> Result<Range<usize>, i32> {
        if self.is_mapped() { Ok(0..0) } else { self.map_to(STACK, LEAST) }
    }
    /// Maps at least `bytes` more of its heap; returns what was mapped now.
    ///
    /// # Errors
    /// The error number, `ENOMEM` when the slot is full.
    pub fn grow(self, bytes: usize) -> Result<Range<usize>, i32> {
        let (now, all) = (self.mapped_len(), self.range().len().min(MOST));
        let wanted = now.checked_add(bytes).and_then(|least| least.checked_next_multiple_of(LEAST));
        match wanted {
            Some(wanted) if now > 0 && wanted <= all => self.map_to(now, wanted.max(2 * now).min(all)),
            _ => Err(libc::ENOMEM),
        }
    }
    fn map_to(self, from: usize, to: usize) -> Result<Range<usize>, i32> {
        let start = self.range().start;
        sys::reserve(start + from, to - from)?;
        MAPPED.with(|mapped| mapped[self.0 as usize] = (to / LEAST) as u16);
        Ok(start + from..start + to)
    }
}

/// How much of each slot is mapped, divided by `LEAST`.
#[used]
#[unsafe(link_section = "rp_keep")]
static MAPPED: Keep<[u16; COUNT as usize]> = Keep::new([0; COUNT as usize]);
/// The most that it can say.
const MOST: usize = u16::MAX as usize * LEAST;

/// The preferred slot of the `k`-th child (from 1) of the thread in `parent`.
pub fn preferred(parent: Slot, k: u32) -> Slot {
    if parent == Slot::MAIN && k < DIRECT {
        return Slot(k);
    }
    if (1..=WIDTH).contains(&parent.0) && k <= WIDTH {
        return Slot(DIRECT + (parent.0 - 1) * WIDTH + (k - 1));
    }
    if (DIRECT..NESTED).contains(&parent.0) && k <= BUCKET {
        return Slot(NESTED + (parent.0 - DIRECT) * BUCKET + (k - 1));
    }
    if k <= BUCKET {
        return Slot(HASHED + hash(parent, 0, FAMILIES / BUCKET) * BUCKET + (k - 1));
    }
    Slot(HASHED + FAMILIES + hash(parent, k / RUN, FAMILIES / RUN) * RUN + k % RUN)
}

/// A number below `count` for a part of a thread's children.
fn hash(parent: Slot, part: u32, count: u32) -> u32 {
    // Finalizer of a 64-bit mixing hash.
    let mut hash = u64::from(parent.0) << 32 | u64::from(part);
    hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    ((hash ^ hash >> 33) % u64::from(count)) as u32
}

/// The slot tried after `slot` turned out to be taken.
pub fn next(slot: Slot) -> Slot {
    Slot(HASHED + (slot.0 + 1).saturating_sub(HASHED) % HASHED_COUNT)
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
            for address in [slot.range().start, slot.tls() as usize, end - 1] {
                assert_eq!(Slot::of(address), Some(slot));
            }
        }
        assert_eq!(end, ALL.end);
        assert_eq!((Slot::of(MAIN_BASE - 1), Slot::of(end)), (None, None));
    }

    #[test]
    fn a_slot_is_mapped_as_far_as_it_is_used() {
        let slot = Slot(DIRECT - 1);
        assert!(slot.heap().is_empty() && slot.grow(1).is_err());
        let mapped = slot.map().unwrap();
        assert!(mapped.contains(&(slot.tls() as usize)) && !mapped.contains(&slot.guard().start));
        assert_eq!(slot.map(), Ok(0..0));
        let before = slot.heap();
        let grown = slot.grow(0x200_0000).unwrap();
        assert_eq!(grown.start, before.end);
        assert!(grown.len() >= 0x200_0000 && slot.heap() == (before.start..grown.end));
        // SAFETY: the last byte of what was mapped just now, in a slot that only this test uses.
        unsafe { (grown.end as *mut u8).sub(1).write(1) };
        assert_eq!(slot.grow(SIZE), Err(libc::ENOMEM));
    }

    #[test]
    fn children_and_grandchildren_never_meet_and_others_are_hashed() {
        let mut taken = std::collections::BTreeSet::from([0]);
        for k in 1..DIRECT {
            assert!(taken.insert(preferred(Slot::MAIN, k).0));
        }
        for (parent, k) in (1..=WIDTH).flat_map(|parent| (1..=WIDTH).map(move |k| (parent, k))) {
            assert!(taken.insert(preferred(Slot(parent), k).0));
        }
        for (parent, k) in (DIRECT..NESTED).flat_map(|parent| (1..=BUCKET).map(move |k| (parent, k))) {
            assert!(taken.insert(preferred(Slot(parent), k).0));
        }
        assert!(!taken.iter().any(|slot| *slot >= HASHED));
        let deeper =
            [(Slot::MAIN, DIRECT), (Slot(1), WIDTH + 1), (Slot(WIDTH + 1), 1), (Slot(DIRECT), 9), (Slot(HASHED), 9)];
        for (parent, k) in deeper {
            let slot = preferred(parent, k);
            assert!((HASHED..COUNT).contains(&slot.0) && (HASHED..COUNT).contains(&next(slot).0));
        }
        assert_eq!(next(Slot(COUNT - 1)), Slot(HASHED));
    }

    #[test]
    fn a_thousand_siblings_do_not_meet() {
        for parent in [Slot::MAIN, Slot(1), Slot(WIDTH + 1), Slot(DIRECT), Slot(HASHED + 5)] {
            let taken: std::collections::BTreeSet<u32> = (1..=1000).map(|k| preferred(parent, k).0).collect();
            assert_eq!(taken.len(), 1000);
        }
    }
}
