//! What `raceproof cc` embeds for a compile or a link, as bytes that may be concatenated in a section.
//!
//! ```text
//! magic "RPKEPT"   6 bytes
//! version          u16, little-endian
//! length           u64, little-endian
//! entry            `length` bytes of postcard
//! ```
//! Linkers may insert zeros between entries.

use serde::{Deserialize, Serialize};

const MAGIC: &[u8; 6] = b"RPKEPT";
pub(crate) const VERSION: u16 = 1;
const HEADER: usize = 16;

/// One source and its bitcode.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unit {
    /// As spelled on the command line.
    pub source: String,
    /// The working directory of the compiler.
    pub directory: String,
    /// Whether it is C++.
    pub cplusplus: bool,
    /// LLVM bitcode.
    pub bitcode: Vec<u8>,
}

/// What an executable or shared library was linked with, besides sources.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Link {
    /// The working directory of the linker.
    pub directory: String,
    /// Whether it was linked by `c++`.
    pub cplusplus: bool,
    /// Objects, archives, libraries and linker flags, in order, as spelled on the command line.
    pub arguments: Vec<String>,
}

/// An embedded entry.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Embedded {
    /// The result of a compile.
    Unit(Unit),
    /// The arguments of a link.
    Link(Link),
}

/// Why a section cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unreadable {
    Damaged { offset: usize },
    Version { found: u16 },
}

impl Embedded {
    /// The entry as bytes. Entries consist of strings and bytes, which postcard can always write.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let content = postcard::to_stdvec(self).unwrap_or_default();
        let mut bytes = Vec::with_capacity(HEADER + content.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&content);
        bytes
    }

    /// All entries of a section.
    pub(crate) fn read_all(section: &[u8]) -> Result<Vec<Self>, Unreadable> {
        let mut entries = Vec::new();
        let mut offset = 0;
        loop {
            offset += section[offset..].iter().take_while(|byte| **byte == 0).count();
            if offset == section.len() {
                return Ok(entries);
            }
            let damaged = Unreadable::Damaged { offset };
            let header = section.get(offset..offset + HEADER).ok_or(damaged)?;
            let (magic, rest) = header.split_at(MAGIC.len());
            let (version, length) = rest.split_at(2);
            if magic != MAGIC {
                return Err(damaged);
            }
            let version = version.try_into().map(u16::from_le_bytes).map_err(|_| damaged)?;
            if version != VERSION {
                return Err(Unreadable::Version { found: version });
            }
            let length = length.try_into().map(u64::from_le_bytes).map_err(|_| damaged)?;
            let start = offset + HEADER;
            let end = usize::try_from(length).ok().and_then(|length| start.checked_add(length)).ok_or(damaged)?;
            let content = section.get(start..end).ok_or(damaged)?;
            entries.push(postcard::from_bytes(content).map_err(|_| damaged)?);
            offset = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> [Embedded; 2] {
        let unit = Unit { source: "a.c".into(), directory: "d".into(), cplusplus: false, bitcode: vec![0, 1, 0, 0] };
        let link = Link { directory: "d".into(), cplusplus: true, arguments: vec!["-lz".into()] };
        [Embedded::Unit(unit), Embedded::Link(link)]
    }

    #[test]
    fn concatenated_sections_are_read() {
        let section = [examples()[0].to_bytes(), vec![0; 5], examples()[1].to_bytes(), vec![0; 3]].concat();
        assert_eq!(Embedded::read_all(&section), Ok(examples().into()));
        assert_eq!(Embedded::read_all(&[]), Ok(Vec::new()));
    }

    #[test]
    fn damage_is_reported_with_its_offset() {
        let whole = [examples()[0].to_bytes(), examples()[1].to_bytes()].concat();
        let second = examples()[0].to_bytes().len();
        for cut in second + 1..whole.len() {
            assert_eq!(Embedded::read_all(&whole[..cut]), Err(Unreadable::Damaged { offset: second }), "cut at {cut}");
        }
        let mut other = whole;
        other[6] = 9;
        assert_eq!(Embedded::read_all(&other), Err(Unreadable::Version { found: 9 }));
    }
}
