//! Crashes, failed assertions, deadlocks and misuses compared with brute force: on generated programs each reduction
//! finds all of them, both when everything is searched for and when a single kind is, which makes the pruner ask about
//! that kind only.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use explore::{Check, Coverage, FailureKind, Options, Outcome, Outlook, ReductionName, search};
use facts::Facts;
use model::{End, Executor, Pair, SiteId, Trace};
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

/// What identifies findings of a kind: sites and, for misuses, the message.
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

/// Every failure occurs again when its schedule is run, and does not occur with fewer switches when the run omits its
/// last preemption. Returns the number of failures and how many of them need a preemption.
fn assert_replay(program: &Program, outcome: &Outcome, context: &str) -> [usize; 2] {
    let mut fresh = Interpreter::new(program.clone()).unwrap();
    let mut decided = 0;
    for failure in &outcome.failures {
        let shown = |trace: &Trace| match (failure.kind, &trace.end) {
            (FailureKind::Deadlock, End::Deadlock) => {
                let mut blocked: Vec<_> = trace.pending.iter().map(|p| p.event.site).collect();
                blocked.sort();
                blocked == failure.involved.iter().map(|i| i.site).collect::<Vec<_>>()
            }
            (FailureKind::Assertion, End::Assertion { site, .. }) | (FailureKind::Crash, End::Crash { site, .. }) => {
                failure.involved[0].site == *site
            }
            (FailureKind::Misuse, _) => {
                trace.misuses.iter().any(|m| m.what == failure.message && failure.involved[0].site == m.site)
            }
            _ => false,
        };
        let trace = fresh.run(&failure.schedule).unwrap();
        assert!(shown(&trace), "{failure:?} does not show again: {context}");
        if let Some(last) = explore::last_preemption(&trace) {
            decided += 1;
            let without = fresh.run(&trace.schedule_to(last)).unwrap();
            let fewer = without.schedule_to(without.events.next_id()).switches() < failure.schedule.switches();
            assert!(!(shown(&without) && fewer), "{failure:?} shows with fewer switches: {context}");
        }
    }
    [outcome.failures.len(), decided]
}

#[test]
fn every_failure_is_found() {
    let mut failing: BTreeMap<Check, u64> = BTreeMap::new();
    let mut executions: BTreeMap<ReductionName, u64> = BTreeMap::new();
    let mut switched = [0; 2];
    for seed in 0..testkit::programs(PROGRAMS) {
        let case = Case::generate(seed, &Feature::FAILING.into(), Limits::default());
        let program = case.program();
        let summary = Summary::new(Arc::new(Facts::of(program.clone())), &BTreeSet::new()).unwrap();
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
            if reduction == Best {
                let [shown, decided] = assert_replay(&program, &outcome, &context);
                switched[0] += shown;
                switched[1] += decided;
            }
        }
        for (check, reduction) in Check::ALL.into_iter().flat_map(|c| [Pdp, Dhtc, Best].map(|r| (c, r))) {
            let outcome = explore(&program, &outlook, reduction, &[check]);
            assert_eq!(found(&outcome, check), truth(&case.truth, check), "{check} alone, {reduction}, {context}");
        }
    }
    assert!(failing.values().all(|programs| *programs >= PROGRAMS / 50), "{failing:?}");
    let [shown, decided] = switched;
    assert!(shown > 500 && decided > 100 && decided < shown, "{decided} of {shown} failures need a preemption");
    assert!(executions[&Best] < executions[&Optimal], "{executions:?}: what cannot matter is left out");
}
