//! Predicts races from one recorded run: a pure function from a trace to races with schedules.
//!
//! After Carril, "Predicting Data Races from Program Traces": infer the other interleavings that an observed run
//! allows, and look for races in them. [`predict`] does this in three passes, each for the pairs the previous one left
//! open:
//!
//! 1. *Filters.* Pairs of sites that race in the trace itself, by [happens-before](model::race), are observed. Accesses
//!    under a common lock cannot come side by side.
//! 2. *Sync-preserving races*, in linear time.
//! 3. *Exact search* over the correct reorderings of windows of the trace.
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

pub mod cspm;
mod exact;
mod lanes;
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

use model::race::{self, SitePair};
use model::{EventId, Trace};

use lanes::{LaneId, Lanes};
use needs::Needs;
use reduce::Reduced;
use schedule_builder::ScheduleBuilder;
use tracker::{Survey, Tracker};
use window_search::WindowSearch;

pub use options::{Aim, Options};
pub use outcome::{Method, Open, PredictedRace, Prediction, Unsettled};
pub use unsupported::Unsupported;

/// Pairs of sites with the pairs of lanes that could race.
type LanePairs = BTreeMap<SitePair, Vec<(LaneId, LaneId)>>;

/// Events between two looks at whether the time is up.
const LOOK: u32 = 1 << 12;

/// Predicts races from a trace. The trace must be consistent, as executors and [`rapid`] make it: it lists all its
/// threads, and each thread's events are numbered from 0.
pub fn predict(trace: &Trace, options: &Options) -> Prediction {
    predict_some(trace, options, &Aim::default())
}

/// The same for some pairs and with a way to stop early.
pub fn predict_some(trace: &Trace, options: &Options, aim: &Aim<'_>) -> Prediction {
    predict_reduced(&reduce::reduce(trace), options, aim)
}

fn predict_reduced(reduced: &Reduced, options: &Options, aim: &Aim<'_>) -> Prediction {
    let trace = &reduced.trace;
    let survey = Survey::of(trace);
    let analysis = race::analyse(trace);
    let observed: BTreeMap<SitePair, &race::Race> = analysis.races.iter().map(|r| (sites(trace, r), r)).collect();
    let conflicts = analysis.conflicts.iter().filter(|pair| !observed.contains_key(pair) && (aim.wanted)(**pair));
    let mut lanes = Lanes::new(trace.threads.len(), conflicts.copied());
    let mut needs = Needs::new(options.relaxed);
    let mut tracker = Tracker::new(&survey);
    let mut is_over = false;
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
    let complete = (!is_over).then_some(&needs);
    let mut races: Vec<PredictedRace> = observed.iter().map(|(s, r)| observe(reduced, complete, *s, r)).collect();
    let (rejected, mut open): (LanePairs, LanePairs) =
        lanes.pairs().into_iter().partition(|(_, l)| l.is_empty() && !is_over);
    let mut rejected: Vec<SitePair> = rejected.into_keys().collect();
    open.retain(|sites, pairs| {
        let mut pairs = pairs.iter().take_while(|_| !(aim.is_over)());
        let found = pairs.find_map(|pair| sync_preserving_race(reduced, &needs, &lanes, *sites, *pair));
        let none = found.is_none();
        races.extend(found);
        none
    });
    let mut exact = WindowSearch::new(reduced, &survey, &lanes, options, aim);
    races.extend(exact.run(&mut open));
    let performed = exact.performed();
    let (mut unsettled, impossible) = exact.settle(open);
    rejected.extend(impossible);
    rejected.sort_unstable();
    unsettled.sort_unstable_by_key(|open| open.sites);
    races.sort_unstable_by_key(|race| race.sites);
    Prediction { races, open: unsettled, rejected, candidates: options.relaxed, performed }
}

fn sites(trace: &Trace, race: &race::Race) -> SitePair {
    let (one, other) = (trace.events[race.first].site, trace.events[race.second].site);
    (one.min(other), one.max(other))
}

/// An observed race, with a schedule that brings the accesses side by side if the trace's own order allows one and what its
/// events need is known.
fn observe(reduced: &Reduced, needs: Option<&Needs>, sites: SitePair, race: &race::Race) -> PredictedRace {
    let trace = &reduced.trace;
    let (first, second) = (race.first, race.second);
    let steady = [first, second].iter().all(|step| lanes::is_steady(&trace.events[*step]));
    let needs = needs.filter(|_| steady);
    let found = needs.and_then(|needs| sync_preserving::race(trace, needs, &[first], &[second]));
    let mut builder = ScheduleBuilder::new(reduced);
    let adjacent = found.is_some();
    let in_run = match found {
        Some(found) => {
            builder.push_all(&found.set);
            builder.side_by_side(first, second)
        }
        None => {
            builder.push_until(second);
            [builder.in_run(first), builder.then(second)]
        }
    };
    let [first, second] = [first, second].map(|step| reduced.whole(trace.events[step].id));
    PredictedRace { sites, first, second, method: Method::Observed, schedule: builder.schedule, in_run, adjacent }
}

fn sync_preserving_race(
    reduced: &Reduced,
    needs: &Needs,
    lanes: &Lanes,
    sites: SitePair,
    (one, other): (LaneId, LaneId),
) -> Option<PredictedRace> {
    let trace = &reduced.trace;
    let (one, other) = (lanes.lane(one), lanes.lane(other));
    if !one.is_steady() || !other.is_steady() {
        return None;
    }
    let found = sync_preserving::race(trace, needs, &one.steps, &other.steps)?;
    let step_of =
        |lane: &lanes::Lane, event: EventId| lane.steps.iter().copied().find(|s| trace.events[*s].id == event);
    let (first, second) = (step_of(one, found.first)?, step_of(other, found.second)?);
    let (first, second) = (first.min(second), first.max(second));
    let mut builder = ScheduleBuilder::new(reduced);
    builder.push_all(&found.set);
    let in_run = builder.side_by_side(first, second);
    let [first, second] = [first, second].map(|step| reduced.whole(trace.events[step].id));
    let (method, schedule) = (Method::SyncPreserving, builder.schedule);
    Some(PredictedRace { sites, first, second, method, schedule, in_run, adjacent: true })
}
