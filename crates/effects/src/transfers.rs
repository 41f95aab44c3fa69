//! Functions that move as many bytes as their result, or another argument, says.

use core::ffi::c_void;

use crate::memory::{read, read_at};
use crate::strings::string_len;
use crate::{Sink, tag};

/// `lsearch`: an element that was not found is appended, which the result then points to.
pub fn lsearch<S: Sink>(base: u64, count: u64, width: u64, result: u64) {
    let elements = read(count as *const u64);
    if elements > 0 && result == base.wrapping_add((elements - 1).wrapping_mul(width)) {
        S::write(result, width);
        S::write(count, 8);
    }
}

/// `getline`: the line and its terminator were stored.
pub fn line<S: Sink>(line: u64, result: i64) {
    if let Ok(len) = u64::try_from(result) {
        S::write(read(line as *const u64), len + 1);
    }
}

fn stdin() -> *const c_void {
    unsafe extern "C" {
        static stdin: *const c_void;
    }
    // SAFETY: the C library defines the variable and sets it before `main`.
    unsafe { stdin }
}

/// Standard input.
pub fn standard_input<S: Sink>() {
    S::stream(stdin());
}

/// Standard input without its lock.
pub fn unlocked_input<S: Sink>() {
    S::unlocked(stdin());
}

/// `strftime`: as many characters as the result says and a terminator, unless it is 0.
pub fn produced<S: Sink>(unit: u64, at: u64, result: u64) {
    if result > 0 {
        S::write(at, result.saturating_add(1).saturating_mul(unit));
    }
}

/// The parts of an `iovec` array that the transferred bytes are in.
pub fn vector<S: Sink>(kind: u64, vector: u64, count: u64, result: i64) {
    let mut left = u64::try_from(result).unwrap_or(0);
    for index in 0..count {
        let part: libc::iovec = read_at(vector, index);
        let len = left.min(part.iov_len as u64);
        S::access(tag(kind), part.iov_base as u64, len);
        left -= len;
    }
}

/// As many bytes as the `socklen_t` behind the second argument says.
pub fn sized<S: Sink>(at: u64, len: u64) {
    if at != 0 && len != 0 {
        S::write(at, u64::from(read(len as *const u32)));
    }
}

/// Strings of an entry that the library made: those that its words with these numbers point to.
pub fn strings_in<S: Sink>(entry: u64, words: u64) {
    if entry == 0 {
        return;
    }
    for word in (0..u64::BITS).filter(|word| words >> word & 1 != 0) {
        let string: u64 = read_at(entry, u64::from(word));
        if string != 0 {
            S::write(string, string_len(string, false, u64::MAX));
        }
    }
}

/// All of a block of the heap that the library allocated.
pub fn block<S: Sink>(block: u64) {
    if block != 0 {
        // SAFETY: the call that is described is given the block and uses it.
        // What was freed has no size any more.
        S::update(block, (unsafe { libc::malloc_usable_size(block as *mut c_void) } as u64).max(1));
    }
}

/// All blocks of a list that `getaddrinfo` made.
pub fn address_list<S: Sink>(list: u64) {
    const NEXT: u64 = core::mem::offset_of!(libc::addrinfo, ai_next) as u64;
    let mut entry = list;
    while entry != 0 {
        block::<S>(entry);
        entry = read((entry + NEXT) as *const u64);
    }
}

/// The name in the entry of a folder that a pointer at an address points to.
pub fn entry_name<S: Sink>(at: u64) {
    const NAME: u64 = core::mem::offset_of!(libc::dirent, d_name) as u64;
    S::read(at, 8);
    let name = read(at as *const u64) + NAME;
    S::read(name, string_len(name, false, u64::MAX));
}

/// `hsearch`: the entry that was found or made, whose key was compared.
pub fn hash_entry<S: Sink>(entry: u64) {
    if entry != 0 {
        let key: u64 = read(entry as *const u64);
        S::read(key, string_len(key, false, u64::MAX));
        S::update(entry, 16);
    }
}

/// A network address of a family.
pub fn inet<S: Sink>(kind: u64, family: u64, at: u64) {
    S::access(tag(kind), at, if family as i32 == libc::AF_INET6 { 16 } else { 4 });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seen::{R, Seen, W, seen};

    #[test]
    fn vectors_are_touched_as_far_as_bytes_were_moved() {
        let parts: [[u64; 2]; 3] = [[64, 10], [128, 10], [256, 10]];
        vector::<Seen>(1, parts.as_ptr() as u64, 3, 15);
        assert_eq!(seen(), [(R, 64, 10), (R, 128, 5), (R, 256, 0)]);
        vector::<Seen>(2, parts.as_ptr() as u64, 3, -1);
        assert!(seen().iter().all(|(tag, _, len)| (*tag, *len) == (W, 0)));
    }

    #[test]
    fn an_appended_element_is_written_with_the_count() {
        let count = 3u64;
        let at = &raw const count as u64;
        lsearch::<Seen>(1000, at, 8, 1008);
        assert_eq!(seen(), []);
        lsearch::<Seen>(1000, at, 8, 1016);
        assert_eq!(seen(), [(W, 1016, 8), (W, at, 8)]);
    }
}
