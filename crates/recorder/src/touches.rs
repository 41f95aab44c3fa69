//! What library calls touch, worked out by the same code as in the controlled runtime.

/// Defines functions of the C library.
#[cfg(not(test))]
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

#[path = "../../runtime/src/libc_models/format.rs"]
pub mod format;
#[cfg(not(test))]
#[path = "../../runtime/src/libc_models/touch.rs"]
pub mod touch;

/// What is not known of a call is not in the recording.
#[cfg(not(test))]
fn unmodelled(_: &str) {}
