//! Errors of compiling with embedded bitcode and of reading it back.

use std::fmt;
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
    /// No native compiler is configured.
    #[error("no compiler is configured: set RACEPROOF_CC or RACEPROOF_CXX to a compiler, or unset it")]
    NoCompiler,
    /// The compiler cannot be started.
    #[error("cannot start `{program}`: {cause}")]
    Start {
        /// The compiler.
        program: String,
        /// The system's error.
        cause: std::io::Error,
    },
    /// A file cannot be read or written.
    #[error("{action} `{path}`: {cause}")]
    File {
        /// What failed.
        action: FileAction,
        /// The file.
        path: PathBuf,
        /// The system's error.
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
    /// The embedded section is damaged.
    #[error("the bitcode embedded in `{path}` is damaged at offset {offset}: build the file again")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in the section.
        offset: usize,
    },
    /// Embedded by another version.
    #[error(
        "`{path}` was built by another version of `raceproof cc` (format {found}; this version reads {known}): build it again"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The file's format.
        found: u32,
        /// The format this version reads.
        known: u32,
    },
    /// An executable or object without embedded bitcode.
    #[error(
        "`{path}` was not built with `raceproof cc`: build it with `raceproof cc` or `raceproof c++` as the compiler"
    )]
    NoBitcode {
        /// The file.
        path: PathBuf,
    },
    /// An object or archive of which only some parts have embedded bitcode.
    #[error(
        "`{path}` has parts with embedded bitcode and parts without, of which it is made of `{parts}`: compile all of them \
         with `raceproof cc`, or keep the others in files of their own, which are linked as they are"
    )]
    Mixed {
        /// The file.
        path: PathBuf,
        /// Its parts.
        parts: String,
    },
    /// A file that is not a compilation database.
    #[error("`{path}` is not a compilation database: {message}")]
    Database {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        message: String,
    },
    /// A compilation database with sources of several executables.
    #[error("`{path}` has the sources of {} executables: {}", names.len(), listed(names))]
    SeveralExecutables {
        /// The database.
        path: PathBuf,
        /// The executables.
        names: Vec<String>,
    },
    /// A compilation database without the executable that was asked for.
    #[error("`{path}` has no executable `{name}`; it has {}", listed(names))]
    NoSuchExecutable {
        /// The database.
        path: PathBuf,
        /// What was asked for.
        name: String,
        /// The executables.
        names: Vec<String>,
    },
}

/// Names that a message lists.
const LISTED: usize = 30;

/// `a`, `b` and so on.
fn listed(names: &[String]) -> String {
    let mut listed: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    match names.len() {
        0 => return "none".to_owned(),
        n if n > LISTED => listed.push(format!("{} more", n - LISTED)),
        _ => {}
    }
    listed.join(", ")
}

/// A file operation that can fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileAction {
    /// Reading a file.
    Read,
    /// Writing a file.
    Write,
    /// Finding the working directory.
    FindFolder,
    /// Creating a temporary folder.
    CreateFolder,
}

impl fmt::Display for FileAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "cannot read",
            Self::Write => "cannot write",
            Self::FindFolder => "cannot find the folder",
            Self::CreateFolder => "cannot create a folder in",
        })
    }
}
