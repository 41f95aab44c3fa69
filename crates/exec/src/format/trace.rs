//! Traces as files: binary, because they are long.

use std::path::Path;

use model::Trace;
use model::index::Idx;
use serde::{Deserialize, Serialize};

use super::{BinaryKind, Error, ProgramIdentity};

const KIND: BinaryKind = BinaryKind { magic: *b"rptrace\0", version: 2, name: "raceproof trace" };

/// A trace with the program it is of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TraceFile {
    /// The program; site ids mean nothing without it.
    pub program: ProgramIdentity,
    /// The run.
    pub trace: Trace,
}

impl TraceFile {
    /// Writes the file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        super::write_bytes(path, &self.to_bytes())
    }

    /// Reads the file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::from_bytes(&super::read_bytes(path)?, path)
    }

    /// The file's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        KIND.to_bytes(self)
    }

    /// The content of a file's bytes; `path` is for messages.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self, Error> {
        let file: Self = KIND.from_bytes(bytes, path)?;
        let damaged = |problem| Error::Damaged { path: path.to_owned(), place: "the payload".to_owned(), problem };
        check(&file.trace).map_err(damaged)?;
        Ok(file)
    }
}

/// Whether the invariants that readers of a [`Trace`] rely on hold.
fn check(trace: &Trace) -> Result<(), String> {
    if trace.runnable.first().is_none_or(|(step, _)| step.0 != 0) {
        return Err("the runnable threads of the first state are missing".to_owned());
    }
    if !trace.runnable.is_sorted_by_key(|(step, _)| *step) {
        return Err("the runnable threads are not in order".to_owned());
    }
    let known = trace.threads.len();
    let threads = trace.events.iter().chain(trace.pending.iter().map(|p| &p.event)).map(|e| e.id.thread);
    match threads.into_iter().find(|t| t.index() >= known) {
        Some(thread) => Err(format!("an event of thread {thread}, but there are only {known} threads")),
        None => Ok(()),
    }
}
