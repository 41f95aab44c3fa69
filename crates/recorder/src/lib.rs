//! The library linked into a program that is recorded on real threads.
//!
//! The instrumented program runs as it is, on threads of the operating system. Plain accesses are words that inlined code
//! appends to a buffer of the thread (`docs/runtime-abi.md`, recording); everything else comes here. Functions of the
//! thread API and of the heap are defined under their own names, do the real thing, and log it: an acquisition after it
//! succeeded, a release before it happens, an atomic access while its cell is locked. So the sequence numbers of
//! [`wire::log`] are an order that really was.
//!
//! The buffers are memory shared with the host, which takes out what is left in them when the process is gone. So nothing
//! has to be done at the end, whatever the end is: no handler for signals, none at exit.
//!
//! *Not seen*: what the library does to memory on its own (reading a file into a buffer, for functions that the
//! controlled runtime models itself), threads and locks made by system calls. Predictions are replayed under the
//! controlled runtime, so what is missed here costs predictions, never a wrong race.
#![cfg_attr(not(test), no_std)]
#![warn(clippy::undocumented_unsafe_blocks)]
#![cfg_attr(test, allow(dead_code, unused_imports))]

pub mod api;
pub mod atomics;
pub mod entry;
pub mod heap;
pub mod hooks;
pub mod log;
pub mod real;
pub mod seen;
pub mod signals;
pub mod stripes;
pub mod thread;

/// A panic of the recorder is its own failure, never the program's.
#[cfg(all(not(test), panic = "abort"))]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    entry::refuse(effects::text::text!("raceproof bug: {info}").as_str())
}

/// What the precompiled parts of Rust's library name as their handler of exceptions. Exceptions of the program pass by.
#[cfg(all(not(test), panic = "abort"))]
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() -> core::ffi::c_int {
    /// `_URC_CONTINUE_UNWIND`.
    const CONTINUE: core::ffi::c_int = 8;
    CONTINUE
}
