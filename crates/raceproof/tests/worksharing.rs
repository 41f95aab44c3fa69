//! Generated kernels with OpenMP: what the rules for regions prove, and what the search leaves out because of them, held
//! against the search that knows nothing of regions, with two and with three threads.

mod common;

use std::collections::BTreeSet;

use common::annotated::{Bench, for_each, items};
use serde_json::Value;

/// How many kernels `make test` looks at.
const KERNELS: u64 = 16;

/// Executions of the search that is the truth; a kernel that needs more says nothing.
const EXECUTIONS: &str = "--max-executions=4000";

type Lines = BTreeSet<(u64, u64)>;

/// The pairs of lines with a verdict, the smaller line first.
fn lines(document: &Value, verdict: &str) -> Lines {
    let pairs = items(document, "pairs").iter().filter(|pair| pair["verdict"] == verdict);
    let of = |pair: &Value| {
        let at = |index: usize| pair["accesses"][index]["line"].as_u64().unwrap_or_default();
        (at(0).min(at(1)), at(0).max(at(1)))
    };
    pairs.map(of).collect()
}

fn is_complete(document: &Value) -> bool {
    document["engines"][0]["coverage"] == "complete"
}

/// Whether the truth of a kernel was found; an error if an answer contradicts it.
fn examine(seed: &u64) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let source = folder.path().join("kernel.c");
    let text = testkit::worksharing::kernel(*seed);
    std::fs::write(&source, &text).map_err(|e| e.to_string())?;
    let bench = Bench::new(&source);
    let (_, proved) = bench.run("static", &["--cflags=-fopenmp", "--all-pairs"])?;
    let absent = lines(&proved, "absent");
    for threads in ["--threads=2", "--threads=3"] {
        let flags = ["--cflags=-fopenmp", "--all-pairs", threads, EXECUTIONS];
        let (_, truth) = bench.run("explore", &[&flags[..], &["--reduction=optimal"]].concat())?;
        let raced = lines(&truth, "race");
        if let Some(pair) = raced.intersection(&absent).next() {
            return Err(format!("{threads}: lines {pair:?} race and are proved absent\n{text}"));
        }
        if !is_complete(&truth) {
            continue;
        }
        let (_, found) = bench.run("explore", &flags)?;
        if !is_complete(&found) || lines(&found, "race") != raced {
            let found = lines(&found, "race");
            return Err(format!("{threads}: races on {found:?}, without knowing regions on {raced:?}\n{text}"));
        }
    }
    Ok(())
}

#[test]
fn what_regions_keep_apart_does_not_race() {
    let seeds: Vec<u64> = testkit::numbers(KERNELS).collect();
    for_each(&seeds, |seed| format!("kernel {seed}"), examine);
}
