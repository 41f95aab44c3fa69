//! The thread API under its own names: the real thing, and a record of it.

/// Defines functions of the C library.
macro_rules! export {
    ($(fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {$(
        #[cfg_attr(not(test), unsafe(no_mangle))]
        #[allow(unused_unsafe, reason = "some bodies need none")]
        unsafe extern "C" fn $name($($arg: $type),*) $(-> $result)? {
            // SAFETY: the program calls the function by its C declaration and vouches for the arguments, which go to the real
            // one.
            unsafe { $body }
        }
    )*};
}

pub mod cond;
pub mod connections;
pub mod epoll;
pub mod file_locks;
pub mod handover;
pub mod lock;
pub mod mappings;
pub mod once;
pub mod other;
pub mod queues;
pub mod thread;
pub mod transfers;
