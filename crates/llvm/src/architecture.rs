//! Architectures that programs are compiled for.

use std::fmt;

/// An architecture; the system is Linux.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Architecture {
    /// `x86_64`, which raceproof itself runs on.
    #[default]
    X86_64,
    /// `aarch64`.
    Aarch64,
}

impl Architecture {
    /// The architecture with a name as Rust has them.
    pub fn named(name: &str) -> Option<Self> {
        [Self::X86_64, Self::Aarch64].into_iter().find(|architecture| architecture.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    /// Flags of every call of clang.
    pub(crate) fn flags(self) -> &'static [&'static str] {
        match self {
            Self::X86_64 => &[],
            Self::Aarch64 => &["--target=aarch64-linux-gnu"],
        }
    }

    /// Further flags where it compiles to bitcode: atomics are instructions, of whatever size, not calls of a
    /// library.
    pub(crate) fn bitcode_flags(self) -> &'static [&'static str] {
        match self {
            Self::X86_64 => cc::X86_64_BITCODE_FLAGS,
            Self::Aarch64 => &["-mno-outline-atomics"],
        }
    }

    /// Whether code for this triple runs on it.
    pub(crate) fn runs(self, triple: &str) -> bool {
        triple.split('-').next() == Some(self.name()) && triple.contains("linux") && !triple.ends_with("gnux32")
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
    fn code_runs_on_its_architecture_only() {
        assert!(Architecture::X86_64.runs("x86_64-pc-linux-gnu"));
        assert!(!Architecture::X86_64.runs("x86_64-pc-linux-gnux32"));
        assert!(!Architecture::X86_64.runs("i386-pc-linux-gnu"));
        assert!(Architecture::Aarch64.runs("aarch64-unknown-linux-gnu"));
        assert!(!Architecture::Aarch64.runs("aarch64_be-unknown-linux-gnu"));
        assert!(!Architecture::Aarch64.runs("aarch64-apple-darwin"));
    }
}
