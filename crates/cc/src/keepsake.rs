//! What is kept of a compile or a link, as bytes that may stand one after the other in a section.
//!
//! ```text
//! magic "RPKEPT"   6 bytes
//! version          u16, little-endian
//! length           u64, little-endian
//! keepsake         `length` bytes of postcard
//! ```
//! Linkers may fill up with zeros between keepsakes.

use serde::{Deserialize, Serialize};

const MAGIC: &[u8; 6] = b"RPKEPT";
pub(crate) const VERSION: u16 = 1;
const HEADER: usize = 16;

/// One source and what became of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unit {
    /// As the command line spelled it.
    pub source: String,
    /// Where the compiler was called.
    pub directory: String,
    /// Whether it is C++.
    pub cplusplus: bool,
    /// LLVM bitcode.
    pub bitcode: Vec<u8>,
}

/// What an executable or shared library was linked with, besides sources.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Link {
    /// Where the linker was called.
    pub directory: String,
    /// Whether by `c++`.
    pub cplusplus: bool,
    /// Objects, archives, libraries and flags for the linker, in order, as the command line spelled them.
    pub arguments: Vec<String>,
}

/// What is kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Keepsake {
    /// Of a compile.
    Unit(Unit),
    /// Of a link.
    Link(Link),
}

/// Why a section cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unreadable {
    Damaged { offset: usize },
    Version { found: u16 },
}

impl Keepsake {
    /// As bytes. Keepsakes are made of strings and bytes, which postcard can always write.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let content = postcard::to_stdvec(self).unwrap_or_default();
        let mut bytes = Vec::with_capacity(HEADER + content.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(content.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&content);
        bytes
    }

    /// All keepsakes of a section.
    pub(crate) fn read_all(section: &[u8]) -> Result<Vec<Self>, Unreadable> {
        let mut keepsakes = Vec::new();
        let mut offset = 0;
        loop {
            offset += section[offset..].iter().take_while(|byte| **byte == 0).count();
            if offset == section.len() {
                return Ok(keepsakes);
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
            keepsakes.push(postcard::from_bytes(content).map_err(|_| damaged)?);
            offset = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> [Keepsake; 2] {
        let unit = Unit { source: "a.c".into(), directory: "d".into(), cplusplus: false, bitcode: vec![0, 1, 0, 0] };
        let link = Link { directory: "d".into(), cplusplus: true, arguments: vec!["-lz".into()] };
        [Keepsake::Unit(unit), Keepsake::Link(link)]
    }

    #[test]
    fn sections_stand_one_after_the_other() {
        let section = [examples()[0].to_bytes(), vec![0; 5], examples()[1].to_bytes(), vec![0; 3]].concat();
        assert_eq!(Keepsake::read_all(&section), Ok(examples().into()));
        assert_eq!(Keepsake::read_all(&[]), Ok(Vec::new()));
    }

    #[test]
    fn damage_is_told_with_its_place() {
        let whole = [examples()[0].to_bytes(), examples()[1].to_bytes()].concat();
        let second = examples()[0].to_bytes().len();
        for cut in second + 1..whole.len() {
            assert_eq!(Keepsake::read_all(&whole[..cut]), Err(Unreadable::Damaged { offset: second }), "cut at {cut}");
        }
        let mut other = whole;
        other[6] = 9;
        assert_eq!(Keepsake::read_all(&other), Err(Unreadable::Version { found: 9 }));
    }
}
