//! How many race-free programs are proved by the two engines for any number of threads.

#![allow(clippy::print_stdout, reason = "the share of programs proved is worth seeing")]

use std::collections::BTreeSet;

use cover::{Options, Result, verify};
use facts::Facts;
use lockset::Answer;
use model::Pair;
use testkit::Limits;
use testkit::generator::{Case, Feature};

/// Programs generated.
const PROGRAMS: u64 = 4_000;
/// Least share of race-free programs all of whose pairs have to be absent, in percent.
const SHARE: f64 = 98.0;
/// The same for the static engine alone.
const STATIC_SHARE: f64 = 84.0;

/// The pairs of a program that the static engine leaves open, and those of them that proofs with nets leave open, too.
fn open(facts: &Facts) -> [BTreeSet<Pair>; 2] {
    let findings = lockset::analyse(facts).unwrap().findings;
    let warned = findings.iter().filter(|finding| matches!(finding.answer, Answer::Unknown { .. }));
    let warned: Vec<Pair> = warned.map(|finding| finding.pair).collect();
    let answers = verify(facts, &warned, &Options::default()).into_iter();
    let open = answers.filter(|(_, result)| !matches!(result, Result::Absent(_))).map(|(pair, _)| pair).collect();
    [warned.into_iter().collect(), open]
}

#[test]
fn race_free_programs_are_proved() {
    let (mut race_free, mut by_static, mut by_both) = (0, 0, 0);
    for seed in 0..testkit::programs(PROGRAMS) {
        let case = Case::generate(seed, &Feature::ALL.into(), Limits::default());
        if !case.truth.races.is_empty() {
            continue;
        }
        race_free += 1;
        let [warned, open] = open(&Facts::of(case.program()));
        by_static += u64::from(warned.is_empty());
        by_both += u64::from(open.is_empty());
        if !open.is_empty() {
            println!("seed {seed}: {open:?}");
        }
    }
    let share = |proved: u64| 100.0 * proved as f64 / race_free as f64;
    let [by_static, by_both] = [by_static, by_both].map(share);
    println!(
        "of {race_free} race-free programs {by_static:.1} % are proved by the static engine, {by_both:.1} % by both"
    );
    assert!(by_static >= STATIC_SHARE && by_both >= SHARE, "{by_static:.1} %, {by_both:.1} %");
}
