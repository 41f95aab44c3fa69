//! Random numbers from outside the program: the same in every run, different for threads and for each call.

#![allow(non_snake_case, reason = "mangled names of libstdc++")]

use alloc::vec::Vec;
use core::ffi::{c_int, c_uint, c_void};

use super::{fail, me};
use crate::cell::Global;
use crate::sched;

/// Numbers drawn, by thread.
static DRAWN: Global<Vec<u64>> = Global::new(Vec::new());

/// The number after `count` others in the sequence of `seed` (splitmix64).
pub fn number(seed: u64, count: u64) -> u64 {
    let mut z = seed.wrapping_add(count.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// The running thread's next number.
fn next() -> u64 {
    let thread = me();
    // Safety: no borrow outlives the block.
    let drawn = unsafe { &mut *DRAWN.get() };
    if drawn.len() <= thread as usize {
        drawn.resize(thread as usize + 1, 0);
    }
    drawn[thread as usize] += 1;
    // The slot is that of the thread's spawn path: the same under every schedule.
    let seed = if sched::running() { sched::slot_address(thread) as u64 } else { 0 };
    number(seed, drawn[thread as usize])
}

/// Fills memory.
unsafe fn fill(to: *mut c_void, len: usize) {
    let bytes = unsafe { core::slice::from_raw_parts_mut(to.cast::<u8>(), len) };
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&next().to_le_bytes()[..chunk.len()]);
    }
}

export! {
    /// Random bytes.
    fn getrandom(to: *mut c_void, len: usize, _flags: c_uint) -> isize {
        unsafe { fill(to, len) };
        len as isize
    }
    /// At most 256 random bytes.
    fn getentropy(to: *mut c_void, len: usize) -> c_int {
        if len > 256 {
            return fail(libc::EIO) as c_int;
        }
        unsafe { fill(to, len) };
        0
    }
    /// A random number.
    fn arc4random() -> u32 {
        next() as u32
    }
    /// Random bytes.
    fn arc4random_buf(to: *mut c_void, len: usize) {
        unsafe { fill(to, len) };
    }
    /// A random number below a bound.
    fn arc4random_uniform(bound: u32) -> u32 {
        if bound == 0 { 0 } else { (next() % u64::from(bound)) as u32 }
    }
    /// `std::random_device::_M_getval()`.
    fn _ZNSt13random_device9_M_getvalEv(_this: *mut c_void) -> u32 {
        next() as u32
    }
    /// `std::random_device::_M_init(const std::string &)`: all kinds of device are this one.
    fn _ZNSt13random_device7_M_initERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(
        _this: *mut c_void,
        _token: *const c_void,
    ) {
    }
    /// `std::random_device::_M_fini()`.
    fn _ZNSt13random_device7_M_finiEv(_this: *mut c_void) {
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_differ_by_seed_and_place() {
        assert_eq!(number(1, 1), number(1, 1));
        assert_ne!(number(1, 1), number(1, 2));
        assert_ne!(number(1, 1), number(2, 1));
    }
}
