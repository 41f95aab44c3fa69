//! Verdicts against brute force: on generated programs no racing pair is absent, and every racing pair is listed.

#![allow(clippy::print_stdout, reason = "the share of pairs proved is worth seeing")]

use std::collections::BTreeSet;

use facts::Facts;
use lockset::{Answer, analyse};
use model::Pair;
use program::Program;
use testkit::generator::{Case, Feature};
use testkit::{Limits, Truth};

/// Programs compared.
const PROGRAMS: u64 = 10_000;
/// Least share of race-free pairs that have to be absent, in percent.
const SHARE: f64 = 97.0;
/// Enough for three threads of a few events.
const LARGE: Limits = Limits { executions: 1 << 40, states: 1 << 20, events: 200 };

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
    let analysis = analyse(&Facts::of(program.clone())).unwrap();
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
    for seed in 0..testkit::programs(PROGRAMS) {
        let case = Case::generate(seed, &Feature::ALL.into(), Limits::default());
        let text = || format!("seed {seed}\n{}", case.sketch.emit().text);
        compare(&case.program(), &case.truth, &mut tally, &text);
    }
    println!("{tally:?}: {:.1} % of race-free pairs are absent", tally.share());
    assert!(tally.share() >= SHARE, "{tally:?}");
}

/// A program that makes two threads in a loop and joins some in another. The number of threads is a variable, global or in
/// a heap block, that may be set before and after they are made.
fn join_loops() -> Vec<String> {
    let mut programs = Vec::new();
    let settings = [None, Some(1), Some(2)];
    for (heap, initial) in [(false, 0), (false, 1), (false, 2), (true, 0)] {
        for (before, after) in settings.into_iter().flat_map(|before| settings.map(|after| (before, after))) {
            for (made, joined) in ["2", "%bound"].into_iter().flat_map(|made| ["1", "2", "%limit"].map(|j| (made, j))) {
                for start in [0, 1] {
                    let cell = if heap { "%n" } else { "@n" };
                    let block = if heap { "%n = zalloc 4\n" } else { "" };
                    let set = |value: Option<i32>| value.map_or(String::new(), |v| format!("store 4, {cell}, {v}\n"));
                    programs.push(format!(
                        "global n: 4 = {initial:02x}000000\nglobal handles: 16\nglobal results: 8\n\
                         fn worker(%slot) {{\nentry:\nstore 4, %slot, 1\nreturn 0\n}}\n\
                         fn main() {{\nentry:\n{block}{}goto making\n\
                         making:\n%i = phi [entry: 0, make: %next]\n%bound = load 4, {cell}\n\
                         %more = slt 32 %i, {made}\nbranch %more, make, made\n\
                         make:\n%slot = offset @results, %i, 4, 0\n%h = create &worker, %slot\n\
                         %to = offset @handles, %i, 8, 0\nstore 8, %to, %h\n%next = add 32 %i, 1\ngoto making\n\
                         made:\n{}goto joining\n\
                         joining:\n%j = phi [made: {start}, one: %later]\n%limit = load 4, {cell}\n\
                         %left = slt 32 %j, {joined}\nbranch %left, one, end\n\
                         one:\n%from = offset @handles, %j, 8, 0\n%g = load 8, %from\njoin %g\n\
                         %later = add 32 %j, 1\ngoto joining\n\
                         end:\n%a = load 4, @results\n%b = load 4, @results+4\nreturn 0\n}}\nentry main\n",
                        set(before),
                        set(after),
                    ));
                }
            }
        }
    }
    programs
}

/// Who is joined by a loop depends on where it starts and ends, and on whether that is what the loop that made the threads
/// went by.
#[test]
fn join_loops_wait_for_whom_they_join() {
    let (mut tally, mut skipped) = (Tally::default(), 0);
    for text in join_loops() {
        let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let truth = testkit::oracle::explore(&program, LARGE).unwrap().expect("it is small");
        // Joining what is no thread is a misuse, which proofs assume does not happen.
        if truth.misuses.is_empty() && truth.crashes.is_empty() {
            compare(&program, &truth, &mut tally, &|| text.clone());
        } else {
            skipped += 1;
        }
    }
    println!("{tally:?}, {skipped} with a misuse: {:.1} % of race-free pairs are absent", tally.share());
    assert!(tally.programs > 200 && tally.racing > 100 && tally.share() > 75.0, "{tally:?}");
}
