//! The search compared with brute force: on generated programs it finds exactly the existing races, deadlocks, failed
//! assertions and crashes, and every race replays.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use explore::{
    Coverage, FailureKind, Later, Observer, Options, Outcome, Outlook, Progress, ReductionName, Thrift, search,
    search_with,
};
use facts::Facts;
use facts::shortcuts::shortcuts;
use model::{End, Executor, Pair, SiteId, Trace};
use outlook::Summary;
use program::Program;
use testkit::generator::{Case, Feature, RaceDependence};
use testkit::{Interpreter, Limits, Truth};

/// Programs compared.
const PROGRAMS: u64 = 10_000;
/// Those of them with data-dependent races: [`Feature::DEPENDENT`].
const DEPENDENT: u64 = 2_000;
/// Programs that are searched with an outlook that comes late.
const LATE: u64 = 1_000;
/// Programs on which the unreduced search, simple and slow, is tried too.
const PLAIN: u64 = 300;

/// Seeds of programs that once failed: a thread created while a recursive lock is held; a race behind something pruned
/// after a sleeping event. And of one of which a search that asks seldom makes an execution more.
const FURTHER: [u64; 3] = [14_445, 25_854, 36_287];

/// The reductions compared.
const REDUCTIONS: [ReductionName; 6] = [
    ReductionName::Dpor,
    ReductionName::DporSleep,
    ReductionName::Pdp,
    ReductionName::Dhtc,
    ReductionName::Optimal,
    ReductionName::Best,
];

fn explore(program: &Program, outlook: &Arc<dyn Outlook>, reduction: ReductionName) -> Outcome {
    let options = Options { reduction, outlook: Some(Arc::clone(outlook)), ..Options::default() };
    let outcome = search(&mut Interpreter::new(program.clone()).unwrap(), &options, &mut ()).unwrap();
    assert_eq!(outcome.coverage, Coverage::Complete);
    outcome
}

/// The same with all shortcuts.
fn explore_shortened(program: &Program, outlook: &Arc<dyn Outlook>, reduction: ReductionName) -> Outcome {
    let (outlook, shortcuts) = (Some(Arc::clone(outlook)), shortcuts(program));
    let options = Options { reduction, outlook, shortcuts, ..Options::default() };
    let outcome = search(&mut Interpreter::new(program.clone()).unwrap(), &options, &mut ()).unwrap();
    assert_eq!(outcome.coverage, Coverage::Complete, "{:?}", outcome.unrepeatable);
    outcome
}

/// The program's outlook.
fn outlook(program: &Program) -> Arc<dyn Outlook> {
    Arc::new(Summary::new(Arc::new(Facts::of(program.clone())), &BTreeSet::new()).unwrap())
}

/// The sites of all failures of a kind.
fn failures(outcome: &Outcome, kind: FailureKind) -> BTreeSet<Vec<SiteId>> {
    let of_kind = outcome.failures.iter().filter(|f| f.kind == kind);
    of_kind.map(|f| f.involved.iter().filter_map(|i| i.site).collect()).collect()
}

fn assert_finds_the_truth(outcome: &Outcome, truth: &Truth, context: &str) {
    let races: BTreeSet<Pair> = truth.races.iter().map(|(a, b)| Pair::new(*a, *b)).collect();
    assert_eq!(outcome.races.keys().copied().collect::<BTreeSet<_>>(), races, "races: {context}");
    let single = |sites: &BTreeSet<SiteId>| sites.iter().map(|s| vec![*s]).collect::<BTreeSet<_>>();
    assert_eq!(failures(outcome, FailureKind::Deadlock), truth.deadlocks, "deadlocks: {context}");
    assert_eq!(failures(outcome, FailureKind::Assertion), single(&truth.assertions), "assertions: {context}");
    assert_eq!(failures(outcome, FailureKind::Crash), single(&truth.crashes), "crashes: {context}");
    assert!(outcome.ordered.is_disjoint(&races), "{context}");
}

/// Every race's witness shows the race when a new executor runs it.
fn assert_races_replay(program: &Program, outcome: &Outcome, context: &str) {
    let mut fresh = Interpreter::new(program.clone()).unwrap();
    for (pair, race) in &outcome.races {
        assert!(race.confirmed, "{pair}: {race:?}\n{context}");
        let trace = fresh.run(&race.witness.schedule).unwrap();
        let event = |id| trace.events.iter().find(|e| e.id == id).and_then(|e| e.site);
        let sites = [event(race.witness.first), event(race.witness.second)].map(Option::unwrap);
        assert_eq!(Pair::new(sites[0], sites[1]), *pair, "{context}");
    }
    for failure in &outcome.failures {
        let trace = fresh.run(&failure.schedule).unwrap();
        assert!(failure_kinds(&trace).contains(&failure.kind), "{failure:?} does not show again: {context}");
    }
}

/// The kinds of failure a run shows.
fn failure_kinds(trace: &Trace) -> Vec<FailureKind> {
    let mut kinds = vec![];
    kinds.extend((!trace.misuses.is_empty()).then_some(FailureKind::Misuse));
    kinds.extend(match trace.end {
        End::Deadlock => Some(FailureKind::Deadlock),
        End::Assertion { .. } => Some(FailureKind::Assertion),
        End::Crash { .. } => Some(FailureKind::Crash),
        _ => None,
    });
    kinds
}

/// What this test must have seen to be meaningful.
#[derive(Default)]
struct Seen {
    racy: u64,
    deadlocking: u64,
    failing: u64,
    /// By reduction.
    executions: [u64; 6],
    all: u64,
    /// Programs with a race that shows only through this.
    dependent_races: BTreeMap<RaceDependence, u64>,
}

/// The program of a seed.
fn case(seed: u64) -> Case {
    let dependent = (PROGRAMS - DEPENDENT..PROGRAMS).contains(&seed);
    let features = if dependent { Feature::DEPENDENT.into() } else { Feature::ALL.into() };
    Case::generate(seed, &features, Limits::default())
}

#[test]
fn search_agrees_with_brute_force() {
    let (mut seen, programs) = (Seen::default(), testkit::programs(PROGRAMS));
    for seed in (0..programs).chain(FURTHER) {
        let case = case(seed);
        let program = case.program();
        let outlook = outlook(&program);
        let context = format!("seed {seed}\n{}", case.sketch.emit().text);
        let statistics = REDUCTIONS.map(|reduction| {
            let context = format!("{reduction}, {context}");
            let outcome = explore(&program, &outlook, reduction);
            assert_finds_the_truth(&outcome, &case.truth, &context);
            assert_races_replay(&program, &outcome, &context);
            assert!(outcome.statistics.executions <= case.truth.executions, "{context}");
            outcome.statistics
        });
        let executions = statistics.map(|s| s.executions);
        let [dpor, sleep, pdp, _, optimal, best] = executions;
        assert!([optimal, sleep, dpor].is_sorted(), "{executions:?}: {context}");
        assert!(best <= optimal && best <= pdp, "{executions:?}: {context}");
        assert_eq!(statistics[4].blocked, 0, "{context}");
        seen.racy += u64::from(!case.truth.races.is_empty());
        seen.deadlocking += u64::from(!case.truth.deadlocks.is_empty());
        seen.failing += u64::from(!case.truth.assertions.is_empty() || !case.truth.crashes.is_empty());
        seen.executions.iter_mut().zip(executions).for_each(|(sum, n)| *sum += n);
        seen.all += case.truth.executions;
        for dependence in RaceDependence::ALL {
            *seen.dependent_races.entry(dependence).or_default() += u64::from(case.has_race_depending_on(dependence));
        }
    }
    let Seen { racy, deadlocking, failing, executions, all, dependent_races } = seen;
    assert!(racy > programs / 4 && racy < programs, "{racy} racy programs");
    assert!(deadlocking > 0 && failing > 0, "{deadlocking} deadlocking and {failing} failing programs");
    assert!(dependent_races.values().all(|programs| *programs >= 20), "races depending on {dependent_races:?}");
    assert!(executions[0] * 10 < all, "{executions:?} of {all} executions");
    assert!(executions[5] * 3 < executions[4] * 2, "{executions:?}: what cannot matter is left out");
}

/// How often each of the two kinds of shortcuts was seen.
#[derive(Default, Debug)]
struct Taken {
    programs: u64,
    with_fewer: u64,
    without: u64,
    with: u64,
}

/// Critical sections as one event and arrivals in any order hide nothing, and leave less to execute.
#[test]
fn shortcuts_hide_nothing() {
    let (mut sections, mut meetings, programs) = (Taken::default(), Taken::default(), testkit::programs(PROGRAMS));
    let mut all = [0, 0];
    for seed in 0..programs {
        let features = match seed % 8 {
            0 | 1 => Feature::COMMUTING.into(),
            2 => Feature::NOTICING.into(),
            3 | 4 => Feature::UPDATING_PARTS.into(),
            _ => Feature::UPDATING.into(),
        };
        let case = Case::generate(seed, &features, Limits::default());
        let program = case.program();
        let known = shortcuts(&program);
        if known.is_empty() {
            continue;
        }
        let outlook = outlook(&program);
        let [optimal, best] = [ReductionName::Optimal, ReductionName::Best].map(|reduction| {
            let context = format!("{reduction}, seed {seed}\n{}", case.sketch.emit().text);
            let outcome = explore_shortened(&program, &outlook, reduction);
            assert_finds_the_truth(&outcome, &case.truth, &context);
            assert_races_replay(&program, &outcome, &context);
            let without = explore(&program, &outlook, reduction).statistics.executions;
            let with = outcome.statistics.executions;
            assert!(with <= without, "{with} > {without}: {context}");
            (without, with)
        });
        (all[0], all[1]) = (all[0] + optimal.1, all[1] + best.1);
        for (taken, is_known) in
            [(&mut sections, !known.sections.is_empty()), (&mut meetings, !known.meetings.is_empty())]
        {
            if is_known {
                taken.programs += 1;
                taken.with_fewer += u64::from(optimal.1 < optimal.0);
                (taken.without, taken.with) = (taken.without + optimal.0, taken.with + optimal.1);
            }
        }
    }
    assert!(all[1] < all[0], "{all:?}: what cannot matter is left out");
    for taken in [sections, meetings] {
        assert!(taken.programs * 50 > programs && taken.with_fewer * 20 > taken.programs, "{taken:?}");
    }
}

/// Additions to a number and to its lowest byte have two orders: a carry gets lost in one of them.
#[test]
fn additions_to_parts_of_a_number_are_not_swapped() {
    let add = |bytes: u32| {
        let bits = bytes * 8;
        format!("lock @m\n%v = load {bytes}, @x\n%w = add {bits} %v, 1\nstore {bytes}, @x, %w\nunlock @m\nreturn\n}}\n")
    };
    let (one, other) = (add(1), add(4));
    let text = format!(
        "global x: 4\nglobal m: 40\nfn one(%a) {{\nentry:\n{one}fn other(%a) {{\nentry:\n{other}\
         fn main() {{\nentry:\nstore 4, @x, 255\n%h = create &one, 0\n%g = create &other, 0\njoin %h\njoin %g\n\
         %v = load 4, @x\n%ok = eq 32 %v, 1\nassert %ok\nreturn 0\n}}\nentry main\n"
    );
    let program = Program::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(shortcuts(&program).sections.len(), 2);
    for reduction in [ReductionName::Optimal, ReductionName::Best] {
        let outcome = explore_shortened(&program, &outlook(&program), reduction);
        assert_eq!(outcome.statistics.executions, 2, "{reduction}");
        assert_eq!(failures(&outcome, FailureKind::Assertion).len(), 1, "{reduction}");
    }
}

/// Completes the outlook after so many executions.
struct Maker {
    left: u64,
    outlook: Arc<dyn Outlook>,
    later: Later,
}

impl Observer for Maker {
    fn progress(&mut self, _: &Progress) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.later.set(Some(Arc::clone(&self.outlook)));
        }
    }
}

/// A search may ask its outlook now and then. Plans that it makes because of what could be pruned may turn out to be
/// unnecessary: hardly ever does it execute more than `optimal` because of them.
#[test]
fn asking_seldom_hides_nothing() {
    let (mut fewer, mut more) = (0, 0);
    for seed in (0..testkit::programs(LATE)).map(|n| n * 4 + 3).chain(FURTHER) {
        let case = case(seed);
        let program = case.program();
        let optimal = explore(&program, &outlook(&program), ReductionName::Optimal).statistics.executions;
        for (credit, seldom) in [(0, 2), (0, 3), (0, 7), (9, 4)] {
            let context = format!("credit {credit}, one of {seldom}, seed {seed}\n{}", case.sketch.emit().text);
            let (outlook, thrift) = (Some(outlook(&program)), Thrift::new(credit, seldom));
            let options = Options { reduction: ReductionName::Best, outlook, thrift, ..Options::default() };
            let outcome = search(&mut Interpreter::new(program.clone()).unwrap(), &options, &mut ()).unwrap();
            assert_eq!(outcome.coverage, Coverage::Complete, "{context}");
            assert_finds_the_truth(&outcome, &case.truth, &context);
            assert_races_replay(&program, &outcome, &context);
            assert!(outcome.statistics.executions <= 2 * optimal, "{context}");
            more += u64::from(outcome.statistics.executions > optimal);
            let options = Options { smallest_subtree: Duration::ZERO, ..options };
            let mut helpers = [(); 2].map(|()| Interpreter::new(program.clone()).unwrap());
            let mut executor = Interpreter::new(program.clone()).unwrap();
            let split = search_with(&mut executor, &mut helpers, &options, &mut (), None).unwrap();
            assert_eq!(split.coverage, Coverage::Complete, "split, {context}");
            assert_finds_the_truth(&split, &case.truth, &format!("split, {context}"));
            assert!(split.statistics.executions <= 2 * optimal, "split, {context}");
            fewer += u64::from(outcome.statistics.executions < optimal);
        }
    }
    assert!(fewer > 100 * more, "{fewer} searches executed less than `optimal`, {more} of them more");
}

/// An outlook may come in the middle of a search.
#[test]
fn an_outlook_that_comes_late_hides_nothing() {
    let mut fewer = 0;
    for seed in (0..testkit::programs(LATE)).map(|n| n * 4 + 1).chain(FURTHER) {
        let case = case(seed);
        let program = case.program();
        for (reduction, after) in [ReductionName::Pdp, ReductionName::Dhtc, ReductionName::Best]
            .into_iter()
            .flat_map(|reduction| [1, 2, 5].map(|after| (reduction, after)))
        {
            let context = format!("{reduction}, outlook after {after}, seed {seed}\n{}", case.sketch.emit().text);
            let later = Later::default();
            let options = Options { reduction, later: Some(later.clone()), ..Options::default() };
            let mut maker = Maker { left: after, outlook: outlook(&program), later };
            let outcome = search(&mut Interpreter::new(program.clone()).unwrap(), &options, &mut maker).unwrap();
            assert_eq!(outcome.coverage, Coverage::Complete, "{context}");
            assert_finds_the_truth(&outcome, &case.truth, &context);
            assert_races_replay(&program, &outcome, &context);
            fewer += u64::from(outcome.statistics.skipped_backtracks > 0);
        }
    }
    assert!(fewer > 0, "nothing was left out");
}

#[test]
fn the_plain_search_runs_every_interleaving() {
    let limits = Limits { executions: 2_000, ..Limits::default() };
    for seed in 0..testkit::programs(PLAIN) {
        let case = Case::generate(seed, &Feature::ALL.into(), limits);
        let program = case.program();
        let context = format!("seed {seed}\n{}", case.sketch.emit().text);
        let outcome = explore(&program, &outlook(&program), ReductionName::None);
        assert_finds_the_truth(&outcome, &case.truth, &context);
        assert_eq!(outcome.statistics.executions, case.truth.executions, "{context}");
        assert_eq!(outcome.statistics.deadlocked, case.truth.deadlocked, "{context}");
    }
}
