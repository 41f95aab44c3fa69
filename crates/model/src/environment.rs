//! What the environment of a program may do that programs seldom see.
//!
//! Each part is off unless it is asked for. A part that is on turns what the environment does into choices of the
//! schedule; one that is off is an assumption that results name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One part of the environment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Surprise {
    /// A thread cannot be created.
    Creation,
    /// There is no memory.
    Allocation,
    /// A wait for a condition ends without a cause; a weak compare-exchange fails although the values are equal.
    Spurious,
    /// Memory that was never written holds any value.
    Uninitialised,
    /// What is handed over through the kernel orders no memory. No choice of a schedule: it takes edges from
    /// happens-before.
    Unordered,
}

impl Surprise {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Creation, Self::Allocation, Self::Spurious, Self::Uninitialised, Self::Unordered];

    /// The name on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Creation => "creation",
            Self::Allocation => "allocation",
            Self::Spurious => "spurious",
            Self::Uninitialised => "uninitialised",
            Self::Unordered => "unordered",
        }
    }

    fn bit(self) -> u32 {
        match self {
            Self::Spurious => 1,
            Self::Creation => 2,
            Self::Allocation => 4,
            Self::Uninitialised => 8,
            Self::Unordered => 16,
        }
    }
}

impl fmt::Display for Surprise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// No part of the environment has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not something that the environment may do; there are {all} and all", all = Surprise::ALL.map(Surprise::as_str).join(", "))]
pub struct UnknownSurprise(String);

impl FromStr for Surprise {
    type Err = UnknownSurprise;
    fn from_str(text: &str) -> Result<Self, UnknownSurprise> {
        Self::ALL.into_iter().find(|part| part.as_str() == text).ok_or_else(|| UnknownSurprise(text.to_owned()))
    }
}

/// What the environment may do. Nothing by default.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(into = "Vec<String>", try_from = "Vec<String>")]
pub struct Environment(u32);

impl Environment {
    /// Whether a part is on.
    pub fn has(self, part: Surprise) -> bool {
        self.0 & part.bit() != 0
    }

    /// The same with a part that is on.
    #[must_use]
    pub fn with(self, part: Surprise) -> Self {
        Self(self.0 | part.bit())
    }

    /// Whether a part is on that makes choices.
    pub fn makes_choices(self) -> bool {
        self.0 & !Surprise::Unordered.bit() != 0
    }

    /// As the runtime is told: one bit for each part.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Reads names; `all` stands for every part that makes choices.
    pub fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, UnknownSurprise> {
        names.into_iter().try_fold(Self::default(), |so_far, name| match name {
            "all" => {
                let choices = Surprise::ALL.into_iter().filter(|part| *part != Surprise::Unordered);
                Ok(choices.fold(so_far, Self::with))
            }
            name => Ok(so_far.with(name.parse()?)),
        })
    }
}

impl From<Environment> for Vec<String> {
    fn from(environment: Environment) -> Self {
        Surprise::ALL.into_iter().filter(|part| environment.has(*part)).map(|part| part.to_string()).collect()
    }
}

impl TryFrom<Vec<String>> for Environment {
    type Error = UnknownSurprise;
    fn try_from(names: Vec<String>) -> Result<Self, UnknownSurprise> {
        Self::from_names(names.iter().map(String::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        let some = Environment::from_names(["spurious", "creation"]).unwrap();
        assert!(some.has(Surprise::Spurious) && some.has(Surprise::Creation) && !some.has(Surprise::Allocation));
        assert_eq!(Vec::from(some), ["creation", "spurious"]);
        assert_eq!(Environment::try_from(Vec::from(some)), Ok(some));
        assert_eq!(Environment::from_names(["all"]).unwrap().bits(), 15);
        let unordered = Environment::from_names(["unordered"]).unwrap();
        assert!(!unordered.makes_choices() && some.makes_choices());
        assert_eq!(Environment::try_from(Vec::from(unordered)), Ok(unordered));
        assert!(Environment::from_names(["weather"]).unwrap_err().to_string().contains("`weather`"));
    }
}
