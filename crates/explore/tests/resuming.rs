//! Helpers, checkpoints and bounds change when and how far a search runs; never what an execution is, nor which
//! executions there are.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use explore::{
    Checkpoint, Coverage, Observer, Options, Outcome, ReductionName, Sampling, StopReason, Strategy, sample, search,
    search_with,
};
use facts::Facts;
use model::{Op, Schedule, Step, Trace};
use outlook::Summary;
use testkit::generator::{Case, Feature};
use testkit::{Interpreter, Limits};

/// The executions of a search in order, and its checkpoints.
#[derive(Default)]
struct Log {
    executions: Vec<Schedule>,
    /// Requests a checkpoint after this many runs.
    at: Option<usize>,
    checkpoint: Option<Vec<u8>>,
    /// Runs before the checkpoint.
    before: usize,
}

impl Observer for Log {
    fn trace(&mut self, trace: &Trace, _from: Step) {
        self.executions.push(trace.schedule_to(trace.events.next_id()));
    }
    fn wants_checkpoint(&mut self, last: bool) -> bool {
        last || self.at.is_some_and(|at| self.executions.len() == at)
    }
    fn checkpoint(&mut self, checkpoint: &Checkpoint) {
        self.checkpoint = Some(postcard::to_stdvec(checkpoint).unwrap());
        self.before = self.executions.len();
    }
}

fn small(seed: u64) -> Case {
    Case::generate(seed, &Feature::ALL.into(), Limits { executions: 400, ..Limits::default() })
}

fn interpreter(case: &Case) -> Interpreter {
    Interpreter::new(case.program()).unwrap()
}

/// Options of a search with an outlook.
fn options(case: &Case, reduction: ReductionName) -> Options {
    let summary = Summary::new(Arc::new(Facts::of(case.program())), &BTreeSet::new()).unwrap();
    Options { reduction, outlook: Some(Arc::new(summary)), ..Options::default() }
}

fn alone(case: &Case, options: &Options) -> (Outcome, Vec<Schedule>) {
    let mut log = Log::default();
    (search(&mut interpreter(case), options, &mut log).unwrap(), log.executions)
}

#[test]
fn helpers_change_nothing_but_the_time() {
    let mut long = 0;
    for seed in 0..testkit::programs(120) {
        let case = small(seed);
        for reduction in ReductionName::ALL {
            for (max_executions, stop_at_first) in [(None, false), (Some(7), false), (None, true)] {
                let options = Options {
                    max_executions,
                    stop_at_first,
                    smallest_subtree: Duration::ZERO,
                    ..options(&case, reduction)
                };
                let (expected, executions) = alone(&case, &options);
                for helpers in 1..=2 {
                    let mut helpers = vec![interpreter(&case); helpers];
                    let outcome = search_with(&mut interpreter(&case), &mut helpers, &options, &mut (), None).unwrap();
                    assert_eq!(outcome, expected, "seed {seed}, {reduction}, {} helpers", helpers.len());
                }
                long += usize::from(executions.len() > 20);
            }
        }
    }
    assert!(long > 50, "{long} searches of some length");
}

/// A search that is stopped anywhere and resumed from any earlier checkpoint has the same executions and the same
/// outcome.
#[test]
fn a_search_goes_on_where_its_checkpoint_was_made() {
    let mut resumed = 0;
    for seed in 0..testkit::programs(200) {
        let case = small(seed);
        let bounds = [None, Some(1)].into_iter();
        for (reduction, max_preemptions) in
            ReductionName::ALL.into_iter().flat_map(|r| bounds.clone().map(move |b| (r, b)))
        {
            let options = Options { max_preemptions, smallest_subtree: Duration::ZERO, ..options(&case, reduction) };
            let (expected, executions) = alone(&case, &options);
            for part in 1..4 {
                let context = format!("seed {seed}, {reduction}, {max_preemptions:?}, part {part}");
                let at = executions.len() * part / 4;
                // Killed some executions after the checkpoint, or stopped regularly.
                let killed = part != 2;
                let stop = Options { max_executions: Some(at as u64 + 3), ..options.clone() };
                let mut log = Log { at: killed.then_some(at), ..Log::default() };
                let stopped = search(&mut interpreter(&case), &stop, &mut log).unwrap();
                let (Some(bytes), true) = (&log.checkpoint, stopped.coverage != Coverage::Complete) else { continue };
                let checkpoint: Checkpoint = postcard::from_bytes(bytes).unwrap();
                let mut rest = Log::default();
                let resume = |helpers: &mut [Interpreter], rest: &mut Log| {
                    let checkpoint = Some(checkpoint.clone());
                    search_with(&mut interpreter(&case), helpers, &options, rest, checkpoint).unwrap()
                };
                let outcome = resume(&mut [], &mut rest);
                let helped = resume(&mut [interpreter(&case)], &mut Log::default());
                assert_eq!(helped, expected, "{context}, with a helper");
                log.executions.truncate(log.before);
                log.executions.extend(rest.executions);
                assert_eq!(log.executions, executions, "{context}");
                assert_eq!(outcome, expected, "{context}");
                resumed += 1;
            }
        }
    }
    assert!(resumed > 500, "{resumed} searches gone on with");
}

#[test]
fn a_checkpoint_of_another_search_is_refused() {
    let (one, other) = (small(3), small(4));
    let mut log = Log::default();
    let options = Options { max_executions: Some(1), ..Options::default() };
    search(&mut interpreter(&one), &options, &mut log).unwrap();
    let checkpoint: Checkpoint = postcard::from_bytes(&log.checkpoint.unwrap()).unwrap();
    let resume = |case: &Case, options: &Options| {
        let outcome = search_with(&mut interpreter(case), &mut [], options, &mut (), Some(checkpoint.clone()));
        outcome.unwrap_err().to_string()
    };
    let text = resume(&other, &options);
    assert!(text.contains("this checkpoint does not fit the search"), "{text}");
    let text = resume(&one, &Options { max_preemptions: Some(1), ..options.clone() });
    assert!(text.contains("another reduction or another bound"), "{text}");
}

/// Number of switches away from a thread that could have continued.
fn preemptions(trace: &Trace) -> u32 {
    let mut count = 0;
    for (step, pair) in (1..).map(Step).zip(trace.events.as_slice().windows(2)) {
        let [before, after] = [&pair[0], &pair[1]];
        let switches = before.id.thread != after.id.thread && before.op != Op::Yield;
        count += u32::from(switches && trace.runnable_at(step).contains(before.id.thread));
    }
    count
}

/// The schedules of an unreduced search with their numbers of preemptions.
#[derive(Default)]
struct ByPreemptions(Vec<(u32, Schedule)>);

impl Observer for ByPreemptions {
    fn trace(&mut self, trace: &Trace, _from: Step) {
        self.0.push((preemptions(trace), trace.schedule_to(trace.events.next_id())));
    }
}

#[test]
fn bounding_preemptions_leaves_out_exactly_the_schedules_with_more() {
    let (mut cut, mut complete) = (0, 0);
    for seed in 0..testkit::programs(150) {
        let case = small(seed);
        let mut all = ByPreemptions::default();
        let plain = Options { reduction: ReductionName::None, ..Options::default() };
        search(&mut interpreter(&case), &plain, &mut all).unwrap();
        for bound in 0..4 {
            let mut some = ByPreemptions::default();
            let options = Options { max_preemptions: Some(bound), ..Options::default() };
            let outcome = search(&mut interpreter(&case), &options, &mut some).unwrap();
            assert!(some.0.is_sorted_by_key(|(preemptions, _)| *preemptions), "seed {seed}: fewer come first");
            let expected: BTreeSet<_> =
                all.0.iter().filter(|(preemptions, _)| *preemptions <= bound).cloned().collect();
            assert_eq!(some.0.len(), expected.len(), "seed {seed}, {bound} preemptions: each once");
            assert_eq!(some.0.into_iter().collect::<BTreeSet<_>>(), expected, "seed {seed}, {bound} preemptions");
            let more = expected.len() < all.0.len();
            let coverage = if more { Coverage::Stopped(StopReason::Preemptions) } else { Coverage::Complete };
            assert_eq!(outcome.coverage, coverage, "seed {seed}, {bound} preemptions");
            let truth: BTreeSet<_> = case.truth.races.iter().map(|(a, b)| model::Pair::new(*a, *b)).collect();
            assert!(outcome.races.keys().all(|pair| truth.contains(pair)), "seed {seed}");
            if more { cut += 1 } else { complete += 1 }
        }
    }
    assert!(cut > 50 && complete > 50, "{cut} cut, {complete} complete");
}

/// Samples find real errors, the same for the same seed, and with enough runs most of them.
#[test]
fn sampling_finds_real_races_and_claims_nothing() {
    let (mut found, mut there) = ([0; 3], 0);
    for seed in 0..testkit::programs(300) {
        let case = Case::generate(seed, &Feature::ALL.into(), Limits::default());
        let truth: BTreeSet<_> = case.truth.races.iter().map(|(a, b)| model::Pair::new(*a, *b)).collect();
        for (strategy, found) in
            [Strategy::Random, Strategy::Priorities(2), Strategy::Events].into_iter().zip(&mut found)
        {
            let sampling = Sampling { strategy, runs: 30, seed };
            let try_some = || {
                let mut log = Log::default();
                (sample(&mut interpreter(&case), sampling, &Options::default(), &mut log).unwrap(), log.executions)
            };
            let (outcome, executions) = try_some();
            assert_eq!((outcome.clone(), executions), try_some(), "seed {seed}, {strategy}");
            assert_eq!(outcome.coverage, Coverage::Stopped(StopReason::Sampled), "seed {seed}, {strategy}");
            assert_eq!(outcome.statistics.executions, 30);
            for (pair, race) in &outcome.races {
                assert!(truth.contains(pair) && race.confirmed, "seed {seed}, {strategy}: {pair}");
            }
            *found += outcome.races.len();
        }
        there += truth.len();
    }
    assert!(found.iter().all(|found| found * 10 > there * 8), "{found:?} of {there} races");
}

/// Samples beside a search change neither what a complete search says nor whether it is complete. They are counted apart.
#[test]
fn samples_beside_a_search_change_no_answer() {
    let (mut complete, mut sampled) = (0, 0);
    for seed in 0..testkit::programs(200) {
        let case = Case::generate(seed, &Feature::ALL.into(), Limits::default());
        for reduction in [ReductionName::Optimal, ReductionName::Best, ReductionName::DporSleep] {
            let alone = Options { reduction, ..Options::default() };
            let beside = Options { samples_after: Some(Duration::ZERO), ..alone.clone() };
            let run = |options| search_with(&mut interpreter(&case), &mut [], options, &mut (), None).unwrap();
            let (alone, beside) = (run(&alone), run(&beside));
            let pairs = |outcome: &Outcome| outcome.races.keys().copied().collect::<BTreeSet<_>>();
            assert_eq!(alone.coverage, beside.coverage, "seed {seed}, {reduction}");
            assert!(beside.races.values().all(|race| race.confirmed), "seed {seed}, {reduction}");
            assert_eq!(alone.statistics.samples, 0);
            sampled += beside.statistics.samples;
            if alone.coverage == Coverage::Complete {
                complete += 1;
                assert_eq!(pairs(&alone), pairs(&beside), "seed {seed}, {reduction}");
            }
        }
    }
    assert!(complete > 100 && sampled > 100, "{complete} complete, {sampled} samples");
}

/// A search that ends at its bound on executions is followed by as many samples; they prove nothing.
#[test]
fn a_bound_on_executions_is_followed_by_samples() {
    let mut bounded = 0;
    for seed in 0..testkit::programs(100) {
        let case = Case::generate(seed, &Feature::ALL.into(), Limits::default());
        let after = Some(Duration::from_secs(3600));
        let options = Options { max_executions: Some(2), samples_after: after, ..Options::default() };
        let outcome = search_with(&mut interpreter(&case), &mut [], &options, &mut (), None).unwrap();
        match outcome.coverage {
            Coverage::Stopped(StopReason::Executions) => {
                bounded += 1;
                assert_eq!((outcome.statistics.executions, outcome.statistics.samples), (2, 2), "seed {seed}");
            }
            _ => assert_eq!(outcome.statistics.samples, 0, "seed {seed}"),
        }
    }
    assert!(bounded > 10, "{bounded}");
}

#[test]
fn strategies_are_spelled_as_they_print() {
    for text in ["random", "pos", "pct:1", "pct:16"] {
        assert_eq!(text.parse::<Strategy>().unwrap().to_string(), text);
    }
    for text in ["", "pct", "pct:0", "pct:17", "pct:x", "Random"] {
        assert!(text.parse::<Strategy>().unwrap_err().to_string().contains("is not a strategy"), "{text}");
    }
}
