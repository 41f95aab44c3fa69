//! The search's turn: every schedule of this input, along the ways of the net's candidates first.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use ::explore::Led;
use cover::Candidate;
use model::{Engine, Pair, Verdict};
use report::{Code, PairVerdict};

use super::book::{Book, Work, is_misused};
use super::{CheckOptions, Watcher, stray, this_input};
use crate::Error;
use crate::build::Built;
use crate::explore::{ExploreOptions, Known, explore_knowing};
use crate::hints;

/// Most time to look for other errors once no pair is open.
const FOR_OTHER_ERRORS: Duration = Duration::from_secs(10);

/// Why a pair that no run shows cannot race.
const NEVER_MEET: &str = "no schedule of this input lets the two accesses touch the same memory unordered";

/// What would settle a race that was seen once only.
const UNCONFIRMED: &str = "please report this as a bug of raceproof, with the program if you can share it";

/// Explores the program's schedules.
pub(super) fn search(
    book: &mut Book<'_>,
    built: &Built,
    options: &CheckOptions,
    start: Instant,
    watcher: &mut dyn Watcher,
) -> Result<(), Error> {
    let left = options.deadline(start).saturating_duration_since(Instant::now());
    let (max_executions, time) = if book.is_settled() {
        let Some(executions) = options.effort.executions_for_other_errors() else { return Ok(()) };
        (Some(executions), left.min(FOR_OTHER_ERRORS))
    } else {
        (None, left)
    };
    let settled_before = book.is_settled();
    let search = ExploreOptions {
        limits: options.limits,
        max_executions,
        time: Some(time),
        witness_dir: options.witness_dir.clone(),
        jobs: options.jobs,
        interrupt: Some(options.interrupt.flag()),
        ..ExploreOptions::default()
    };
    let candidates = book.open_candidates();
    let mut known =
        Known { shown: book.shown(), absent: book.proved(), hints: candidates.iter().map(hints::hint).collect() };
    let mut explored = explore_knowing(built, &search, &known, watcher)?;
    if !known.absent.is_empty() && is_misused(&explored.0.errors) {
        // The proofs are void, and so is a search that relied on them.
        known.absent.clear();
        let left = options.deadline(start).saturating_duration_since(Instant::now());
        let again = ExploreOptions { time: Some(left.min(time)), ..search };
        explored = explore_knowing(built, &again, &known, watcher)?;
    }
    let (report, sites, led) = explored;
    let outcome = |(candidate, led): (&Candidate, Led)| (candidate.pair, hints::outcome(book.program, candidate, led));
    let led: BTreeMap<Pair, String> = candidates.iter().zip(led).map(outcome).collect();
    let report::Report { pairs, mut unknowns, errors, engines, assumptions, .. } = report;
    let (races, rest): (Vec<_>, Vec<_>) =
        sites.into_iter().zip(pairs).partition(|(_, listed)| listed.verdict == PairVerdict::Race);
    for (pair, listed) in races {
        let (reason, witness) = (listed.reason.clone(), listed.witness.clone());
        book.see(pair, listed);
        book.show(pair, Engine::Explore, reason, || stray::in_witness(built, &options.limits, witness))?;
    }
    if !known.absent.is_empty() {
        unknowns.splice(0..0, book.astray());
    }
    let stopped = unknowns.first().cloned();
    let mut unconfirmed = BTreeSet::new();
    for (pair, listed) in rest {
        let (verdict, reason, code) = (listed.verdict, listed.reason.clone(), listed.code);
        book.see(pair, listed);
        match verdict {
            PairVerdict::Absent if stopped.is_none() => {
                book.settle(pair, Engine::Explore, Verdict::Absent { reason, scope: this_input() })?;
            }
            PairVerdict::Unknown if code == Some(Code::UNCONFIRMED) => {
                unconfirmed.insert(pair);
                book.leave(pair, Engine::Explore, &reason, Code::UNCONFIRMED, UNCONFIRMED)?;
            }
            _ => book.list(pair),
        }
    }
    if stopped.is_none() {
        book.cover();
    }
    for pair in book.unsettled().into_iter().filter(|pair| !unconfirmed.contains(pair)) {
        match &stopped {
            None => {
                let reason = NEVER_MEET.to_owned();
                book.settle(pair, Engine::Explore, Verdict::Absent { reason, scope: this_input() })?;
            }
            Some(unknown) => {
                let (reason, code) = match book.candidate(pair) {
                    Some(way) => {
                        let led = led.get(&pair).map_or("", String::as_str);
                        (format!("{way}{led}; the schedules tried do not show it"), Code::CANDIDATE)
                    }
                    None => (format!("the schedules tried do not show it, but: {}", unknown.reason), unknown.code),
                };
                book.leave(pair, Engine::Explore, &reason, code, &unknown.settle)?;
            }
        }
    }
    let unknowns = if settled_before { Vec::new() } else { unknowns };
    book.worked(Work { engine: engines.into_iter().next(), unknowns, errors, assumptions });
    Ok(())
}
