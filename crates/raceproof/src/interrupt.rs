//! Ctrl-C: the first one asks the command to stop and report what it has, the second one ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::guard;

/// The exit status of a process that a second interruption ends.
const ENDED: i32 = 130;

/// Becomes true at the first interruption from now on.
pub(crate) fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    // The kernel refuses only signals that cannot be handled; then the default stays: the process ends.
    if let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) {
        let flag = Arc::clone(&flag);
        std::thread::spawn(move || {
            for _ in signals.forever() {
                if flag.swap(true, Ordering::AcqRel) {
                    guard::end(ENDED);
                }
            }
        });
    }
    flag
}

/// Lets writing beyond the limit on the size of files fail, instead of ending the process without a word.
pub(crate) fn survive_file_limits() {
    // Where it cannot be handled, the process ends as before.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}
