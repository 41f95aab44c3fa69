//! Verdicts against brute force: on generated programs no racing pair is absent, and every racing pair is listed.

#![allow(clippy::print_stdout, reason = "the share of pairs proved is worth seeing")]

use std::collections::BTreeSet;

use facts::Options;
use lockset::{Answer, analyse};
use model::Pair;
use program::Program;
use testkit::generator::{Case, Feature};
use testkit::{Limits, Truth};

/// Programs compared.
const PROGRAMS: u64 = 10_000;
/// Least share of race-free pairs that have to be absent, in percent.
const SHARE: f64 = 97.0;

/// How many pairs were settled, and how many could have been.
#[derive(Default, Debug)]
struct Tally {
    programs: u64,
    pairs: u64,
    race_free: u64,
    absent: u64,
    racing: u64,
}

impl Tally {
    /// Share of race-free pairs that were proved absent, in percent.
    fn share(&self) -> f64 {
        100.0 * self.absent as f64 / self.race_free.max(1) as f64
    }
}

/// Checks all pairs of a program against what brute force found. Pairs that are not listed count as absent.
fn compare(program: &Program, truth: &Truth, tally: &mut Tally, text: &dyn Fn() -> String) {
    let analysis = analyse(program, &Options::default());
    let races: BTreeSet<Pair> = truth.races.iter().map(|(a, b)| Pair::new(*a, *b)).collect();
    let warned: BTreeSet<Pair> =
        analysis.findings.iter().filter(|f| matches!(f.answer, Answer::Unknown { .. })).map(|f| f.pair).collect();
    for race in &races {
        assert!(warned.contains(race), "{race} races but is not a warning: {:?}\n{}", analysis.findings, text());
    }
    tally.programs += 1;
    for finding in &analysis.findings {
        tally.pairs += 1;
        if races.contains(&finding.pair) {
            tally.racing += 1;
            continue;
        }
        tally.race_free += 1;
        tally.absent += u64::from(matches!(finding.answer, Answer::Absent(_)));
    }
}

#[test]
fn nothing_that_races_is_absent() {
    let mut tally = Tally::default();
    for seed in 0..PROGRAMS {
        let case = Case::generate(seed, &Feature::ALL.into(), Limits::default());
        let text = || format!("seed {seed}\n{}", case.sketch.emit().text);
        compare(&case.program(), &case.truth, &mut tally, &text);
    }
    println!("{tally:?}: {:.1} % of race-free pairs are absent", tally.share());
    assert!(tally.share() >= SHARE, "{tally:?}");
}
