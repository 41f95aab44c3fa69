//! The exact search along a trace: window by window, each overlapping the previous one by half.
//!
//! Two accesses at most half a window apart are considered together in some window. A window starts in the state that
//! the trace itself led to, so a race that needs another order of earlier events is missed. Hence a pair without a race
//! stays open unless one window covers the whole trace.

use std::collections::{BTreeMap, BTreeSet};

use model::race::SitePair;
use model::{Step, Trace};

use crate::LanePairs;
use crate::exact::{Answer, RacePair, search};
use crate::lanes::{LaneId, Lanes, is_steady};
use crate::options::{Aim, Options};
use crate::outcome::{Lead, Method, Open, PredictedRace, Unsettled};
use crate::reduce::Reduced;
use crate::tracker::{Survey, Tracker};
use crate::window::Window;

/// The exact search over windows.
pub(crate) struct WindowSearch<'a> {
    reduced: &'a Reduced<'a>,
    trace: &'a Trace,
    survey: &'a Survey,
    options: &'a Options,
    aim: &'a Aim<'a>,
    lanes: &'a Lanes,
    /// Whether it stopped before it had considered everything.
    stopped: bool,
    /// The remaining budget of each pair of sites that was searched.
    budgets: BTreeMap<SitePair, u64>,
}

impl<'a> WindowSearch<'a> {
    pub(crate) fn new(
        reduced: &'a Reduced<'a>,
        survey: &'a Survey,
        lanes: &'a Lanes,
        options: &'a Options,
        aim: &'a Aim<'a>,
    ) -> Self {
        let budgets = BTreeMap::new();
        Self { reduced, trace: &*reduced.trace, survey, options, aim, lanes, stopped: false, budgets }
    }

    /// Events performed so far.
    pub(crate) fn performed(&self) -> u64 {
        self.budgets.values().map(|left| self.options.budget - left).sum()
    }

    fn is_one_window(&self) -> bool {
        self.trace.events.len() <= self.options.window
    }

    /// The remaining budget of a pair of sites.
    fn left(&self, sites: SitePair) -> u64 {
        self.budgets.get(&sites).copied().unwrap_or(self.options.budget)
    }

    /// Searches for races of open pairs and removes the pairs found.
    pub(crate) fn run(&mut self, open: &mut LanePairs) -> Vec<PredictedRace> {
        let mut races = Vec::new();
        let len = self.trace.events.len() as u32;
        let size = u32::try_from(self.options.window).unwrap_or(u32::MAX).max(2);
        let mut tracker = Tracker::new(self.survey);
        let occurrences = Occurrences::of(self.lanes, open);
        let (mut start, mut looked_at) = (0u32, 0);
        while !self.stopped && looked_at < len && open.keys().any(|sites| self.left(*sites) > 0) {
            let end = start.saturating_add(size).min(len);
            let is_open = |sites: &SitePair| open.contains_key(sites) && self.left(*sites) > 0;
            let mut pairs = occurrences.in_window(Step(start), Step(end));
            pairs.retain(|sites, _| is_open(sites));
            // Most windows of a long trace have none, and making one takes a while.
            if !pairs.is_empty() {
                let mut ahead = tracker.clone();
                let window = Window::new(self.trace, &mut ahead, Step(start), Step(end), self.options.relaxed);
                for (sites, pairs) in pairs {
                    self.stopped |= (self.aim.is_over)();
                    if self.stopped {
                        break;
                    }
                    if let Some(race) = self.search_window(&window, Step(end), Step(looked_at), sites, &pairs) {
                        races.push(race);
                        open.remove(&sites);
                    }
                }
            }
            self.stopped |= (self.aim.is_over)();
            looked_at = end;
            let next = start + size / 2;
            for step in start..next.min(len) {
                tracker.step(self.trace, Step(step));
            }
            start = next;
        }
        races
    }

    /// Searches for a race of the pair in the window, with at least one access that earlier windows did not contain.
    fn search_window(
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
                let target = RacePair {
                    indices: events.map(|event| window.index_of(event.id)),
                    reads: events.map(|event| !is_steady(event)),
                };
                match search(window, target, budget) {
                    Answer::Impossible => {}
                    Answer::Unknown => {
                        *budget = 0;
                        return None;
                    }
                    Answer::Found(path) => {
                        let then = path.into_iter().map(|at| window.step(at)).collect();
                        let (method, steps) = (Method::Reordering, [first, second]);
                        let lead = Lead::Reordered { until: window.start, then };
                        let [first, second] = events.map(|event| self.reduced.whole(event.id));
                        return Some(PredictedRace { sites, first, second, method, adjacent: true, steps, lead });
                    }
                }
            }
        }
        None
    }

    /// The result for the pairs without a race.
    pub(crate) fn settle(&self, open: LanePairs) -> (Vec<Open>, Vec<SitePair>) {
        let (mut unsettled, mut rejected) = (Vec::new(), Vec::new());
        for (sites, found) in open {
            let reason = if !self.trace.unmodelled.is_empty() {
                Unsettled::Unmodelled
            } else if self.stopped {
                Unsettled::Stopped
            } else if self.left(sites) == 0 || !found.complete {
                Unsettled::Budget
            } else if !self.is_one_window() {
                Unsettled::Window
            } else if self.survey.any_rigid() {
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

/// Where the lanes of open pairs occur.
struct Occurrences {
    /// Their accesses, in the order of the trace.
    accesses: Vec<(Step, LaneId)>,
    /// By the first lane of a pair: the second ones, with the pair of sites.
    pairs: BTreeMap<LaneId, Vec<(LaneId, SitePair)>>,
}

impl Occurrences {
    fn of(lanes: &Lanes, open: &LanePairs) -> Self {
        let (mut pairs, mut all) = (BTreeMap::<LaneId, Vec<_>>::new(), BTreeSet::new());
        for (sites, (one, other)) in open.iter().flat_map(|(sites, found)| found.lanes.iter().map(|l| (*sites, *l))) {
            pairs.entry(one).or_default().push((other, sites));
            all.extend([one, other]);
        }
        let steps = |lane: &LaneId| lanes.lane(*lane).steps.iter().map(|step| (*step, *lane)).collect::<Vec<_>>();
        let mut accesses: Vec<(Step, LaneId)> = all.iter().flat_map(steps).collect();
        accesses.sort_unstable();
        Self { accesses, pairs }
    }

    /// The pairs of lanes that both occur between two steps, by pair of sites.
    fn in_window(&self, start: Step, end: Step) -> BTreeMap<SitePair, Vec<(LaneId, LaneId)>> {
        let at = |step: Step| self.accesses.partition_point(|(s, _)| *s < step);
        let present: BTreeSet<LaneId> = self.accesses[at(start)..at(end)].iter().map(|(_, lane)| *lane).collect();
        let mut found = BTreeMap::<SitePair, Vec<(LaneId, LaneId)>>::new();
        for one in &present {
            for (other, sites) in self.pairs.get(one).into_iter().flatten().filter(|(l, _)| present.contains(l)) {
                found.entry(*sites).or_default().push((*one, *other));
            }
        }
        found.values_mut().for_each(|pairs| pairs.sort_unstable());
        found
    }
}
