//! The whole line on generated programs: its races are exactly those of brute force, whichever engines work, and what it
//! proves absent never races.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use check::{BuildOptions, LINE, Request, run};
use model::{Budget, Engine};
use report::{Command, PairVerdict, Report, Verdict};
use testkit::generator::{Case, Feature};

const PROGRAMS: u64 = 48;

fn request(folder: &Path, source: &str, engines: &[Engine]) -> Request {
    let file = folder.join("case.c");
    std::fs::write(&file, source).unwrap();
    let build = BuildOptions { inputs: vec![file.to_string_lossy().into_owned()], ..BuildOptions::default() };
    Request {
        engines: engines.to_vec(),
        witness_dir: folder.join("witnesses"),
        bundle_dir: folder.to_owned(),
        ..Request::new(Command::Check, build, Budget::default())
    }
}

/// Pairs of lines with this verdict.
fn lines(report: &Report, verdict: PairVerdict) -> BTreeSet<(u32, u32)> {
    let lines = report.pairs_with(verdict).map(|pair| pair.accesses.each_ref().map(|access| access.line));
    lines.map(|[a, b]| (a.min(b), a.max(b))).collect()
}

fn examine(seed: u64) -> Result<(), String> {
    let features: BTreeSet<Feature> = Feature::ALL.into_iter().collect();
    let case = Case::generate(seed, &features, testkit::oracle::Limits { executions: 2_000, ..Default::default() });
    let racing: BTreeSet<(u32, u32)> = case.racing_lines().into_iter().map(|(a, b)| (a.min(b), a.max(b))).collect();
    let folder = tempfile::tempdir().unwrap();
    let run = |engines: &[Engine]| {
        run(&request(folder.path(), &case.c(), engines), &mut ()).map_err(|error| format!("{engines:?}: {error}"))
    };
    let whole = run(&LINE)?;
    let races = lines(&whole, PairVerdict::Race);
    if races != racing {
        return Err(format!("races {races:?}, brute force {racing:?}"));
    }
    if racing.is_empty() != (whole.verdict == Verdict::Safe) {
        return Err(format!("{:?} of a program with the races {racing:?}: {:?}", whole.verdict, whole.unknowns));
    }
    // Without runs nothing races, and nothing that races is called absent.
    let without_runs: Vec<Engine> = LINE.into_iter().filter(|engine| *engine < Engine::Predict).collect();
    let proofs = run(&without_runs)?;
    let open = lines(&proofs, PairVerdict::Unknown);
    match racing.iter().find(|pair| !open.contains(pair)) {
        Some(pair) => Err(format!("the race {pair:?} is not among the open pairs {open:?}")),
        None if proofs.verdict == Verdict::Race => Err("a race without a run".to_owned()),
        None => Ok(()),
    }
}

#[test]
fn the_line_equals_brute_force() {
    let (next, complaints) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    // Seeds that the other tests of this crate do not use.
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= testkit::programs(PROGRAMS) {
                        break;
                    }
                    let seed = 70_000 + number;
                    if let Err(complaint) = examine(seed) {
                        complaints.lock().unwrap().push(format!("seed {seed}: {complaint}"));
                    }
                }
            });
        }
    });
    assert_eq!(complaints.into_inner().unwrap(), [""; 0]);
}

/// Two threads that both find room for one item: the second item lies behind the block, in another one that nobody else
/// knows. Proofs say that the accesses to it never meet, and the run shows that they do.
const ASTRAY: &str = r#"#include <pthread.h>
#include <stdlib.h>
#include <string.h>
struct item { char c[32]; } *items;
int n;
void *push(void *arg) {
    if (n < 1)
        memset(&items[n++], 1, sizeof *items);
    return arg;
}
int main(void) {
    items = malloc(sizeof *items);
    char *mine = malloc(32);
    pthread_t t;
    pthread_create(&t, 0, push, 0);
    push(0);
    mine[0] = 2;
    pthread_join(t, 0);
    free(mine);
    free(items);
}
"#;

#[test]
fn a_run_that_went_astray_contradicts_no_proof() {
    let folder = tempfile::tempdir().unwrap();
    let report = run(&request(folder.path(), ASTRAY, &LINE), &mut ()).unwrap();
    assert_eq!(report.verdict, Verdict::Race);
    assert!(lines(&report, PairVerdict::Race).contains(&(8, 17)), "{:?}", lines(&report, PairVerdict::Race));
    let proofs = run(&request(folder.path(), ASTRAY, &[Engine::Static]), &mut ()).unwrap();
    assert!(!lines(&proofs, PairVerdict::Unknown).contains(&(8, 17)), "else nothing is contradicted");
    for pair in report.pairs_with(PairVerdict::Absent) {
        assert_eq!(pair.by, Engine::Explore, "proofs are void: {pair:?}");
    }
}
