//! From what a search saw to one verdict per pair, and to the reasons why the answer is not better.

use std::collections::BTreeSet;

use explore::{Check, Coverage, FoundRace, Outcome, Sampling, StopReason};
use model::verdict::{Inputs, Memory, Scope, Threads};
use model::{Engine, Ledger, SiteId, Verdict};
use report::{Code, PairVerdict, Unknown};

use crate::build::Built;
use crate::place::Place;
use crate::{Error, ExploreOptions};

/// What the search's answers cover.
pub(crate) fn scope(outcome: &Outcome) -> Scope {
    let bounded = outcome.coverage != Coverage::Complete;
    Scope { inputs: Inputs::This, threads: Threads::These, bounded, memory: Memory::Sc }
}

/// Why sampling does not settle anything, with what is needed to do the same again.
pub(crate) fn sampled(Sampling { strategy, runs, seed }: &Sampling) -> String {
    format!("{}: {runs} runs by `{strategy}` with the seed {seed}", StopReason::Sampled)
}

/// What keeps the answer from being `safe` if races are not looked for.
pub(crate) fn narrowed(checks: &BTreeSet<Check>) -> Vec<Unknown> {
    if checks.contains(&Check::Race) {
        return Vec::new();
    }
    let (reason, settle) = ("races were not looked for".to_owned(), "search again with `--check race`".to_owned());
    let (function, file, line, column, witness) = (None, None, 0, 0, None);
    vec![Unknown { code: Code::SEARCH_BOUND, reason, function, file, line, column, settle, witness }]
}

/// What keeps the answer from being `safe`: bounds that cut the search, and whatever is not modelled.
pub(crate) fn unknowns(built: &Built, outcome: &Outcome, options: &ExploreOptions) -> Vec<Unknown> {
    let mut unknowns = Vec::new();
    if let Coverage::Stopped(reason) = outcome.coverage {
        let bound = match reason {
            StopReason::Executions => Some((Code::SEARCH_BOUND, "raise `--max-executions`")),
            StopReason::Deadline => Some((Code::SEARCH_BOUND, "raise `--time`")),
            StopReason::Choices => Some((Code::CHOICES, "narrow the range with `raceproof_choose(lo, hi)`")),
            StopReason::Assumptions => Some((Code::ASSUMPTIONS, "look at what the program assumes")),
            StopReason::Interrupted => Some((Code::INTERRUPTED, "search again, or go on with `--resume`")),
            StopReason::Preemptions => Some((Code::SEARCH_BOUND, "raise `--max-preemptions`")),
            StopReason::Sampled => Some((Code::SEARCH_BOUND, "search without `--sample`")),
            StopReason::FirstFound => Some((Code::STOPPED_AT_FIRST, "search again without `--first`")),
            // Each run that was cut is listed by itself.
            StopReason::StepLimit | StopReason::TimeLimit => None,
        };
        if let Some((code, settle)) = bound {
            let sampling = options.sampling.as_ref().filter(|_| reason == StopReason::Sampled);
            let (reason, settle) = (sampling.map_or_else(|| reason.to_string(), sampled), settle.to_owned());
            let (function, file, line, column, witness) = (None, None, 0, 0, None);
            unknowns.push(Unknown { code, reason, function, file, line, column, settle, witness });
        }
    }
    unknowns.extend(unmodelled(built, outcome.unmodelled.iter().map(|u| (u.site, &u.what))));
    unknowns
}

/// What is not modelled, in the program and in its runs.
pub(crate) fn unmodelled<'a>(
    built: &'a Built,
    in_runs: impl Iterator<Item = (Option<SiteId>, &'a String)>,
) -> Vec<Unknown> {
    let mut unknowns = Vec::new();
    let in_program = built.unmodelled.iter().map(|u| (u.site, &u.what, u.function.clone()));
    for (site, what, function) in in_program.chain(in_runs.map(|(site, what)| (site, what, None))) {
        let Place { file, line, column, .. } = Place::of(&built.program, site);
        let settle = match &function {
            Some(name) => format!(
                "give the source of `{name}` as a further input, or, if it touches no shared memory, `--assume-pure {name}`"
            ),
            None => "leave it out of the program under test".to_owned(),
        };
        let unknown = Unknown {
            code: Code::UNMODELLED,
            reason: what.clone(),
            function,
            file,
            line,
            column,
            settle,
            witness: None,
        };
        if !unknowns.contains(&unknown) {
            unknowns.push(unknown);
        }
    }
    unknowns
}

/// One verdict per pair that met in a run.
pub(crate) fn settle(outcome: &Outcome, unknowns: &[Unknown]) -> Result<Ledger, Error> {
    let mut ledger = Ledger::new();
    for (pair, race) in &outcome.races {
        let verdict = if race.confirmed {
            Verdict::Race { confirmed: true, reason: race_reason(race.witness.adjacent).to_owned() }
        } else {
            Verdict::Unknown { reason: "a run had this race, but its schedule did not show it again".to_owned() }
        };
        ledger.settle(*pair, Engine::Explore, verdict)?;
    }
    for pair in &outcome.ordered {
        let verdict = match unknowns.first() {
            None => Verdict::Absent {
                reason: "every schedule of this input orders the two accesses".to_owned(),
                scope: scope(outcome),
            },
            Some(unknown) => {
                Verdict::Unknown { reason: format!("every run seen orders the two accesses, but: {}", unknown.reason) }
            }
        };
        ledger.settle(*pair, Engine::Explore, verdict)?;
    }
    Ok(ledger)
}

/// Why a confirmed race is one.
pub(crate) fn race_reason(adjacent: bool) -> &'static str {
    if adjacent {
        "nothing orders the two accesses: a run had both threads standing before them"
    } else {
        "nothing orders the two accesses, although the second only happens after the first"
    }
}

/// The code of a pair without a confirmed race. One that raced in a run, but not in its witness's, is not a bounded
/// search's fault.
pub(crate) fn code(verdict: PairVerdict, race: Option<&FoundRace>, unknowns: &[Unknown]) -> Option<Code> {
    match verdict {
        PairVerdict::Absent => None,
        _ if race.is_some() => Some(Code::UNCONFIRMED),
        _ => unknowns.first().map(|unknown| unknown.code),
    }
}

#[cfg(test)]
mod tests {
    use explore::{Statistics, Witness};
    use model::{EventId, Pair, Schedule, ThreadId};

    use super::*;

    /// No program of the gallery is so different from run to run and yet can be searched.
    #[test]
    fn a_race_that_is_not_shown_again_is_unknown() {
        let pair = Pair::new(SiteId(1), SiteId(2));
        let event = |thread| EventId { thread: ThreadId(thread), position: 3 };
        let witness = Witness { schedule: Schedule::new(), first: event(1), second: event(2), adjacent: true };
        let race = FoundRace { witness, confirmed: false };
        let outcome = Outcome {
            races: std::iter::once((pair, race.clone())).collect(),
            ordered: BTreeSet::new(),
            failures: Vec::new(),
            unmodelled: Vec::new(),
            weak_atomics: false,
            coverage: Coverage::Complete,
            statistics: Statistics::default(),
            hints: Vec::new(),
        };
        let ledger = settle(&outcome, &[]).unwrap();
        assert!(matches!(&ledger.get(pair).unwrap().verdict, Verdict::Unknown { .. }));
        assert_eq!(code(PairVerdict::Unknown, Some(&race), &[]).map(Code::name), Some("RP0106"));
    }
}
