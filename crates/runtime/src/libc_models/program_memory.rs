//! Arguments that are pointers: memory of the program that a call of a C function was given.
//!
//! [`In`], [`Out`] and [`Buffer`] are such arguments, with the layout that C gives them. They live no longer than the
//! call and access memory through [`crate::memory`], which says why that is allowed: values are copied in and out, and
//! a bad pointer crashes the program here as it would inside the C library.

use alloc::ffi::CString;
use alloc::vec::Vec;
use core::ffi::{c_char, c_int, c_void};
use core::marker::PhantomData;

use libc::iovec;

use crate::memory::{self, Plain};

/// A pointer to what the call reads; it may be null.
#[repr(transparent)]
pub struct In<'call, T>(*const T, PhantomData<&'call T>);

/// A pointer to where the call stores its results; it may be null.
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

impl<'call, T> From<&'call mut T> for Out<'call, T> {
    fn from(value: &'call mut T) -> Self {
        Self(value, PhantomData)
    }
}

impl<'call, T> In<'call, T> {
    /// A pointer that the program passed inside a structure.
    pub fn new(pointer: *const T) -> Self {
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
        T: Plain,
    {
        memory::read(self.0)
    }
    /// What is there; `None` for a null pointer.
    pub fn get(self) -> Option<T>
    where
        T: Plain,
    {
        (!self.is_null()).then(|| self.read())
    }
    /// Copies an array; `len` is the length that the program passed with the pointer.
    pub fn read_array(self, len: usize) -> Vec<T>
    where
        T: Plain,
    {
        (0..len).map(|i| self.element(i).read()).collect()
    }
    /// An element of an array whose length the program passed with the pointer.
    pub fn element(self, index: usize) -> Self {
        Self(self.0.wrapping_add(index), PhantomData)
    }
}

impl In<'_, c_char> {
    /// The string that is there.
    ///
    /// # Errors
    /// `EFAULT` for a null pointer: the answer of system calls.
    pub fn string(self) -> Result<CString, c_int> {
        if self.is_null() { Err(libc::EFAULT) } else { Ok(self.required_string()) }
    }
    /// The string that is there, for a function to which a null pointer may not be passed.
    pub fn required_string(self) -> CString {
        let len = memory::string_len(self.0, usize::MAX);
        // The bytes before the first zero byte are a string.
        CString::new(memory::bytes(self.0 as u64, len)).unwrap_or_default()
    }
}

impl<'call> In<'call, c_void> {
    /// The bytes to read; `len` is the length that the program passed with the pointer.
    pub fn buffer(self, len: usize) -> Buffer<'call> {
        Buffer(iovec { iov_base: self.0.cast_mut(), iov_len: len }, PhantomData)
    }
}

impl<'call, T> Out<'call, T> {
    /// A pointer that the program passed inside a structure or as a number.
    pub fn new(pointer: *mut T) -> Self {
        Self(pointer, PhantomData)
    }
    /// Nothing is to be stored.
    pub fn null() -> Self {
        Self(core::ptr::null_mut(), PhantomData)
    }
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
    pub fn write(self, value: T)
    where
        T: Copy,
    {
        memory::write(self.0, value);
    }
    /// Stores a value unless the pointer is null.
    pub fn write_if_given(self, value: T)
    where
        T: Copy,
    {
        memory::write_if_wanted(self.0, value);
    }
    /// An element of an array whose length the program passed with the pointer.
    pub fn element(self, index: usize) -> Self {
        Self(self.0.wrapping_add(index), PhantomData)
    }
    /// Changes the value that is there.
    pub fn update(self, change: impl FnOnce(&mut T))
    where
        T: Plain,
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
    /// Stores bytes at its start, as many as it has room for.
    pub fn store(&self, bytes: &[u8]) {
        let len = bytes.len().min(self.len());
        memory::write_bytes(self.0.iov_base as u64, &bytes[..len]);
    }
    /// Copies its first bytes, at most as many as it has.
    pub fn load(&self, len: usize) -> Vec<u8> {
        memory::bytes(self.0.iov_base as u64, len.min(self.len()))
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
        let seven = 7u32;
        assert_eq!(In::<u32>::new(core::ptr::null()).get(), None);
        assert_eq!(In::<c_char>::new(core::ptr::null()).string(), Err(libc::EFAULT));
        assert_eq!(In::<c_char>::new(c"name".as_ptr()).string(), Ok(c"name".to_owned()));
        assert_eq!(In::new(&raw const seven).get(), Some(7));
    }
}
