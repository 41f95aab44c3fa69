//! Memory maps. Memory without a file, and copies of files, come from the calling thread's heap: so their addresses
//! follow from the thread's own history, and they are put back to the checkpoint.
//!
//! A shared map of a file that is to be written is reported: what is written does not reach the file.

use alloc::collections::BTreeMap;
use core::ffi::{c_int, c_void};

use super::{fail, unmodelled};
use crate::cell::Global;
use crate::sys::{PAGE, sys};

/// Maps by address, with their lengths.
static MAPS: Global<BTreeMap<usize, usize>> = Global::new(BTreeMap::new());

fn maps() -> &'static mut BTreeMap<usize, usize> {
    // Safety: one operating-system thread, and no switch happens while it is used.
    unsafe { &mut *MAPS.get() }
}

fn refuse(what: &str, error: c_int) -> *mut c_void {
    unmodelled(what);
    fail(error);
    libc::MAP_FAILED
}

/// Reads a file's part into memory.
unsafe fn load(fd: c_int, offset: i64, to: *mut u8, len: usize) -> Result<(), c_int> {
    let mut done = 0;
    while done < len {
        let read = unsafe { sys!(SYS_pread64, fd, to.add(done), len - done, offset + done as i64) };
        match read {
            ..0 => return Err(-read as c_int),
            0 => return Ok(()),
            _ => done += read as usize,
        }
    }
    Ok(())
}

export! {
    /// Maps memory.
    fn mmap(_at: *mut c_void, len: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void {
        if len == 0 {
            fail(libc::EINVAL);
            return libc::MAP_FAILED;
        }
        if flags & (libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE | libc::MAP_GROWSDOWN) != 0 {
            return refuse("maps memory at a fixed address", libc::ENOMEM);
        }
        if protection & libc::PROT_EXEC != 0 {
            return refuse("maps memory to be executed", libc::EACCES);
        }
        let anonymous = flags & libc::MAP_ANONYMOUS != 0;
        let shared = flags & libc::MAP_TYPE != libc::MAP_PRIVATE;
        if !anonymous && shared && protection & libc::PROT_WRITE != 0 {
            return refuse("maps a file to be written", libc::EACCES);
        }
        let rounded = len.next_multiple_of(PAGE);
        let at = unsafe { libc::memalign(PAGE, rounded) };
        if at.is_null() {
            return libc::MAP_FAILED;
        }
        unsafe { core::ptr::write_bytes(at.cast::<u8>(), 0, rounded) };
        if !anonymous && let Err(error) = unsafe { load(fd, offset, at.cast(), len) } {
            unsafe { libc::free(at) };
            fail(error);
            return libc::MAP_FAILED;
        }
        maps().insert(at as usize, rounded);
        at
    }
    /// Maps memory.
    fn mmap64(at: *mut c_void, len: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void {
        unsafe { mmap(at, len, protection, flags, fd, offset) }
    }
    /// Ends a map; a part of one cannot be ended alone.
    fn munmap(at: *mut c_void, len: usize) -> c_int {
        match maps().get(&(at as usize)) {
            Some(&whole) if whole == len.next_multiple_of(PAGE) => {
                maps().remove(&(at as usize));
                unsafe { libc::free(at) };
                0
            }
            _ => {
                unmodelled("ends a part of a memory map");
                fail(libc::EINVAL) as c_int
            }
        }
    }
    /// Moves a map, which is not modelled.
    fn mremap(_at: *mut c_void, _old: usize, _new: usize, _flags: c_int) -> *mut c_void {
        refuse("calls `mremap`", libc::ENOMEM)
    }
    /// Forbidding accesses is not modelled; allowing them changes nothing.
    fn mprotect(_at: *mut c_void, _len: usize, protection: c_int) -> c_int {
        if protection & (libc::PROT_READ | libc::PROT_WRITE) != libc::PROT_READ | libc::PROT_WRITE {
            unmodelled("forbids accesses to memory with `mprotect`");
        }
        0
    }
}
