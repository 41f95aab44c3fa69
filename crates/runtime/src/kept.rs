//! Memory of the runtime that checkpoints leave alone, for tables too large for a [`crate::cell::Keep`].

use core::ops::Range;

use crate::sys;

const BASE: usize = 0x4100_0000_0000;
const MEGABYTE: usize = 0x10_0000;

/// The stack of signal handlers.
pub const SIGNAL_STACK: Range<usize> = BASE..BASE + MEGABYTE;
/// Text of files under `/proc`.
pub const TEXT: Range<usize> = SIGNAL_STACK.end..SIGNAL_STACK.end + 64 * MEGABYTE;
/// The descriptors at the checkpoint.
pub const DESCRIPTORS: Range<usize> = TEXT.end..TEXT.end + 16 * MEGABYTE;
/// Descriptors of memory files made since the checkpoint.
pub const NEW_FILES: Range<usize> = DESCRIPTORS.end..DESCRIPTORS.end + MEGABYTE;
/// What the program can see of the process, at the checkpoint and now.
pub const WORLD: Range<usize> = NEW_FILES.end..NEW_FILES.end + 2 * MEGABYTE;
/// What the kernel says was written.
pub const REGIONS: Range<usize> = WORLD.end..WORLD.end + 64 * MEGABYTE;
/// Which memory the checkpoint holds.
pub const EXTENTS: Range<usize> = REGIONS.end..REGIONS.end + 256 * MEGABYTE;
/// Memory that is put back after every run.
pub const PIECES: Range<usize> = EXTENTS.end..EXTENTS.end + 256 * MEGABYTE;
/// The checkpoint itself.
pub const COPIES: Range<usize> = 0x4200_0000_0000..0x4300_0000_0000;

/// All of it.
pub const ALL: Range<usize> = BASE..COPIES.end;

/// Maps what every process needs.
///
/// # Errors
/// The error number.
pub fn map() -> Result<(), i32> {
    sys::reserve(BASE, WORLD.end - BASE).map(drop)
}

/// Maps what a checkpoint in memory needs. (An emulator may take long to reserve that much.)
///
/// # Errors
/// The error number.
pub fn map_checkpoint() -> Result<(), i32> {
    sys::reserve(REGIONS.start, PIECES.end - REGIONS.start)?;
    sys::reserve(COPIES.start, COPIES.len()).map(drop)
}

/// An array in kept memory that grows.
pub struct Table<T> {
    range: Range<usize>,
    len: usize,
    _items: core::marker::PhantomData<T>,
}

impl<T: Copy> Table<T> {
    /// An empty one.
    pub const fn new(range: Range<usize>) -> Self {
        Self { range, len: 0, _items: core::marker::PhantomData }
    }
    /// Room for this many.
    pub const fn capacity(&self) -> usize {
        (self.range.end - self.range.start) / size_of::<T>()
    }
    /// Appends; says whether there was room.
    pub fn push(&mut self, item: T) -> bool {
        let fits = self.len < self.capacity();
        if fits {
            // SAFETY: `len` is below the capacity, so this is inside the range, which starts on a page and is mapped before
            // any table is used (`map`, `map_checkpoint`); no other table has the range.
            unsafe { (self.range.start as *mut T).add(self.len).write(item) };
            self.len += 1;
        }
        fits
    }
    /// Drops all items.
    pub fn clear(&mut self) {
        self.len = 0;
    }
    /// The items.
    pub fn items(&self) -> &[T] {
        // SAFETY: the first `len` items have been written, by `push` or as `set_len` demands.
        unsafe { core::slice::from_raw_parts(self.range.start as *const T, self.len) }
    }
    /// Where the items start, to be filled by the kernel.
    pub const fn start(&self) -> usize {
        self.range.start
    }
    /// Sets the number of items after the kernel filled them in.
    ///
    /// # Safety
    /// That many have been written.
    pub unsafe fn set_len(&mut self, len: usize) {
        self.len = len;
    }
}
