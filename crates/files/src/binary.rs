//! The frame of our binary files.
//!
//! ```text
//! 8 bytes   magic
//! 4 bytes   version          little-endian
//! 8 bytes   payload length   little-endian
//! 32 bytes  SHA-256 of the payload
//! payload   postcard of the content
//! ```

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::Error;

const HEADER: usize = 8 + 4 + 8 + 32;

/// A kind of binary file.
#[derive(Clone, Copy, Debug)]
pub struct BinaryKind {
    /// Its first bytes: a word, filled up with zeros.
    pub magic: [u8; 8],
    /// Changes whenever the content does.
    pub version: u32,
    /// For people, e.g. `raceproof trace`.
    pub name: &'static str,
}

impl BinaryKind {
    /// Writes a file, whole or not at all.
    pub fn write(&self, path: &Path, content: &impl Serialize) -> Result<(), Error> {
        crate::write_bytes(path, &self.to_bytes(content))
    }

    /// Reads a file.
    pub fn read<T: DeserializeOwned>(&self, path: &Path) -> Result<T, Error> {
        self.from_bytes(&crate::read_bytes(path)?, path)
    }

    /// The bytes of a file.
    pub fn to_bytes(&self, content: &impl Serialize) -> Vec<u8> {
        let payload = postcard::to_stdvec(content).expect("raceproof bug: content that cannot be serialised");
        let mut bytes = Vec::with_capacity(HEADER + payload.len());
        bytes.extend_from_slice(&self.magic);
        bytes.extend_from_slice(&self.version.to_le_bytes());
        bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&Sha256::digest(&payload));
        bytes.extend_from_slice(&payload);
        bytes
    }

    /// The content of a file's bytes; `path` is for messages.
    pub fn from_bytes<T: DeserializeOwned>(&self, bytes: &[u8], path: &Path) -> Result<T, Error> {
        let path = || path.to_owned();
        if !bytes.starts_with(&self.magic) {
            let word = String::from_utf8_lossy(&self.magic);
            let found = format!("its first bytes are not `{}`", word.trim_end_matches('\0'));
            return Err(Error::Foreign { path: path(), expected: self.name, found });
        }
        let Some((header, payload)) = bytes.split_at_checked(HEADER) else {
            return Err(Error::Truncated { path: path(), place: format!("{} bytes of header", bytes.len()) });
        };
        let version = u32::from_le_bytes(header[8..12].try_into().expect("four bytes"));
        if version != self.version {
            let found = u64::from(version);
            return Err(Error::Version { path: path(), kind: self.name, found, supported: self.version });
        }
        let length = u64::from_le_bytes(header[12..20].try_into().expect("eight bytes"));
        if (payload.len() as u64) < length {
            let place = format!("{} of {length} bytes of content", payload.len());
            return Err(Error::Truncated { path: path(), place });
        }
        let damaged = |problem: String| Error::Damaged { path: path(), place: "the payload".to_owned(), problem };
        if payload.len() as u64 > length {
            return Err(damaged(format!("{} bytes too many", payload.len() as u64 - length)));
        }
        let found = Sha256::digest(payload);
        if header[20..] != found[..] {
            let (expected, found) = (crate::hex(&header[20..]), crate::hex(&found));
            return Err(Error::Edited { path: path(), expected, found });
        }
        postcard::from_bytes(payload).map_err(|e| damaged(e.to_string()))
    }
}
