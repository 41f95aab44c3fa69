//! What kinds of files make up a program.

use std::ffi::OsStr;
use std::path::Path;

use crate::database::is_database;
use crate::{Language, is_container, wrapped};

/// What an input of a program is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputKind {
    /// A C or C++ source, by the end of its name.
    Source(Language),
    /// LLVM bitcode or its text form, by the end of its name.
    Bitcode,
    /// A file in which `raceproof cc` may have embedded bitcode: an object, an archive, a library or an executable. Or a
    /// script of libtool's that stands for one.
    Container,
    /// A compilation database, or a folder, which should have one.
    Database,
}

impl InputKind {
    /// The kind of a file; `None` for files that are no part of a program, or that cannot be read.
    pub fn of(path: &Path) -> Option<Self> {
        match (path.extension().and_then(OsStr::to_str), Language::of(path)) {
            (Some("bc" | "ll"), _) => Some(Self::Bitcode),
            (_, Some(language)) => Some(Self::Source(language)),
            _ if path.is_dir() || is_database(path) => Some(Self::Database),
            _ if is_container(path) || wrapped(path).is_some() => Some(Self::Container),
            _ => None,
        }
    }
}
