//! A race as a violation witness in the YAML format of the software-verification competition, version 2.2.
//!
//! The run becomes a sequence of segments, one per event that has a line, each with one `follow` waypoint and its
//! thread; the last segment has two targets, the racing accesses. Validators that ignore threads still get the lines.

use std::fmt::Write;

use crate::document::{Access, Pair, Report};
use crate::run::{Action, Run};

/// A program that the witness speaks of, and its SHA-256.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputFile {
    /// As the user spelled it.
    pub name: String,
    /// In hexadecimal.
    pub sha256: String,
}

/// The witness of a report's first race; `None` when it has none. `created` is a time as RFC 3339 has it.
pub fn render(report: &Report, inputs: &[InputFile], created: &str) -> Option<String> {
    let pair = report.pairs.iter().find(|pair| pair.details.run.is_some() && pair.confirmed)?;
    let run = pair.details.run.as_ref()?;
    let mut out = String::new();
    let cxx = |name: &str| [".cc", ".cpp", ".cxx", ".C"].iter().any(|end| name.ends_with(end));
    let language = if inputs.iter().any(|input| cxx(&input.name)) { "C++" } else { "C" };
    let _ = write!(
        out,
        "- entry_type: violation_sequence\n  metadata:\n    format_version: \"2.2\"\n    uuid: {}\n    \
         creation_time: {}\n    producer:\n      name: raceproof\n      version: {}\n    task:\n",
        quoted(&uuid(inputs, pair)),
        quoted(created),
        quoted(&report.raceproof)
    );
    out.push_str("      input_files:\n");
    for input in inputs {
        let _ = writeln!(out, "        - {}", quoted(&input.name));
    }
    out.push_str("      input_file_hashes:\n");
    for input in inputs {
        let _ = writeln!(out, "        {}: {}", quoted(&input.name), quoted(&input.sha256));
    }
    let _ = write!(
        out,
        "      specification: \"CHECK( init(main()), LTL(G ! data-race) )\"\n      data_model: LP64\n      \
         language: {language}\n  content:\n"
    );
    for (thread, file, line, function) in waypoints(run) {
        out.push_str("    - segment:\n");
        waypoint(&mut out, "assumption", thread, file, line, None, function);
    }
    out.push_str("    - segment:\n");
    for access in &pair.accesses {
        let thread = run.threads.iter().position(|thread| thread.thread == access.thread).unwrap_or_default();
        let Access { file, line, column, function, .. } = access;
        let column = (*column > 0).then_some(*column);
        waypoint(&mut out, "target", thread, file.as_deref()?, *line, column, function);
    }
    Some(out)
}

/// The lines of the run before the race, each thread's consecutive events on one line once.
fn waypoints(run: &Run) -> Vec<(usize, &str, u32, &str)> {
    let mut lines: Vec<(usize, &str, u32, &str)> = Vec::new();
    for event in run.events.iter().filter(|event| !event.marked && event.action != Action::Fault) {
        let Some(file) = event.file.as_deref() else { continue };
        let here = (event.thread, file, event.line, event.function.as_str());
        if lines.last() != Some(&here) {
            lines.push(here);
        }
    }
    lines
}

fn waypoint(out: &mut String, kind: &str, thread: usize, file: &str, line: u32, column: Option<u32>, function: &str) {
    let _ = writeln!(out, "        - waypoint:\n            type: {kind}\n            action: follow");
    let _ = writeln!(out, "            thread_id: {thread}");
    if kind == "assumption" {
        let _ =
            writeln!(out, "            constraint:\n              value: \"1\"\n              format: c_expression");
    }
    let _ = writeln!(out, "            location:\n              file_name: {}", quoted(file));
    let _ = writeln!(out, "              line: {line}");
    if let Some(column) = column {
        let _ = writeln!(out, "              column: {column}");
    }
    let _ = writeln!(out, "              function: {}", quoted(function));
}

/// A name for the witness that is the same for the same race of the same files.
fn uuid(inputs: &[InputFile], pair: &Pair) -> String {
    // Two rounds of FNV-1a over what identifies it.
    let text = format!("{inputs:?}{}", crate::fingerprint::of_pair(pair));
    let fnv = |seed: u64| text.bytes().fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let hex = format!("{:016x}{:016x}", fnv(0xcbf2_9ce4_8422_2325), fnv(0x8422_2325_cbf2_9ce4));
    format!("{}-{}-4{}-8{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
}

/// A double-quoted YAML scalar: JSON's strings are YAML's.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
