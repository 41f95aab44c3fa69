//! JUnit's XML, as servers for continuous integration read it: one test case for each test of `raceproof test`.
//!
//! A race or another error of the program is a failure, a check that failed is an error, a test that was not checked is
//! skipped. Whether a test of which something is unknown passes is the user's choice.

use std::fmt::Write;

use crate::document::{PairVerdict, Report};
use crate::short;
use crate::suite::{Outcome, TestResult};

/// What becomes of tests of which something is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OfUnknown {
    /// They fail.
    Fails,
    /// They pass.
    Passes,
}

/// Kinds of test cases that are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Passed,
    Failure,
    Error,
    Skipped,
}

fn kind(outcome: Outcome, unknown: OfUnknown) -> Kind {
    match outcome {
        Outcome::Race | Outcome::Failed => Kind::Failure,
        Outcome::Unknown if unknown == OfUnknown::Fails => Kind::Failure,
        Outcome::Unknown | Outcome::Safe => Kind::Passed,
        Outcome::Error => Kind::Error,
        Outcome::Skipped => Kind::Skipped,
    }
}

/// The tests of a report as one suite.
pub fn render(report: &Report, unknown: OfUnknown) -> String {
    let count = |wanted: Kind| report.tests.iter().filter(|test| kind(test.outcome, unknown) == wanted).count();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\"",
        report.tests.len(),
        count(Kind::Failure),
        count(Kind::Error),
        count(Kind::Skipped),
        seconds(report.time_ms),
    );
    // The schema in use knows no skipped tests at the root.
    let at_root = counts.replace(&format!(" skipped=\"{}\"", count(Kind::Skipped)), "");
    let name = escaped(&report.inputs.join(" "));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"raceproof\" {at_root}>");
    let _ = writeln!(out, "  <testsuite name=\"{name}\" {counts}>");
    for test in &report.tests {
        case(report, test, unknown, &mut out);
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn case(report: &Report, test: &TestResult, unknown: OfUnknown, out: &mut String) {
    let class = test.inputs.first().map_or("raceproof", String::as_str);
    let (name, class, time) = (escaped(&test.name), escaped(class), seconds(test.time_ms));
    let _ = write!(out, "    <testcase name=\"{name}\" classname=\"{class}\" time=\"{time}\"");
    let reason = test.reason.as_deref().unwrap_or("it was not checked");
    let (element, message, text) = match kind(test.outcome, unknown) {
        Kind::Passed => {
            out.push_str("/>\n");
            return;
        }
        Kind::Failure => {
            let told = told(report, test);
            let first = told.lines().next().unwrap_or_default().to_owned();
            ("failure", first, told)
        }
        Kind::Error => ("error", reason.to_owned(), String::new()),
        Kind::Skipped => {
            let _ = writeln!(out, ">\n      <skipped message=\"{}\"/>\n    </testcase>", escaped(reason));
            return;
        }
    };
    let (message, text, outcome) = (escaped(&message), escaped(&text), test.outcome.as_str());
    let _ = writeln!(
        out,
        ">\n      <{element} message=\"{message}\" type=\"{outcome}\">{text}</{element}>\n    </testcase>"
    );
}

/// What was found in a test, a line each, as compilers print it, with the command that shows it again.
fn told(report: &Report, test: &TestResult) -> String {
    let is_of = |tests: &[String]| tests.contains(&test.name);
    let mut text = String::new();
    let races = report.told_races().filter(|pair| is_of(&pair.details.tests));
    for (lines, witness) in races.map(|pair| (short::race(pair), &pair.witness)) {
        text.push_str(&lines);
        text.extend(witness.iter().map(|witness| format!("raceproof replay {witness}\n")));
    }
    for error in report.errors.iter().filter(|error| error.suppressed.is_none() && is_of(&error.tests)) {
        text.push_str(&short::error(error));
        text.extend(error.witness.iter().map(|witness| format!("raceproof replay {witness}\n")));
    }
    if text.is_empty() {
        for unknown in report.unknowns.iter().filter(|unknown| is_of(&unknown.tests)) {
            text.push_str(&short::unknown(unknown));
        }
        let open = report.pairs_with(PairVerdict::Unknown).filter(|pair| is_of(&pair.details.tests)).count();
        if open > 0 {
            let _ = writeln!(text, "{open} pairs are neither shown to race nor proved absent");
        }
    }
    text
}

/// A time as JUnit has it.
fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1000, ms % 1000)
}

/// A text as XML has it: what no document may contain becomes a question mark.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('?'),
            c if c.is_control() => escaped.push('?'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_one_that_xml_can_have() {
        assert_eq!(escaped("a<b> & \"c\"\n\u{1b}[1m\u{0}\t"), "a&lt;b&gt; &amp; &quot;c&quot;&#10;?[1m?&#9;");
        assert_eq!(seconds(12_034), "12.034");
    }
}
