//! Memory maps. Memory without a file, and copies of files, come from the calling thread's heap. So their addresses
//! depend only on what the thread did before, and the checkpoint restores them.
//!
//! A shared map of a file for writing is reported, because what the program writes there would not reach the file.

use alloc::collections::BTreeMap;
use core::ffi::{c_int, c_void};

use super::{fail, kernel, unmodelled};
use crate::cell::Global;
use crate::sys::PAGE;

/// A map.
#[derive(Clone, Copy)]
struct Map {
    len: usize,
    /// It shows a file that other maps may show, too.
    shares_file: bool,
}

/// Maps by address.
static MAPS: Global<BTreeMap<usize, Map>> = Global::new(BTreeMap::new());

/// Whether an address is in a map of a file that is shared.
fn shares_file(at: usize) -> bool {
    let holds = |start: usize, map: Map| map.shares_file && at < start + map.len;
    MAPS.with(|maps| maps.range(..=at).next_back().is_some_and(|(start, map)| holds(*start, *map)))
}

fn refuse(what: &str, error: c_int) -> *mut c_void {
    unmodelled(what);
    fail(error);
    libc::MAP_FAILED
}

/// Reads a file's part into memory; what lies behind its end stays as it is.
fn load(fd: c_int, offset: i64, to: &mut [u8]) -> Result<(), c_int> {
    let mut done = 0;
    while done < to.len() {
        let read = kernel::pread(fd, &mut to[done..], offset + done as i64);
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
        // SAFETY: a page's size is a power of two.
        let at = unsafe { libc::memalign(PAGE, rounded) };
        if at.is_null() {
            return libc::MAP_FAILED;
        }
        // SAFETY: a new block of `rounded` bytes, which is nobody else's yet; all of them are set before they are read.
        let memory = unsafe {
            core::ptr::write_bytes(at.cast::<u8>(), 0, rounded);
            core::slice::from_raw_parts_mut(at.cast::<u8>(), len)
        };
        if !anonymous && let Err(error) = load(fd, offset, memory) {
            // SAFETY: the block from above, which the program never sees.
            unsafe { libc::free(at) };
            fail(error);
            return libc::MAP_FAILED;
        }
        MAPS.with(|maps| maps.insert(at as usize, Map { len: rounded, shares_file: shared && !anonymous }));
        at
    }
    /// Maps memory.
    fn mmap64(at: *mut c_void, len: usize, protection: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void {
        // SAFETY: the same function under another name.
        unsafe { mmap(at, len, protection, flags, fd, offset) }
    }
    /// Ends a map; a part of one cannot be ended alone.
    fn munmap(at: *mut c_void, len: usize) -> c_int {
        let whole = MAPS.with(|maps| maps.get(&(at as usize)).map(|map| map.len));
        if whole != Some(len.next_multiple_of(PAGE)) {
            unmodelled("ends a part of a memory map");
            return fail(libc::EINVAL) as c_int;
        }
        MAPS.with(|maps| maps.remove(&(at as usize)));
        // SAFETY: `mmap` allocated the block, and it was in the table until now, so it has not been freed. By ending
        // the map the program promises not to use it any more.
        unsafe { libc::free(at) };
        0
    }
    /// Moves a map, which is not modelled.
    fn mremap(_at: *mut c_void, _old: usize, _new: usize, _flags: c_int) -> *mut c_void {
        refuse("calls `mremap`", libc::ENOMEM)
    }
    /// Forbidding accesses is not modelled; allowing them changes nothing.
    fn mprotect(at: *mut c_void, _len: usize, protection: c_int) -> c_int {
        if protection & libc::PROT_WRITE != 0 && shares_file(at as usize) {
            unmodelled("maps a file to be written");
        }
        if protection & (libc::PROT_READ | libc::PROT_WRITE) != libc::PROT_READ | libc::PROT_WRITE {
            unmodelled("forbids accesses to memory with `mprotect`");
        }
        0
    }
}
