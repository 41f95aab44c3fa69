//! The tests of `raceproof test` in a result: what became of each.

use serde::{Deserialize, Serialize};

use crate::document::{Command, ErrorKind, PairVerdict, Report};

/// What became of a test.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// A data race.
    Race,
    /// Another error of the program.
    Failed,
    /// The check itself failed.
    Error,
    /// Nothing was found, and something is not known.
    Unknown,
    /// Every pair is absent.
    Safe,
    /// It is no test of a program that could be checked, or it is disabled.
    Skipped,
}

impl Outcome {
    /// All of them, the gravest first.
    pub const ALL: [Self; 6] = [Self::Race, Self::Failed, Self::Error, Self::Unknown, Self::Safe, Self::Skipped];

    /// What a report calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Race => "race",
            Self::Failed => "failed",
            Self::Error => "error",
            Self::Unknown => "unknown",
            Self::Safe => "safe",
            Self::Skipped => "not checked",
        }
    }
}

/// A test and what became of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TestResult {
    /// Its name, which no other test has.
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Why it was not checked, or what the check said when it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its program; empty where it was not checked.
    pub inputs: Vec<String>,
    /// Its program's arguments.
    pub args: Vec<String>,
    /// Time of its check, in milliseconds.
    pub time_ms: u64,
}

impl Report {
    /// Says of every test what became of it, once suppressions are applied.
    pub fn settle_tests(&mut self) {
        let Self { tests, pairs, errors, unknowns, .. } = self;
        for test in tests.iter_mut().filter(|test| !matches!(test.outcome, Outcome::Error | Outcome::Skipped)) {
            let is_of = |tests: &[String]| tests.contains(&test.name);
            let races = pairs
                .iter()
                .any(|pair| pair.verdict == PairVerdict::Race && pair.is_to_be_told() && is_of(&pair.details.tests));
            let of_test = || errors.iter().filter(|error| error.suppressed.is_none() && is_of(&error.tests));
            let open = pairs.iter().any(|pair| pair.verdict == PairVerdict::Unknown && is_of(&pair.details.tests))
                || unknowns.iter().any(|unknown| is_of(&unknown.tests));
            test.outcome = if races || of_test().any(|error| error.kind == ErrorKind::Lanes) {
                Outcome::Race
            } else if of_test().next().is_some() {
                Outcome::Failed
            } else if open || test.outcome == Outcome::Unknown {
                Outcome::Unknown
            } else {
                Outcome::Safe
            };
        }
    }

    /// The same report, in which every test says what became of it.
    pub(crate) fn with_settled_tests(mut self) -> Self {
        self.settle_tests();
        self
    }

    /// How many tests had this outcome.
    pub fn tests_with(&self, outcome: Outcome) -> usize {
        self.tests.iter().filter(|test| test.outcome == outcome).count()
    }

    /// Whether the answer is about one input of one program, and not about all tests of a project.
    pub(crate) fn is_of_tests(&self) -> bool {
        self.command == Command::Test
    }
}

/// Tests that are named where a finding is told.
const NAMED: usize = 6;

/// `in the tests `a`, `b` and 3 more`; `None` outside `raceproof test`.
pub(crate) fn shown_by(tests: &[String]) -> Option<String> {
    let named = tests.iter().take(NAMED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match tests.len() {
        0 => None,
        1 => Some(format!("in the test {named}")),
        n if n > NAMED => Some(format!("in the tests {named} and {} more", n - NAMED)),
        _ => Some(format!("in the tests {named}")),
    }
}
