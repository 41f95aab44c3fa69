//! The heap: the C library's own, with what comes and goes logged, so that objects have names and lives.

use core::ffi::{c_int, c_void};

use wire::Tag;

use crate::hooks::access;
use crate::log::{here, site};
use crate::real::set_errno;
use crate::thread::has_state;

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(align: usize, size: usize) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
}

/// Logs a block after it was allocated.
fn allocated(block: *mut c_void, size: usize) -> *mut c_void {
    if !block.is_null() && has_state() {
        here(Tag::Alloc, 0, block, u32::try_from(size).unwrap_or(u32::MAX));
    }
    block
}

/// The largest block that the library itself fills with zeros; the kernel's pages for larger ones are.
const FILLED: usize = 1 << 20;

/// Logs a block after it was allocated and filled with zeros.
fn zeroed(block: *mut c_void, size: usize) -> *mut c_void {
    allocated(block, size);
    if !block.is_null() && has_state() && size <= FILLED {
        access(Tag::Write, 0, block as u64, size as u64, site(), true);
    }
    block
}

/// Logs a block before it goes.
fn freed(block: *mut c_void) {
    if !block.is_null() && has_state() {
        here(Tag::Free, 0, block, 0);
    }
}

/// Defines functions of the heap.
macro_rules! export {
    ($(fn $name:ident($($arg:ident: $type:ty),*) $(-> $result:ty)? $body:block)*) => {$(
        #[cfg_attr(not(test), unsafe(no_mangle))]
        #[allow(unused_unsafe, reason = "some bodies need none")]
        unsafe extern "C" fn $name($($arg: $type),*) $(-> $result)? {
            // SAFETY: the program calls the function by its C declaration and vouches for the arguments, which go to the C
            // library's own.
            unsafe { $body }
        }
    )*};
}

export! {
    fn malloc(size: usize) -> *mut c_void { allocated(__libc_malloc(size), size) }
    fn calloc(count: usize, size: usize) -> *mut c_void {
        zeroed(__libc_calloc(count, size), count.saturating_mul(size))
    }
    fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
        freed(block);
        let moved = __libc_realloc(block, size);
        if moved.is_null() && size > 0 {
            // It stays where it was.
            allocated(block, 1);
            return moved;
        }
        allocated(moved, size)
    }
    fn reallocarray(block: *mut c_void, count: usize, size: usize) -> *mut c_void {
        match count.checked_mul(size) {
            Some(size) => realloc(block, size),
            None => {
                set_errno(libc::ENOMEM);
                core::ptr::null_mut()
            }
        }
    }
    fn free(block: *mut c_void) {
        freed(block);
        __libc_free(block);
    }
    fn memalign(align: usize, size: usize) -> *mut c_void { allocated(__libc_memalign(align, size), size) }
    fn aligned_alloc(align: usize, size: usize) -> *mut c_void { allocated(__libc_memalign(align, size), size) }
    fn posix_memalign(place: *mut *mut c_void, align: usize, size: usize) -> c_int {
        if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
            return libc::EINVAL;
        }
        let block = __libc_memalign(align, size);
        if block.is_null() {
            return libc::ENOMEM;
        }
        *place = allocated(block, size);
        0
    }
}
