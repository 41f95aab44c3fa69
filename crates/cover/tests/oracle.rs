//! Proofs against brute force: on generated programs no racing pair is proved absent, and every racing pair is listed.

#![allow(clippy::print_stdout, reason = "the share of pairs proved is worth seeing")]

use std::collections::BTreeSet;

use cover::{Options, Result, verify};
use facts::Facts;
use model::Pair;
use program::Program;
use testkit::generator::{Case, Feature, Random};
use testkit::{Limits, Truth, oracle};

/// Programs compared.
const PROGRAMS: u64 = 6_000;

/// How many pairs were proved, and how many could have been.
#[derive(Default, Debug)]
struct Tally {
    pairs: u64,
    race_free: u64,
    absent: u64,
    /// Of pairs in different functions: how many are race-free.
    apart_race_free: u64,
    /// And how many of them were proved absent.
    apart_absent: u64,
    candidates: u64,
    unknown: u64,
}

/// Checks all pairs of a program against what brute force found.
fn compare(program: &Program, truth: &Truth, tally: &mut Tally, context: &dyn Fn() -> String) {
    let facts = Facts::of(program.clone());
    let listed = facts.pairs().unwrap();
    let races: BTreeSet<Pair> = truth.races.iter().map(|(a, b)| Pair::new(*a, *b)).collect();
    let known: BTreeSet<Pair> = listed.iter().copied().collect();
    assert!(races.is_subset(&known), "not listed: {:?}\n{}", races.difference(&known), context());
    for (pair, result) in verify(&facts, &listed, &Options::default()) {
        tally.pairs += 1;
        let race_free = !races.contains(&pair);
        let [one, other] = pair.sites().map(|site| program.sites[site].function);
        tally.race_free += u64::from(race_free);
        tally.apart_race_free += u64::from(race_free && one != other);
        tally.apart_absent += u64::from(one != other && matches!(result, Result::Absent(_)));
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
            Result::NotExpressed(reason) | Result::Unknown(reason) => {
                tally.unknown += 1;
                panic!("{pair}: {reason}\n{}", context());
            }
        }
    }
}

#[test]
fn nothing_that_races_is_proved_absent() {
    let mut tally = Tally::default();
    for seed in 0..testkit::programs(PROGRAMS) {
        let case = Case::generate(seed, &Feature::ALL.into(), Limits::default());
        compare(&case.program(), &case.truth, &mut tally, &|| format!("seed {seed}\n{}", case.sketch.emit().text));
    }
    println!("{tally:?}");
    assert!(tally.apart_absent * 2 > tally.apart_race_free, "{tally:?}");
}

/// Each thread function is started by every creation that started its neighbour, so that it runs more than once.
#[test]
fn thread_functions_that_run_more_than_once() {
    let mut tally = Tally::default();
    let (mut compared, programs) = (0, testkit::programs(PROGRAMS / 5));
    for seed in 0..programs {
        let limits = Limits { executions: 3_000, states: 4_000, ..Limits::default() };
        let case = Case::generate(seed, &Feature::ALL.into(), limits);
        let text = case.sketch.emit().text.replace("create &thread2", "create &thread1");
        let program = Program::parse(&text).expect("still a program");
        let Some(truth) = oracle::explore(&program, limits).expect("no misuse") else { continue };
        compare(&program, &truth, &mut tally, &|| format!("seed {seed}\n{text}"));
        compared += 1;
    }
    println!("{compared} programs: {tally:?}");
    assert!(compared * 4 > programs && tally.absent > 0, "{compared} programs: {tally:?}");
}

/// Helper functions that [`disguise`] makes use of: locks and data through parameters, with and without recursion.
const HELPERS: &str = "
global pm0: 8 = 00 { 0: @m }
global pm1: 8 = 00 { 0: @m+40 }
fn take(%l) { lock %l\n return }
fn give(%l) { unlock %l\n return }
fn take_deep(%l, %n) { entry: branch %n, on, do\n on: call take_deep(%l, 0)\n goto end\n do: lock %l\n goto end\n end: return }
fn give_deep(%l, %n) { entry: branch %n, on, do\n on: call give_deep(%l, 0)\n goto end\n do: unlock %l\n goto end\n end: return }
fn put(%p, %v) { store 4, %p, %v\n return }
fn put_deep(%p, %v, %n) { entry: branch %n, on, do\n on: call put_deep(%p, %v, 0)\n goto end\n do: store 4, %p, %v\n goto end\n end: return }
";

/// The same program, with some operations inside functions or through pointers.
fn disguise(text: &str, random: &mut Random) -> String {
    let mut out = String::new();
    for (number, line) in text.lines().enumerate() {
        let statement = line.split('!').next().unwrap_or_default().trim();
        let choice = random.below(5);
        let pointer = |mutex: &str| format!("%disguise{number} = load 8, @pm{}", u8::from(mutex.ends_with("+40")));
        let replaced = match statement.split_once(' ') {
            Some(("lock", lock)) if lock.starts_with('@') => match choice {
                0 => Some(format!("call take({lock})")),
                1 => Some(format!("call take_deep({lock}, 1)")),
                2 if lock.starts_with("@m") => Some(format!("{}\n  lock %disguise{number}", pointer(lock))),
                _ => None,
            },
            Some(("unlock", lock)) if lock.starts_with('@') => match choice {
                0 => Some(format!("call give({lock})")),
                1 => Some(format!("call give_deep({lock}, 1)")),
                2 if lock.starts_with("@m") => Some(format!("{}\n  unlock %disguise{number}", pointer(lock))),
                _ => None,
            },
            Some(("store", rest)) => match (rest.strip_prefix("4, "), choice) {
                (Some(rest), 0) => Some(format!("call put({rest})")),
                (Some(rest), 1) => Some(format!("call put_deep({rest}, 1)")),
                _ => None,
            },
            _ => None,
        };
        out.push_str(replaced.as_deref().unwrap_or(line));
        out.push('\n');
    }
    out + HELPERS
}

#[test]
fn operations_inside_functions_and_through_pointers() {
    let mut tally = Tally::default();
    let mut random = Random::new(1);
    let (mut compared, programs) = (0, testkit::programs(PROGRAMS / 3));
    for seed in 0..programs {
        let limits = Limits { executions: 10_000, states: 6_000, ..Limits::default() };
        let case = Case::generate(seed, &Feature::ALL.into(), limits);
        let text = disguise(&case.sketch.emit().text, &mut random);
        let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let limits = Limits { executions: 100_000, ..limits };
        let Some(truth) = oracle::explore(&program, limits).expect("no misuse") else { continue };
        compare(&program, &truth, &mut tally, &|| format!("seed {seed}\n{text}"));
        compared += 1;
    }
    println!("{compared} programs: {tally:?}");
    assert!(compared * 5 > programs * 3 && tally.absent > 0, "{compared} programs: {tally:?}");
}
