//! One result of many: the checks of several tests, in which a finding of several is one finding.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use model::verdict::{Inputs, Memory, Scope, TeamSizes, Threads};

use crate::Code;
use crate::document::{
    Access, Command, Coverage, Engine, ErrorKind, Finding, Pair, PairVerdict, Report, SCHEMA, Unknown, Verdict,
};
use crate::listing::{Absent, Unlisted, count_absent};
use crate::suite::{Outcome, TestResult};

/// A test and the result of its check, if there is one.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What is known without the result; its outcome is right if there is none.
    pub test: TestResult,
    /// The result.
    pub report: Option<Report>,
    /// Whether the test is one that fails: then its failed assertions and crashes are no findings.
    pub should_fail: bool,
}

/// The results of several tests as one, in the order of the tests. `inputs` is what the user gave for all of them.
pub fn merge(raceproof: &str, inputs: Vec<String>, mut checked: Vec<Checked>, time_ms: u64) -> Report {
    for Checked { test, report, should_fail } in &mut checked {
        let Some(report) = report else { continue };
        if *should_fail {
            expect_failure(test, report);
        }
        test.outcome = if report.verdict == Verdict::Unknown { Outcome::Unknown } else { Outcome::Safe };
    }
    let reports: Vec<(&str, &Report)> =
        checked.iter().filter_map(|checked| Some((checked.test.name.as_str(), checked.report.as_ref()?))).collect();
    let pairs = pairs(&reports);
    let errors = errors(&reports);
    let mut unknowns = unknowns(&reports);
    unknowns.extend(checked.iter().filter(|checked| is_missing(checked)).map(|checked| missing(&checked.test)));
    let verdict = match () {
        // What is known already is for the result of all tests to say.
        () if pairs.iter().any(|pair| pair.verdict == PairVerdict::Race && pair.is_told()) => Verdict::Race,
        () if errors.iter().any(|error| error.kind == ErrorKind::Lanes) => Verdict::Race,
        () if !unknowns.is_empty() || reports.iter().any(|(_, report)| report.verdict == Verdict::Unknown) => {
            Verdict::Unknown
        }
        () => Verdict::Safe,
    };
    let (absent, unlisted) = counts(&reports, &pairs);
    let warning = |(name, report): &(&str, &Report)| -> Vec<String> {
        report.warnings.iter().map(|warning| format!("{name}: {warning}")).collect()
    };
    let warnings = reports.iter().flat_map(warning).collect();
    let reused = !reports.is_empty() && reports.iter().all(|(_, report)| report.reused);
    let (scope, engines, assumptions) = (scope(&reports), engines(&reports), assumptions(&reports));
    Report {
        raceproof: raceproof.to_owned(),
        schema: SCHEMA,
        command: Command::Test,
        inputs,
        args: Vec::new(),
        verdict,
        scope,
        pairs,
        absent,
        unlisted,
        unknowns,
        errors,
        engines,
        assumptions,
        warnings,
        tests: checked.into_iter().map(|checked| checked.test).collect(),
        reused,
        since: None,
        time_ms,
    }
    .with_settled_tests()
}

/// Takes what a test is meant to do out of its findings.
fn expect_failure(test: &mut TestResult, report: &mut Report) {
    let is_meant = |error: &Finding| matches!(error.kind, ErrorKind::Assertion | ErrorKind::Crash);
    let meant = report.errors.iter().filter(|error| is_meant(error)).count();
    report.errors.retain(|error| !is_meant(error));
    if meant > 0 {
        test.reason = Some("it fails, as it should".to_owned());
    }
}

/// Whether a test should have been checked and was not.
fn is_missing(checked: &Checked) -> bool {
    checked.report.is_none() && checked.test.outcome != Outcome::Skipped
}

fn missing(test: &TestResult) -> Unknown {
    let reason = test.reason.as_deref().unwrap_or("its check ended without a result");
    Unknown {
        code: Code::NOT_CHECKED,
        reason: format!("the test `{}` was not checked: {reason}", test.name),
        function: None,
        file: None,
        line: 0,
        column: 0,
        settle: "give it time with `--total-time`, or check its program alone".to_owned(),
        witness: None,
        tests: vec![test.name.clone()],
    }
}

/// What any of them rests on, by number.
fn assumptions(reports: &[(&str, &Report)]) -> Vec<String> {
    let all: BTreeSet<&String> = reports.iter().flat_map(|(_, report)| &report.assumptions).collect();
    let mut all: Vec<String> = all.into_iter().cloned().collect();
    all.sort_by_key(String::len);
    all
}

/// What makes an access the same access in another test.
type AccessKey = (Option<String>, u32, u32, String, Option<String>, String, bool);

/// What makes a pair the same pair in another test.
type PairKey = (String, [AccessKey; 2]);

fn key(pair: &Pair) -> PairKey {
    let of = |access: &Access| {
        let Access { file, line, column, function, inside, kind, atomic, .. } = access;
        (file.clone(), *line, *column, function.clone(), inside.clone(), kind.to_string(), *atomic)
    };
    let mut accesses = pair.accesses.each_ref().map(of);
    accesses.sort();
    (pair.variable.clone(), accesses)
}

/// A pair with the tests that say the same of it.
struct Merged {
    pair: Pair,
    tests: Vec<String>,
    /// Of which report it is, and what its best rank in any was.
    of: usize,
    rank: u32,
}

/// The pairs of all reports, each once: a race in one is a race, and what is open in one is open unless another test shows a
/// race.
fn pairs(reports: &[(&str, &Report)]) -> Vec<Pair> {
    let mut merged: Vec<Merged> = Vec::new();
    let mut known: HashMap<PairKey, usize> = HashMap::new();
    let mut ids: HashMap<(usize, &str), usize> = HashMap::new();
    for (number, (name, report)) in reports.iter().enumerate() {
        // Pairs of one report may look alike, as loops that were unrolled do; those stay apart.
        let mut own: HashMap<PairKey, u32> = HashMap::new();
        for pair in &report.pairs {
            let mut key = key(pair);
            let copy = own.entry(key.clone()).or_default();
            *copy += 1;
            key.0 = format!("{} {copy}", key.0);
            let at = *known.entry(key).or_insert_with(|| {
                merged.push(Merged { pair: pair.clone(), tests: Vec::new(), of: number, rank: pair.rank });
                merged.len() - 1
            });
            ids.insert((number, &pair.id), at);
            let entry = &mut merged[at];
            let strength = |pair: &Pair| (pair.verdict, !pair.confirmed);
            if strength(pair) < strength(&entry.pair) {
                if pair.verdict < entry.pair.verdict {
                    entry.tests.clear();
                }
                (entry.pair, entry.of) = (pair.clone(), number);
            }
            if pair.verdict == entry.pair.verdict {
                entry.tests.push((*name).to_owned());
                entry.rank = entry.rank.min(pair.rank);
            }
        }
    }
    let mut order: Vec<usize> = (0..merged.len()).collect();
    order.sort_by_key(|at| (merged[*at].pair.verdict, merged[*at].rank, *at));
    let mut id_of = vec![0; merged.len()];
    for (rank, at) in (1u32..).zip(&order) {
        id_of[*at] = rank;
    }
    let races: Vec<bool> = merged.iter().map(|merged| merged.pair.verdict == PairVerdict::Race).collect();
    let mut slots: Vec<Option<Merged>> = merged.into_iter().map(Some).collect();
    let id = |at: usize| format!("P{}", id_of[at]);
    let finish = |at: &usize| {
        let Merged { mut pair, tests, of, .. } = slots[*at].take()?;
        let outer = pair.details.inside.take().and_then(|outer| ids.get(&(of, outer.as_str())).copied());
        pair.details.inside = outer.filter(|outer| races[*outer] && outer != at).map(id);
        (pair.id, pair.rank) = (id(*at), id_of[*at]);
        if pair.verdict != PairVerdict::Absent {
            pair.details.tests = tests;
        }
        Some(pair)
    };
    order.iter().filter_map(finish).collect()
}

fn errors(reports: &[(&str, &Report)]) -> Vec<Finding> {
    let same = |one: &Finding, other: &Finding| {
        let key = |error: &Finding| (error.kind, error.message.clone(), error.file.clone(), error.line, error.column);
        key(one) == key(other) && one.function == other.function
    };
    let add = |merged: &mut Vec<Finding>, name: &str, error: &Finding| match merged
        .iter_mut()
        .find(|known| same(known, error))
    {
        Some(known) if known.tests.last().is_some_and(|last| last == name) => {}
        Some(known) => known.tests.push(name.to_owned()),
        None => merged.push(Finding { tests: vec![name.to_owned()], ..error.clone() }),
    };
    let mut merged = Vec::new();
    for (name, report) in reports {
        report.errors.iter().for_each(|error| add(&mut merged, name, error));
    }
    merged.sort_by_key(|error| error.kind);
    merged
}

fn unknowns(reports: &[(&str, &Report)]) -> Vec<Unknown> {
    // What is said of a run, its witness, differs from test to test.
    let bare = |unknown: &Unknown| Unknown { witness: None, tests: Vec::new(), ..unknown.clone() };
    let mut merged: Vec<Unknown> = Vec::new();
    let mut known: BTreeMap<Unknown, usize> = BTreeMap::new();
    for (name, report) in reports {
        for unknown in &report.unknowns {
            let at = *known.entry(bare(unknown)).or_insert_with(|| {
                merged.push(unknown.clone());
                merged.len() - 1
            });
            if merged[at].tests.last().is_none_or(|last| last != name) {
                merged[at].tests.push((*name).to_owned());
            }
        }
    }
    merged
}

/// What is absent by variable and reason, and how much the document does not list. Where a test's result does not list all
/// of its absent pairs, those that several tests share are counted once, by the test that has most.
fn counts(reports: &[(&str, &Report)], pairs: &[Pair]) -> (Vec<Absent>, Unlisted) {
    if reports.iter().all(|(_, report)| report.unlisted.is_none()) {
        return (count_absent(pairs), Unlisted::default());
    }
    let mut absent: Vec<Absent> = Vec::new();
    for (_, report) in reports {
        for one in report.absences().iter() {
            let same = |known: &&mut Absent| Absent { pairs: one.pairs, ..(*known).clone() } == *one;
            match absent.iter_mut().find(same) {
                Some(known) => known.pairs = known.pairs.max(one.pairs),
                None => absent.push(one.clone()),
            }
        }
    }
    let listed = pairs.iter().filter(|pair| pair.verdict == PairVerdict::Absent).count();
    let counted: usize = absent.iter().map(|absent| absent.pairs).sum();
    let most = |of: fn(&Unlisted) -> usize| reports.iter().map(|(_, report)| of(&report.unlisted)).max().unwrap_or(0);
    let unlisted = Unlisted {
        race: most(|unlisted| unlisted.race),
        unknown: most(|unlisted| unlisted.unknown),
        absent: counted.saturating_sub(listed),
    };
    (absent, unlisted)
}

/// What all tests cover.
fn scope(reports: &[(&str, &Report)]) -> Scope {
    let scopes = || reports.iter().map(|(_, report)| report.scope);
    let mut team_sizes = TeamSizes::NONE;
    scopes().flat_map(|scope| scope.team_sizes.iter()).for_each(|size| team_sizes.insert(size));
    let any = |holds: fn(Scope) -> bool| reports.is_empty() || scopes().any(holds);
    Scope {
        inputs: if any(|scope| scope.inputs == Inputs::This) { Inputs::This } else { Inputs::All },
        threads: if any(|scope| scope.threads == Threads::These) { Threads::These } else { Threads::Any },
        bounded: scopes().any(|scope| scope.bounded),
        memory: Memory::Sc,
        team_sizes,
    }
}

/// What each engine did in all tests together.
fn engines(reports: &[(&str, &Report)]) -> Vec<Engine> {
    let mut merged: BTreeMap<_, (Engine, usize)> = BTreeMap::new();
    for engine in reports.iter().flat_map(|(_, report)| &report.engines) {
        let stopped = usize::from(!engine.is_complete());
        match merged.get_mut(&engine.name) {
            None => {
                // What one engine says of one program is not said of all.
                let alone = Engine { reason: None, assurance: None, nets: None, outputs: None, ..engine.clone() };
                merged.insert(engine.name, (alone, stopped));
            }
            Some((sum, in_tests)) => {
                *in_tests += stopped;
                add(sum, engine);
            }
        }
    }
    let finish = |(mut engine, stopped): (Engine, usize)| {
        if stopped > 0 {
            engine.coverage = Coverage::Stopped;
            engine.reason = Some(format!("in {stopped} of {} tests", reports.len()));
        }
        engine
    };
    merged.into_values().map(finish).collect()
}

fn add(sum: &mut Engine, engine: &Engine) {
    sum.time_ms += engine.time_ms;
    sum.executions += engine.executions;
    sum.blocked += engine.blocked;
    sum.transitions += engine.transitions;
    sum.race_free_checks += engine.race_free_checks;
    sum.race_free_yes += engine.race_free_yes;
    sum.skipped_backtracks += engine.skipped_backtracks;
    sum.samples = match (sum.samples, engine.samples) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    };
    sum.threads = sum.threads.max(engine.threads);
}
