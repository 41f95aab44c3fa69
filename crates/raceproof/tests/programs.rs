//! The annotated C and C++ programs under `tests/`: twins, failures, misuse. `explore` is right on all of them, and
//! everything it confirms replays from its witness file in a fresh process.

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use testkit::annotations::{Annotations, Lines, Mark};

use common::Run;

fn programs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("folder of programs")
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c" || e == "cpp"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no programs in {}", folder.display());
    files
}

/// Calls `test` for every program, two at a time, and fails with all complaints at once.
fn for_each_program(folder: &str, test: impl Fn(&Path) -> Result<(), String> + Sync) {
    let files = programs(folder);
    let (next, complaints) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(complaint) = test(file) {
                        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                        complaints.lock().expect("no panic").push(format!("{name}: {complaint}"));
                    }
                }
            });
        }
    });
    let mut complaints = complaints.into_inner().expect("no panic");
    complaints.sort();
    assert!(complaints.is_empty(), "{} of {}:\n{}", complaints.len(), files.len(), complaints.join("\n"));
}

/// A folder for one program's runs.
struct Bench {
    folder: tempfile::TempDir,
    source: PathBuf,
}

impl Bench {
    fn new(program: &Path) -> Self {
        let folder = tempfile::tempdir().expect("temporary folder");
        let source = folder.path().join(program.file_name().expect("name"));
        std::fs::copy(program, &source).expect("copy");
        Self { folder, source }
    }

    fn raceproof(&self, args: &[&str]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raceproof"));
        command.args(args).current_dir(self.folder.path()).stdin(Stdio::null()).env_remove("CLICOLOR_FORCE");
        Run::of(command.output().expect("raceproof runs"))
    }

    /// `explore --json`; gives the exit status and the document.
    fn explore(&self, args: &[&str]) -> Result<(i32, Value), String> {
        let name = self.source.file_name().and_then(|n| n.to_str()).expect("name");
        let run = self.raceproof(&[&["explore", name, "--json", "--time", "120"], args].concat());
        let document = serde_json::from_str(&run.stdout)
            .map_err(|e| format!("no document ({e}), status {}: {}", run.status, run.stderr))?;
        Ok((run.status, document))
    }

    /// Replays every witness the document names; each must reproduce.
    fn replay_all(&self, document: &Value) -> Result<usize, String> {
        let pairs = items(document, "pairs").iter().filter(|p| p["verdict"] == "race");
        let found = pairs.chain(items(document, "errors")).chain(items(document, "unknowns"));
        let witnesses: Vec<&str> = found.filter_map(|found| found["witness"].as_str()).collect();
        for witness in &witnesses {
            let run = self.raceproof(&["replay", witness]);
            if run.status != 1 {
                return Err(format!("replay of {witness}: status {}\n{}{}", run.status, run.stdout, run.stderr));
            }
        }
        Ok(witnesses.len())
    }
}

fn items<'a>(document: &'a Value, field: &str) -> &'a [Value] {
    document[field].as_array().map_or(&[], Vec::as_slice)
}

fn racy_lines(document: &Value) -> Lines {
    let races = items(document, "pairs").iter().filter(|p| p["verdict"] == "race");
    races.flat_map(|p| items(p, "accesses")).filter_map(|a| a["line"].as_u64()).map(|line| line as u32).collect()
}

fn complete(document: &Value) -> Result<(), String> {
    match document["engines"][0]["coverage"].as_str() {
        Some("complete") => Ok(()),
        _ => Err(format!("coverage {}", document["engines"][0])),
    }
}

#[test]
fn twins() {
    for_each_program("twins", |program| {
        let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
        let expected = Annotations::parse(&source).lines(Mark::Race);
        let bench = Bench::new(program);

        let (status, document) = bench.explore(&[])?;
        complete(&document)?;
        if (status, document["verdict"].as_str()) != (0, Some("safe")) {
            return Err(format!("the race-free twin: status {status}, verdict {}", document["verdict"]));
        }

        let (status, document) = bench.explore(&["--cflags=-DRACY"])?;
        complete(&document)?;
        if (status, document["verdict"].as_str()) != (1, Some("race")) {
            return Err(format!("the racy twin: status {status}, verdict {}", document["verdict"]));
        }
        let reported = racy_lines(&document);
        if reported != expected {
            return Err(format!("races on lines {reported:?}, annotated are {expected:?}"));
        }
        if !items(&document, "pairs").iter().all(|p| p["verdict"] != "race" || p["confirmed"] == true) {
            return Err("a race is not confirmed".into());
        }
        match bench.replay_all(&document)? {
            0 => Err("no witness".into()),
            _ => Ok(()),
        }
    });
}

/// The lines of the errors of one kind.
fn error_lines(document: &Value, kind: &str) -> Lines {
    let errors = items(document, "errors").iter().filter(|e| e["kind"] == kind);
    errors.filter_map(|e| e["line"].as_u64()).map(|line| line as u32).collect()
}

#[test]
fn failures_are_reported_and_the_search_goes_on() {
    for_each_program("failures", |program| {
        let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
        let annotations = Annotations::parse(&source);
        let bench = Bench::new(program);
        let (status, document) = bench.explore(&["--max-steps", "400", "--run-time", "1"])?;

        let lines = |mark| annotations.lines(mark);
        for (kind, mark) in [("assertion", Mark::Assertion), ("crash", Mark::Crash)] {
            if error_lines(&document, kind) != lines(mark) {
                return Err(format!("{kind}: annotated are {:?}: {}", lines(mark), document["errors"]));
            }
        }
        let (reported, blocked) = (error_lines(&document, "deadlock"), lines(Mark::Deadlock));
        if reported.is_empty() != blocked.is_empty() || !reported.is_subset(&blocked) {
            return Err(format!("deadlock: annotated are {blocked:?}: {}", document["errors"]));
        }
        let endless: Vec<&Value> = items(&document, "unknowns").iter().filter(|u| u["witness"].is_string()).collect();
        let endless_lines: Lines = endless.iter().filter_map(|u| u["line"].as_u64()).map(|line| line as u32).collect();
        if endless_lines != lines(Mark::Spin) {
            return Err(format!("endless: annotated are {:?}: {}", lines(Mark::Spin), document["unknowns"]));
        }

        if document["engines"][0]["executions"].as_u64() <= Some(1) {
            return Err("the search stopped at the first failure".into());
        }
        let expected = match (items(&document, "errors"), &endless[..]) {
            ([], []) => 0,
            ([], _) => 3,
            _ => 1,
        };
        if status != expected {
            return Err(format!("status {status}, verdict {}", document["verdict"]));
        }
        let witnesses = bench.replay_all(&document)?;
        if witnesses < items(&document, "errors").len() + endless.len() {
            return Err(format!("{witnesses} witnesses for {}", document["errors"]));
        }
        Ok(())
    });
}

#[test]
fn misuse_is_reported_with_its_place() {
    for_each_program("misuse", |program| {
        let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
        let bench = Bench::new(program);
        let (status, document) = bench.explore(&[])?;
        let expected = Annotations::parse(&source).lines(Mark::Misuse);
        let reported = error_lines(&document, "misuse");
        if reported != expected {
            return Err(format!("misuse on lines {reported:?}, annotated are {expected:?}: {}", document["errors"]));
        }
        for line in expected {
            let text = source.lines().nth(line as usize - 1).unwrap_or_default();
            let words = text.split_once("MISUSE ").map_or("", |(_, words)| words);
            let said = |e: &Value| e["line"] == line && e["message"].as_str().is_some_and(|m| m.contains(words));
            if !items(&document, "errors").iter().any(said) {
                return Err(format!("line {line} should say `{words}`: {}", document["errors"]));
            }
        }
        if status != 1 {
            return Err(format!("status {status}"));
        }
        bench.replay_all(&document).map(drop)
    });
}

/// Safe without wake-ups that have no cause, racy with them.
#[test]
fn spurious_wakeups_are_an_option() {
    for_each_program("spurious", |program| {
        let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
        let expected = Annotations::parse(&source).lines(Mark::Race);
        let bench = Bench::new(program);
        let (status, document) = bench.explore(&[])?;
        if (status, document["verdict"].as_str()) != (0, Some("safe")) {
            return Err(format!("without: status {status}, verdict {}", document["verdict"]));
        }
        let (status, document) = bench.explore(&["--spurious"])?;
        let reported = racy_lines(&document);
        if status != 1 || reported != expected {
            return Err(format!("with: status {status}, races on {reported:?}, annotated are {expected:?}"));
        }
        bench.replay_all(&document).map(drop)
    });
}
