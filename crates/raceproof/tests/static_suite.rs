//! The static engine on the annotated programs under `tests/static`: it misses no race, and warns seldom where there is
//! none. Programs that it still warns about without a cause are printed, as `fixme_` and the file's name.
#![allow(clippy::print_stderr, reason = "prints its figures")]

mod common;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use serde_json::Value;
use testkit::annotations::{Annotations, Lines, Mark, twin};

use common::Run;
use common::annotated::{for_each_program, items};

/// Of the race-free lines, at least this share is without a warning.
const PRECISION: f64 = 0.80;

/// The options a program names in a comment `// raceproof static …`.
fn options(source: &str) -> Vec<String> {
    let named = source.lines().find_map(|line| line.strip_prefix("// raceproof static "));
    named.map(|options| options.split_whitespace().map(str::to_owned).collect()).unwrap_or_default()
}

/// `static --json` in the program's folder, with the options that the program names.
fn run(program: &Path, source: &str, racy: bool) -> Result<Value, String> {
    let (folder, name) = (program.parent().ok_or("no folder")?, program.file_name().ok_or("no name")?);
    let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
    command.arg("static").arg(name).arg("--json").args(racy.then_some("--cflags=-DRACY"));
    command.args(options(source)).current_dir(folder).stdin(Stdio::null());
    let run = Run::of(command.output().map_err(|e| e.to_string())?);
    serde_json::from_str(&run.stdout).map_err(|e| format!("no document ({e}), status {}: {}", run.status, run.stderr))
}

/// What the engine says of one twin: race-free lines, and those of them that it warns about. A missed race is an error.
fn judge(program: &Path, source: &str, racy: bool) -> Result<(Lines, Lines), String> {
    let document = run(program, source, racy)?;
    let warned: Lines = items(&document, "pairs")
        .iter()
        .filter(|pair| pair["verdict"] != "absent")
        .flat_map(|pair| items(pair, "accesses"))
        .filter_map(|access| access["line"].as_u64())
        .map(|line| line as u32)
        .collect();
    let annotations = Annotations::parse(&twin(source, racy));
    let (races, mut free) = (annotations.lines(Mark::Race), annotations.lines(Mark::NoRace));
    if racy {
        let missed = &races - &warned;
        if !missed.is_empty() {
            return Err(format!("races on lines {missed:?} are missed"));
        }
    } else {
        free.extend(races);
    }
    let wrong = &free & &warned;
    Ok((free, wrong))
}

#[test]
fn no_race_is_missed_and_warnings_are_few() {
    let (counts, warned) = (Mutex::new((0, 0)), Mutex::new(BTreeSet::new()));
    for folder in ["static", "static/drivers", "static/missing"] {
        for_each_program(folder, |program| {
            let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
            let name = program.file_stem().and_then(|n| n.to_str()).ok_or("no name")?;
            for racy in [false, true] {
                let (free, wrong) = judge(program, &source, racy)?;
                let mut counts = counts.lock().map_err(|e| e.to_string())?;
                counts.0 += free.len();
                counts.1 += wrong.len();
                if !wrong.is_empty() {
                    warned.lock().map_err(|e| e.to_string())?.insert(format!("fixme_{name}"));
                }
            }
            Ok(())
        });
    }
    let (free, wrong) = counts.into_inner().expect("no panic");
    let precision = (free - wrong) as f64 / free as f64;
    eprintln!("{} of {free} race-free lines without a warning: {:.1} %", free - wrong, 100.0 * precision);

    let warned = warned.into_inner().expect("no panic");
    warned.iter().for_each(|name| eprintln!("{name}"));
    assert!(precision >= PRECISION, "{precision}");
}
