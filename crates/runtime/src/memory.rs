//! Memory of the program under test, by address. [`effects::memory`] says why any address may be passed.

use alloc::vec;
use alloc::vec::Vec;

pub use effects::memory::*;

/// A copy of `len` bytes.
pub fn bytes(at: u64, len: usize) -> Vec<u8> {
    let mut copy = vec![0; len];
    read_bytes(at, &mut copy);
    copy
}
