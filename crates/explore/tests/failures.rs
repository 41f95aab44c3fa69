//! Crashes, failed assertions, deadlocks and misuses against brute force: on generated programs each reduction finds all
//! there are, with everything looked for and with one kind alone, which asks only that kind's question of what can still
//! happen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use explore::{Check, Coverage, FailureKind, Options, Outcome, Outlook, ReductionName, search};
use model::{Pair, SiteId};
use outlook::Summary;
use program::Program;
use testkit::generator::{Case, Feature};
use testkit::{Interpreter, Limits, Truth};

use ReductionName::{Best, Dhtc, DporSleep, Optimal, Pdp};

/// Programs compared.
const PROGRAMS: u64 = 2_000;

fn explore(program: &Program, outlook: &Arc<dyn Outlook>, reduction: ReductionName, checks: &[Check]) -> Outcome {
    let checks = checks.iter().copied().collect();
    let options = Options { reduction, checks, outlook: Some(Arc::clone(outlook)), ..Options::default() };
    let outcome = search(&mut Interpreter::new(program.clone()).unwrap(), &options, &mut ()).unwrap();
    assert_eq!(outcome.coverage, Coverage::Complete);
    outcome
}

/// What is known of a kind of finding: sites, and for misuses what was done.
type Found = BTreeSet<(Vec<Option<SiteId>>, String)>;

fn found(outcome: &Outcome, check: Check) -> Found {
    if check == Check::Race {
        let sites = |pair: &Pair| pair.sites().map(Some).to_vec();
        return outcome.races.keys().map(|pair| (sites(pair), String::new())).collect();
    }
    let wanted = outcome.failures.iter().filter(|f| f.kind.check() == Some(check));
    let message = |f: &explore::Failure| if f.kind == FailureKind::Misuse { f.message.clone() } else { String::new() };
    wanted.map(|f| (f.involved.iter().map(|i| i.site).collect(), message(f))).collect()
}

fn truth(truth: &Truth, check: Check) -> Found {
    let plain = |sites: Vec<Option<SiteId>>| (sites, String::new());
    match check {
        Check::Race => truth.races.iter().map(|(a, b)| plain(vec![Some(*a), Some(*b)])).collect(),
        Check::Deadlock => truth.deadlocks.iter().map(|all| plain(all.iter().copied().map(Some).collect())).collect(),
        Check::Assert => truth.assertions.iter().map(|site| plain(vec![Some(*site)])).collect(),
        Check::Crash => truth.crashes.iter().map(|site| plain(vec![Some(*site)])).collect(),
        Check::Misuse => truth.misuses.iter().map(|(site, what)| (vec![*site], what.clone())).collect(),
    }
}

#[test]
fn every_failure_is_found() {
    let mut failing: BTreeMap<Check, u64> = BTreeMap::new();
    let mut executions: BTreeMap<ReductionName, u64> = BTreeMap::new();
    for seed in 0..PROGRAMS {
        let case = Case::generate(seed, &Feature::FAILING.into(), Limits::default());
        let program = case.program();
        let summary = Summary::new(Arc::new(program.clone()), &BTreeSet::new(), &BTreeSet::new());
        let outlook: Arc<dyn Outlook> = Arc::new(summary);
        let context = format!("seed {seed}\n{}", case.sketch.emit().text);
        for check in Check::ALL {
            *failing.entry(check).or_default() += u64::from(!truth(&case.truth, check).is_empty());
        }
        for reduction in [DporSleep, Pdp, Dhtc, Optimal, Best] {
            let outcome = explore(&program, &outlook, reduction, &Check::ALL);
            for check in Check::ALL {
                assert_eq!(found(&outcome, check), truth(&case.truth, check), "{check}, {reduction}, {context}");
            }
            *executions.entry(reduction).or_default() += outcome.statistics.executions;
        }
        for (check, reduction) in Check::ALL.into_iter().flat_map(|c| [Pdp, Dhtc, Best].map(|r| (c, r))) {
            let outcome = explore(&program, &outlook, reduction, &[check]);
            assert_eq!(found(&outcome, check), truth(&case.truth, check), "{check} alone, {reduction}, {context}");
        }
    }
    assert!(failing.values().all(|programs| *programs >= PROGRAMS / 50), "{failing:?}");
    assert!(executions[&Best] < executions[&Optimal], "{executions:?}: what cannot matter is left out");
}
