//! The tests of `raceproof test`, one line each, the gravest first.

use std::fmt::Write as _;

use super::{GREEN, RED, YELLOW, count, seconds};
use crate::document::Report;
use crate::suite::{Outcome, TestResult};

/// Tests of one outcome that are listed; those with findings all are.
const LISTED: usize = 20;

/// The table; nothing outside `raceproof test`.
pub(super) fn table(report: &Report) -> String {
    let mut out = String::new();
    if report.tests.is_empty() {
        return out;
    }
    let with = |outcome: Outcome| report.tests.iter().filter(move |test| test.outcome == outcome);
    let counts = Outcome::ALL.iter().map(|outcome| (report.tests_with(*outcome), outcome.as_str()));
    let counts = counts.filter(|(n, _)| *n > 0).map(|(n, outcome)| format!("{n} {outcome}"));
    let _ = writeln!(out, "  {}: {}", count(report.tests.len(), "test"), counts.collect::<Vec<_>>().join(", "));
    for outcome in Outcome::ALL {
        let most =
            if matches!(outcome, Outcome::Race | Outcome::Failed | Outcome::Error) { usize::MAX } else { LISTED };
        for test in with(outcome).take(most) {
            out.push_str(&line(report, test));
        }
        let more = with(outcome).count().saturating_sub(most);
        if more > 0 {
            let _ = writeln!(out, "    {:11} {more} more", outcome.as_str());
        }
    }
    out
}

fn line(report: &Report, test: &TestResult) -> String {
    let style = match test.outcome {
        Outcome::Race | Outcome::Failed | Outcome::Error => RED,
        Outcome::Unknown => YELLOW,
        Outcome::Safe | Outcome::Skipped => GREEN,
    };
    let name = printable(&test.name);
    let mut said: Vec<String> = Vec::new();
    let races = report.told_races().filter(|pair| pair.details.tests.contains(&test.name));
    let ids: Vec<&str> = races.map(|pair| pair.id.as_str()).collect();
    said.extend((!ids.is_empty()).then(|| ids.join(", ")));
    let errors = report.errors.iter().filter(|error| error.suppressed.is_none() && error.tests.contains(&test.name));
    said.extend(errors.map(|error| error.code.title().to_owned()).next());
    said.extend(test.reason.as_deref().map(printable));
    let said = if said.is_empty() { String::new() } else { format!(": {}", said.join("; ")) };
    let time = if test.outcome == Outcome::Skipped { String::new() } else { format!(", {}", seconds(test.time_ms)) };
    format!("    {style}{:11}{style:#} {name}{said}{time}\n", test.outcome.as_str())
}

/// A text of others in one line.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
