//! The result of a prediction.

use model::race::SitePair;
use model::{Clock, EventId, Pair, Schedule, Step};

use crate::reduce::Reduced;
use crate::schedule_builder::ScheduleBuilder;

/// How a race was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Method {
    /// Happens-before does not order the two accesses in the trace itself.
    Observed,
    /// A part of the trace in its own order leads to both accesses.
    SyncPreserving,
    /// A reordering of the trace, found by search, leads to both accesses.
    Reordering,
}

/// A race that the trace, or a correct reordering of it, shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PredictedRace {
    /// The two sites, the smaller first.
    pub sites: SitePair,
    /// The access that comes first in the trace.
    pub first: EventId,
    /// The other one.
    pub second: EventId,
    /// How it was found.
    pub method: Method,
    /// Whether both threads can be about to make their accesses at once, so that one comes right after the other. Only
    /// an observed race may lack this: then the second depends on the first through something that is not
    /// synchronisation.
    pub adjacent: bool,
    /// Their steps in the reduced trace.
    pub(crate) steps: [Step; 2],
    /// What leads to them there.
    pub(crate) lead: Lead,
}

/// What leads to two accesses of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Lead {
    /// The events of a closed set, in the order of the trace.
    Set(Clock),
    /// Everything before the second access.
    Everything,
    /// Everything before a step, then these events.
    Reordered { until: Step, then: Vec<Step> },
}

/// How to bring about a predicted race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// A run of this schedule ends with the two accesses.
    pub schedule: Schedule,
    /// Their identities in such a run, which may create threads in another order and so number them differently.
    pub in_run: [EventId; 2],
}

impl PredictedRace {
    /// The pair, if both accesses have sites.
    pub fn pair(&self) -> Option<Pair> {
        Some(Pair::new(self.sites.0?, self.sites.1?))
    }
}

/// Why a pair is undecided.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, thiserror::Error)]
pub enum Unsettled {
    /// The trace is longer than a window.
    #[error(
        "accesses further apart than half a window were not looked at together, and each window starts as the trace did"
    )]
    Window,
    /// The search budget is spent.
    #[error("the search budget is spent; raise `--budget`")]
    Budget,
    /// The caller stopped the prediction.
    #[error("the time limit was reached")]
    Stopped,
    /// Some operations were kept in their observed order without proof that this is necessary.
    #[error("the recording says too little about a lock or another synchronisation object, or the program misused it")]
    Rigid,
    /// The run did something the model does not cover.
    #[error("the run did something that raceproof does not model")]
    Unmodelled,
}

/// A pair of sites that conflict in the trace, without a race found and without all reorderings tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Open {
    /// The two sites, the smaller first.
    pub sites: SitePair,
    /// Why it is undecided.
    pub reason: Unsettled,
}

/// What one trace shows. Every pair of sites whose accesses conflict in the trace is in one of the lists.
#[derive(Clone, Debug)]
pub struct Prediction<'t> {
    /// One race for each racing pair of sites, by sites.
    pub races: Vec<PredictedRace>,
    /// Undecided pairs, by sites.
    pub open: Vec<Open>,
    /// Pairs that race in no correct reordering of this trace, by sites. Other runs of the program may have other
    /// events, so this proves nothing about the program.
    pub rejected: Vec<SitePair>,
    /// Whether the races are only candidates, because reads may read other values than observed.
    pub candidates: bool,
    /// Number of events the exact search performed.
    pub performed: u64,
    /// The trace that the races are of.
    pub(crate) reduced: Reduced<'t>,
}

impl Prediction<'_> {
    /// How to bring about one of the races. Schedules are as long as what leads to a race, so they are made one at a time.
    pub fn plan(&self, race: &PredictedRace) -> Plan {
        let mut builder = ScheduleBuilder::new(&self.reduced);
        let [first, second] = race.steps;
        let in_run = match &race.lead {
            Lead::Set(set) => {
                builder.push_all(set);
                builder.side_by_side(first, second)
            }
            Lead::Everything => {
                builder.push_until(second);
                [builder.in_run(first), builder.then(second)]
            }
            Lead::Reordered { until, then } => {
                builder.push_until(*until);
                then.iter().for_each(|step| builder.push(*step));
                builder.side_by_side(first, second)
            }
        };
        Plan { schedule: builder.schedule, in_run }
    }
}
