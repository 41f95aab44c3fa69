//! The codes of findings and unknowns, and what they mean.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Declares the codes: each with its constant, and its text in `codes/`.
macro_rules! codes {
    ($($(#[$doc:meta])* $constant:ident = $code:ident;)*) => {
        /// What a finding or an unknown is called for good. Codes are never reused.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[allow(missing_docs, reason = "each has its text")]
        pub enum Code {
            $($code,)*
        }

        impl Code {
            $($(#[$doc])* pub const $constant: Self = Self::$code;)*

            /// All codes, in order.
            pub const ALL: &[Self] = &[$(Self::$code,)*];

            /// As it is written, e.g. `RP0001`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$code => stringify!($code),)*
                }
            }

            /// The text of `raceproof explain`: a title line, then what it means and what to do.
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$code => include_str!(concat!("codes/", stringify!($code), ".md")),)*
                }
            }
        }
    };
}

codes! {
    /// Two accesses race.
    DATA_RACE = RP0001;
    /// Threads are blocked for ever.
    DEADLOCK = RP0002;
    /// An assertion fails.
    ASSERTION = RP0003;
    /// The program crashes.
    CRASH = RP0004;
    /// The thread API is used wrongly.
    MISUSE = RP0005;
    /// Memory is read that was never written.
    UNINITIALISED = RP0006;
    /// A thread's handle is used before its creation has stored it.
    HANDLE_RACE = RP0007;
    /// Two accesses race in a recorded run.
    OBSERVED_RACE = RP0008;
    /// A signal handler races with the code that it interrupts.
    SIGNAL_RACE = RP0009;
    /// Two iterations of a `simd` loop race.
    LANE_RACE = RP0010;
    /// Something is not modelled.
    UNMODELLED = RP0101;
    /// A run was cut short at its limit of events.
    STEP_LIMIT = RP0102;
    /// A run was cut short at its limit of time.
    RUN_TIME_LIMIT = RP0103;
    /// The search was stopped at a bound.
    SEARCH_BOUND = RP0104;
    /// The search stopped at the first finding.
    STOPPED_AT_FIRST = RP0105;
    /// A race was seen but its witness did not show it again.
    UNCONFIRMED = RP0106;
    /// The program's net brings two accesses side by side.
    CANDIDATE = RP0107;
    /// The static engine cannot exclude a race.
    WARNING = RP0108;
    /// A run shows a race that one of our proofs excludes.
    CONTRADICTION = RP0109;
    /// Not every value was tried that the program leaves open.
    CHOICES = RP0110;
    /// No execution came to its end because of assumptions.
    ASSUMPTIONS = RP0111;
    /// Two runs of one schedule differ.
    UNREPEATABLE = RP0112;
    /// This input does not lead to every access.
    NOT_REACHED = RP0113;
    /// An engine that could settle it did not run.
    NOT_ASKED = RP0120;
    /// The user stopped the check.
    INTERRUPTED = RP0121;
    /// A test was not checked.
    NOT_CHECKED = RP0122;
    /// A predicted race did not come about when it was replayed.
    NOT_REPRODUCED = RP0130;
}

impl Code {
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
        Self::ALL.iter().copied().find(|code| code.name().eq_ignore_ascii_case(text)).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_starts_with_its_code() {
        for code in Code::ALL.iter().copied() {
            assert!(code.text().starts_with(&format!("# {code}: ")), "{code}");
            assert_eq!(code.name().to_lowercase().parse(), Ok(code));
            assert!(code.text().ends_with('\n') && code.text().lines().all(|l| l.chars().count() <= 110), "{code}");
        }
        assert_eq!("RP9999".parse::<Code>(), Err(()));
        assert_eq!(Code::DATA_RACE.title(), "data race");
    }
}
