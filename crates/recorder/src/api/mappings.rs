//! Memory that the program maps by itself: what comes to an address where something else was is another object.

use core::ffi::{c_int, c_void};

use libc::{off_t, size_t};

use crate::log::range;
use crate::real;
use crate::thread::has_state;

/// After memory was mapped.
fn mapped(start: *mut c_void, len: size_t) -> *mut c_void {
    if start != libc::MAP_FAILED && has_state() {
        range(start as u64, len as u64);
    }
    start
}

export! {
    fn mmap(at: *mut c_void, len: size_t, access: c_int, flags: c_int, fd: c_int, offset: off_t) -> *mut c_void {
        mapped(real::mmap(at, len, access, flags, fd, offset), len)
    }
    fn mmap64(at: *mut c_void, len: size_t, access: c_int, flags: c_int, fd: c_int, offset: off_t) -> *mut c_void {
        mapped(real::mmap(at, len, access, flags, fd, offset), len)
    }
    fn mremap(old: *mut c_void, old_len: size_t, len: size_t, flags: c_int, at: *mut c_void) -> *mut c_void {
        let moved = real::mremap(old, old_len, len, flags, at);
        // What stays where it is stays what it is.
        if moved == old { moved } else { mapped(moved, len) }
    }
}
