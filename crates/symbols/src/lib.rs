//! What an executable says of its addresses: names of functions and globals, source lines and inlined calls.

mod lines;
mod table;

use std::path::PathBuf;

pub use lines::{Frame, Line, Lines};
pub use table::Symbols;

/// The executable cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the symbols of `{}`: {what}", program.display())]
pub struct Error {
    /// The executable.
    pub program: PathBuf,
    /// What is wrong with it.
    pub what: String,
}
