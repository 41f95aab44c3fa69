//! What a program was compiled for, as far as its text depends on it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The architecture of a program; the system is Linux with the GNU C library.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Architecture {
    /// 64-bit x86.
    #[default]
    X86_64,
    /// 64-bit ARM.
    Aarch64,
    /// Any other: the sizes of the library's types are not known.
    Other,
}

impl Architecture {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::X86_64, Self::Aarch64, Self::Other];

    /// The architecture of a target triple such as `x86_64-pc-linux-gnu`. Another system or another set of sizes on the
    /// same processor (`gnux32`, `gnu_ilp32`) is another architecture.
    pub fn of_triple(triple: &str) -> Self {
        let mut parts = triple.split('-');
        let processor = parts.next().unwrap_or_default();
        let usual = triple.contains("linux") && matches!(parts.next_back(), Some("gnu"));
        match processor {
            "x86_64" if usual => Self::X86_64,
            "aarch64" if usual => Self::Aarch64,
            _ => Self::Other,
        }
    }

    /// Its name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
            Self::Other => "other",
        }
    }

    /// The architecture with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|architecture| architecture.name() == name)
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triples_with_other_sizes_are_other_architectures() {
        assert_eq!(Architecture::of_triple("x86_64-pc-linux-gnu"), Architecture::X86_64);
        assert_eq!(Architecture::of_triple("aarch64-unknown-linux-gnu"), Architecture::Aarch64);
        let others =
            ["x86_64-pc-linux-gnux32", "x86_64-pc-linux-musl", "i386-pc-linux-gnu", "aarch64-apple-darwin", ""];
        for triple in others {
            assert_eq!(Architecture::of_triple(triple), Architecture::Other, "{triple}");
        }
    }

    #[test]
    fn names_lead_back() {
        for architecture in Architecture::ALL {
            assert_eq!(Architecture::named(architecture.name()), Some(architecture));
        }
    }
}
