//! Predictions replayed by the order of synchronisation alone, on generated programs.

mod support;

use std::collections::BTreeSet;

use coarse::{Order, replay};
use model::{Executor, Step};
use predict::{Options, predict};
use support::random_run;
use testkit::generator::{Case, Feature, Random};
use testkit::{Interpreter, Limits};

/// Every race that a coarse replay reaches is the predicted one, and it reaches nearly all. (Racing plain reads may
/// read other values and lead elsewhere.)
#[test]
fn the_order_of_synchronisation_suffices() {
    let features: BTreeSet<Feature> = Feature::ALL.into();
    let (mut reached, mut diverged) = (0, Vec::new());
    for seed in 0..testkit::programs(400) {
        let case = Case::generate(seed, &features, Limits { executions: 5_000, states: 4_000, events: 60 });
        let mut interpreter = Interpreter::new(case.program()).unwrap();
        let mut random = Random::new(seed ^ 0xc0a5);
        for run in 0..4 {
            let trace = random_run(&case.program(), &mut random);
            let prediction = predict(&trace, &Options::default());
            for race in &prediction.races {
                let plan = prediction.plan(race);
                let order =
                    Order::of(&trace, &plan.schedule, plan.in_run, usize::MAX).expect("a schedule of this trace");
                match replay(&mut interpreter, &order, &|| false).unwrap() {
                    Ok(found) => {
                        reached += 1;
                        let trace = interpreter.run(&found.schedule).unwrap();
                        let step = |id| trace.events.iter().position(|e| e.id == id).map(|at| Step(at as u32)).unwrap();
                        let [first, second] = found.accesses.map(step);
                        let sites = [first, second].map(|step| trace.events[step].site);
                        let sites = (sites[0].min(sites[1]), sites[0].max(sites[1]));
                        assert_eq!(sites, race.sites, "seed {seed}, run {run}");
                        assert!(model::race::is_race(&trace, first, second), "seed {seed}, run {run}");
                        assert!(!found.adjacent || first.0 + 1 == second.0, "seed {seed}, run {run}");
                    }
                    Err(why) => diverged.push((seed, run, race.method, race.adjacent, why)),
                }
            }
        }
    }
    assert!(reached > 500 && diverged.len() * 20 < reached, "{reached} reached, not: {diverged:#?}");
}
