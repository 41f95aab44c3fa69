//! What child processes of the program did, for all runs of a search: the program's processes keep it in a file in memory that
//! they share.

use std::fs::File;
use std::io;
use std::sync::{Arc, OnceLock};

use launch::memory_file;

/// The results of child processes; copies share them.
#[derive(Clone, Default, Debug)]
pub struct Children(Arc<OnceLock<File>>);

impl Children {
    /// The file, which is made when the first process starts.
    pub(crate) fn file(&self) -> io::Result<&File> {
        if let Some(file) = self.0.get() {
            return Ok(file);
        }
        let made = memory_file(c"children")?;
        Ok(self.0.get_or_init(|| made))
    }
}
