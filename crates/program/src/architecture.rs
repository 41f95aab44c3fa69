//! What a program was compiled for, as far as its text depends on it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The architecture of a program; the system of those with a name is Linux with the GNU C library.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum Architecture {
    /// 64-bit x86.
    #[default]
    X86_64,
    /// 64-bit ARM.
    Aarch64,
    /// Any other with pointers of 64 bits: the sizes of the library's types are not known.
    Other,
    /// Any other with pointers of 32 bits.
    Other32,
    /// Any other with pointers of 16 bits.
    Other16,
}

impl Architecture {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::X86_64, Self::Aarch64, Self::Other, Self::Other32, Self::Other16];

    /// The architecture of a target triple such as `x86_64-pc-linux-gnu`, with pointers of so many bytes. Another system or
    /// another set of sizes on the same processor (`gnux32`, `gnu_ilp32`) is another architecture.
    pub fn of_triple(triple: &str, pointer: u32) -> Self {
        let mut parts = triple.split('-');
        let processor = parts.next().unwrap_or_default();
        let usual = triple.contains("linux") && matches!(parts.next_back(), Some("gnu"));
        match processor {
            "x86_64" if usual => Self::X86_64,
            "aarch64" if usual => Self::Aarch64,
            _ if pointer <= 2 => Self::Other16,
            _ if pointer <= 4 => Self::Other32,
            _ => Self::Other,
        }
    }

    /// Bytes of a pointer.
    pub fn pointer_size(self) -> u32 {
        match self {
            Self::X86_64 | Self::Aarch64 | Self::Other => 8,
            Self::Other32 => 4,
            Self::Other16 => 2,
        }
    }

    /// Whether something of so many bytes may hold a pointer.
    pub fn may_hold_pointer(self, size: u32) -> bool {
        size >= self.pointer_size()
    }

    /// Its name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
            Self::Other => "other",
            Self::Other32 => "other32",
            Self::Other16 => "other16",
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
        assert_eq!(Architecture::of_triple("x86_64-pc-linux-gnu", 8), Architecture::X86_64);
        assert_eq!(Architecture::of_triple("aarch64-unknown-linux-gnu", 8), Architecture::Aarch64);
        let others = [
            ("x86_64-pc-linux-gnux32", 4, Architecture::Other32),
            ("x86_64-pc-linux-musl", 8, Architecture::Other),
            ("i386-pc-linux-gnu", 4, Architecture::Other32),
            ("thumbv7m-none-eabi", 4, Architecture::Other32),
            ("msp430", 2, Architecture::Other16),
            ("aarch64-apple-darwin", 8, Architecture::Other),
            ("", 8, Architecture::Other),
        ];
        for (triple, pointer, expected) in others {
            assert_eq!(Architecture::of_triple(triple, pointer), expected, "{triple}");
            assert_eq!(expected.pointer_size(), pointer, "{triple}");
        }
    }

    #[test]
    fn names_lead_back() {
        for architecture in Architecture::ALL {
            assert_eq!(Architecture::named(architecture.name()), Some(architecture));
        }
    }
}
