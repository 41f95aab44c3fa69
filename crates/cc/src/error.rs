//! Every way in which a compile, or reading what one kept, can fail.

use std::path::PathBuf;

/// Why it failed. Each message says what is wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No clang of the right version.
    #[error(
        "no clang {version} found: install the Debian package `clang-{version}` (looked for `clang-{version}` and `clang`)"
    )]
    NoClang {
        /// The major version needed.
        version: u32,
    },
    /// No native compiler is named.
    #[error("no compiler is named: set RACEPROOF_CC or RACEPROOF_CXX to one, or unset it")]
    NoCompiler,
    /// The compiler cannot be started.
    #[error("cannot start `{program}`: {cause}")]
    Start {
        /// The compiler.
        program: String,
        /// What the system says.
        cause: std::io::Error,
    },
    /// A file that cannot be read or written.
    #[error("{what} `{path}`: {cause}")]
    File {
        /// What was tried, e.g. "cannot read".
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: std::io::Error,
    },
    /// A file that looks like an object but is not one.
    #[error("`{path}` cannot be read as an object file: {message}")]
    Object {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The kept section is damaged.
    #[error("what `raceproof cc` kept in `{path}` is damaged at offset {offset}: build it again")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in the section.
        offset: usize,
    },
    /// Kept by another version.
    #[error(
        "`{path}` was built by a version of `raceproof cc` that keeps other things (format {found}, not {known}): build it again"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// What it says.
        found: u32,
        /// What we know.
        known: u32,
    },
    /// An executable or object without keepsakes.
    #[error("nothing is kept in `{path}`: build it with `raceproof cc` or `raceproof c++` as the compiler")]
    NothingKept {
        /// The file.
        path: PathBuf,
    },
    /// A compilation database that is none.
    #[error("`{path}` is not a compilation database: {message}")]
    Database {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        message: String,
    },
}
