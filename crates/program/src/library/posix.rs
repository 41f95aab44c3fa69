//! placeholder

use super::LibraryFunction;

pub(super) const ROWS: &[LibraryFunction] = &[];
pub(super) const ALIASES: &[(&str, &str)] = &[];
