//! The library linked into the program under test: its threads as coroutines, under a schedule from the host.
//!
//! Everything here runs in the program's process, on one operating-system thread. Exported C functions are
//! marked `#[cfg_attr(not(test), unsafe(no_mangle))]`, so that unit tests keep the real ones.
//!
//! All writable memory of the process, this library's statics and heap included, is put back to the checkpoint before
//! every run; only what is marked as kept ([`cell::Keep`], [`kept`]) lives on. So model state needs no care of its
//! own: any static or allocation is as it was when the first thread was about to be created.
#![cfg_attr(not(test), no_std)]
#![warn(clippy::undocumented_unsafe_blocks)]
#![cfg_attr(test, allow(dead_code))]

extern crate alloc;

pub use effects::text;

pub mod api;
pub mod attributes;
pub mod cell;
pub mod checkpoint;
pub mod choice;
pub mod conflicts;
pub mod context;
pub mod crash;
pub mod debugger;
pub mod descriptors;
pub mod entry;
pub mod exceptions;
pub mod heap;
pub mod hooks;
pub mod interrupts;
pub mod kept;
pub mod lanes;
pub mod libc_models;
pub mod library_tls;
pub mod link;
pub mod memory;
pub mod objects;
pub mod plan;
pub mod present;
pub mod retries;
pub mod rounds;
pub mod run;
pub mod sched;
pub mod section;
pub mod serial;
pub mod slots;
pub mod stack;
pub mod sync;
pub mod sys;
pub mod threads;
pub mod unfollowed;
pub mod unwritten;
pub mod values;
pub mod world;

#[cfg(not(test))]
#[global_allocator]
static HEAP: heap::private::Private = heap::private::Private;

/// A panic of the runtime is its own failure, never the program's.
#[cfg(all(not(test), panic = "abort"))]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    run::fail(text::text!("raceproof bug: {info}").as_str())
}

/// What the precompiled parts of Rust's library name as their handler of exceptions. Nothing of ours catches or cleans
/// up; exceptions of the program pass by.
#[cfg(all(not(test), panic = "abort"))]
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() -> core::ffi::c_int {
    /// `_URC_CONTINUE_UNWIND`.
    const CONTINUE: core::ffi::c_int = 8;
    CONTINUE
}
