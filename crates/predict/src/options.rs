//! Options of a prediction.

use model::race::SitePair;

/// Options of a prediction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Let plain reads read from other writes than observed, as Carril does. Predictions are then only candidates: a
    /// thread that reads another value may behave differently.
    pub relaxed: bool,
    /// Number of events the exact search considers at a time; windows overlap by half.
    pub window: usize,
    /// Events the exact search may perform per pair of sites.
    pub budget: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { relaxed: false, window: 4_000, budget: 100_000 }
    }
}

/// What to predict, and when to stop.
pub struct Aim<'a> {
    /// The pairs of sites to reorder the trace for. Races in the trace itself are reported for all pairs.
    pub wanted: &'a dyn Fn(SitePair) -> bool,
    /// Whether to stop and return what is known.
    pub is_over: &'a dyn Fn() -> bool,
}

/// Every pair, to the end.
impl Default for Aim<'_> {
    fn default() -> Self {
        Self { wanted: &|_| true, is_over: &|| false }
    }
}
