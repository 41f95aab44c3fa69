//! What prediction finds.

use model::race::SitePair;
use model::{EventId, Pair, Schedule};

/// How a race was found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Method {
    /// Happens-before does not order the two accesses in the trace itself.
    Observed,
    /// A part of the trace in its own order leads to both.
    SyncPreserving,
    /// A reordering of the trace, found by search, leads to both.
    Reordering,
}

/// A race that the trace shows or that a correct reordering of it has.
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
    /// A run of this schedule ends with the two accesses.
    pub schedule: Schedule,
    /// The identities of `first` and `second` in such a run, where threads may be created in another order and so have
    /// other numbers.
    pub in_run: [EventId; 2],
    /// Whether both threads stand before their accesses at once, so that the two come one right after the other. Only an
    /// observed race may lack this: then what leads to the second depends on the first by something that is no
    /// synchronisation.
    pub adjacent: bool,
}

impl PredictedRace {
    /// The pair, where both accesses have sites.
    pub fn pair(&self) -> Option<Pair> {
        Some(Pair::new(self.sites.0?, self.sites.1?))
    }
}

/// Why nothing is known about a pair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, thiserror::Error)]
pub enum Unsettled {
    /// The trace is longer than a window.
    #[error(
        "accesses further apart than half a window were not looked at together, and each window starts as the trace did"
    )]
    Window,
    /// The search ended early.
    #[error("the search performed as many events as it may")]
    Budget,
    /// Whoever asked did not want to wait any longer.
    #[error("there was no time left")]
    Stopped,
    /// Some operations were kept in order without need.
    #[error(
        "a synchronisation object was misused, or the trace does not say enough about it; its operations kept their order"
    )]
    Rigid,
    /// The run did something the model does not cover.
    #[error("the run did something that is not modelled")]
    Unmodelled,
}

/// A pair of sites that conflict in the trace, without a race found and without all reorderings tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Open {
    /// The two sites, the smaller first.
    pub sites: SitePair,
    /// What stopped us.
    pub reason: Unsettled,
}

/// What can be said from one trace. Every pair of sites whose accesses conflict in the trace is in one of the lists.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Prediction {
    /// One race for each racing pair of sites, by sites.
    pub races: Vec<PredictedRace>,
    /// Pairs not settled, by sites.
    pub open: Vec<Open>,
    /// Pairs that race in no correct reordering of this trace, by sites. Other runs of the program may have events that
    /// this trace has not, so this proves nothing about the program.
    pub rejected: Vec<SitePair>,
    /// Whether the races are candidates only, as reads may not read what they read.
    pub candidates: bool,
    /// Events the exact search performed.
    pub performed: u64,
}
