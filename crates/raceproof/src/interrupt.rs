//! Ctrl-C: the first one asks the search to stop and report what it has, the second one ends the process.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};

/// The exit status of a process that a second interruption ends.
const ENDED: i32 = 130;

/// Becomes true at the first interruption from now on.
pub(crate) fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The kernel refuses only signals that cannot be handled; then the default stays: the process ends.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, ENDED, Arc::clone(&flag));
        let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
    }
    flag
}
