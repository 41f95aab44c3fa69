//! The paper's table 1 for its programs in the small language and as C with threads: the verdicts of
//! `raceproof verify` and the figures of `raceproof verify --stats`, as documented in `docs/table1.md`.
//!
//! `BLESS=1` rewrites the document; see `testkit::ui`.

use std::fmt::Write as _;
use std::path::Path;

use check::{BuildOptions, Input, Limits, ProofOptions, Request, SearchOptions};
use model::Budget;
use petri::backward::Pruning;
use report::{Command, CoverStatistics, NetStatistics, Report, Verdict};
use testkit::race_freeness::TABLE;

const HEAD: &str = "\
# The paper's table 1

The seven programs of Abdulla, Haziza and Kindahl, *Model Checking Race-Freeness*, in the small language (`examples/sml`)
and as C with threads (`examples/verify`): the verdict of `raceproof verify`, and what `raceproof verify --stats` prints,
with `--pruning plain`, which is the paper's algorithm, and without. The first line of each program is the paper's.

The paper's figures are for nets that it does not print, one for each program, narrowed down by hand; ours are sums over
one net for each pair of accesses. The paper counts the configurations that it keeps. Here *configurations* are all that
were computed, *subsumed* those of them that a smaller one already stood for, *iterations* the configurations whose
predecessors were computed. A candidate of the small language stays open, because nothing can run it; in C the search is
led along and confirms it.

Written by `BLESS=1 cargo test -p raceproof-check --test table1`.

| program | version | pruning | verdict | nets | configurations | subsumed | iterations |
|---|---|---|---|---|---|---|---|
";

/// What `raceproof verify --stats` says of a file.
fn verified(file: &Path, pruning: Pruning, witness_dir: &Path) -> Report {
    let input = file.display().to_string();
    let proofs = ProofOptions { pruning, statistics: true, ..ProofOptions::default() };
    let (inputs, budget) = (vec![input.clone()], Budget::default());
    let report = match check::classify(&inputs) {
        Ok(Input::SmallLanguage(path)) => check::verify_small_language(Command::Verify, &path, &proofs, &budget),
        _ => {
            let build = BuildOptions { inputs, ..BuildOptions::default() };
            let request = Request {
                proofs,
                limits: Limits { max_steps: 500, ..Limits::default() },
                search: SearchOptions { max_executions: Some(1_000), ..SearchOptions::default() },
                witness_dir: witness_dir.to_owned(),
                ..Request::new(Command::Verify, build, budget)
            };
            check::run(&request, &mut ())
        }
    };
    report.unwrap_or_else(|error| panic!("{input}: {error}"))
}

#[test]
fn verdicts_and_figures_are_as_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let witnesses = tempfile::tempdir().unwrap();
    let mut text = HEAD.to_owned();
    for (name, small, c, safe, [configurations, subsumed, iterations]) in TABLE {
        let answer = if safe { "safe" } else { "race" };
        writeln!(text, "| {name} | paper | plain | {answer} | 1 | {configurations} | {subsumed} | {iterations} |")
            .unwrap();
        let versions = [
            (format!("examples/sml/{small}.sml"), Verdict::Unknown, "candidate"),
            (format!("examples/verify/{c}.c"), Verdict::Race, "race"),
        ];
        for (file, racy, word) in versions {
            for pruning in [Pruning::Plain, Pruning::Invariants] {
                let report = verified(&root.join(&file), pruning, witnesses.path());
                assert_eq!(report.verdict, if safe { Verdict::Safe } else { racy }, "{file}, {}", pruning.name());
                let NetStatistics { nets, sums, .. } = report.engines[0].nets.expect("they were wanted");
                let CoverStatistics { configurations, subsumed, iterations, .. } = sums;
                let kind = if file.ends_with(".c") { "C" } else { "small language" };
                let (word, pruning) = (if safe { "safe" } else { word }, pruning.name());
                writeln!(
                    text,
                    "| | [{kind}](../{file}) | {pruning} | {word} | {nets} | {configurations} | {subsumed} | {iterations} |"
                )
                .unwrap();
            }
        }
    }
    let path = root.join("docs/table1.md");
    if testkit::ui::blesses() {
        std::fs::write(&path, &text).expect("docs can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, text, "the table is out of date; run with BLESS=1");
}
