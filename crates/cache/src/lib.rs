//! What was made before, kept in a folder of the user's by what it was made of.
//!
//! Two kinds of entries. One whose key says everything that its content depends on is found by the key alone
//! ([`Cache::get`], [`Cache::put`]). One that was made of files that only making it tells (the headers of a source, the files
//! that a run opens) is found by a key for what is known before, and holds while none of those [`Dependencies`] has changed
//! ([`Cache::recall`], [`Cache::remember`]).

mod dependencies;
mod entries;
mod fact;
mod recall;

pub use dependencies::{Dependencies, Looks};
pub use entries::Cache;
pub use fact::Fact;
pub use recall::Remembered;

use sha2::{Digest, Sha256};

/// SHA-256 in hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What tells this program from any other build of it: its version, and its executable's size and time.
pub fn tool() -> String {
    use std::os::unix::fs::MetadataExt;
    let executable = std::fs::metadata("/proc/self/exe");
    let built = executable.map(|about| (about.size(), about.mtime(), about.mtime_nsec(), about.ino()));
    format!("{} {:?}", env!("CARGO_PKG_VERSION"), built.ok())
}
