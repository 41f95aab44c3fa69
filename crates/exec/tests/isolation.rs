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
        program.target(Config { isolation, args, directory, verify_isolation: true, ..Config::default() })
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

/// Two threads call functions that change the process, chosen at random: a run after others is the same, in its trace and its
/// output, as the only run of a process.
#[test]
fn random_calls_leave_nothing_behind() {
    let program = build_at(&sources().join("random.c"));
    let folder = tempfile::tempdir().expect("a folder to run in");
    for seed in 0..testkit::effort::programs(60) {
        let launch = |isolation| {
            let (args, directory) = (vec![seed.to_string().into()], Some(folder.path().to_owned()));
            program.target(Config { isolation, args, directory, verify_isolation: true, ..Config::default() })
        };
        let switch =
            |at| Schedule { segments: vec![Segment { thread: ThreadId(0), until: 3 + at }], ..Schedule::new() };
        let schedules = [Schedule::new(), switch(0), switch(seed as u32 % 3), Schedule::new()];
        let (mut restored, mut alone) = (launch(Isolation::Restore), launch(Isolation::Fresh));
        for (number, schedule) in schedules.iter().enumerate() {
            let [after_others, first] = [&mut restored, &mut alone].map(|target| {
                let trace = target.run(schedule).unwrap_or_else(|error| panic!("seed {seed}, run {number}: {error}"));
                (trace, String::from_utf8_lossy(&target.output().expect("its output").stdout).into_owned())
            });
            assert_eq!(after_others.1, first.1, "seed {seed}, run {number}: the output");
            assert_eq!(after_others.0, first.0, "seed {seed}, run {number}: the trace");
        }
    }
}

#[test]
fn nothing_outlives_a_run() {
    let mut wrong = Vec::new();
    let mut kinds = 0;
    for name in ["files.c", "process.c"] {
        let program = build_at(&sources().join(name));
        let mut list = program.target(Config::default());
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
