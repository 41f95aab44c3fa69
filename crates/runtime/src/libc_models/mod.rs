//! Models of library functions other than the thread API.
//!
//! | file | what |
//! |---|---|
//! | [`clock`] | a clock of its own for each thread |
//! | [`random`] | random numbers that are the same in every run |
//! | [`identity`] | process and thread numbers |
//! | [`paths`] | files by name |
//! | `self_files` | what the kernel says of the process |
//! | [`names`] | making, removing and renaming them |
//! | [`links`] | symbolic links |
//! | [`memory_files`] | the files that the program has changed, which stay in memory |
//! | [`listing`] | what is in folders |
//! | [`streams`] | opening C streams on such files |
//! | [`open`] | descriptors: what is open under which number |
//! | [`numbers`] | calls that change that |
//! | [`file_locks`] | locks of open files |
//! | [`transfer`] | reading and writing |
//! | [`message`] | messages through connections |
//! | [`channels`] | what goes through pipes, connections and event counters |
//! | [`pipe`] | making pipes, socket pairs and event counters |
//! | [`timers`] | timers behind descriptors |
//! | [`signal_files`] | signals behind descriptors |
//! | [`address`] | addresses of sockets |
//! | [`sockets`] | sockets that are not connected |
//! | [`datagrams`] | sockets for datagrams |
//! | [`net`] | listening and connecting inside the process |
//! | [`resolve`] | addresses of hosts |
//! | [`peers`] | the other ends of connections, as a script has them |
//! | [`poll`] | waiting for descriptors |
//! | [`interest_list`] | what an `epoll` descriptor waits for |
//! | [`epoll`] | descriptors that wait for others |
//! | [`map`] | memory maps |
//! | [`process`] | attributes of the process, and other changes that outlive a run |
//! | [`children`] | other processes that the program starts |
//! | [`refused`] | changes to the file system that are not modelled |
//!
//! What they are made of:
//!
//! | file | what |
//! |---|---|
//! | [`event`] | the event that a call makes, and its accesses |
//! | [`program_memory`] | memory of the program that a call was given |
//! | [`kernel`] | system calls that are safe to make |
//! | [`library_function`] | functions of the C library behind those defined here |
//!
//! Two runs must not disturb each other or the user's files. All state here is memory of the process, which the
//! checkpoint restores; files that the program writes are memory files whose content [`restore`] copies back.

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

/// Defines functions that are those of the C library, with something done before.
macro_rules! noting {
    ($($(#[$meta:meta])* $name:ident($($arg:ident: $type:ty),* $(,)?) -> $result:ty = $note:expr;)*) => {
        export! {$(
            $(#[$meta])*
            fn $name($($arg: $type),*) -> $result {
                type Function = unsafe extern "C" fn($($type),*) -> $result;
                // SAFETY: the type is that of the C library's function.
                static FUNCTION: $crate::libc_models::library_function::LibraryFunction<Function> = unsafe {
                    $crate::libc_models::library_function::LibraryFunction::new(match core::ffi::CStr::from_bytes_with_nul(
                        concat!(stringify!($name), "\0").as_bytes(),
                    ) {
                        Ok(name) => name,
                        Err(_) => unreachable!(),
                    })
                };
                $note;
                // SAFETY: the program calls this function with these arguments.
                unsafe { FUNCTION.get()($($arg),*) }
            }
        )*}
    };
}

pub mod address;
pub mod channels;
pub mod children;
pub mod clock;
pub mod datagrams;
pub mod epoll;
pub mod event;
pub mod file_locks;
pub mod identity;
pub mod interest_list;
pub mod kernel;
pub mod library_function;
pub mod links;
pub mod listing;
pub mod loading;
pub mod map;
pub mod memory_files;
pub mod message;
pub mod names;
pub mod net;
pub mod numbers;
pub mod open;
pub mod paths;
pub mod peers;
pub mod pipe;
pub mod poll;
pub mod process;
pub mod program_memory;
pub mod random;
pub mod refused;
pub mod resolve;
mod self_files;
pub mod signal_files;
pub mod sockets;
pub mod streams;
pub mod timers;
pub mod transfer;

pub use clock::advance;

use core::ffi::c_int;

use crate::sched;

/// Prepares for the checkpoint; to be called right before it is taken.
pub fn checkpoint() {
    unsafe extern "C" {
        static mut __libc_single_threaded: core::ffi::c_char;
    }
    // SAFETY: a variable of the C library, which clears it itself when a program makes its first thread. From then on
    // libraries may not take short cuts for programs with one thread.
    unsafe { __libc_single_threaded = 0 };
    memory_files::checkpoint();
    open::checkpoint();
}

/// Restores what is not memory of the process; to be called before a run, after memory has been restored.
pub fn restore() {
    memory_files::restore();
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
    crate::sys::set_errno(error);
    -1
}

/// An error number as system calls return it.
fn negative(error: c_int) -> isize {
    -(error as isize)
}

/// Records something the model does not cover, when a run is on.
fn unmodelled(what: &str) {
    if sched::running() {
        sched::unmodelled(what);
    }
}

/// The running thread; before a run starts it is that of `main`.
fn me() -> sched::Thread {
    children::forked::running_thread().unwrap_or(0)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// Keeps tests apart that use the same statics: the cells expect one operating-system thread.
    pub(crate) fn alone() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
