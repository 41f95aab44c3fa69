//! What the inputs of a command are, decided in one place for every command.

use std::io::Read;
use std::path::{Path, PathBuf};

use files::TraceFile;

use crate::Error;

/// What a command is given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input {
    /// One program: C and C++ sources, bitcode, executables of `raceproof cc`, folders with a compilation database.
    Program(Vec<String>),
    /// A program of the small language.
    SmallLanguage(String),
    /// A recording of `raceproof record`.
    Recording(PathBuf),
    /// A text of another kind: `predict` reads it as a trace in RAPID's form.
    Text(PathBuf),
    /// A file of no known kind.
    Other(PathBuf),
}

impl Input {
    /// The inputs of a program. Recordings and programs that cannot run are refused with the command that takes them;
    /// files of no known kind are left to the compiler driver, which names the kinds it knows.
    pub fn program(self) -> Result<Vec<String>, Error> {
        match self {
            Self::Program(inputs) => Ok(inputs),
            Self::Text(path) | Self::Other(path) => Ok(vec![path.to_string_lossy().into_owned()]),
            Self::SmallLanguage(path) => Err(Error::WrongInput {
                path: path.into(),
                is: "a program of the small language, which cannot run",
                takes: "`check`, `verify` and `cover` take it",
            }),
            Self::Recording(path) => Err(Error::WrongInput { path, is: "a recorded run", takes: "`predict` takes it" }),
        }
    }
}

/// Classifies the inputs of a command.
pub fn classify(inputs: &[String]) -> Result<Input, Error> {
    let is_small_language = |input: &String| Path::new(input).extension().is_some_and(|e| e == "sml");
    if inputs.iter().any(is_small_language) {
        return match inputs {
            [input] => Ok(Input::SmallLanguage(input.clone())),
            _ => Err(Error::SeveralSmallLanguage),
        };
    }
    match inputs {
        [input] if is_no_program(Path::new(input)) => other(Path::new(input)),
        _ => Ok(Input::Program(inputs.to_vec())),
    }
}

/// Bytes that tell what a file is.
const HEAD: u64 = 1 << 16;

/// Whether this is a file, but no part of a program.
fn is_no_program(path: &Path) -> bool {
    path.is_file() && cc::InputKind::of(path).is_none()
}

/// What a file is that is no part of a program.
fn other(path: &Path) -> Result<Input, Error> {
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.map_err(|cause| Error::Unreadable { path: path.to_owned(), cause })?;
    let path = path.to_owned();
    Ok(if TraceFile::is_one(&head) {
        Input::Recording(path)
    } else if is_text(&head) {
        Input::Text(path)
    } else {
        Input::Other(path)
    })
}

/// Whether the first bytes of a file are text. A character may be cut at their end.
fn is_text(head: &[u8]) -> bool {
    let is_cut = |error: std::str::Utf8Error| error.error_len().is_none() && head.len() as u64 == HEAD;
    !head.is_empty() && !head.contains(&0) && std::str::from_utf8(head).map_or_else(is_cut, |_| true)
}
