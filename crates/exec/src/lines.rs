//! From program counters to source lines, by the executable's debug information.

use std::path::Path;

use crate::error::Error;

/// A line of the program's source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// The file as the debug information spells it, with the folder of the compilation in front if it is relative.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; `None` where it is not known.
    pub column: Option<u32>,
}

impl Line {
    /// The line of the code at `counter`, an address as in the executable's file; `None` for code without debug
    /// information.
    ///
    /// # Errors
    /// When the executable cannot be read.
    pub fn find(program: &Path, counter: u64) -> Result<Option<Self>, Error> {
        let error =
            |what: Box<dyn std::error::Error>| Error::Symbols { program: program.to_owned(), what: what.to_string() };
        let loader = addr2line::Loader::new(program).map_err(error)?;
        let found = loader.find_location(counter).map_err(error)?;
        Ok(found.and_then(|location| {
            let (file, line) = (location.file?.to_owned(), location.line.filter(|line| *line > 0)?);
            Some(Self { file, line, column: location.column.filter(|column| *column > 0) })
        }))
    }
}
