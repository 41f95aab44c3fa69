//! Small programs with bugs that the literature knows: `check` finds each with its default settings, on annotated lines only,
//! and says nothing of the kind about the repaired program.

mod common;

use std::path::Path;

use common::Folder;
use common::annotated::{cflags, error_lines, for_each_program, items, racy_lines};
use serde_json::Value;
use testkit::annotations::{Annotations, Lines, Mark};

/// Repaired programs that stay open: a loop around a call that looks and acts, more schedules than there is time for, and the
/// number of the process, which may decide what a program does.
const OPEN: [&str; 3] = ["ring_publish", "safe_stack", "signal_handler_lock"];

/// Kinds of errors and their marks.
const KINDS: [(&str, Mark); 4] =
    [("deadlock", Mark::Deadlock), ("assertion", Mark::Assertion), ("crash", Mark::Crash), ("misuse", Mark::Misuse)];

/// The definitions with which a program is to be tried: `// variants: SEATS 2 3` is `-DSEATS=2` and `-DSEATS=3`.
fn variants(source: &str) -> Vec<String> {
    let Some(line) = source.lines().find_map(|line| line.strip_prefix("// variants: ")) else {
        return vec![String::new()];
    };
    let (name, values) = line.split_once(' ').expect("a name and values");
    values.split_whitespace().map(|value| format!(" -D{name}={value}")).collect()
}

/// `check` with its default settings, or with options: the exit status, what was printed and the document.
fn check(program: &Path, flags: &str, options: &[&str]) -> Result<(i32, String, Value), String> {
    let folder = Folder::empty();
    let name = program.file_name().and_then(|name| name.to_str()).ok_or("a name")?;
    std::fs::copy(program, folder.path().join(name)).map_err(|e| e.to_string())?;
    let flags = format!("--cflags={} {flags}", cflags(program, ""));
    let run = folder.raceproof(&[&["check", name, &flags, "--json-out=result.json"], options].concat());
    let json =
        std::fs::read_to_string(folder.path().join("result.json")).map_err(|e| format!("{e}: {}", run.stderr))?;
    Ok((run.status, run.stdout, serde_json::from_str(&json).map_err(|e| e.to_string())?))
}

/// Whether a finding was reported that is annotated, and none that is not.
fn is_found(document: &Value, annotations: &Annotations) -> Result<(), String> {
    let races = racy_lines(document);
    let racy = &annotations.lines(Mark::Race) | &annotations.lines(Mark::Alarm);
    if !races.is_subset(&racy) {
        return Err(format!("races on lines {races:?}, annotated are {racy:?}"));
    }
    let mut found = races.intersection(&annotations.lines(Mark::Race)).count();
    for (kind, mark) in KINDS {
        let (reported, expected): (Lines, Lines) = (error_lines(document, kind), annotations.lines(mark));
        if !reported.is_subset(&expected) {
            return Err(format!("{kind} on lines {reported:?}, annotated are {expected:?}"));
        }
        found += reported.len();
    }
    if found == 0 { Err("nothing found".into()) } else { Ok(()) }
}

#[test]
fn bugs_are_found() {
    for_each_program("bugs", |program| {
        let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
        for variant in variants(&source) {
            let (status, text, document) = check(program, &variant, &[])?;
            is_found(&document, &Annotations::parse(&source)).map_err(|e| format!("{variant}: {e}\n{text}"))?;
            if status != 1 {
                return Err(format!("{variant}: status {status}\n{text}"));
            }
        }
        Ok(())
    });
}

#[test]
fn repaired_programs_have_no_findings() {
    for_each_program("bugs", |program| {
        let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
        let stem = program.file_stem().and_then(|stem| stem.to_str()).ok_or("a name")?;
        for variant in variants(&source) {
            // More time would not settle what stays open.
            let limit = if OPEN.contains(&stem) { ["--time=15"].as_slice() } else { &[] };
            let (status, text, document) = check(program, &format!("-DRIGHT{variant}"), limit)?;
            let errors = items(&document, "errors");
            if !errors.is_empty() || !racy_lines(&document).is_empty() {
                return Err(format!("{variant}: status {status}\n{text}"));
            }
            if status != if OPEN.contains(&stem) { 3 } else { 0 } {
                return Err(format!("{variant}: status {status}\n{text}"));
            }
        }
        Ok(())
    });
}
