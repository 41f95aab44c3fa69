//! Annotations for GitHub's checks: workflow commands on standard output.

use std::fmt::Write;

use crate::document::{PairVerdict, Report};

/// One line per race, other error and thing that is unknown.
pub fn render(report: &Report) -> String {
    let mut out = String::new();
    for pair in report.pairs_with(PairVerdict::Race).filter(|pair| pair.details.suppressed.is_none()) {
        let [first, second] = &pair.accesses;
        let other = match &second.file {
            Some(file) => format!("{file}:{}", second.line),
            None => "an unknown place".to_owned(),
        };
        let message = format!(
            "thread {} {}s `{}` here while thread {} does a {} at {other}: {}",
            first.thread, first.kind, pair.variable, second.thread, second.kind, pair.reason
        );
        let title = format!("data race on `{}`", pair.variable);
        annotation(&mut out, "error", first.file.as_deref(), first.line, first.column, &title, &message);
    }
    for error in report.errors.iter().filter(|error| error.suppressed.is_none()) {
        let file = error.file.as_deref();
        annotation(&mut out, "error", file, error.line, error.column, error.code.title(), &error.message);
    }
    for unknown in &report.unknowns {
        let message = format!("{}; what would settle it: {}", unknown.reason, unknown.settle);
        let file = unknown.file.as_deref();
        annotation(&mut out, "warning", file, unknown.line, unknown.column, unknown.code.title(), &message);
    }
    out
}

fn annotation(out: &mut String, level: &str, file: Option<&str>, line: u32, column: u32, title: &str, message: &str) {
    let mut properties = Vec::new();
    if let Some(file) = file {
        properties.push(format!("file={}", property(file)));
        properties.extend((line > 0).then(|| format!("line={line}")));
        properties.extend((column > 0).then(|| format!("col={column}")));
    }
    properties.push(format!("title={}", property(title)));
    let _ = writeln!(out, "::{level} {}::{}", properties.join(","), data(message));
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
        let mut out = String::new();
        annotation(&mut out, "error", Some("a,b:c.c"), 3, 0, "50%", "one\ntwo");
        assert_eq!(out, "::error file=a%2Cb%3Ac.c,line=3,title=50%25::one%0Atwo\n");
    }
}
