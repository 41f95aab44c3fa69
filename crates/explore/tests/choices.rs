//! Programs that leave values open, have uninterruptible sections, and wait in loops.

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;

use explore::{Coverage, FailureKind, Options, Outcome, ReductionName, StopReason, search};
use facts::Facts;
use model::{Executor, Pair, SiteId};
use outlook::Summary;
use program::Program;
use support::Classes;
use testkit::generator::{Case, Feature};
use testkit::machine::{Machine, Waiting};
use testkit::{Interpreter, Limits, Truth, oracle};

const REDUCTIONS: [ReductionName; 6] = [
    ReductionName::Dpor,
    ReductionName::DporSleep,
    ReductionName::Pdp,
    ReductionName::Dhtc,
    ReductionName::Optimal,
    ReductionName::Best,
];

fn features(search: &[Feature]) -> BTreeSet<Feature> {
    use Feature::{Assertion, Atomics, Branch, CompareExchange, Condition, DataAddress, Lock, Semaphore, TryLock};
    let others = [Lock, TryLock, Branch, Atomics, CompareExchange, Assertion, Condition, Semaphore, DataAddress];
    search.iter().copied().chain(others).collect()
}

/// A program that shows one of the features.
fn case(seed: u64, wanted: &[Feature], limits: Limits) -> Case {
    let tries = (0..).map(|n| Case::generate(seed + 1_000_000 * n, &features(wanted), limits));
    let mut cases = tries.filter(|case| wanted.iter().any(|feature| feature.occurs_in(&case.sketch)));
    cases.next().expect("one of them comes")
}

fn explore(program: &Program, reduction: ReductionName) -> Outcome {
    let summary = Summary::new(Arc::new(Facts::of(program.clone())), &BTreeSet::new()).unwrap();
    let options = Options { reduction, outlook: Some(Arc::new(summary)), ..Options::default() };
    search(&mut Interpreter::new(program.clone()).unwrap(), &options, &mut ()).unwrap_or_else(|e| panic!("{e}"))
}

fn failures(outcome: &Outcome, kind: FailureKind) -> BTreeSet<Vec<SiteId>> {
    let wanted = outcome.failures.iter().filter(|f| f.kind == kind);
    wanted.map(|f| f.involved.iter().filter_map(|i| i.site).collect()).collect()
}

fn assert_finds_the_truth(outcome: &Outcome, truth: &Truth, context: &str) {
    let races: BTreeSet<Pair> = truth.races.iter().map(|(a, b)| Pair::new(*a, *b)).collect();
    assert_eq!(outcome.races.keys().copied().collect::<BTreeSet<_>>(), races, "races: {context}");
    let single = |sites: &BTreeSet<SiteId>| sites.iter().map(|s| vec![*s]).collect::<BTreeSet<_>>();
    assert_eq!(failures(outcome, FailureKind::Deadlock), truth.deadlocks, "deadlocks: {context}");
    assert_eq!(failures(outcome, FailureKind::Assertion), single(&truth.assertions), "assertions: {context}");
    assert_eq!(failures(outcome, FailureKind::Crash), single(&truth.crashes), "crashes: {context}");
    let expected = [Coverage::Complete, Coverage::Stopped(StopReason::Assumptions)];
    assert!(expected.contains(&outcome.coverage), "{:?}: {context}", outcome.coverage);
}

/// Every witness shows its finding again, in a new executor.
fn assert_replays(program: &Program, outcome: &Outcome, context: &str) -> usize {
    let mut fresh = Interpreter::new(program.clone()).unwrap();
    let mut chosen = 0;
    for (pair, race) in &outcome.races {
        assert!(race.confirmed, "{pair}: {race:?}\n{context}");
        let trace = fresh.run(&race.witness.schedule).unwrap();
        let races = model::races(&trace);
        let sites = |race: &model::Race| {
            let first = trace.events[race.first].site_of(race.first_access);
            first.zip(trace.events[race.second].site_of(race.second_access)).map(|(a, b)| Pair::new(a, b))
        };
        assert!(races.iter().any(|race| sites(race) == Some(*pair)), "{pair} does not show again: {context}");
        chosen += race.witness.schedule.choices.len();
    }
    for failure in &outcome.failures {
        let end = fresh.run(&failure.schedule).unwrap().end;
        let shown = match failure.kind {
            FailureKind::Deadlock => matches!(end, model::End::Deadlock),
            FailureKind::Assertion => matches!(end, model::End::Assertion { .. }),
            FailureKind::Crash => matches!(end, model::End::Crash { .. }),
            FailureKind::Misuse | FailureKind::Lanes | FailureKind::Endless => true,
        };
        assert!(shown, "{failure:?} does not show again: {end:?} {context}");
        chosen += failure.schedule.choices.len();
    }
    chosen
}

/// Compares every reduction with brute force; returns how many programs raced, failed and had witnesses with choices.
fn compare(seeds: std::ops::Range<u64>, wanted: &[Feature]) -> [usize; 3] {
    let mut counts = [0; 3];
    for seed in seeds {
        let case = case(seed, wanted, Limits::default());
        let program = case.program();
        let context = format!("seed {seed}\n{}", case.sketch.emit().text);
        for reduction in REDUCTIONS {
            let context = format!("{reduction}, {context}");
            let outcome = explore(&program, reduction);
            assert_finds_the_truth(&outcome, &case.truth, &context);
            let chosen = assert_replays(&program, &outcome, &context);
            assert!(outcome.statistics.executions <= case.truth.executions, "{context}");
            if reduction == ReductionName::Optimal {
                counts[0] += usize::from(!case.truth.races.is_empty());
                counts[1] += usize::from(!outcome.failures.is_empty());
                counts[2] += usize::from(chosen > 0);
            }
        }
    }
    counts
}

#[test]
fn every_value_is_tried() {
    let [racy, failing, chosen] = compare(0..testkit::programs(300), &[Feature::Choice]);
    assert!(racy > 75 && failing > 5 && chosen > 15, "{racy} {failing} {chosen}");
}

#[test]
fn sections_are_one_step() {
    let [racy, failing, chosen] = compare(0..testkit::programs(300), &[Feature::Section, Feature::Choice]);
    assert!(racy > 75 && failing > 5 && chosen > 5, "{racy} {failing} {chosen}");
}

#[test]
fn loops_that_wait_are_explored_in_full() {
    let [racy, failing, _] = compare(0..testkit::programs(300), &[Feature::Await]);
    assert!(racy > 75 && failing > 50, "{racy} {failing}");
}

/// The unreduced search runs every interleaving with every value; the reductions omit no class, and `optimal` runs each
/// once.
#[test]
fn no_class_is_left_out_or_repeated() {
    let limits = Limits { executions: 1_500, ..Limits::default() };
    let mut exact = 0;
    for seed in 0..testkit::programs(150) {
        let case = case(seed, &Feature::SEARCH, limits);
        let program = case.program();
        let context = format!("seed {seed}\n{}", case.sketch.emit().text);
        let run = |reduction| {
            let mut classes = Classes::default();
            let options = Options { reduction, ..Options::default() };
            let outcome = search(&mut Interpreter::new(program.clone()).unwrap(), &options, &mut classes).unwrap();
            (outcome.statistics, classes.0)
        };
        let (plain, all) = run(ReductionName::None);
        assert_eq!(plain.executions, case.truth.executions, "{context}");
        for reduction in REDUCTIONS {
            let (statistics, classes) = run(reduction);
            assert!(classes == all, "{reduction}: {} of {} classes: {context}", classes.len(), all.len());
            if reduction == ReductionName::Optimal && statistics.detours == 0 && !context.contains(" cas ") {
                assert_eq!((statistics.executions, statistics.blocked), (all.len() as u64, 0), "{context}");
                exact += 1;
            }
        }
    }
    assert!(exact > 90, "only {exact} exact counts");
}

/// Blocking until a change instead of polling shows everything that brute force finds with up to four polls. (The other
/// way round it may show more: a thread that needs a fifth poll.)
#[test]
fn blocking_finds_what_polling_finds() {
    let (mut compared, mut racy) = (0, 0);
    for seed in 0..testkit::programs(250) {
        let case = case(seed, &[Feature::Await], Limits::default());
        let machine = Machine::new(Arc::new(case.program()), false).unwrap().with_waiting(Waiting::Poll(4));
        let limits = Limits { executions: u64::MAX, states: 60_000, events: 200 };
        let Some(truth) = oracle::explore_machine(&machine, limits).unwrap() else { continue };
        let context = format!("seed {seed}\n{}", case.sketch.emit().text);
        assert_eq!(case.truth.races, truth.races, "{context}");
        assert_eq!(case.truth.assertions, truth.assertions, "{context}");
        assert_eq!(case.truth.crashes, truth.crashes, "{context}");
        compared += 1;
        racy += usize::from(!truth.races.is_empty());
    }
    assert!(compared > 140 && racy > 60, "{compared} {racy}");
}
