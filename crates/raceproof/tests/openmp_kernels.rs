//! Kernels with OpenMP under `tests/openmp_kernels`, each race-free and, with `-DRACY`, racy: what `check` says within ten
//! seconds. `make test` looks at a sample, `make soak` at all of them.

mod common;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::annotated::{Bench, for_each, programs, racy_lines};
use serde_json::Value;
use testkit::annotations::{Annotations, Mark};

/// Most kernels without an answer, of all.
const UNANSWERED: usize = 5;

/// How many of the race-free kernels share a loop out without tasks, leagues or atomics, at least: of these half are proved
/// for any input and any number of threads.
const PROVED: usize = 40;

/// What `check` says: its exit status and the document.
fn check(bench: &Bench, program: &Path, flags: &[&str]) -> Result<(i32, Value), String> {
    let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let run = bench.raceproof(&[&["check", name, "--json", "--time=10", "--cflags=-fopenmp"], flags].concat());
    let document = serde_json::from_str(&run.stdout).map_err(|e| format!("no document ({e}): {}", run.stderr))?;
    Ok((run.status, document))
}

/// Kernels whose racy twins are close to what the rules for regions prove: each breaks one condition of them.
const CLOSE: [&str; 11] = [
    "after_the_loop",
    "barrier_phases",
    "collapse_two",
    "columns",
    "halves",
    "heap_rows",
    "jacobi",
    "masked_filter",
    "pointer_moved",
    "rounds_of_chunks",
    "single_first",
];

/// The static engine proves the race-free twins for any input and any number of threads, and no racy one.
#[test]
fn rules_for_regions() {
    let all = programs("openmp_kernels");
    let is_close = |program: &&std::path::PathBuf| {
        program.file_stem().and_then(|name| name.to_str()).is_some_and(|name| CLOSE.contains(&name))
    };
    let close: Vec<_> = all.iter().filter(is_close).cloned().collect();
    assert_eq!(close.len(), CLOSE.len());
    let name = |file: &std::path::PathBuf| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    for_each(&close, name, |program: &std::path::PathBuf| {
        let bench = Bench::new(program);
        let file = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let status = |flag: &str| bench.raceproof(&["static", file, "--cflags=-fopenmp", flag]).status;
        match (status("--cflags=-DRIGHT"), status("--cflags=-DRACY")) {
            (0, 3) => Ok(()),
            statuses => Err(format!("race-free and racy: {statuses:?}")),
        }
    });
}

/// A race that needs three threads is found, its witness keeps their number, and what is absent says for which numbers.
#[test]
fn the_number_of_threads_is_said() {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/openmp_kernels/three_threads.c");
    let bench = Bench::new(&program);
    let (status, document) = check(&bench, &program, &["--cflags=-DRACY"]).expect("an answer");
    assert_eq!(status, 1, "{document}");
    assert!(bench.replay_all(&document).expect("witnesses replay") > 0);
    let engines = ["--engines=explore", "--cflags=-DRACY"];
    let (status, document) = check(&bench, &program, &[&engines[..], &["--threads=2"]].concat()).expect("an answer");
    assert_eq!((status, &document["scope"]["team_sizes"]), (0, &serde_json::json!([2])), "{document}");
    let (status, document) = check(&bench, &program, &["--engines=explore", "--threads=2,4"]).expect("an answer");
    assert_eq!((status, &document["scope"]["team_sizes"]), (0, &serde_json::json!([2, 4])), "{document}");
}

#[test]
fn kernels_are_answered() {
    let all = programs("openmp_kernels");
    let tried = (testkit::effort::programs(6) as usize).min(all.len());
    let sample: Vec<_> = (0..tried).map(|i| all[i * all.len() / tried].clone()).collect();
    let (open, proved) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let name = |file: &std::path::PathBuf| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    for_each(&sample, name, |program: &std::path::PathBuf| is_answered(program, &open, &proved));
    let (open, proved) = (open.into_inner(), proved.into_inner());
    assert!(open <= UNANSWERED, "{open} kernels without an answer");
    if tried == all.len() {
        assert!(proved >= PROVED, "{proved} kernels are proved for any input and any number of threads");
    }
}

fn is_answered(program: &Path, open: &AtomicUsize, proved: &AtomicUsize) -> Result<(), String> {
    let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
    let marked = Annotations::parse(&source).lines(Mark::Race);
    let bench = Bench::new(program);
    match check(&bench, program, &[])? {
        (0, document) => {
            let scope = &document["scope"];
            if scope["inputs"] == "all" && scope["threads"] == "any" {
                proved.fetch_add(1, Ordering::Relaxed);
            }
        }
        (3, _) => drop(open.fetch_add(1, Ordering::Relaxed)),
        (status, document) => return Err(format!("race-free: status {status}, {}", document["pairs"])),
    }
    match check(&bench, program, &["--cflags=-DRACY"])? {
        (1, document) => {
            let raced = racy_lines(&document);
            if raced.is_empty() || !raced.iter().all(|line| marked.contains(line)) {
                return Err(format!("races on lines {raced:?}, annotated are {marked:?}"));
            }
            bench.replay_all(&document).map(drop)
        }
        (3, _) => {
            open.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
        (status, _) => Err(format!("racy: status {status}")),
    }
}
