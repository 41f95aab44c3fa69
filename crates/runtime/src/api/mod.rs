//! The thread API and the process's end, as the program calls them.
//!
//! Every function here has the C library's name and is exported dynamically, so calls made inside shared libraries
//! reach it too. It waits for its turn, changes the model ([`crate::sync`]) and appends the event; see
//! [`step::Step::run`]. Attribute objects (`pthread_attr_*`, `pthread_mutexattr_*` and so on) are the C library's own.
//!
//! | file | functions |
//! |---|---|
//! | [`thread`] | creating, joining, ending threads; their identity and attributes |
//! | [`cancel`] | cancellation, cleanup handlers |
//! | [`unwind`] | leaving a thread's frames |
//! | [`mutex`], [`rwlock`], [`cond`], [`barrier`], [`sem`], [`once`], [`key`] | one kind of object each |
//! | [`c11`] | `threads.h` |
//! | [`handlers`] | what is done about signals, and those the program sends itself |
//! | [`signal`] | signals that are blocked and waited for |
//! | [`sleep`] | yielding and sleeping |
//! | [`sort`] | sorting, with the program's comparison |
//! | [`process`] | the end of the process, exit handlers |
//! | [`refused`] | calls that leave what can be modelled: `clone`, `daemon` |
//! | [`syscall`] | `syscall`, for futexes |
//! | [`verifier`] | values left open, assumptions, sections |
//! | [`layout`], [`step`] | what they have in common |

#![allow(
    clippy::not_unsafe_ptr_arg_deref,
    reason = "the program calls these functions by their C declarations and vouches for what it passes (see `crate::memory`)"
)]

/// Defines functions of the C library.
macro_rules! export {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {$(
        $(#[$meta])*
        #[allow(non_snake_case, reason = "names are the C library's")]
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub extern "C" fn $name($($arg: $type),*) $(-> $result)? $body
    )*};
}

pub mod barrier;
pub mod c11;
pub mod cancel;
pub mod cond;
pub mod handlers;
pub mod key;
pub mod layout;
pub mod mutex;
pub mod once;
pub mod process;
pub mod refused;
pub mod rwlock;
pub mod sem;
pub mod signal;
pub mod sleep;
pub mod sort;
pub mod step;
pub mod syscall;
pub mod thread;
pub mod timer;
pub mod unwind;
pub mod verifier;
