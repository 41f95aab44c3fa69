//! Statics of a library that runs on one operating-system thread.

use core::cell::UnsafeCell;

/// A mutable static, put back to the checkpoint like the program's memory.
pub struct Global<T>(UnsafeCell<T>);

// Safety: there is one operating-system thread.
unsafe impl<T> Sync for Global<T> {}

impl<T> Global<T> {
    /// With this value at the start of the process.
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }
    /// Where it is. Borrows made from it must not be held over a switch.
    #[inline(always)]
    pub const fn get(&self) -> *mut T {
        self.0.get()
    }
}

/// A mutable static that keeps its value from run to run: on pages of its own that the checkpoint leaves out.
///
/// Declare it with `#[unsafe(link_section = "rp_keep")]`. It must hold nothing allocated, since the heap is put back.
#[repr(C, align(4096))]
pub struct Keep<T>(UnsafeCell<T>);

// Safety: there is one operating-system thread.
unsafe impl<T> Sync for Keep<T> {}

impl<T> Keep<T> {
    /// With this value at the start of the process.
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }
    /// Where it is.
    #[inline(always)]
    pub const fn get(&self) -> *mut T {
        self.0.get()
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
