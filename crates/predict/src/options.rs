//! How to predict.

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
