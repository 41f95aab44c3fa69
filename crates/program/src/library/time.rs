//! placeholder

use super::LibraryFunction;

pub(super) const ROWS: &[LibraryFunction] = &[];
