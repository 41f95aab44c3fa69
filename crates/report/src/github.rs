//! Annotations for GitHub's checks: workflow commands on standard output.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::document::Report;

/// At most one annotation per line of source: races, then other errors, then what is unknown.
pub fn render(report: &Report) -> String {
    let mut out = Annotations::default();
    for pair in report.told_races() {
        let [first, second] = &pair.accesses;
        let other = match second.own_place() {
            (Some(file), line, _) => format!("{file}:{line}"),
            (None, ..) => "an unknown place".to_owned(),
        };
        let message = format!(
            "thread {} {}s `{}` here while thread {} does a {} at {other}: {}",
            first.thread, first.kind, pair.variable, second.thread, second.kind, pair.reason
        );
        let title = format!("data race on `{}`", pair.variable);
        let (file, line, column) = first.own_place();
        out.add("error", file, line, column, &title, &message);
    }
    for error in report.errors.iter().filter(|error| error.suppressed.is_none()) {
        let file = error.file.as_deref();
        out.add("error", file, error.line, error.column, error.code.title(), &error.message);
    }
    for unknown in &report.unknowns {
        let message = format!("{}; what would settle it: {}", unknown.reason, unknown.settle);
        let file = unknown.file.as_deref();
        out.add("warning", file, unknown.line, unknown.column, unknown.code.title(), &message);
    }
    out.text
}

/// Annotations, each at a place of its own.
#[derive(Default)]
struct Annotations<'a> {
    text: String,
    lines: BTreeSet<(&'a str, u32)>,
}

impl<'a> Annotations<'a> {
    fn add(&mut self, level: &str, file: Option<&'a str>, line: u32, column: u32, title: &str, message: &str) {
        let mut properties = Vec::new();
        if let Some(file) = file {
            if !self.lines.insert((file, line)) {
                return;
            }
            properties.push(format!("file={}", property(file)));
            properties.extend((line > 0).then(|| format!("line={line}")));
            properties.extend((column > 0).then(|| format!("col={column}")));
        }
        properties.push(format!("title={}", property(title)));
        let _ = writeln!(self.text, "::{level} {}::{}", properties.join(","), data(message));
    }
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_are_escaped() {
        let mut out = Annotations::default();
        out.add("error", Some("a,b:c.c"), 3, 0, "50%", "one\ntwo");
        out.add("error", Some("a,b:c.c"), 3, 7, "again", "the same line");
        assert_eq!(out.text, "::error file=a%2Cb%3Ac.c,line=3,title=50%25::one%0Atwo\n");
    }
}
