//! Steps of analysis, counted in builds with debug assertions: what a trace costs can be told without a clock.

use std::cell::Cell;

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Counts so many steps more.
#[inline]
pub fn count(steps: usize) {
    if cfg!(debug_assertions) {
        STEPS.with(|all| all.set(all.get() + steps as u64));
    }
}

/// The steps that this thread has counted, since it last asked.
pub fn take() -> u64 {
    STEPS.take()
}
