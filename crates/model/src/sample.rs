//! Schedules chosen at random, for programs with too many of them.

use crate::{Executor, Trace};

/// How a run's schedule is chosen: a function of the seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sample {
    /// Before every event a runnable thread, all with the same probability.
    Random {
        /// The seed.
        seed: u64,
    },
    /// The thread with the highest priority, where priorities are random and drop at `depth - 1` random events (S.
    /// Burckhardt and others, "A randomized scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010:
    /// PCT).
    Priorities {
        /// The seed.
        seed: u64,
        /// The number of events that must come in a certain order for the bug to occur.
        depth: u32,
        /// The approximate number of events of a run.
        length: u32,
    },
    /// The event with the highest priority, where priorities of events are random and what conflicts with an executed event
    /// draws another (X. Yuan and others, "Partial order aware concurrency sampling", CAV 2018: POS).
    Events {
        /// The seed.
        seed: u64,
    },
}

/// Runs the program under schedules chosen at random.
pub trait Sampler: Executor {
    /// Runs once. The same sample gives the same trace.
    fn sample(&mut self, sample: Sample) -> Result<Trace, Self::Error>;
}
