//! Generated programs: every feature occurs, both languages agree, and runs replay.

use std::collections::{BTreeMap, BTreeSet};

use model::{Executor, Schedule, Step, ThreadId};
use program::Program;
use testkit::generator::{Case, Feature, Random};
use testkit::{Interpreter, Limits};

fn all() -> BTreeSet<Feature> {
    Feature::ALL.into()
}

#[test]
fn every_feature_occurs() {
    let mut counts: BTreeMap<Feature, (u32, u32)> = Feature::ALL.into_iter().map(|f| (f, (0, 0))).collect();
    let (mut racy, mut executions) = (0, 0);
    let cases = testkit::programs(1_000) as u32;
    let mut deadlocks = 0;
    let mut assertions = 0;
    for seed in 0..cases {
        let case = Case::generate(seed.into(), &all(), Limits::default());
        let is_racy = u32::from(!case.truth.races.is_empty());
        racy += is_racy;
        deadlocks += u32::from(!case.truth.deadlocks.is_empty());
        assertions += u32::from(!case.truth.assertions.is_empty());
        executions += case.truth.executions;
        for (feature, (seen, of_them_racy)) in &mut counts {
            if feature.occurs_in(&case.sketch) {
                *seen += 1;
                *of_them_racy += is_racy;
            }
        }
    }
    for (feature, (seen, racy)) in &counts {
        assert!(*seen >= 10, "{feature:?} occurs in {seen} of {cases} programs");
        assert!(*racy > 0 && racy < seen, "{feature:?}: {racy} of {seen} are racy; both kinds are needed");
    }
    let share = f64::from(racy) / f64::from(cases);
    let report =
        format!("racy {racy}, deadlocks {deadlocks}, assertions {assertions}, executions {executions}: {counts:?}");
    assert!((0.2..0.8).contains(&share), "{report}");
    assert!(deadlocks >= 10 && assertions >= 10, "{report}");
}

#[test]
fn text_form_comes_back() {
    for seed in 0..testkit::programs(500) {
        let program = Case::generate(seed, &all(), Limits::default()).program();
        let text = program.to_string();
        assert_eq!(Program::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}")), program, "{text}");
    }
}

/// A schedule that switches at random points among the threads runnable in a run without a prefix.
fn random_schedule(random: &mut Random, interpreter: &mut Interpreter) -> Schedule {
    let mut schedule = Schedule::new();
    for _ in 0..random.below(12) {
        let Ok(trace) = interpreter.run(&schedule);
        let steps: usize = schedule_steps(&schedule, &trace);
        let runnable: Vec<ThreadId> = trace.runnable_at(Step(steps as u32)).iter().collect();
        if runnable.is_empty() {
            break;
        }
        let thread = random.pick(&runnable);
        let position = trace.events.iter().take(steps).filter(|e| e.id.thread == thread).count() as u32;
        schedule.push(thread, position + 1);
    }
    schedule
}

/// Number of events of the trace that the schedule fixed.
fn schedule_steps(schedule: &Schedule, trace: &model::Trace) -> usize {
    let mut last: BTreeMap<ThreadId, u32> = BTreeMap::new();
    for segment in &schedule.segments {
        last.insert(segment.thread, segment.until);
    }
    trace.events.iter().filter(|e| last.get(&e.id.thread).is_some_and(|until| e.id.position < *until)).count()
}

#[test]
fn a_run_replays_from_its_own_schedule() {
    let mut random = Random::new(1);
    for seed in 0..testkit::programs(1_000) {
        let case = Case::generate(seed, &all(), Limits::default());
        let mut interpreter = Interpreter::new(case.program()).unwrap();
        let schedule = random_schedule(&mut random, &mut interpreter);
        let Ok(trace) = interpreter.run(&schedule);
        let Ok(again) = interpreter.run(&trace.schedule_to(trace.events.next_id()));
        assert_eq!(again, trace, "seed {seed}");
        for (step, event) in trace.events.iter_enumerated() {
            assert!(trace.runnable_at(step).contains(event.id.thread), "seed {seed}, {step}");
        }
    }
}
