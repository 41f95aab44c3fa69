//! Predicts races from one recorded run: a pure function from a trace to races with schedules.
//!
//! After Carril, "Predicting Data Races from Program Traces": infer the other interleavings that an observed run
//! allows, and look for races in them. [`predict`] does this in three passes, each for the pairs the previous one left
//! open:
//!
//! 1. *Filters.* Pairs of sites that race in the trace itself, by [happens-before](model::race), are observed. Accesses
//!    under a common lock cannot come side by side.
//! 2. *Sync-preserving races*, with an amount of work that is linear in the length of the trace.
//! 3. *Exact search* over the correct reorderings of windows of the trace, with a budget for each pair and for all.
//!
//! Time and memory are about linear in the number of events, whatever the number of locks; a pair for which the work is
//! spent stays open. A caller may stop at any time ([`Aim`]) and gets what is known.
//!
//! *Deviation*: the paper ignores reads-from, so half of its predictions are infeasible. Here every read reads from its
//! observed write, unless [`Options::relaxed`] says otherwise.
//!
//! *Can miss*: races of events that the run did not have; races further apart than a window that the first two passes
//! do not find ([`Prediction::open`] says so). *Never wrong*, with reads-from: a run of a predicted schedule brings the
//! two accesses side by side, because everything that leads to them is as observed.
//!
//! Traces may come from anywhere: [`rapid`] reads and writes the text form of RAPID, and [`cspm`] writes the paper's
//! CSP model of a trace, best of one that [`mod@reduce`] has made smaller.

mod clock_log;
pub mod cspm;
mod exact;
mod lanes;
mod last_writes;
mod needs;
mod object;
mod options;
mod outcome;
pub mod rapid;
pub mod reduce;
mod replay_state;
mod schedule_builder;
mod sync_preserving;
mod tracker;
mod unsupported;
mod window;
mod window_search;

use std::collections::BTreeMap;

use model::Trace;
use model::race::{self, SitePair};

use lanes::{FoundLanes, LaneId, Lanes};
use needs::Needs;
use outcome::Lead;
use reduce::Reduced;
use sync_preserving::Work;
use tracker::{Survey, Tracker};
use window_search::WindowSearch;

pub use options::{Aim, Options};
pub use outcome::{Method, Open, Plan, PredictedRace, Prediction, Unsettled};
pub use unsupported::Unsupported;

/// Pairs of sites with the pairs of lanes that could race.
type LanePairs = BTreeMap<SitePair, FoundLanes>;

/// Comparisons of the sync-preserving pass that any trace has; each of its events adds to them.
const WORK: u64 = 10_000_000;
const WORK_PER_EVENT: u64 = 4;

/// What a pair of sites may have of them where there is enough; with many pairs, an equal part of the rest.
const WORK_PER_PAIR: u64 = 100_000;

/// Events between two looks at whether the time is up.
const LOOK: u32 = 1 << 12;

/// Predicts races from a trace. The trace must be consistent, as executors and [`rapid`] make it: it lists all its
/// threads, and each thread's events are numbered from 0.
pub fn predict<'t>(trace: &'t Trace, options: &Options) -> Prediction<'t> {
    predict_some(trace, options, &Aim::default())
}

/// The same for some pairs and with a way to stop early.
pub fn predict_some<'t>(trace: &'t Trace, options: &Options, aim: &Aim<'_>) -> Prediction<'t> {
    observe(trace, aim.is_over).predict(options, aim)
}

/// What a trace shows by itself.
#[derive(Debug)]
pub struct Observation<'t> {
    reduced: Reduced<'t>,
    analysis: race::Analysis,
    /// Whether the whole trace was looked at.
    whole: bool,
}

/// Finds the races in a trace itself, by happens-before: the first pass of [`predict`], without anything to replay them by.
pub fn observe<'t>(trace: &'t Trace, is_over: &dyn Fn() -> bool) -> Observation<'t> {
    let reduced = reduce::reduce_if_worthwhile(trace);
    let (analysis, whole) = race::analyse_while(&reduced.trace, &|| !is_over());
    Observation { reduced, analysis, whole }
}

impl<'t> Observation<'t> {
    /// One race for each racing pair of sites, by sites.
    pub fn races(&self) -> Vec<PredictedRace> {
        let trace = &*self.reduced.trace;
        let of = |race: &race::Race| alone(&self.reduced, sites(trace, race), race);
        let mut races: Vec<PredictedRace> = self.analysis.races.iter().map(of).collect();
        races.sort_unstable_by_key(|race| race.sites);
        races.dedup_by_key(|race| race.sites);
        races
    }

    /// The further passes.
    pub fn predict(self, options: &Options, aim: &Aim<'_>) -> Prediction<'t> {
        predict_observed(self, options, aim)
    }
}

fn predict_observed<'t>(
    Observation { reduced, analysis, whole }: Observation<'t>,
    options: &Options,
    aim: &Aim<'_>,
) -> Prediction<'t> {
    let trace = &*reduced.trace;
    let observed: BTreeMap<SitePair, race::Race> = analysis.races.iter().map(|r| (sites(trace, r), *r)).collect();
    if (aim.is_over)() {
        let races = observed.iter().map(|(sites, race)| alone(&reduced, *sites, race)).collect();
        let left = analysis.conflicts.iter().filter(|pair| !observed.contains_key(pair) && (aim.wanted)(**pair));
        let open = left.map(|sites| Open { sites: *sites, reason: Unsettled::Stopped }).collect();
        let (rejected, candidates) = (Vec::new(), options.relaxed);
        return Prediction { races, open, rejected, candidates, performed: 0, reduced };
    }
    let conflicts = analysis.conflicts.iter().filter(|pair| !observed.contains_key(pair) && (aim.wanted)(**pair));
    let survey = Survey::of(trace);
    let mut lanes = Lanes::new(trace.threads.len(), conflicts.copied());
    let mut needs = Needs::new(options.relaxed);
    let mut tracker = Tracker::new(&survey);
    let mut is_over = !whole;
    for (step, event) in trace.events.iter_enumerated() {
        // Nothing is concluded from the part that was seen but what it shows.
        is_over |= step.0 % LOOK == 0 && (aim.is_over)();
        if is_over {
            break;
        }
        let actions = tracker.step(trace, step);
        needs.step(&tracker, event, step, &actions);
        lanes.step(&tracker, event, step, &actions);
    }
    let mut work = Work::new(WORK + WORK_PER_EVENT * trace.events.len() as u64);
    let most = |work: &Work, pairs: usize| WORK_PER_PAIR.max(work.left() / (pairs as u64 + 1));
    let mut races = Vec::new();
    for (at, (sites, race)) in observed.iter().enumerate() {
        let mut part = work.take(most(&work, observed.len() - at));
        races.push(side_by_side(&reduced, (!is_over).then_some(&needs), *sites, race, &mut part));
        work.put_back(part);
    }
    let (rejected, mut open): (LanePairs, LanePairs) =
        lanes.pairs().into_iter().partition(|(_, found)| found.lanes.is_empty() && found.complete && !is_over);
    let mut rejected: Vec<SitePair> = rejected.into_keys().collect();
    let mut left = open.len();
    open.retain(|sites, found| {
        let mut part = work.take(most(&work, left));
        left -= 1;
        let mut pairs = found.lanes.iter().take_while(|_| !(aim.is_over)());
        let found = pairs.find_map(|pair| sync_preserving_race(&reduced, &needs, &lanes, *sites, *pair, &mut part));
        work.put_back(part);
        let none = found.is_none();
        races.extend(found);
        none
    });
    let mut exact = WindowSearch::new(&reduced, &survey, &lanes, options, aim);
    races.extend(exact.run(&mut open));
    let performed = exact.performed();
    let (mut unsettled, impossible) = exact.settle(open);
    rejected.extend(impossible);
    rejected.sort_unstable();
    unsettled.sort_unstable_by_key(|open| open.sites);
    races.sort_unstable_by_key(|race| race.sites);
    Prediction { races, open: unsettled, rejected, candidates: options.relaxed, performed, reduced }
}

fn sites(trace: &Trace, race: &race::Race) -> SitePair {
    let (one, other) = (trace.events[race.first].site, trace.events[race.second].site);
    (one.min(other), one.max(other))
}

/// An observed race, with what brings the accesses side by side if the trace's own order allows it and what its events
/// need is known.
fn side_by_side(
    reduced: &Reduced<'_>,
    needs: Option<&Needs>,
    sites: SitePair,
    race: &race::Race,
    work: &mut Work,
) -> PredictedRace {
    let trace = &*reduced.trace;
    let steps = [race.first, race.second];
    let steady = steps.iter().all(|step| lanes::is_steady(&trace.events[*step]));
    let needs = needs.filter(|_| steady);
    let found = needs.and_then(|needs| sync_preserving::race(trace, needs, &[steps[0]], &[steps[1]], work));
    match found {
        Some(found) => PredictedRace { adjacent: true, lead: Lead::Set(found.set), ..alone(reduced, sites, race) },
        None => alone(reduced, sites, race),
    }
}

/// An observed race as the trace has it.
fn alone(reduced: &Reduced<'_>, sites: SitePair, race: &race::Race) -> PredictedRace {
    let steps = [race.first, race.second];
    let [first, second] = steps.map(|step| reduced.whole(reduced.trace.events[step].id));
    let (method, lead) = (Method::Observed, Lead::Everything);
    PredictedRace { sites, first, second, method, adjacent: false, steps, lead }
}

fn sync_preserving_race(
    reduced: &Reduced<'_>,
    needs: &Needs,
    lanes: &Lanes,
    sites: SitePair,
    (one, other): (LaneId, LaneId),
    work: &mut Work,
) -> Option<PredictedRace> {
    let trace = &*reduced.trace;
    let (one, other) = (lanes.lane(one), lanes.lane(other));
    if !one.is_steady() || !other.is_steady() || work.is_spent() {
        return None;
    }
    let found = sync_preserving::race(trace, needs, &one.steps, &other.steps, work)?;
    let steps = [found.first.min(found.second), found.first.max(found.second)];
    let [first, second] = steps.map(|step| reduced.whole(trace.events[step].id));
    let lead = Lead::Set(found.set);
    Some(PredictedRace { sites, first, second, method: Method::SyncPreserving, adjacent: true, steps, lead })
}
