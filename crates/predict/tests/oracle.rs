//! On generated programs, every prediction is a race and replays, and no race is missed.

mod support;

use std::collections::BTreeSet;

use model::{End, Executor, Step};
use predict::{Method, Options, PredictedRace, Prediction, observe, predict};
use support::{brute, random_run};
use testkit::generator::{Case, Feature, Random};
use testkit::{Interpreter, Limits, unordered};

const PROGRAMS: u64 = 800;
const RUNS: usize = 8;

/// A run of the schedule has both accesses, racing, and side by side if the prediction says so.
fn check_replay(interpreter: &mut Interpreter, prediction: &Prediction<'_>, race: &PredictedRace, name: &str) {
    let plan = prediction.plan(race);
    let run = interpreter.run(&plan.schedule).expect("interpreters do not fail");
    assert!(!matches!(run.end, End::Diverged { .. }), "{name}: {:?}\n{race:?}", run.end);
    let step = |id| run.events.iter().position(|e| e.id == id).map(|at| Step(at as u32)).expect("the access happens");
    let (first, second) = (step(plan.in_run[0]), step(plan.in_run[1]));
    if race.adjacent {
        assert_eq!(first.0 + 1, second.0, "{name}: not side by side\n{race:?}");
    }
    assert!(model::race::is_race(&run, first, second), "{name}: no race\n{race:?}");
    let (one, other) = (run.events[first].site, run.events[second].site);
    assert_eq!(race.sites, (one.min(other), one.max(other)), "{name}");
}

#[test]
fn predictions_are_races_and_all_of_them() {
    let features: BTreeSet<Feature> = Feature::ALL.into();
    let (mut traces, mut compared) = (0, 0);
    let mut by_method = std::collections::BTreeMap::<Method, u32>::new();
    for seed in 0..testkit::programs(PROGRAMS) {
        let case = Case::generate(seed, &features, Limits { executions: 5_000, states: 4_000, events: 60 });
        let program = case.program();
        let mut interpreter = Interpreter::new(program.clone()).expect("generated programs are valid");
        let mut random = Random::new(seed ^ 0x5eed);
        for run in 0..RUNS {
            let name = format!("seed {seed}, run {run}");
            let trace = random_run(&program, &mut random);
            let prediction = predict(&trace, &Options::default());
            traces += 1;
            let is_observed = |race: &&PredictedRace| race.method == Method::Observed;
            let observed: BTreeSet<_> = prediction.races.iter().filter(is_observed).map(|race| race.sites).collect();
            assert_eq!(observed, unordered(&trace), "{name}");
            let alone: BTreeSet<_> = observe(&trace, &|| false).races().iter().map(|race| race.sites).collect();
            assert_eq!(observed, alone, "{name}");
            for race in &prediction.races {
                *by_method.entry(race.method).or_default() += 1;
                let pair = race.pair().expect("accesses have sites").sites();
                assert!(case.truth.races.contains(&(pair[0], pair[1])), "{name}: brute force knows no {race:?}");
                check_replay(&mut interpreter, &prediction, race, &name);
            }
            if !trace.misuses.is_empty() || trace.events.len() > 34 {
                continue;
            }
            let Some(expected) = brute::side_by_side(&trace, 20_000) else { continue };
            compared += 1;
            let adjacent = prediction.races.iter().filter(|r| r.adjacent).map(|r| r.sites);
            let found: BTreeSet<_> = adjacent.collect();
            let all: BTreeSet<_> = prediction.races.iter().map(|r| r.sites).collect();
            assert!(expected.is_subset(&all), "{name}: missed {:?}\n{:#?}", expected.difference(&all), trace.events);
            assert!(found.is_subset(&expected), "{name}: too many {:?}", found.difference(&expected));
            assert!(prediction.open.is_empty(), "{name}: {:?}", prediction.open);
            assert!(prediction.rejected.iter().all(|pair| !expected.contains(pair)), "{name}");
        }
    }
    assert!(traces >= 5_000 && compared * 2 > traces, "{traces} traces, {compared} compared with brute force");
    for method in [Method::Observed, Method::SyncPreserving, Method::Reordering] {
        assert!(by_method.get(&method).is_some_and(|n| *n >= 20), "{by_method:?}");
    }
}
