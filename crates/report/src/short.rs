//! One line for each finding, as compilers print them: `file:line:column: severity: message [code]`. The other access of a
//! race follows as a `note`. The last line is the headline.

use std::fmt::Write;

use crate::Code;
use crate::document::{Access, Finding, Pair, PairVerdict, Report, Unknown};
use crate::terminal;

/// Races, other errors, predictions, then one open pair of each variable, then what is unknown of the whole program.
pub fn render(report: &Report) -> String {
    let mut lines = Lines::default();
    report.told_races().for_each(|pair| lines.race(pair));
    report.errors.iter().filter(|error| error.suppressed.is_none()).for_each(|error| lines.error(error));
    let (predicted, open): (Vec<&Pair>, Vec<&Pair>) =
        report.pairs_with(PairVerdict::Unknown).partition(|pair| pair.is_predicted());
    for pair in predicted {
        let what = format!("predicted data race on `{}`", pair.variable);
        lines.pair("warning", &what, pair.code.unwrap_or(Code::NOT_ASKED), pair);
    }
    for best in terminal::together(open).iter().filter_map(|group| group.first()) {
        let what = format!("not known whether accesses to `{}` race: {}", best.variable, best.reason);
        lines.pair("warning", &what, best.code.unwrap_or(Code::NOT_ASKED), best);
    }
    report.unknowns.iter().for_each(|unknown| lines.unknown(unknown));
    lines.0 + &terminal::headline(report) + "\n"
}

/// The lines of one race.
pub(crate) fn race(pair: &Pair) -> String {
    let mut lines = Lines::default();
    lines.race(pair);
    lines.0
}

/// The lines of another error.
pub(crate) fn error(error: &Finding) -> String {
    let mut lines = Lines::default();
    lines.error(error);
    lines.0
}

/// The lines of something unknown.
pub(crate) fn unknown(unknown: &Unknown) -> String {
    let mut lines = Lines::default();
    lines.unknown(unknown);
    lines.0
}

/// Lines of the report.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn race(&mut self, pair: &Pair) {
        let code = if pair.is_observed() { Code::OBSERVED_RACE } else { Code::DATA_RACE };
        self.pair("error", &format!("data race on `{}`", pair.variable), code, pair);
    }

    fn error(&mut self, error: &Finding) {
        self.add((error.file.as_deref(), error.line, error.column), "error", &error.message, Some(error.code));
    }

    fn unknown(&mut self, unknown: &Unknown) {
        let place = (unknown.file.as_deref(), unknown.line, unknown.column);
        self.add(place, "warning", &format!("no proof: {}", unknown.reason), Some(unknown.code));
    }

    fn pair(&mut self, severity: &str, what: &str, code: Code, pair: &Pair) {
        let [first, second] = &pair.accesses;
        self.add(first.own_place(), severity, &format!("{what}: {}", told(first)), Some(code));
        self.add(second.own_place(), "note", &told(second), None);
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

fn told(access: &Access) -> String {
    let locks = match access.locks.len() {
        0 => "no lock".to_owned(),
        _ => access.locks.iter().map(|lock| format!("`{lock}`")).collect::<Vec<_>>().join(", "),
    };
    let atomic = if access.atomic { "atomic " } else { "" };
    let Access { kind, thread, function, .. } = access;
    let thread = if thread.is_empty() { String::new() } else { format!(" by thread {thread}") };
    format!("{atomic}{kind}{thread} in `{function}`, holding {locks}")
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
