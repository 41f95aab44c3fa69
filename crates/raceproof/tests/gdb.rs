//! A witness under a debugger.

mod common;

use common::Folder;

#[test]
fn gdb_stops_before_the_second_access() {
    let folder = Folder::new();
    assert_eq!(folder.raceproof(&["explore", "same_line.c"]).status, 1);
    let witness = "raceproof-witnesses/same_line-P1.rpw";
    let batch = ["replay", witness, "--gdb", "--", "-batch", "-ex", "echo state:", "-ex", "backtrace"];
    let run = folder.raceproof(&batch);
    assert!(run.stdout.contains("pay"), "stdout:\n{}\nstderr:\n{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("same_line.c:11"), "stdout:\n{}\nstderr:\n{}", run.stdout, run.stderr);
}
