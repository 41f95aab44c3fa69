//! Memory of the program that a call of a C function was given.
//!
//! Exported functions are `unsafe`: whoever calls one vouches for its pointers and for the lengths that go with them, as
//! the C function demands. [`In`], [`Out`] and [`Buffer`] carry that promise on. They are made by such a call, or from Rust
//! references, and live no longer than the call, so their methods need no promise of their own.
//!
//! Other threads of the program may change the same memory when they run, so no Rust reference to it is made: values are
//! copied in and out. A pointer that breaks the promise crashes the program here, as it would inside the C library.

use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::marker::PhantomData;

use libc::iovec;

/// A pointer to something that the call reads: null or valid.
#[repr(transparent)]
pub struct In<'call, T>(*const T, PhantomData<&'call T>);

/// A pointer to where the call stores something: null or valid.
#[repr(transparent)]
pub struct Out<'call, T>(*mut T, PhantomData<&'call mut T>);

impl<T> Clone for In<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for In<'_, T> {}

impl<T> Clone for Out<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Out<'_, T> {}

impl<'call, T> From<&'call T> for In<'call, T> {
    fn from(value: &'call T) -> Self {
        Self(value, PhantomData)
    }
}

impl<'call, T> From<&'call mut T> for Out<'call, T> {
    fn from(value: &'call mut T) -> Self {
        Self(value, PhantomData)
    }
}

impl<'call, T> In<'call, T> {
    /// A pointer that the program passed inside a structure.
    ///
    /// # Safety
    /// It is null, or what it points to can be read for as long as `'call`.
    pub unsafe fn new(pointer: *const T) -> Self {
        Self(pointer, PhantomData)
    }
    /// Whether there is nothing to read.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
    /// The pointer itself, to report an access or for a call that takes it.
    pub fn as_ptr(self) -> *const T {
        self.0
    }
    /// What is there.
    pub fn read(self) -> T
    where
        T: Copy,
    {
        // SAFETY: whoever made this pointer promised that a `T` can be read there; it need not be aligned.
        unsafe { self.0.read_unaligned() }
    }
    /// What is there; `None` for a null pointer.
    pub fn get(self) -> Option<T>
    where
        T: Copy,
    {
        (!self.is_null()).then(|| self.read())
    }
    /// Copies an array; `len` is the length that the program passed with the pointer.
    pub fn read_array(self, len: usize) -> Vec<T>
    where
        T: Copy,
    {
        (0..len).map(|i| self.element(i).read()).collect()
    }
    /// An element of an array whose length the program passed with the pointer.
    pub fn element(self, index: usize) -> Self {
        Self(self.0.wrapping_add(index), PhantomData)
    }
}

impl<'call> In<'call, c_char> {
    /// The string that is there.
    ///
    /// # Errors
    /// `EFAULT` for a null pointer: the answer of system calls.
    pub fn string(self) -> Result<&'call CStr, c_int> {
        if self.is_null() { Err(libc::EFAULT) } else { Ok(self.required_string()) }
    }
    /// The string that is there, for a function to which a null pointer may not be passed.
    pub fn required_string(self) -> &'call CStr {
        // SAFETY: whoever made this pointer promised that a string which ends with a zero byte is there during the call.
        unsafe { CStr::from_ptr(self.0) }
    }
}

impl<'call> In<'call, c_void> {
    /// The bytes to read; `len` is the length that the program passed with the pointer.
    pub fn buffer(self, len: usize) -> Buffer<'call> {
        Buffer(iovec { iov_base: self.0.cast_mut(), iov_len: len }, PhantomData)
    }
}

impl<'call, T> Out<'call, T> {
    /// Whether nothing is to be stored.
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
    /// The pointer itself, to report an access or for a call that takes it.
    pub fn as_ptr(self) -> *mut T {
        self.0
    }
    /// The same memory, for what the program put there.
    pub fn as_in(self) -> In<'call, T> {
        In(self.0, PhantomData)
    }
    /// Stores a value.
    pub fn write(self, value: T) {
        // SAFETY: whoever made this pointer promised that a `T` can be stored there; it need not be aligned.
        unsafe { self.0.write_unaligned(value) };
    }
    /// Stores a value unless the pointer is null.
    pub fn write_if_given(self, value: T) {
        if !self.is_null() {
            self.write(value);
        }
    }
    /// An element of an array whose length the program passed with the pointer.
    pub fn element(self, index: usize) -> Self {
        Self(self.0.wrapping_add(index), PhantomData)
    }
    /// Changes the value that is there.
    pub fn update(self, change: impl FnOnce(&mut T))
    where
        T: Copy,
    {
        let mut value = self.as_in().read();
        change(&mut value);
        self.write(value);
    }
}

impl<'call> Out<'call, c_void> {
    /// The bytes to fill; `len` is the length that the program passed with the pointer.
    pub fn buffer(self, len: usize) -> Buffer<'call> {
        Buffer(iovec { iov_base: self.0, iov_len: len }, PhantomData)
    }
}

/// A range of bytes that the call reads or fills, laid out as the kernel's `iovec`.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Buffer<'call>(iovec, PhantomData<&'call mut [u8]>);

impl<'call> From<&'call mut [u8]> for Buffer<'call> {
    fn from(bytes: &'call mut [u8]) -> Self {
        Self(iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }, PhantomData)
    }
}

impl<'call> Buffer<'call> {
    /// The buffers of a list of `iovec`s.
    pub fn list(parts: In<'call, iovec>, count: usize) -> Vec<Self> {
        (0..count).map(|i| Self(parts.element(i).read(), PhantomData)).collect()
    }
    /// Where it starts.
    pub fn start(&self) -> *mut c_void {
        self.0.iov_base
    }
    /// How many bytes it has.
    pub fn len(&self) -> usize {
        self.0.iov_len
    }
    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// What is left of it after its first bytes.
    pub fn after(self, count: usize) -> Self {
        let count = count.min(self.len());
        let left = iovec { iov_base: self.0.iov_base.wrapping_byte_add(count), iov_len: self.len() - count };
        Self(left, PhantomData)
    }
    /// Copies bytes to its start, as many as it has room for.
    pub fn store(&self, bytes: &[u8]) {
        let len = bytes.len().min(self.len());
        // SAFETY: `len` bytes can be stored there, as whoever made the buffer promised. `bytes` is memory of the runtime,
        // so the two do not overlap.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.iov_base.cast(), len) };
    }
    /// Copies its first bytes, at most as many as it has.
    pub fn load(&self, len: usize) -> Vec<u8> {
        let len = len.min(self.len());
        let mut bytes = alloc::vec![0; len];
        // SAFETY: `len` bytes can be read there, as whoever made the buffer promised. `bytes` is new memory of that size.
        unsafe { core::ptr::copy_nonoverlapping(self.0.iov_base.cast(), bytes.as_mut_ptr(), len) };
        bytes
    }
}

/// The list of `iovec`s that a system call takes.
pub fn iovecs(buffers: &[Buffer<'_>]) -> *const iovec {
    // `Buffer` is laid out as `iovec`.
    buffers.as_ptr().cast()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_keep_to_their_length() {
        let mut bytes = *b"......";
        let buffer = Buffer::from(&mut bytes[..4]);
        buffer.store(b"abcdef");
        assert_eq!(buffer.load(9), b"abcd");
        assert_eq!((buffer.after(3).load(9), buffer.after(9).len()), (b"d".to_vec(), 0));
        assert_eq!(&bytes, b"abcd..");
    }

    #[test]
    fn null_pointers_stand_for_nothing() {
        assert_eq!(In::<u32>(core::ptr::null(), PhantomData).get(), None);
        assert_eq!(In::<c_char>(core::ptr::null(), PhantomData).string(), Err(libc::EFAULT));
        assert_eq!(In::from(&7u32).get(), Some(7));
    }
}
