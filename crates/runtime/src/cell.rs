//! Statics of a library that runs on one operating-system thread.
//!
//! All of the program's threads are coroutines on that one thread, and no signal handler returns into code that it
//! interrupted. So nothing here is ever used by two processor cores at once. What is left to check is that one piece of
//! code does not take a second mutable borrow while another holds one, directly or in a thread that was switched to in
//! between. [`Global::with`] and [`Keep::with`] check exactly that.

use core::cell::{Cell, UnsafeCell};
use core::ops::Deref;

/// A value that only one operating-system thread uses: cells in it need no lock.
///
/// For counters and flags on hot paths: `static HOT: OneThread<Hot>` with fields of type [`Cell`].
#[repr(transparent)]
pub struct OneThread<T>(T);

// SAFETY: the process has one operating-system thread that executes this library's code (see the module's head), so a
// reference to the static is never used by two threads at once.
unsafe impl<T> Sync for OneThread<T> {}

impl<T> OneThread<T> {
    /// With this value at the start of the process.
    pub const fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for OneThread<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// A number that differs from that of every borrow whose code will never continue. It is 1 or more, so that 0 means "not
/// borrowed", and it survives the restore to the checkpoint because the borrow marks of [`Keep`] statics do.
#[used]
#[unsafe(link_section = "rp_keep")]
static EPOCH: Aligned<OneThread<Cell<u32>>> = Aligned(OneThread::new(Cell::new(1)));

/// A value on pages of its own, so that the checkpoint can leave it out.
#[repr(C, align(4096))]
struct Aligned<T>(T);

/// Forgets all borrows that are under way: the code that holds them will never continue, because a fault ended its thread.
pub fn abandon_borrows() {
    EPOCH.0.set(EPOCH.0.get() + 1);
}

/// A value that can be borrowed by one piece of code at a time: a field of a [`OneThread`] static.
pub struct Checked<T> {
    value: UnsafeCell<T>,
    /// The epoch in which the current borrow began; 0 when there is none.
    borrowed: Cell<u32>,
}

impl<T> Checked<T> {
    /// With this value at first.
    pub const fn new(value: T) -> Self {
        Self { value: UnsafeCell::new(value), borrowed: Cell::new(0) }
    }

    /// Lends the value to `use_it`, which must neither switch to another thread nor ask for the same value again: whoever
    /// does gets a panic.
    #[inline(always)]
    pub fn with<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> R {
        let epoch = EPOCH.0.get();
        if self.borrowed.replace(epoch) == epoch {
            borrowed_twice();
        }
        // SAFETY: `borrowed` did not name this epoch, so no other borrow exists whose code can still run, and until it
        // is reset below every other call of this function panics.
        let result = use_it(unsafe { &mut *self.value.get() });
        self.borrowed.set(0);
        result
    }
}

#[cold]
#[inline(never)]
fn borrowed_twice() -> ! {
    panic!("a static is borrowed twice")
}

/// A mutable static, put back to the checkpoint like the program's memory.
pub struct Global<T>(OneThread<Checked<T>>);

impl<T> Global<T> {
    /// With this value at the start of the process.
    pub const fn new(value: T) -> Self {
        Self(OneThread::new(Checked::new(value)))
    }
    /// Lends the value to `use_it`, which must neither switch to another thread nor ask for the same static again:
    /// whoever does gets a panic.
    #[inline(always)]
    pub fn with<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> R {
        self.0.with(use_it)
    }
    /// Puts another value in place of the old one.
    #[inline(always)]
    pub fn set(&self, value: T) {
        self.with(|old| *old = value);
    }
}

impl<T: Copy> Global<T> {
    /// A copy of the value.
    #[inline(always)]
    pub fn value(&self) -> T {
        self.with(|value| *value)
    }
}

/// A mutable static that keeps its value from run to run: on pages of its own that the checkpoint leaves out.
///
/// Declare it with `#[unsafe(link_section = "rp_keep")]` and with `#[used]`: an optimiser may otherwise take it to pieces
/// that are not whole pages. It must hold nothing allocated, since the heap is put back.
#[repr(C, align(4096))]
pub struct Keep<T>(OneThread<Checked<T>>);

impl<T> Keep<T> {
    /// With this value at the start of the process.
    pub const fn new(value: T) -> Self {
        Self(OneThread::new(Checked::new(value)))
    }
    /// Lends the value to `use_it`, which must neither switch to another thread nor ask for the same static again:
    /// whoever does gets a panic.
    #[inline(always)]
    pub fn with<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> R {
        self.0.with(use_it)
    }
}

/// The addresses that [`Keep`] statics take.
pub fn kept() -> core::ops::Range<usize> {
    unsafe extern "C" {
        static __start_rp_keep: u8;
        static __stop_rp_keep: u8;
    }
    &raw const __start_rp_keep as usize..&raw const __stop_rp_keep as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_borrow_is_noticed_and_an_abandoned_one_is_not_in_the_way() {
        static NUMBER: Global<u32> = Global::new(3);
        assert_eq!(NUMBER.with(|number| core::mem::replace(number, 4)), 3);
        let twice = std::panic::catch_unwind(|| NUMBER.with(|_| NUMBER.with(|number| *number)));
        assert!(twice.is_err());
        // The panic left the outer borrow behind, as a fault does.
        abandon_borrows();
        assert_eq!(NUMBER.value(), 4);
    }
}
