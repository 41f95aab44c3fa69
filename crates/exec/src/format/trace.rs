//! Traces as files: binary, because they are long.
//!
//! ```text
//! 8 bytes   magic            "rptrace\0"
//! 4 bytes   version          little-endian
//! 8 bytes   payload length   little-endian
//! 32 bytes  SHA-256 of the payload
//! payload   postcard of TraceFile
//! ```

use std::path::Path;

use model::Trace;
use model::index::Idx;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Error, ProgramIdentity};

const MAGIC: &[u8; 8] = b"rptrace\0";
const VERSION: u32 = 2;
const HEADER: usize = 8 + 4 + 8 + 32;
const KIND: &str = "raceproof trace";

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
        let payload = postcard::to_stdvec(self).expect("raceproof bug: a trace that cannot be serialised");
        let mut bytes = Vec::with_capacity(HEADER + payload.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&Sha256::digest(&payload));
        bytes.extend_from_slice(&payload);
        bytes
    }

    /// The content of a file's bytes; `path` is for messages.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self, Error> {
        let path = || path.to_owned();
        if !bytes.starts_with(MAGIC) {
            let found = "its first bytes are not `rptrace`".to_owned();
            return Err(Error::Foreign { path: path(), expected: KIND, found });
        }
        let Some((header, payload)) = bytes.split_at_checked(HEADER) else {
            return Err(Error::Truncated { path: path(), place: format!("{} bytes of header", bytes.len()) });
        };
        let version = u32::from_le_bytes(header[8..12].try_into().expect("four bytes"));
        if version != VERSION {
            let found = u64::from(version);
            return Err(Error::Version { path: path(), kind: KIND, found, supported: VERSION });
        }
        let length = u64::from_le_bytes(header[12..20].try_into().expect("eight bytes"));
        if (payload.len() as u64) < length {
            let place = format!("{} of {length} bytes of events", payload.len());
            return Err(Error::Truncated { path: path(), place });
        }
        let damaged = |problem: String| Error::Damaged { path: path(), place: "the payload".to_owned(), problem };
        if payload.len() as u64 > length {
            return Err(damaged(format!("{} bytes too many", payload.len() as u64 - length)));
        }
        let found = Sha256::digest(payload);
        if header[20..] != found[..] {
            let (expected, found) = (super::hex(&header[20..]), super::hex(&found));
            return Err(Error::Edited { path: path(), expected, found });
        }
        let file: Self = postcard::from_bytes(payload).map_err(|e| damaged(e.to_string()))?;
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
