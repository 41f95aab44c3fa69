//! `raceproof doctor` says what works here, and what to do where something is missing.

mod common;

use std::process::Command;

use common::{Folder, Run};

#[test]
fn what_tests_need_works() {
    let folder = Folder::new();
    let run = folder.raceproof(&["doctor"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    for part in ["C programs", "C++ programs", "runs", "debugger", "processors", "memory", "cache"] {
        assert!(run.stdout.lines().any(|line| line.starts_with(part)), "{part}: {}", run.stdout);
    }
    assert!(run.stdout.ends_with("programs can be checked here\n"), "{}", run.stdout);
}

#[test]
fn a_missing_compiler_is_named_with_its_package() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
    let run = Run::of(command.arg("doctor").env("PATH", "").output().unwrap());
    assert_eq!(run.status, 2, "{}", run.stdout);
    assert!(run.stdout.contains("missing") && run.stdout.contains("apt install clang-19"), "{}", run.stdout);
    assert!(run.stdout.contains("apt install gdb"), "{}", run.stdout);
}
