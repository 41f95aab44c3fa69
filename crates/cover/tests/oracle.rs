//! Proofs against brute force: on generated programs no racing pair is proved absent, and every racing pair is listed.

#![allow(clippy::print_stdout, reason = "the share of pairs proved is worth seeing")]

use std::collections::BTreeSet;

use cover::{Options, Result, pairs, verify};
use model::Pair;
use program::Program;
use testkit::generator::{Case, Feature};
use testkit::{Limits, Truth, oracle};

/// Programs compared.
const PROGRAMS: u64 = 6_000;

/// How many pairs were proved, and how many could have been.
#[derive(Default, Debug)]
struct Tally {
    pairs: u64,
    race_free: u64,
    absent: u64,
    candidates: u64,
    unknown: u64,
}

/// Checks all pairs of a program against what brute force found.
fn compare(program: &Program, truth: &Truth, tally: &mut Tally, context: &dyn Fn() -> String) {
    let listed = pairs(program);
    let races: BTreeSet<Pair> = truth.races.iter().map(|(a, b)| Pair::new(*a, *b)).collect();
    let known: BTreeSet<Pair> = listed.iter().copied().collect();
    assert!(races.is_subset(&known), "not listed: {:?}\n{}", races.difference(&known), context());
    for (pair, result) in verify(program, &listed, &Options::default()) {
        tally.pairs += 1;
        tally.race_free += u64::from(!races.contains(&pair));
        match result {
            Result::Absent(proof) => {
                assert!(!races.contains(&pair), "{pair} is said to be absent but races\n{}", context());
                assert_eq!(petri::certificate::check(&proof.net, &proof.certificate), Ok(()), "{}", context());
                tally.absent += 1;
            }
            Result::Candidate(candidate) => {
                let [one, other] = candidate.accesses;
                assert_ne!(one.thread, other.thread, "{pair}: {candidate:?}\n{}", context());
                assert_eq!([one, other].map(|step| step.site), pair.sites().map(Some));
                tally.candidates += 1;
            }
            Result::Unknown(reason) => {
                tally.unknown += 1;
                panic!("{pair}: {reason}\n{}", context());
            }
        }
    }
}

#[test]
fn nothing_that_races_is_proved_absent() {
    let mut tally = Tally::default();
    for seed in 0..PROGRAMS {
        let case = Case::generate(seed, &Feature::ALL.into(), Limits::default());
        compare(&case.program(), &case.truth, &mut tally, &|| format!("seed {seed}\n{}", case.sketch.emit().text));
    }
    println!("{tally:?}");
    assert!(tally.absent * 2 > tally.race_free, "{tally:?}");
}

/// Each thread function is started by every creation that started its neighbour, so that it runs more than once.
#[test]
fn thread_functions_that_run_more_than_once() {
    let mut tally = Tally::default();
    let mut compared = 0;
    for seed in 0..PROGRAMS / 5 {
        let limits = Limits { executions: 3_000, states: 4_000, ..Limits::default() };
        let case = Case::generate(seed, &Feature::ALL.into(), limits);
        let text = case.sketch.emit().text.replace("create &thread2", "create &thread1");
        let program = Program::parse(&text).expect("still a program");
        let Some(truth) = oracle::explore(&program, limits).expect("no misuse") else { continue };
        compare(&program, &truth, &mut tally, &|| format!("seed {seed}\n{text}"));
        compared += 1;
    }
    println!("{compared} programs: {tally:?}");
    assert!(compared > PROGRAMS / 20 && tally.absent > 0, "{compared} programs: {tally:?}");
}
