//! The frame of our JSON files: `kind`, `version`, `checksum`, then the content's own fields.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Error;

/// Content of a JSON file of ours.
pub(super) trait Document: Serialize + DeserializeOwned {
    /// The value of `kind`, e.g. `raceproof witness`.
    const KIND: &'static str;
    /// The value of `version`; changes whenever the meaning of a field changes.
    const VERSION: u32;

    /// What contradicts itself: place and problem.
    fn check(&self) -> Result<(), (String, String)>;
}

#[derive(Serialize)]
struct Framed<'a, T> {
    kind: &'static str,
    version: u32,
    checksum: String,
    #[serde(flatten)]
    content: &'a T,
}

/// The frame alone, read first so that a wrong kind or version is told before a wrong field.
#[derive(Deserialize)]
struct Frame {
    kind: String,
    version: u64,
    checksum: String,
}

fn checksum<T: Document>(content: &T) -> serde_json::Result<String> {
    Ok(crate::hex(&Sha256::digest(serde_json::to_vec(content)?)))
}

/// Writes `content` in its frame, indented for people.
pub(super) fn write<T: Document>(path: &Path, content: &T) -> Result<(), Error> {
    let text = checksum(content)
        .and_then(|checksum| {
            serde_json::to_string_pretty(&Framed { kind: T::KIND, version: T::VERSION, checksum, content })
        })
        .map_err(|e| Error::Io { action: "write", path: path.to_owned(), source: e.into() })?;
    crate::write_bytes(path, (text + "\n").as_bytes())
}

/// Reads what [`write`] wrote, and nothing else.
pub(super) fn read<T: Document>(path: &Path) -> Result<T, Error> {
    let bytes = crate::read_bytes(path)?;
    let place = |e: &serde_json::Error| format!("line {} column {}", e.line(), e.column());
    let foreign = |found: String| Error::Foreign { path: path.to_owned(), expected: T::KIND, found };
    let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(|e| {
        if e.is_eof() && bytes.first() == Some(&b'{') {
            Error::Truncated { path: path.to_owned(), place: format!("the text ends at {}", place(&e)) }
        } else {
            foreign(format!("no JSON at {}", place(&e)))
        }
    })?;
    let frame: Frame = serde::Deserialize::deserialize(&value)
        .map_err(|_| foreign("it lacks `kind`, `version` and `checksum`".to_owned()))?;
    if frame.kind != T::KIND {
        return Err(foreign(format!("its kind is `{}`", frame.kind)));
    }
    if frame.version != u64::from(T::VERSION) {
        return Err(Error::Version {
            path: path.to_owned(),
            kind: T::KIND,
            found: frame.version,
            supported: T::VERSION,
        });
    }
    let damaged = |place: String, problem: String| Error::Damaged { path: path.to_owned(), place, problem };
    let content: T = serde_json::from_slice(&bytes).map_err(|e| {
        let message = e.to_string();
        damaged(place(&e), message.split(" at line").next().unwrap_or_default().to_owned())
    })?;
    let found = checksum(&content).map_err(|e| damaged("its content".to_owned(), e.to_string()))?;
    if found != frame.checksum {
        return Err(Error::Edited { path: path.to_owned(), expected: frame.checksum, found });
    }
    content.check().map_err(|(place, problem)| damaged(place, problem))?;
    Ok(content)
}
