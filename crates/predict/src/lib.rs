//! Races from one recorded run: a pure function from a trace to predicted races with schedules.
//!
//! After Carril, "Predicting Data Races from Program Traces": infer the other interleavings that an observed run allows,
//! and look for races in them. [`predict`] does it in three passes, each for what the one before left open:
//!
//! 1. *Filters.* Pairs of sites that race in the trace itself, by [happens-before](model::race), are observed. Accesses
//!    under a common lock cannot come side by side.
//! 2. *Sync-preserving races*, in linear time.
//! 3. *Exact search* over the correct reorderings of windows of the trace.
//!
//! *Deviation*: the paper leaves out reads-from, so that half of what it predicts cannot happen. Here every read
//! reads from the write it read from, unless [`Options::relaxed`] says otherwise.
//!
//! *Can miss*: races of events that the run did not have; races further apart than a window that the first two passes do
//! not find ([`Prediction::open`] says so). *Never wrong*, with reads-from: a run of a predicted schedule brings the two
//! accesses side by side, as all that leads to them is as it was.
//!
//! Traces may come from anywhere: [`rapid`] reads and writes the text form of RAPID, and [`cspm`] writes the paper's CSP
//! model of a trace, best of one that [`mod@reduce`] has made smaller.

pub mod cspm;
mod exact;
mod lanes;
mod needs;
mod object;
mod options;
mod outcome;
pub mod rapid;
pub mod reduce;
mod state;
mod sync_preserving;
mod tracker;
mod window;
mod witness;

use std::collections::BTreeMap;

use model::race::{self, SitePair};
use model::{EventId, Step, Trace};

use exact::{Answer, Target};
use lanes::{LaneId, Lanes};
use needs::Needs;
use reduce::Reduced;
use tracker::{Survey, Tracker};
use window::Window;
use witness::Witness;

pub use options::Options;
pub use outcome::{Method, Open, PredictedRace, Prediction, Unsettled};

/// Pairs of sites with the pairs of lanes that could race.
type LanePairs = BTreeMap<SitePair, Vec<(LaneId, LaneId)>>;

/// Predicts races from a trace.
pub fn predict(trace: &Trace, options: &Options) -> Prediction {
    predict_reduced(&reduce::reduce(trace), options)
}

fn predict_reduced(reduced: &Reduced, options: &Options) -> Prediction {
    let trace = &reduced.trace;
    let survey = Survey::of(trace);
    let analysis = race::analyse(trace);
    let observed: BTreeMap<SitePair, &race::Race> = analysis.races.iter().map(|r| (sites(trace, r), r)).collect();
    let conflicts = analysis.conflicts.iter().filter(|pair| !observed.contains_key(pair));
    let mut lanes = Lanes::new(trace.threads.len(), conflicts.copied());
    let mut needs = Needs::new(options.relaxed);
    let mut tracker = Tracker::new(&survey);
    for (step, event) in trace.events.iter_enumerated() {
        let acts = tracker.step(trace, step);
        needs.step(&tracker, event, step, &acts);
        lanes.step(&tracker, event, step, &acts);
    }
    let mut races: Vec<PredictedRace> = observed.iter().map(|(s, r)| observe(reduced, &needs, *s, r)).collect();
    let (rejected, mut open): (LanePairs, LanePairs) = lanes.pairs().into_iter().partition(|(_, l)| l.is_empty());
    let mut rejected: Vec<SitePair> = rejected.into_keys().collect();
    open.retain(|sites, pairs| {
        let found = pairs.iter().find_map(|pair| sync_preserving_race(reduced, &needs, &lanes, *sites, *pair));
        let none = found.is_none();
        races.extend(found);
        none
    });
    let mut exact =
        Exact { reduced, trace, options, lanes: &lanes, budgets: BTreeMap::new(), rigid: survey.any_rigid() };
    races.extend(exact.run(&mut open, &survey));
    let spent = |left: &u64| options.budget - left;
    let performed = exact.budgets.values().map(spent).sum();
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

/// An observed race, with a schedule that brings the accesses side by side if the trace's own order allows one.
fn observe(reduced: &Reduced, needs: &Needs, sites: SitePair, race: &race::Race) -> PredictedRace {
    let trace = &reduced.trace;
    let (first, second) = (race.first, race.second);
    let steady = [first, second].iter().all(|step| lanes::is_steady(&trace.events[*step]));
    let found = steady.then(|| sync_preserving::race(trace, needs, &[first], &[second])).flatten();
    let mut witness = Witness::new(reduced);
    let adjacent = found.is_some();
    let in_run = match found {
        Some(found) => {
            witness.push_all(&found.set);
            witness.side_by_side(first, second)
        }
        None => {
            witness.push_until(second);
            [witness.in_run(first), witness.then(second)]
        }
    };
    let [first, second] = [first, second].map(|step| reduced.whole(trace.events[step].id));
    PredictedRace { sites, first, second, method: Method::Observed, schedule: witness.schedule, in_run, adjacent }
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
    let mut witness = Witness::new(reduced);
    witness.push_all(&found.set);
    let in_run = witness.side_by_side(first, second);
    let [first, second] = [first, second].map(|step| reduced.whole(trace.events[step].id));
    let (method, schedule) = (Method::SyncPreserving, witness.schedule);
    Some(PredictedRace { sites, first, second, method, schedule, in_run, adjacent: true })
}

/// The exact search over windows.
struct Exact<'a> {
    reduced: &'a Reduced,
    trace: &'a Trace,
    options: &'a Options,
    lanes: &'a Lanes,
    /// What is left for each pair of sites that was worked on.
    budgets: BTreeMap<SitePair, u64>,
    rigid: bool,
}

impl Exact<'_> {
    fn is_one_window(&self) -> bool {
        self.trace.events.len() <= self.options.window
    }

    /// What is left of the budget of a pair of sites.
    fn left(&self, sites: SitePair) -> u64 {
        self.budgets.get(&sites).copied().unwrap_or(self.options.budget)
    }

    /// Looks for the races of open pairs, taking out those found.
    fn run(&mut self, open: &mut LanePairs, survey: &Survey) -> Vec<PredictedRace> {
        let mut races = Vec::new();
        let len = self.trace.events.len() as u32;
        let size = u32::try_from(self.options.window).unwrap_or(u32::MAX).max(2);
        let mut tracker = Tracker::new(survey);
        let (mut start, mut looked_at) = (0u32, 0);
        while looked_at < len && open.keys().any(|sites| self.left(*sites) > 0) {
            let end = start.saturating_add(size).min(len);
            let mut ahead = tracker.clone();
            let window = Window::new(self.trace, &mut ahead, Step(start), Step(end), self.options.relaxed);
            open.retain(|sites, pairs| {
                let found = self.look_in(&window, Step(end), Step(looked_at), *sites, pairs);
                let none = found.is_none();
                races.extend(found);
                none
            });
            looked_at = end;
            let next = start + size / 2;
            for step in start..next.min(len) {
                tracker.step(self.trace, Step(step));
            }
            start = next;
        }
        races
    }

    /// Looks for a race of the pair in the window, at least one access being past those looked at before.
    fn look_in(
        &mut self,
        window: &Window,
        end: Step,
        looked_at: Step,
        sites: SitePair,
        pairs: &[(LaneId, LaneId)],
    ) -> Option<PredictedRace> {
        let budget = self.budgets.entry(sites).or_insert(self.options.budget);
        for (one, other) in pairs {
            let inside = |lane: LaneId| {
                let steps = &self.lanes.lane(lane).steps;
                let from = steps.partition_point(|s| *s < window.start);
                &steps[from..steps.partition_point(|s| *s < end)]
            };
            for (first, second) in inside(*one).iter().flat_map(|a| inside(*other).iter().map(move |b| (*a, *b))) {
                if first.max(second) < looked_at {
                    continue;
                }
                let (first, second) = (first.min(second), first.max(second));
                *budget = budget.checked_sub(1)?;
                let events = [first, second].map(|step| &self.trace.events[step]);
                let target = Target {
                    places: events.map(|event| window.place(event.id)),
                    reads: events.map(|event| !lanes::is_steady(event)),
                };
                match exact::search(window, target, budget) {
                    Answer::Impossible => {}
                    Answer::Unknown => {
                        *budget = 0;
                        return None;
                    }
                    Answer::Found(path) => {
                        let mut witness = Witness::new(self.reduced);
                        witness.push_until(window.start);
                        for place in path {
                            witness.push(window.step(place));
                        }
                        let in_run = witness.side_by_side(first, second);
                        let [first, second] = events.map(|event| self.reduced.whole(event.id));
                        let (method, schedule) = (Method::Reordering, witness.schedule);
                        return Some(PredictedRace { sites, first, second, method, schedule, in_run, adjacent: true });
                    }
                }
            }
        }
        None
    }

    /// What can be said about the pairs without a race.
    fn settle(&self, open: LanePairs) -> (Vec<Open>, Vec<SitePair>) {
        let (mut unsettled, mut rejected) = (Vec::new(), Vec::new());
        for sites in open.into_keys() {
            let reason = if !self.trace.unmodelled.is_empty() {
                Unsettled::Unmodelled
            } else if self.left(sites) == 0 {
                Unsettled::Budget
            } else if !self.is_one_window() {
                Unsettled::Window
            } else if self.rigid {
                Unsettled::Rigid
            } else {
                rejected.push(sites);
                continue;
            };
            unsettled.push(Open { sites, reason });
        }
        (unsettled, rejected)
    }
}
