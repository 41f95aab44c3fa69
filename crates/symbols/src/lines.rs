//! From program counters to source lines, by the executable's debug information.

use std::path::{Path, PathBuf};

use crate::Error;

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

/// A function on a stack, inlined or not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Its name for the linker, or in the source where it has none.
    pub symbol: String,
    /// Where in it.
    pub line: Line,
}

/// The debug information of an executable.
pub struct Lines {
    program: PathBuf,
    loader: addr2line::Loader,
}

impl Lines {
    /// Reads what is needed to find lines.
    ///
    /// # Errors
    /// When the file is no executable.
    pub fn load(program: &Path) -> Result<Self, Error> {
        let loader = addr2line::Loader::new(program).map_err(|error| unreadable(program, error))?;
        Ok(Self { program: program.to_owned(), loader })
    }

    /// The line of the code at `counter`, an address as in the executable's file; `None` for code without debug
    /// information.
    ///
    /// # Errors
    /// When the debug information is damaged.
    pub fn find(&self, counter: u64) -> Result<Option<Line>, Error> {
        let found = self.loader.find_location(counter).map_err(|error| unreadable(&self.program, error))?;
        Ok(found.and_then(|location| line(&location)))
    }

    /// The functions that are at `counter`, each inlined into the next; none for code without debug information.
    ///
    /// # Errors
    /// When the debug information is damaged.
    pub fn frames(&self, counter: u64) -> Result<Vec<Frame>, Error> {
        let mut found = self.loader.find_frames(counter).map_err(|error| unreadable(&self.program, error))?;
        let mut frames = Vec::new();
        while let Some(frame) = found.next().map_err(|error| unreadable(&self.program, error.into()))? {
            let symbol = frame.function.as_ref().and_then(|function| Some(function.raw_name().ok()?.into_owned()));
            if let (Some(symbol), Some(line)) = (symbol, frame.location.as_ref().and_then(line)) {
                frames.push(Frame { symbol, line });
            }
        }
        Ok(frames)
    }
}

fn line(location: &addr2line::Location<'_>) -> Option<Line> {
    let (file, line) = (location.file?.to_owned(), location.line.filter(|line| *line > 0)?);
    Some(Line { file, line, column: location.column.filter(|column| *column > 0) })
}

fn unreadable(program: &Path, error: Box<dyn std::error::Error>) -> Error {
    Error { program: program.to_owned(), what: error.to_string() }
}
