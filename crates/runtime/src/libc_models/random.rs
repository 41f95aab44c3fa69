//! Random numbers from outside the program: the same in every run, different for threads and for each call.

#![allow(non_snake_case, reason = "mangled names of libstdc++")]

use alloc::vec::Vec;
use core::ffi::{c_int, c_uint, c_void};

use super::program_memory::{Buffer, Out};
use super::{fail, me};
use crate::cell::Global;
use crate::sched;

/// How many numbers were drawn, by thread.
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
    let count = DRAWN.with(|drawn| {
        if drawn.len() <= thread as usize {
            drawn.resize(thread as usize + 1, 0);
        }
        drawn[thread as usize] += 1;
        drawn[thread as usize]
    });
    // The slot is that of the thread's spawn path: the same under every schedule.
    let seed = if sched::running() { sched::slot_address(thread) as u64 } else { 0 };
    number(seed, count)
}

/// Fills a buffer with random bytes.
fn fill(mut buffer: Buffer<'_>) {
    while !buffer.is_empty() {
        buffer.store(&next().to_le_bytes());
        buffer = buffer.after(8);
    }
}

export! {
    /// Random bytes.
    fn getrandom(to: Out<'_, c_void>, len: usize, _flags: c_uint) -> isize {
        fill(to.buffer(len));
        len as isize
    }
    /// At most 256 random bytes.
    fn getentropy(to: Out<'_, c_void>, len: usize) -> c_int {
        if len > 256 {
            return fail(libc::EIO) as c_int;
        }
        fill(to.buffer(len));
        0
    }
    /// A random number.
    fn arc4random() -> u32 {
        next() as u32
    }
    /// Random bytes.
    fn arc4random_buf(to: Out<'_, c_void>, len: usize) {
        fill(to.buffer(len));
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
