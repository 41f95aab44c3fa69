//! The codes of findings and unknowns, and what they mean.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a finding or an unknown is called for good. Codes are never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each has its text")]
pub enum Code {
    RP0001,
    RP0002,
    RP0003,
    RP0004,
    RP0005,
    RP0101,
    RP0102,
    RP0103,
    RP0104,
    RP0105,
    RP0106,
    RP0107,
    RP0108,
    RP0110,
    RP0111,
    RP0120,
    RP0121,
    RP0130,
}

impl Code {
    /// Two accesses race.
    pub const DATA_RACE: Self = Self::RP0001;
    /// Threads wait for ever.
    pub const DEADLOCK: Self = Self::RP0002;
    /// An assertion fails.
    pub const ASSERTION: Self = Self::RP0003;
    /// The program crashes.
    pub const CRASH: Self = Self::RP0004;
    /// The thread API is used wrongly.
    pub const MISUSE: Self = Self::RP0005;
    /// Something is not modelled.
    pub const UNMODELLED: Self = Self::RP0101;
    /// A run was cut short at its limit of events.
    pub const STEP_LIMIT: Self = Self::RP0102;
    /// A run was cut short at its limit of time.
    pub const RUN_TIME_LIMIT: Self = Self::RP0103;
    /// The search was stopped at a bound.
    pub const SEARCH_BOUND: Self = Self::RP0104;
    /// The search was told to stop at the first finding.
    pub const STOPPED_AT_FIRST: Self = Self::RP0105;
    /// A race was seen but its witness did not show it again.
    pub const UNCONFIRMED: Self = Self::RP0106;
    /// The program's net brings two accesses side by side.
    pub const CANDIDATE: Self = Self::RP0107;
    /// The static engine cannot exclude a race.
    pub const WARNING: Self = Self::RP0108;
    /// Not every value was tried that the program leaves open.
    pub const CHOICES: Self = Self::RP0110;
    /// No execution came to its end because of assumptions.
    pub const ASSUMPTIONS: Self = Self::RP0111;
    /// An engine that could settle it did not work.
    pub const NOT_ASKED: Self = Self::RP0120;
    /// The user stopped the check.
    pub const INTERRUPTED: Self = Self::RP0121;
    /// A predicted race did not come about when it was replayed.
    pub const NOT_REPRODUCED: Self = Self::RP0130;

    /// All codes, in order.
    pub const ALL: [Self; 18] = [
        Self::RP0001,
        Self::RP0002,
        Self::RP0003,
        Self::RP0004,
        Self::RP0005,
        Self::RP0101,
        Self::RP0102,
        Self::RP0103,
        Self::RP0104,
        Self::RP0105,
        Self::RP0106,
        Self::RP0107,
        Self::RP0108,
        Self::RP0110,
        Self::RP0111,
        Self::RP0120,
        Self::RP0121,
        Self::RP0130,
    ];

    /// As it is written, e.g. `RP0001`.
    pub fn name(self) -> &'static str {
        match self {
            Self::RP0001 => "RP0001",
            Self::RP0002 => "RP0002",
            Self::RP0003 => "RP0003",
            Self::RP0004 => "RP0004",
            Self::RP0005 => "RP0005",
            Self::RP0101 => "RP0101",
            Self::RP0102 => "RP0102",
            Self::RP0103 => "RP0103",
            Self::RP0104 => "RP0104",
            Self::RP0105 => "RP0105",
            Self::RP0106 => "RP0106",
            Self::RP0107 => "RP0107",
            Self::RP0108 => "RP0108",
            Self::RP0110 => "RP0110",
            Self::RP0111 => "RP0111",
            Self::RP0120 => "RP0120",
            Self::RP0121 => "RP0121",
            Self::RP0130 => "RP0130",
        }
    }

    /// The text of `raceproof explain`: a title line, then what it means and what to do.
    pub fn text(self) -> &'static str {
        match self {
            Self::RP0001 => include_str!("codes/RP0001.md"),
            Self::RP0002 => include_str!("codes/RP0002.md"),
            Self::RP0003 => include_str!("codes/RP0003.md"),
            Self::RP0004 => include_str!("codes/RP0004.md"),
            Self::RP0005 => include_str!("codes/RP0005.md"),
            Self::RP0101 => include_str!("codes/RP0101.md"),
            Self::RP0102 => include_str!("codes/RP0102.md"),
            Self::RP0103 => include_str!("codes/RP0103.md"),
            Self::RP0104 => include_str!("codes/RP0104.md"),
            Self::RP0105 => include_str!("codes/RP0105.md"),
            Self::RP0106 => include_str!("codes/RP0106.md"),
            Self::RP0107 => include_str!("codes/RP0107.md"),
            Self::RP0108 => include_str!("codes/RP0108.md"),
            Self::RP0110 => include_str!("codes/RP0110.md"),
            Self::RP0111 => include_str!("codes/RP0111.md"),
            Self::RP0120 => include_str!("codes/RP0120.md"),
            Self::RP0121 => include_str!("codes/RP0121.md"),
            Self::RP0130 => include_str!("codes/RP0130.md"),
        }
    }

    /// The first line of the text, without the code.
    pub fn title(self) -> &'static str {
        let line = self.text().lines().next().unwrap_or_default();
        line.split_once(": ").map_or(line, |(_, title)| title)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Code {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|code| code.name().eq_ignore_ascii_case(text)).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_starts_with_its_code() {
        for code in Code::ALL {
            assert!(code.text().starts_with(&format!("# {code}: ")), "{code}");
            assert_eq!(code.name().to_lowercase().parse(), Ok(code));
            assert!(code.text().ends_with('\n') && code.text().lines().all(|l| l.chars().count() <= 110), "{code}");
        }
        assert_eq!("RP9999".parse::<Code>(), Err(()));
        assert_eq!(Code::DATA_RACE.title(), "data race");
    }
}
