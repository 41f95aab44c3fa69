//! Tests that cannot be made where they run.

use std::io::Write;

/// Says that a test is left out, and why. The text goes past the test harness, which hides what passing tests print.
///
/// Only for what nothing here can install, such as sources that have to be fetched; what `scripts/setup --tests` installs
/// has to be there.
pub fn skip(test: &str, reason: &str) {
    // Nobody may be reading.
    let _ = writeln!(std::io::stderr().lock(), "\nSKIPPED {test}: {reason}");
}
