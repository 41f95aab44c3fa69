//! The memory effects of library calls, computed inside the program under test.
//!
//! Instrumentation puts calls of hooks around calls of library functions: `__rp_add_compare` around `strcmp`,
//! `__rp_add_format` around `printf`. A hook looks at the arguments as the library is about to look at them, or has just
//! done, and reports which memory the call reads and writes. Rows of the library table (`program::library`) name the hooks
//! with their arguments.
//!
//! The two libraries that are linked into programs use this crate: the controlled runtime and the recorder. Each says what
//! becomes of an access by its own [`Sink`], and defines the hooks with [`export_hooks!`].
//!
//! | module | effects of |
//! |---|---|
//! | [`strings`] | functions that search, compare, copy and split strings, and read numbers from them |
//! | [`format`](mod@format) | `printf` and `scanf`, by their formats |
//! | [`environment`] | `getenv` and those who change what it finds |
//! | [`options`] | `getopt` and its relatives |
//! | [`streams`] | open files, and buffers of streams |
//! | [`transfers`] | functions that move as many bytes as their result says |
//! | [`containers`] | what C++ streams, strings, lists and trees of libstdc++ do outside of headers |
//! | [`memory`] | reading and writing the program's memory |
//! | [`text`] | sentences without allocation, for both libraries |
//!
//! Nothing here allocates, keeps a lock or panics on what a program passes.
#![cfg_attr(not(test), no_std)]
#![warn(clippy::undocumented_unsafe_blocks)]

use core::ffi::c_void;

use wire::Tag;

pub mod containers;
pub mod environment;
pub mod format;
mod hooks;
pub mod memory;
pub mod options;
pub mod streams;
pub mod strings;
pub mod text;
pub mod transfers;

/// What becomes of the effects of a call. All belong to the event of the current library call in the calling thread.
pub trait Sink {
    /// The call reads or writes `len` bytes from `start` on; none when `len` is 0.
    fn access(tag: Tag, start: u64, len: u64);
    /// The call uses a stream of the C library.
    fn stream(file: *const c_void);
    /// The call uses a stream of the C library without its lock.
    fn unlocked(file: *const c_void);
    /// The call uses a buffer that the program gave to a stream, while the library holds the stream's lock.
    fn buffer(start: u64, len: u64);
    /// The call does something whose effect is not known.
    fn unmodelled(what: &str);
    /// The call uses an open file: `used` is `FileUse::code` of the library table. Where the kernel's own order of calls is
    /// all that counts, nothing is to be done.
    fn file(fd: i32, used: u32) {
        let _ = (fd, used);
    }
    /// The call closes the descriptor of a stream.
    fn closed(file: *const c_void) {
        let _ = file;
    }

    /// Whether a string of the environment is one that the program was started with.
    fn is_started_with(string: u64) -> bool {
        environment::is_of_kernel(string)
    }

    /// The call reads these bytes.
    fn read(start: u64, len: u64) {
        Self::access(Tag::Read, start, len);
    }
    /// The call writes these bytes.
    fn write(start: u64, len: u64) {
        Self::access(Tag::Write, start, len);
    }
    /// The call reads these bytes, then writes them.
    fn update(start: u64, len: u64) {
        Self::read(start, len);
        Self::write(start, len);
    }
}

/// The tag for a hook's argument that says whether the call reads (1) or writes.
fn tag(kind: u64) -> Tag {
    if kind == 1 { Tag::Read } else { Tag::Write }
}

#[cfg(test)]
mod seen {
    //! A sink for tests.

    use std::cell::RefCell;
    use std::vec::Vec;

    use super::*;

    std::thread_local! {
        static SEEN: RefCell<Vec<(Tag, u64, u64)>> = const { RefCell::new(Vec::new()) };
    }
    pub(crate) const R: Tag = Tag::Read;
    pub(crate) const W: Tag = Tag::Write;

    pub(crate) struct Seen;

    impl Sink for Seen {
        fn access(tag: Tag, start: u64, len: u64) {
            SEEN.with_borrow_mut(|seen| seen.push((tag, start, len)));
        }
        fn stream(_: *const c_void) {}
        fn unlocked(_: *const c_void) {}
        fn buffer(start: u64, len: u64) {
            Self::update(start, len);
        }
        fn unmodelled(_: &str) {}
    }

    /// What was reported since this was last asked.
    pub(crate) fn seen() -> Vec<(Tag, u64, u64)> {
        SEEN.take()
    }
    pub(crate) fn at(text: &[u8]) -> u64 {
        text.as_ptr() as u64
    }
}
