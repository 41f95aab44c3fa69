//! Signals that the program sends itself, and their handlers.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::Folder;

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
