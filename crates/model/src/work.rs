//! Counts analysis steps in builds with debug assertions, so that tests can check costs without a clock.

use std::cell::Cell;

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Counts this many steps.
#[inline]
pub fn count(steps: usize) {
    if cfg!(debug_assertions) {
        STEPS.with(|all| all.set(all.get() + steps as u64));
    }
}

/// The number of steps this thread has counted since the last call.
pub fn take() -> u64 {
    STEPS.take()
}
