//! The result of a plain coverability question as data, and the same for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use serde::{Deserialize, Serialize};

use crate::Command;
use crate::terminal::seconds;

const BOLD: Style = Style::new().bold();
const RED: Style = AnsiColor::BrightRed.on_default().bold();
const GREEN: Style = AnsiColor::BrightGreen.on_default().bold();
const YELLOW: Style = AnsiColor::BrightYellow.on_default().bold();

/// The answer to a coverability question.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CoverVerdict {
    /// A reachable marking covers a target.
    Covered,
    /// Something stopped us.
    Unknown,
    /// No reachable marking covers a target.
    Safe,
}

/// The document of `cover`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CoverReport {
    /// Version of raceproof.
    pub raceproof: String,
    /// [`SCHEMA`](crate::document::SCHEMA).
    pub schema: u32,
    /// `cover`.
    pub command: Command,
    /// The net's file as the user spelled it.
    pub inputs: Vec<String>,
    /// The answer: covered if one question is, else unknown if one is, else safe.
    pub verdict: CoverVerdict,
    /// Places with tokens in the marking the steps start from.
    pub initial: BTreeMap<String, u32>,
    /// What fires, by name, until a target is covered; of the first question that is covered.
    pub steps: Vec<String>,
    /// Elements of the final basis, of all questions together.
    pub basis: u64,
    /// Time of everything, in milliseconds.
    pub time_ms: u64,
    /// What stopped us.
    pub reason: Option<String>,
    /// Counters, of all questions together.
    pub statistics: CoverStatistics,
    /// For a program of the small language, the answer for each shared variable.
    pub variables: Vec<CoverVariable>,
}

/// Counters of the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CoverStatistics {
    /// Places of the net.
    pub places: u64,
    /// Transitions of the net.
    pub transitions: u64,
    /// Elements whose predecessors were computed.
    pub iterations: u64,
    /// Predecessors computed.
    pub configurations: u64,
    /// Predecessors that an element already subsumed.
    pub subsumed: u64,
    /// Predecessors excluded by never-marked places or invariants.
    pub excluded: u64,
    /// Invariants found.
    pub invariants: u64,
}

/// The answer for one shared variable of a program of the small language.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CoverVariable {
    /// Its name.
    pub name: String,
    /// Covered: two threads can access it at once, at least one writing.
    pub verdict: CoverVerdict,
    /// What the threads do until then.
    pub steps: Vec<String>,
}

impl CoverStatistics {
    /// What the search did, in one line.
    pub(crate) fn counters(&self, basis: u64) -> String {
        let Self { iterations, configurations, subsumed, excluded, invariants, .. } = self;
        format!(
            "{iterations} iterations, {configurations} configurations, {subsumed} subsumed, {excluded} excluded, \
             {invariants} invariants, basis {basis}"
        )
    }
}

impl CoverReport {
    /// The exit status: 0 safe, 1 covered, 3 unknown.
    pub fn exit_status(&self) -> u8 {
        match self.verdict {
            CoverVerdict::Safe => 0,
            CoverVerdict::Covered => 1,
            CoverVerdict::Unknown => 3,
        }
    }

    /// One indented JSON document with a final newline.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("raceproof bug: a report that cannot be serialised");
        text.push('\n');
        text
    }

    /// For people; with the counters if wanted.
    pub fn terminal(&self, statistics: bool) -> String {
        let mut out = String::new();
        for variable in &self.variables {
            let text = match variable.verdict {
                CoverVerdict::Covered => "two threads can access it at once, at least one writing",
                CoverVerdict::Safe => "cannot be raced on",
                CoverVerdict::Unknown => "not settled",
            };
            let _ = writeln!(out, "{BOLD}{}{BOLD:#}: {text}", variable.name);
            list(&mut out, &BTreeMap::new(), &variable.steps);
        }
        let (style, word, text) = match self.verdict {
            CoverVerdict::Covered => (RED, "covered", "a reachable marking covers a target".to_owned()),
            CoverVerdict::Safe => (GREEN, "safe", "no reachable marking covers a target".to_owned()),
            CoverVerdict::Unknown => (YELLOW, "unknown", self.reason.clone().unwrap_or_default()),
        };
        let _ = writeln!(out, "{style}{word}{style:#}{BOLD}: {text}{BOLD:#}");
        if self.variables.is_empty() {
            list(&mut out, &self.initial, &self.steps);
        }
        if statistics {
            let CoverStatistics { places, transitions, .. } = self.statistics;
            let _ = writeln!(out, "  {places} places, {transitions} transitions");
            let _ = writeln!(out, "  {}", self.statistics.counters(self.basis));
        }
        let _ = writeln!(out, "  finished in {}", seconds(self.time_ms));
        out
    }
}

/// The initial marking and the steps, numbered.
fn list(out: &mut String, initial: &BTreeMap<String, u32>, steps: &[String]) {
    if !initial.is_empty() {
        let tokens: Vec<String> = initial.iter().map(|(place, n)| format!("{place}={n}")).collect();
        let _ = writeln!(out, "  from {}", tokens.join(" "));
    }
    for (number, step) in steps.iter().enumerate() {
        let _ = writeln!(out, "  {:>3}. {step}", number + 1);
    }
}
