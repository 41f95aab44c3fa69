//! Which program a file speaks of, and how to build it again.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A program and its input, as the user gave them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProgramIdentity {
    /// SHA-256 of the linked, instrumented executable: changes with the sources, the flags and raceproof itself.
    pub hash: String,
    /// The source files, as the user spelled them.
    pub inputs: Vec<String>,
    /// Extra compiler flags.
    pub cflags: Vec<String>,
    /// External functions assumed to touch no shared memory.
    pub assume_pure: Vec<String>,
    /// The program's arguments.
    pub args: Vec<String>,
    /// The file given as standard input, as the user spelled it.
    pub stdin: Option<String>,
    /// SHA-256 of that file.
    pub stdin_hash: Option<String>,
}

/// SHA-256 in hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    crate::hex(&Sha256::digest(bytes))
}
