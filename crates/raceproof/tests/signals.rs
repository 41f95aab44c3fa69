//! Signals that threads of the program send themselves and each other, and their handlers.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::Folder;
use serde_json::Value;

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/signals").join(name)
}

#[test]
fn handlers_run_as_they_do_natively() {
    let (folder, source) = (Folder::empty(), source("handlers.c"));
    let mut clang = Command::new("clang-19");
    let compiled = clang.args(["-pthread", "-o", "handlers"]).arg(&source).current_dir(folder.path()).status();
    assert!(compiled.unwrap().success());
    let native = Command::new(folder.path().join("handlers")).output().unwrap();
    assert_eq!(native.status.code(), None, "it ends by a signal");
    let run = folder.raceproof(&["explore", source.to_str().unwrap(), "--show-output"]);
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    assert_eq!(String::from_utf8(native.stdout).unwrap(), run.stderr);
    assert!(run.stdout.contains("A16"), "{}", run.stdout);
}

#[test]
fn a_handler_races_as_other_code_does() {
    let (folder, source) = (Folder::empty(), source("racy.c"));
    for (flag, status) in [("--cflags=-DLOCKED", 0), ("--cflags=-ULOCKED", 1)] {
        for command in ["explore", "check"] {
            let run = folder.raceproof(&[command, source.to_str().unwrap(), flag]);
            assert_eq!(run.status, status, "{command} {flag}: {}{}", run.stdout, run.stderr);
        }
    }
}

#[test]
fn a_handler_that_is_left_by_a_jump_is_named() {
    let (folder, source) = (Folder::empty(), source("jump.c"));
    let run = folder.raceproof(&["explore", source.to_str().unwrap()]);
    let says_so = run.stdout.contains("leaves the handler of a signal by a jump");
    assert!(run.status == 3 && says_so && !run.stdout.contains("error["), "{}{}", run.stdout, run.stderr);
}

/// What the engines say of a program of `tests/signals`: the exit status, and the lines of findings with their kinds.
fn findings(name: &str, arguments: &[&str]) -> (i32, Vec<(String, u64)>, String) {
    let (folder, source) = (Folder::empty(), source(name));
    let (command, flags) = arguments.split_first().unwrap();
    let run = folder.raceproof(&[&[command, source.to_str().unwrap(), "--json"], flags].concat());
    let document: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}{}", run.stdout, run.stderr));
    let errors = document["errors"].as_array().unwrap().iter();
    let mut found: Vec<(String, u64)> =
        errors.map(|error| (error["kind"].as_str().unwrap().to_owned(), error["line"].as_u64().unwrap())).collect();
    for pair in document["pairs"].as_array().unwrap().iter().filter(|pair| pair["verdict"] == "race") {
        let lines = pair["accesses"].as_array().unwrap().iter().map(|access| access["line"].as_u64().unwrap());
        found.extend(lines.map(|line| ("race".to_owned(), line)));
    }
    found.sort();
    found.dedup();
    (run.status, found, document.to_string())
}

/// The lines of a program that end with a mark.
fn marked(name: &str, mark: &str) -> Vec<u64> {
    let text = std::fs::read_to_string(source(name)).unwrap();
    (1..).zip(text.lines()).filter(|(_, line)| line.ends_with(mark)).map(|(number, _)| number).collect()
}

/// A program with its flags that is wrong in its marked lines, and its flags that make it right.
struct Twins {
    name: &'static str,
    wrong: &'static str,
    right: &'static [&'static str],
    mark: &'static str,
    kind: &'static str,
}

const INTERRUPTING: [Twins; 7] = [
    Twins { name: "interrupt.c", wrong: "-DRACY", right: &["-URACY"], mark: "// RACE!", kind: "race" },
    Twins { name: "process.c", wrong: "-DRACY", right: &["-URACY"], mark: "// RACE!", kind: "race" },
    Twins { name: "update.c", wrong: "-URIGHT", right: &["-DRIGHT", "-DBLOCKED"], mark: "// SIGNAL", kind: "signal" },
    Twins {
        name: "unsafe_call.c",
        wrong: "-URIGHT",
        right: &["-DRIGHT", "-DCOMPUTES"],
        mark: "// SIGNAL",
        kind: "signal",
    },
    Twins { name: "late.c", wrong: "-URIGHT", right: &["-DRIGHT"], mark: "// ASSERT", kind: "assertion" },
    Twins { name: "locked.c", wrong: "-URIGHT", right: &["-DRIGHT"], mark: "// DEADLOCK", kind: "deadlock" },
    Twins { name: "sleep.c", wrong: "-URIGHT", right: &["-DRIGHT"], mark: "// ASSERT", kind: "assertion" },
];

/// The reductions find the same, and so does `check`.
#[test]
fn handlers_interrupt_other_threads() {
    let ways: [&[&str]; 4] =
        [&["explore"], &["explore", "--reduction", "optimal"], &["explore", "--reduction", "none"], &["check"]];
    for twins in &INTERRUPTING {
        for way in ways {
            for right in twins.right {
                let flag = format!("--cflags={right}");
                let (status, found, document) = findings(twins.name, &[way, &[flag.as_str()]].concat());
                assert!(
                    found.is_empty() && (status == 0 || way == ["check"]),
                    "{way:?} {} {right}: {document}",
                    twins.name
                );
            }
            if twins.name == "process.c" && way.contains(&"none") {
                // Its interleavings after the race take long.
                continue;
            }
            let flag = format!("--cflags={}", twins.wrong);
            let (status, found, document) = findings(twins.name, &[way, &[flag.as_str()]].concat());
            let wanted: Vec<(String, u64)> =
                marked(twins.name, twins.mark).into_iter().map(|line| (twins.kind.to_owned(), line)).collect();
            assert!(status == 1 && found == wanted, "{way:?} {}: {found:?}, not {wanted:?}: {document}", twins.name);
        }
    }
}

#[test]
fn a_race_of_a_handler_replays() {
    let (folder, source) = (Folder::empty(), source("update.c"));
    let run = folder.raceproof(&["explore", source.to_str().unwrap(), "--witness-dir", "w"]);
    assert!(run.status == 1 && run.stdout.contains("error[RP0009]"), "{}{}", run.stdout, run.stderr);
    let witness = std::fs::read_dir(folder.path().join("w")).unwrap().next().unwrap().unwrap().path();
    let replayed = folder.raceproof(&["replay", witness.to_str().unwrap()]);
    assert!(replayed.stdout.contains("RP0009"), "{}{}", replayed.stdout, replayed.stderr);
}

#[test]
fn waits_are_interrupted_as_they_are_natively() {
    let (folder, source) = (Folder::empty(), source("waits.c"));
    let mut clang = Command::new("clang-19");
    let compiled = clang.args(["-pthread", "-w", "-o", "waits"]).arg(&source).current_dir(folder.path()).status();
    assert!(compiled.unwrap().success());
    let native = Command::new(folder.path().join("waits")).output().unwrap();
    let run = folder.raceproof(&["explore", source.to_str().unwrap(), "--max-executions", "1", "--show-output"]);
    assert_eq!(String::from_utf8(native.stdout).unwrap(), run.stderr, "{}", run.stdout);
}
