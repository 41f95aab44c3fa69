//! Searches that are killed at any time and go on from their checkpoints: nothing is lost, and nothing is left behind.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::containment::{folders, left_behind, processes, runs_program};
use report::Report;
use testkit::generator::Random;

/// Kills of the usual run; `RACEPROOF_PROGRAMS` asks for more.
const KILLS: u64 = 6;

/// Longest time before a kill, in milliseconds: a little less than the whole search.
const LONGEST: usize = 4_000;

/// Who is killed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Victim {
    Tool,
    Program,
    /// The program of the second process that takes part in the search.
    Helper,
}

fn program() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/faults/search.c")
}

/// Starts the search, where it was left if there is a checkpoint.
fn search(folder: &Path, victim: Victim) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
    command.args(["explore", "--json", "--reduction", "optimal", "--checkpoint", "checkpoint"]).arg(program());
    if victim == Victim::Helper {
        command.args(["-j", "2"]);
    }
    if folder.join("checkpoint").exists() {
        command.args(["--resume", "checkpoint"]);
    }
    command.current_dir(folder).env("TMPDIR", folder).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What a search that came to its end says.
fn result(search: Child) -> Report {
    let output = search.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors, "");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Verdict, executions and events of a complete search.
fn outcome(report: &Report) -> (report::Verdict, u64, u64) {
    let engine = &report.engines[0];
    assert!(engine.is_complete(), "{:?}", report.unknowns);
    (report.verdict, engine.executions, engine.transitions)
}

/// The process of the program under test that was started last, if there is one.
fn program_under_test(folder: &Path) -> Option<i32> {
    let programs = processes(folder).into_iter().filter(|process| runs_program(process));
    programs.filter_map(|process| process.rsplit('/').next()?.parse().ok()).max()
}

#[test]
fn a_killed_search_goes_on() {
    let whole = tempfile::tempdir().unwrap();
    let expected = outcome(&result(search(whole.path(), Victim::Tool)));
    for kill in 0..testkit::programs(KILLS).min(200) {
        let mut random = Random::new(kill + 1);
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let victim = [Victim::Tool, Victim::Program, Victim::Helper][kill as usize % 3];
        let mut killed = search(folder, victim);
        std::thread::sleep(Duration::from_millis(random.below(LONGEST) as u64));
        let report = match program_under_test(folder).filter(|_| victim != Victim::Tool) {
            // The program is started again.
            Some(process) => {
                Command::new("kill").args(["-KILL", &process.to_string()]).status().unwrap();
                result(killed)
            }
            None => {
                killed.kill().unwrap();
                killed.wait().unwrap();
                assert_eq!(left_behind(folder), [""; 0], "kill {kill} of {victim:?}");
                result(search(folder, victim))
            }
        };
        assert_eq!(outcome(&report), expected, "kill {kill} of {victim:?}");
        assert_eq!(left_behind(folder), [""; 0], "kill {kill} of {victim:?}");
        assert_eq!(folders(folder), [""; 0], "kill {kill} of {victim:?}");
    }
}
