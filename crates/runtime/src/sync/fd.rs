//! Whether a descriptor is ready.

use crate::sys::sys;

/// Whether `poll` reports anything for the descriptor: one of `events`, an error, a hang-up, or that it is
/// not open. A call on it will not wait then.
pub fn ready(fd: i32, events: i16) -> bool {
    if let Some(ready) = crate::libc_models::poll::ready(fd, events) {
        return ready;
    }
    let mut poll = libc::pollfd { fd, events, revents: 0 };
    let no_wait = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both structures outlive the call, and the kernel writes only `poll`.
    unsafe { sys!(SYS_ppoll, &raw mut poll, 1, &raw const no_wait, 0, 0) != 0 }
}
