//! What grows with the number of chunks and tasks of OpenMP, and what must not be lost by that: failures that depend on who
//! gets a chunk, and on cancellation.

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use common::annotated::{Bench, for_each_program, items, racy_lines};
use serde_json::Value;
use testkit::annotations::{Annotations, Mark};

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Executions of a complete search that finds nothing.
fn executions(program: &Path, define: &str) -> u64 {
    let flags = format!("--cflags=-fopenmp {define}");
    let (status, document) = Bench::new(program).explore(&[&flags, "--threads=2"]).expect("an answer");
    assert_eq!(status, 0, "{define}: {document}");
    document["engines"][0]["executions"].as_u64().expect("a number")
}

/// Bodies of a loop that is handed out: an element, an element of a block that is as long as the program says, an element of
/// another loop, a private sum.
const BODIES: [&str; 4] = [
    "static int a[K];\nint main(void) {\n#pragma omp parallel for schedule(dynamic)\n\
     for (int i = 0; i < K; i++)\na[i] = i;\nreturn 0;\n}\n",
    "#include <stdlib.h>\nint main(void) {\nint n = K, s = 0;\nint *a = malloc(n * sizeof *a);\n\
     #pragma omp parallel for schedule(guided)\nfor (int i = 0; i < n; i++)\na[i] = i;\n\
     for (int i = 0; i < n; i++)\ns += a[i];\nfree(a);\nreturn s < 0;\n}\n",
    "static int a[K], b[K];\nint main(void) {\n#pragma omp parallel\n{\n#pragma omp for schedule(dynamic)\n\
     for (int i = 0; i < K; i++)\na[i] = i;\n#pragma omp for schedule(dynamic)\nfor (int i = 0; i < K; i++)\n\
     b[i] = a[K - 1 - i];\n}\nreturn 0;\n}\n",
    "static int a[K];\nint main(void) {\nint s = 0;\n#pragma omp parallel for schedule(dynamic) reduction(+ : s)\n\
     for (int i = 0; i < K; i++)\ns += a[i];\nreturn s;\n}\n",
];

#[test]
fn chunks_do_not_multiply_executions() {
    let folder = tempfile::tempdir().expect("temporary folder");
    for body in BODIES {
        let program = folder.path().join("chunks.c");
        std::fs::write(&program, body).expect("a file");
        let counts = ["-DK=4", "-DK=32"].map(|define| executions(&program, define));
        assert_eq!(counts[0], counts[1], "{body}");
    }
}

/// Tasks that nothing orders, and tasks that `depend` does.
#[test]
fn tasks_do_not_multiply_executions() {
    let folder = tempfile::tempdir().expect("temporary folder");
    for (depend, most) in [("", 1000), ("depend(inout : a[0])", 300)] {
        let program = folder.path().join("tasks.c");
        let element = if depend.is_empty() { "i" } else { "0" };
        let text = format!(
            "static int a[N];\nint main(void) {{\n#pragma omp parallel\n#pragma omp single\n\
             for (int i = 0; i < N; i++) {{\n#pragma omp task {depend}\na[{element}] = i;\n}}\nreturn 0;\n}}\n"
        );
        std::fs::write(&program, text).expect("a file");
        let counts = [4, 8, most].map(|n| executions(&program, &format!("-DN={n}")));
        assert!(counts.iter().all(|count| *count == counts[0]), "{depend}: {counts:?}");
    }
}

/// The kinds and lines of errors, and the lines of races.
fn found(document: &Value) -> (BTreeSet<(String, u64)>, BTreeSet<u32>) {
    let error = |error: &Value| (error["kind"].to_string(), error["line"].as_u64().unwrap_or_default());
    (items(document, "errors").iter().map(error).collect(), racy_lines(document).into_iter().collect())
}

/// What depends on who gets a chunk is found, as it is without leaving schedules out.
#[test]
fn who_gets_a_chunk_matters() {
    for_each_program("openmp_chunks", |program| {
        let bench = Bench::new(program);
        let explore = |reduction: &str| bench.explore(&["--cflags=-fopenmp", &format!("--reduction={reduction}")]);
        let ((status, best), (_, all)) = (explore("best")?, explore("optimal")?);
        if status != 1 || found(&best) != found(&all) {
            return Err(format!("status {status}: {:?}, without pruning {:?}", found(&best), found(&all)));
        }
        bench.replay_all(&best).map(drop)
    });
}

/// With cancellation on, the racy twins race on the annotated lines and the others do not.
#[test]
fn constructs_are_cancelled() {
    for_each_program("openmp_cancel", |program| {
        let source = std::fs::read_to_string(program).map_err(|e| e.to_string())?;
        let marked = Annotations::parse(&source).lines(Mark::Race);
        let bench = Bench::new(program).with("OMP_CANCELLATION", "true");
        let (status, document) = bench.explore(&["--cflags=-fopenmp"])?;
        if status != 0 {
            return Err(format!("race-free: status {status}, {document}"));
        }
        let (status, document) = bench.explore(&["--cflags=-fopenmp -DRACY"])?;
        let raced = racy_lines(&document);
        if status != 1 || raced != marked {
            return Err(format!("racy: status {status}, lines {raced:?}, annotated are {marked:?}"));
        }
        bench.replay_all(&document).map(drop)
    });
}

/// The program of the benchmarks.
#[test]
fn chunks_of_the_benchmark_take_one_execution() {
    let program = project("bench/programs/openmp/chunks.c");
    assert_eq!(["-DK=4", "-DK=8", "-DK=16", "-DK=32"].map(|define| executions(&program, define)), [1; 4]);
}
