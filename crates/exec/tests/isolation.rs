//! Every run begins in the same world, whatever earlier runs left behind and however runs are kept apart.
//!
//! The programs of `tests/isolation` detect leftovers by assertion, one kind of state each.

mod support;

use std::path::{Path, PathBuf};

use exec::{Config, Isolation, Target};
use model::{End, Executor, Schedule, Segment, ThreadId};
use support::{Built, build_at};

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/isolation")
}

/// Runs one kind under schedules that begin with either thread; what went wrong.
fn leftovers(program: &Built, kind: &str, folder: &Path) -> Vec<String> {
    let launch = |isolation| {
        let (args, directory) = (vec![kind.into()], Some(folder.to_owned()));
        program.target(Config { isolation, args, directory, ..Config::default() })
    };
    let mut wrong = Vec::new();
    let other = Schedule { segments: vec![Segment { thread: ThreadId(0), until: 3 }], ..Schedule::new() };
    let schedules = [Schedule::new(), other.clone(), Schedule::new(), other];
    let alone = schedules.each_ref().map(|schedule| launch(Isolation::Auto).run_alone(schedule));
    for isolation in [Isolation::Restore, Isolation::Fork] {
        let mut target: Target = launch(isolation);
        for (number, (schedule, expected)) in schedules.iter().zip(&alone).enumerate() {
            match target.run(schedule) {
                Ok(trace) if trace.end != (End::Exit { code: 0 }) => {
                    wrong.push(format!("{kind}: {isolation:?}, run {number}: {:?}", trace.end));
                }
                Ok(trace) if expected.as_ref().is_ok_and(|expected| trace != *expected) => {
                    wrong.push(format!("{kind}: {isolation:?}, run {number} differs from that of a new process"));
                }
                Ok(_) => continue,
                Err(error) => wrong.push(format!("{kind}: {isolation:?}, run {number}: {error}")),
            }
            break;
        }
    }
    wrong
}

#[test]
fn nothing_outlives_a_run() {
    let mut wrong = Vec::new();
    let mut kinds = 0;
    for name in ["files.c", "process.c"] {
        let program = build_at(&sources().join(name));
        let list = program.target(Config::default());
        let mut list = list;
        list.run(&Schedule::new()).expect("it lists its kinds");
        let names = String::from_utf8(list.output().expect("its output").stdout).expect("names");
        for kind in names.lines() {
            kinds += 1;
            let folder = tempfile::tempdir().expect("a folder to run in");
            wrong.extend(leftovers(&program, kind, folder.path()));
        }
    }
    assert!(kinds >= 100, "{kinds} kinds");
    assert!(wrong.is_empty(), "{} of {kinds} kinds:\n{}", wrong.len(), wrong.join("\n"));
}
