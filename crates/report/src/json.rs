//! The document itself.

use crate::Report;

/// The report as one indented JSON document with a final newline.
pub fn render(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("raceproof bug: a report that cannot be serialised");
    text.push('\n');
    text
}

/// Reads a document of this or an earlier version.
pub fn read(text: &str) -> Result<Report, serde_json::Error> {
    serde_json::from_str(text)
}
