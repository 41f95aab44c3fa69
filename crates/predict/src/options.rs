//! How to predict.

use model::race::SitePair;

/// How to predict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Let plain reads read from other writes than they did, as Carril does. What is predicted is a candidate only then:
    /// a thread that reads something else may do something else.
    pub relaxed: bool,
    /// The exact search looks at this many events at a time; windows overlap by half.
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
    /// The pairs of sites to reorder the trace for. What the trace itself shows is told of all.
    pub wanted: &'a dyn Fn(SitePair) -> bool,
    /// Whether to stop with what is known.
    pub is_over: &'a dyn Fn() -> bool,
}

/// Every pair, to the end.
impl Default for Aim<'_> {
    fn default() -> Self {
        Self { wanted: &|_| true, is_over: &|| false }
    }
}
