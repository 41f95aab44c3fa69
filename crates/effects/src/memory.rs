//! Memory of the program under test, by address.
//!
//! *Why these functions are safe to call with any address.* The library that uses them stands in for functions of the C
//! library, or looks at what such a function is about to look at. An address that it is given is one that the program handed
//! to such a function, or is about to access itself. The access made here is one that the program makes anyway. If nothing
//! is mapped there, the fault is the program's and is treated like a fault in the program's own code. If something is mapped
//! there, reading gives some value of a type without invalid ones ([`Plain`]), and writing changes what the C function would
//! have changed. Only a program that hands out an address inside the library's own memory can break the library, and such a
//! program can do so by a plain store as well. No reference to program memory is ever made, so nothing is assumed about its
//! alignment or about who else points to it.
#![allow(clippy::not_unsafe_ptr_arg_deref, reason = "the head of the module says why any address may be passed")]

use core::ffi::c_char;

/// A type without invalid values: every sequence of bytes is one.
///
/// # Safety
/// All bit patterns are values of the type.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($type:ty),*) => {$(
        // SAFETY: integers, and structures of integers and raw pointers, have no invalid values.
        unsafe impl Plain for $type {}
    )*};
}
plain!(u8, i8, u16, i16, u32, i32, u64, i64, usize, isize);
plain!(libc::timespec, libc::timeval, libc::itimerspec, libc::iovec);
plain!(libc::epoll_event, libc::msghdr, libc::pollfd, libc::itimerval, libc::sigevent, libc::addrinfo, libc::flock);

// SAFETY: every address is a raw pointer.
unsafe impl<T> Plain for *const T {}
// SAFETY: every address is a raw pointer.
unsafe impl<T> Plain for *mut T {}
// SAFETY: so is an array of values without invalid ones.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// Reads a value.
#[inline(always)]
pub fn read<T: Plain>(at: *const T) -> T {
    // SAFETY: by the module's argument, and because every bit pattern is a `T`.
    unsafe { at.read_unaligned() }
}

/// Reads the value with this index of an array.
#[inline(always)]
pub fn read_at<T: Plain>(array: u64, index: u64) -> T {
    read((array as *const T).wrapping_add(index as usize))
}

/// Writes a value.
#[inline(always)]
pub fn write<T: Copy>(at: *mut T, value: T) {
    // SAFETY: by the module's argument.
    unsafe { at.write_unaligned(value) };
}

/// Writes a value where the program asked for one: a null pointer says that it did not.
pub fn write_if_wanted<T: Copy>(at: *mut T, value: T) {
    if !at.is_null() {
        write(at, value);
    }
}

/// Sets all bytes of `count` values to zero.
pub fn zero<T>(at: *mut T, count: usize) {
    // SAFETY: by the module's argument.
    unsafe { at.cast::<u8>().write_bytes(0, count * size_of::<T>()) };
}

/// Copies bytes of the program to memory of the library.
pub fn read_bytes(at: u64, to: &mut [u8]) {
    // SAFETY: by the module's argument; `to` is the library's own and lies elsewhere.
    unsafe { (at as *const u8).copy_to_nonoverlapping(to.as_mut_ptr(), to.len()) };
}

/// Copies bytes of the library to memory of the program.
pub fn write_bytes(at: u64, bytes: &[u8]) {
    // SAFETY: by the module's argument; the bytes are the library's own and lie elsewhere.
    unsafe { (at as *mut u8).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
}

/// Whether these bytes are there.
pub fn equals(at: u64, bytes: &[u8]) -> bool {
    bytes.iter().zip(0..).all(|(byte, index)| read_at::<u8>(at, index) == *byte)
}

/// The length of a string that ends with a zero byte; at most `most`.
pub fn string_len(at: *const c_char, most: usize) -> usize {
    // SAFETY: by the module's argument; the C library reads up to the zero byte or `most`.
    unsafe { libc::strnlen(at, most) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_bytes_at_odd_addresses() {
        let mut room = [0xffu8; 16];
        let odd = room.as_mut_ptr().wrapping_add(1);
        write(odd.cast(), 0x0102_0304u32);
        assert_eq!(read(odd.cast_const().cast::<u32>()), 0x0102_0304);
        let mut copy = [0; 5];
        read_bytes(odd as u64, &mut copy);
        assert_eq!(copy, [4, 3, 2, 1, 0xff]);
        assert!(equals(odd as u64, &[4, 3]) && !equals(odd as u64, &[4, 4]));
        write_bytes(odd as u64, b"ab\0");
        assert_eq!((string_len(odd.cast(), 9), string_len(odd.cast(), 1)), (2, 1));
        zero(odd.cast::<u16>(), 2);
        assert_eq!(room[..6], [0xff, 0, 0, 0, 0, 0xff]);
        write_if_wanted(core::ptr::null_mut(), 3u64);
    }
}
