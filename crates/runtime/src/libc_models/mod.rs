//! Models of library functions other than the thread API.
//!
//! | file | what |
//! |---|---|
//! | [`clock`] | a clock of its own for each thread |
//! | [`random`] | random numbers that are the same in every run |
//! | [`identity`] | process and thread numbers |
//! | [`paths`] | files by name: what the program writes stays in memory |
//! | [`streams`] | opening C streams on such files |
//! | [`open`] | descriptors: what is open under which number |
//! | [`transfer`] | reading and writing |
//! | [`poll`] | waiting for descriptors |
//! | [`epoll`] | descriptors that wait for others |
//! | [`pipe`] | pipes, socket pairs and event counters inside the process |
//! | [`message`] | messages through connections |
//! | [`net`] | sockets that listen and connect inside the process |
//! | [`map`] | memory maps |
//! | [`refused`] | changes to the file system that are not modelled |
//!
//! Two runs must not disturb each other or the user's files. All state here is memory of the process, which is put back
//! to the checkpoint; files that the program writes are memory files whose content is put back by [`restore`].

/// Defines functions of the C library.
macro_rules! export {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// As for the C function.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C" fn $name($($arg: $type),*) $(-> $result)? $body
    )*};
}

pub mod clock;
pub mod epoll;
pub mod identity;
pub mod map;
pub mod message;
pub mod net;
pub mod open;
pub mod paths;
pub mod pipe;
pub mod poll;
pub mod random;
pub mod refused;
pub mod streams;
pub mod transfer;

pub use clock::advance;

use core::ffi::c_int;

use crate::sched;

/// To be called right before the checkpoint is taken.
pub fn checkpoint() {
    unsafe extern "C" {
        static mut __libc_single_threaded: core::ffi::c_char;
    }
    // From the first thread on, libraries may not take short cuts for programs with one thread.
    // Safety: a variable of the C library, which sets it likewise.
    unsafe { __libc_single_threaded = 0 };
    paths::checkpoint();
}

/// To be called before a run, after memory has been put back.
pub fn restore() {
    paths::restore();
}

/// Sets `errno` for a negative result of a system call.
fn result(value: isize) -> isize {
    if (-4095..0).contains(&value) {
        return fail(-value as c_int);
    }
    value
}

/// Sets `errno` and gives -1.
fn fail(error: c_int) -> isize {
    // Safety: the C library says where it is.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// Records something the model does not cover, when a run is on.
fn unmodelled(what: &str) {
    if sched::running() {
        sched::unmodelled(what);
    }
}

/// The running thread; before the program runs there is one.
fn me() -> sched::Thread {
    if sched::running() { sched::current() } else { 0 }
}
