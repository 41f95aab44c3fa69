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
    /// A trace in RAPID's text form.
    ForeignTrace(PathBuf),
}

impl Input {
    /// The inputs of a program; for anything else an error that says which command takes it.
    pub fn program(self) -> Result<Vec<String>, Error> {
        match self {
            Self::Program(inputs) => Ok(inputs),
            Self::SmallLanguage(path) => Err(Error::WrongInput {
                path: path.into(),
                is: "a program of the small language, which cannot run",
                takes: "`check`, `verify` and `cover` take it",
            }),
            Self::Recording(path) => Err(Error::WrongInput { path, is: "a recorded run", takes: "`predict` takes it" }),
            Self::ForeignTrace(path) => {
                Err(Error::WrongInput { path, is: "a trace in text form", takes: "`predict` takes it" })
            }
        }
    }
}

/// Classifies the inputs of a command. Files that are no input of any kind are left to the compiler driver, which names
/// the kinds it knows.
pub fn classify(inputs: &[String]) -> Result<Input, Error> {
    let is_small_language = |input: &String| Path::new(input).extension().is_some_and(|e| e == "sml");
    if inputs.iter().any(is_small_language) {
        return match inputs {
            [input] => Ok(Input::SmallLanguage(input.clone())),
            _ => Err(Error::SeveralSmallLanguage),
        };
    }
    if let [input] = inputs
        && let Some(trace) = trace(Path::new(input))?
    {
        return Ok(trace);
    }
    Ok(Input::Program(inputs.to_vec()))
}

/// Bytes that tell what a file is.
const HEAD: u64 = 1 << 16;

/// What kind of trace a file is, if it is one.
fn trace(path: &Path) -> Result<Option<Input>, Error> {
    if cc::InputKind::of(path).is_some() || !path.is_file() {
        return Ok(None);
    }
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    read.map_err(|cause| Error::Unreadable { path: path.to_owned(), cause })?;
    Ok(if TraceFile::is_one(&head) {
        Some(Input::Recording(path.to_owned()))
    } else if is_text(&head) {
        Some(Input::ForeignTrace(path.to_owned()))
    } else {
        None
    })
}

/// Whether the first bytes of a file are text. A character may be cut at their end.
fn is_text(head: &[u8]) -> bool {
    let is_cut = |error: std::str::Utf8Error| error.error_len().is_none() && head.len() as u64 == HEAD;
    !head.is_empty() && !head.contains(&0) && std::str::from_utf8(head).map_or_else(is_cut, |_| true)
}
