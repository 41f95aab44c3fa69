//! An allocator whose whole state lies at the start of the memory it hands out.
//!
//! Blocks come in size classes. A freed block goes to the free list of the arena that frees it, which need not be
//! the one it was cut from: so what an arena hands out depends on its own history alone. It waits in a queue first, so that
//! an access to freed memory rarely meets a new object there. Each block has a header in front; blocks with a large
//! alignment have a second one right in front of the address handed out.

use core::ops::Range;

/// Room for the header in front of a block.
const HEADER: usize = 16;
/// Alignment of every block.
const ALIGN: usize = 16;
const CLASSES: usize = 64 + 8 * 30;
/// Most bytes that wait before they are handed out again.
const WAITING: usize = 128 << 10;
/// The largest block.
const LARGEST: usize = class_size(CLASSES - 1);

/// In front of a block.
#[repr(C)]
struct Header {
    /// Bytes asked for (bits 0..48), size class (48..58) and state (58..64).
    what: u64,
    /// Live: where the block starts. Free and at the block's start: the next free block.
    link: usize,
}

const LIVE: u64 = 0b10_1101;
const FREED: u64 = 0b01_0011;

impl Header {
    fn new(size: usize, class: usize, state: u64, link: usize) -> Self {
        Self { what: size as u64 | (class as u64) << 48 | state << 58, link }
    }
    fn size(&self) -> usize {
        (self.what & ((1 << 48) - 1)) as usize
    }
    fn class(&self) -> usize {
        (self.what >> 48 & 0x3ff) as usize
    }
    fn state(&self) -> u64 {
        self.what >> 58
    }
}

/// The class of a block of `size` bytes without header, at least 1; `None` when it is too large.
const fn class_of(size: usize) -> Option<usize> {
    if size > LARGEST {
        return None;
    }
    if size <= 1024 {
        return Some(size.div_ceil(ALIGN) - 1);
    }
    // Eight classes for each doubling.
    let power = (size - 1).ilog2() as usize;
    Some(64 + (power - 10) * 8 + (((size - 1) >> (power - 3)) & 7))
}

/// Bytes in a block of this class.
const fn class_size(class: usize) -> usize {
    if class < 64 {
        return (class + 1) * ALIGN;
    }
    let (power, step) = (10 + (class - 64) / 8, (class - 64) % 8);
    (1 << power) + ((step + 1) << (power - 3))
}

/// The allocator; it lies at the start of its memory. All zero is the empty one.
#[repr(C)]
pub struct Arena {
    /// Bytes used from the start; 0 before the first allocation.
    used: usize,
    free: [usize; CLASSES],
    /// Freed blocks that are not to be handed out yet, oldest first, linked by their headers; 0 for none.
    oldest: usize,
    newest: usize,
    /// Their bytes.
    waiting: usize,
}

/// What an address given to `free` is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Block {
    /// A block in use.
    Live {
        /// Bytes asked for.
        size: usize,
    },
    /// A block that was freed.
    Freed {
        /// Bytes it had.
        size: usize,
    },
    /// Nothing that an arena handed out.
    Unknown,
}

impl Arena {
    /// Hands out `size` bytes aligned to `align`, a power of two, from the memory `range`; says whether they are
    /// fresh, that is zero. `None` when there is no room.
    ///
    /// # Safety
    /// `range` is mapped, starts with this arena, was zero when it was first used, and is 16-aligned.
    pub unsafe fn allocate(
        arena: *mut Self,
        range: &Range<usize>,
        size: usize,
        align: usize,
    ) -> Option<(*mut u8, bool)> {
        let wanted = match align {
            0..=ALIGN => size.max(1),
            // Room for the second header and to slide up to the alignment.
            _ => size.max(1).checked_add(align)?.checked_add(HEADER)?,
        };
        let class = class_of(wanted)?;
        // SAFETY: by the caller.
        let (start, fresh) = unsafe { Self::take(arena, range, class)? };
        let mut at = start + HEADER;
        if align > ALIGN {
            at = (at + HEADER).next_multiple_of(align);
            // SAFETY: `at` lies at least two headers after the block's start, and `wanted` counted them in.
            unsafe { ((at - HEADER) as *mut Header).write(Header::new(size, class, LIVE, start)) };
        }
        // SAFETY: `take` hands out room for a header and the class's bytes.
        unsafe { (start as *mut Header).write(Header::new(size, class, LIVE, start)) };
        Some((at as *mut u8, fresh))
    }

    /// Takes a free block of the class, or cuts one off; says whether its memory is fresh.
    ///
    /// # Safety
    /// As for [`allocate`](Self::allocate).
    unsafe fn take(arena: *mut Self, range: &Range<usize>, class: usize) -> Option<(usize, bool)> {
        // SAFETY: by the caller `arena` is one, and nobody else uses it: there is one operating-system thread.
        let arena = unsafe { &mut *arena };
        let first = arena.free[class];
        if first != 0 {
            // SAFETY: free lists hold freed blocks, each with its header at its start.
            arena.free[class] = unsafe { (*(first as *const Header)).link };
            return Some((first, false));
        }
        if arena.used == 0 {
            arena.used = size_of::<Self>().next_multiple_of(ALIGN);
        }
        let len = HEADER + class_size(class);
        // Large blocks start so that their bytes begin on a page.
        let offset = if len >= 0x1_0000 { (arena.used + HEADER).next_multiple_of(4096) - HEADER } else { arena.used };
        if len > range.len().saturating_sub(offset) {
            return None;
        }
        arena.used = offset + len;
        Some((range.start + offset, true))
    }

    /// What `at` is.
    ///
    /// # Safety
    /// The 16 bytes before `at` can be read, `at` is in an arena's memory.
    pub unsafe fn inspect(at: usize) -> Block {
        if !at.is_multiple_of(ALIGN) {
            return Block::Unknown;
        }
        // SAFETY: by the caller the bytes can be read; `at` is aligned, and a header has no invalid values.
        let header = unsafe { &*((at - HEADER) as *const Header) };
        if header.class() >= CLASSES || header.size() > class_size(header.class()) {
            return Block::Unknown;
        }
        let end = header.link.wrapping_add(HEADER + class_size(header.class()));
        match header.state() {
            LIVE if header.link.wrapping_add(HEADER) <= at && at <= end => Block::Live { size: header.size() },
            FREED => Block::Freed { size: header.size() },
            _ => Block::Unknown,
        }
    }

    /// Takes back a block that [`inspect`](Self::inspect) called live.
    ///
    /// # Safety
    /// It is live, and `arena` is an arena.
    pub unsafe fn release(arena: *mut Self, at: *mut u8) {
        // SAFETY: by the caller; a live block has a header in front of its address, and one at its start.
        unsafe {
            let header = (at as usize - HEADER) as *mut Header;
            let (size, class, start) = ((*header).size(), (*header).class(), (*header).link);
            *header = Header::new(size, class, FREED, 0);
            *(start as *mut Header) = Header::new(size, class, FREED, 0);
            (*arena).wait(start, class);
        }
    }

    /// Puts a freed block at the end of the queue, and those that waited long enough on their free lists.
    ///
    /// # Safety
    /// The block starts with its header.
    unsafe fn wait(&mut self, start: usize, class: usize) {
        // SAFETY: by the caller, and because the queue holds freed blocks, each with its header at its start.
        unsafe {
            match self.newest {
                0 => self.oldest = start,
                newest => (*(newest as *mut Header)).link = start,
            }
            (self.newest, self.waiting) = (start, self.waiting + class_size(class));
            while self.waiting > WAITING {
                let first = self.oldest as *mut Header;
                let class = (*first).class();
                (self.oldest, self.waiting) = ((*first).link, self.waiting - class_size(class));
                (*first).link = self.free[class];
                self.free[class] = first as usize;
                if self.oldest == 0 {
                    self.newest = 0;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Memory(Vec<u128>);
    impl Memory {
        fn new() -> Self {
            Self(vec![0; 1 << 16])
        }
        fn range(&self) -> Range<usize> {
            let start = self.0.as_ptr() as usize;
            start..start + self.0.len() * 16
        }
        fn arena(&mut self) -> *mut Arena {
            self.0.as_mut_ptr().cast()
        }
        /// Gives a live block back, one of this memory or of another that lives.
        fn release(&mut self, block: usize) {
            // SAFETY: the tests give back blocks that they got and did not give back before.
            unsafe { Arena::release(self.arena(), block as *mut u8) };
        }
        fn get(&mut self, size: usize, align: usize) -> Option<usize> {
            let range = self.range();
            // SAFETY: the vector is zero at first, 16-aligned, and only used through its arena.
            unsafe { Arena::allocate(self.arena(), &range, size, align) }.map(|(at, _)| at as usize)
        }
    }

    #[test]
    fn every_size_fits_its_class() {
        for class in 0..CLASSES {
            let size = class_size(class);
            assert_eq!(class_of(size), Some(class), "{size}");
            let smaller = if class == 0 { 1 } else { class_size(class - 1) + 1 };
            assert_eq!(class_of(smaller), Some(class), "{smaller}");
        }
        assert_eq!(class_of(LARGEST + 1), None);
        assert_eq!(class_of(usize::MAX), None);
    }

    #[test]
    fn freed_blocks_come_back_oldest_first() {
        let mut memory = Memory::new();
        let blocks: Vec<usize> = (0..3).map(|_| memory.get(WAITING / 2 - 1, 16).unwrap()).collect();
        for block in &blocks {
            memory.release(*block);
        }
        assert_eq!(memory.get(WAITING / 2 - 1, 16), Some(blocks[0]));
        assert!(!blocks.contains(&memory.get(WAITING / 2 - 1, 16).unwrap()));
        let huge = memory.get(WAITING * 2, 16).unwrap();
        memory.release(huge);
        assert_eq!(memory.get(WAITING * 2, 16), Some(huge), "more than may wait does not wait");
        assert_eq!(memory.get(WAITING / 2 - 1, 16), Some(blocks[2]));
        assert_eq!(memory.get(WAITING / 2 - 1, 16), Some(blocks[1]));
    }

    #[test]
    fn blocks_are_apart_aligned_and_reused_by_the_arena_that_frees() {
        let (mut one, mut two) = (Memory::new(), Memory::new());
        let a = one.get(24, 16).unwrap();
        let b = one.get(24, 256).unwrap();
        let c = one.get(1, 16).unwrap();
        assert!(b >= a + 24 && c >= b + 24 && b % 256 == 0 && a % 16 == 0 && c % 16 == 0);
        // SAFETY: all addresses lie behind the headers in memory that the first arena handed out from.
        let inspect = |at| unsafe { Arena::inspect(at) };
        assert_eq!(inspect(a), Block::Live { size: 24 });
        assert!(matches!(inspect(b), Block::Live { size: 24 }));
        two.release(a);
        one.release(b);
        assert_eq!((inspect(a), inspect(b)), (Block::Freed { size: 24 }, Block::Freed { size: 24 }));
        assert_eq!(inspect(c + 16), Block::Unknown);
        assert_eq!(inspect(c + 1), Block::Unknown);
        assert_ne!(two.get(30, 16), Some(a), "it waits");
        for arena in [&mut one, &mut two] {
            for _ in 0..2 {
                let large = arena.get(WAITING / 2, 16).unwrap();
                arena.release(large);
            }
        }
        assert_eq!(two.get(30, 16), Some(a), "the freeing arena hands it out again");
        assert_ne!(one.get(30, 16), Some(a));
        assert_eq!(one.get(24, 256), Some(b));
        assert_eq!(one.get(1 << 40, 16), None);
        assert_eq!(one.get(usize::MAX, 4096), None);
    }
}
