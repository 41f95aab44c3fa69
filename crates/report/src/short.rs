//! One line for each finding, as compilers print them: `file:line:column: severity: message [code]`. The other access of a
//! race follows as a `note`. The last line is the headline.

use std::fmt::Write;

use crate::Code;
use crate::diagnostics::{self, About, Diagnostic};
use crate::document::{Finding, Pair, Report, Unknown};
use crate::terminal;

/// Findings in the order of [`diagnostics::list`].
pub fn render(report: &Report) -> String {
    let mut lines = Lines::default();
    diagnostics::list(report).iter().for_each(|diagnostic| lines.diagnostic(diagnostic));
    lines.0 + &terminal::headline(report) + "\n"
}

/// The lines of one race.
pub(crate) fn race(pair: &Pair) -> String {
    let mut lines = Lines::default();
    lines.diagnostic(&Diagnostic::of_race(pair));
    lines.0
}

/// The lines of another error.
pub(crate) fn error(error: &Finding) -> String {
    let mut lines = Lines::default();
    lines.diagnostic(&Diagnostic::of_error(error));
    lines.0
}

/// The lines of something unknown.
pub(crate) fn unknown(unknown: &Unknown) -> String {
    let mut lines = Lines::default();
    lines.diagnostic(&Diagnostic::of_unknown(unknown));
    lines.0
}

/// Lines of the report.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn diagnostic(&mut self, diagnostic: &Diagnostic<'_>) {
        let severity = diagnostic.severity.as_str();
        self.add(diagnostic.place(), severity, &diagnostic.message(), Some(diagnostic.code));
        if let About::Pair(pair) = diagnostic.about {
            let second = &pair.accesses[1];
            self.add(second.own_place(), "note", &diagnostics::told(second), None);
        }
    }

    fn add(&mut self, place: (Option<&str>, u32, u32), severity: &str, message: &str, code: Option<Code>) {
        match place {
            (Some(file), 0, _) => self.0 += &format!("{file}: "),
            (Some(file), line, 0) => self.0 += &format!("{file}:{line}: "),
            (Some(file), line, column) => self.0 += &format!("{file}:{line}:{column}: "),
            (None, ..) => self.0 += "raceproof: ",
        }
        // Editors read line by line.
        let message = message.lines().collect::<Vec<_>>().join("; ");
        let code = code.map_or_else(String::new, |code| format!(" [{}]", code.name()));
        let _ = writeln!(self.0, "{severity}: {message}{code}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_as_compilers_print_them() {
        let mut lines = Lines::default();
        lines.add((Some("a.c"), 3, 7), "error", "one\ntwo", Some(Code::DATA_RACE));
        lines.add((Some("a.c"), 3, 0), "note", "three", None);
        lines.add((Some("a.c"), 0, 0), "warning", "four", None);
        lines.add((None, 0, 0), "warning", "five", None);
        let expected =
            "a.c:3:7: error: one; two [RP0001]\na.c:3: note: three\na.c: warning: four\nraceproof: warning: five\n";
        assert_eq!(lines.0, expected);
    }
}
