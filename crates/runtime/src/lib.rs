//! The library linked into the program under test: its threads as coroutines, under a schedule from the host.
//!
//! Everything here runs in the program's process, on one operating-system thread. Exported C functions are
//! marked `#[cfg_attr(not(test), unsafe(no_mangle))]`, so that unit tests keep the real ones.
//!
//! All writable memory of the process, this library's statics and heap included, is put back to the
//! checkpoint before every run; only what is marked as kept ([`keep`]) lives on. So model state needs no care
//! of its own: any static or allocation is as it was when the first thread was about to be created.
#![cfg_attr(not(test), no_std)]
#![cfg_attr(test, allow(dead_code))]

extern crate alloc;

pub mod api;
pub mod libc_models;
pub mod sched;
pub mod sync;
