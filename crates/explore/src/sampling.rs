//! Running some schedules, chosen at random.

use std::fmt;
use std::str::FromStr;

use model::{End, Sample, Sampler};

use crate::error::Error;
use crate::observer::Observer;
use crate::options::Options;
use crate::outcome::{Outcome, StopReason};
use crate::reduction::RunKind;
use crate::search::Search;

/// How to choose schedules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// Any runnable thread, before every event.
    Random,
    /// Probabilistic concurrency testing (PCT) with this depth: priorities drop depth − 1 times.
    Priorities(u32),
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => f.write_str("random"),
            Self::Priorities(depth) => write!(f, "pct:{depth}"),
        }
    }
}

/// No strategy has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a strategy: expected `random`, or `pct:d` with d from 1 to {most}", most = MOST_DEPTH)]
pub struct UnknownStrategy(String);

/// The largest depth of PCT.
const MOST_DEPTH: u32 = 16;

impl FromStr for Strategy {
    type Err = UnknownStrategy;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "random" {
            return Ok(Self::Random);
        }
        let depth = text.strip_prefix("pct:").and_then(|depth| depth.parse().ok());
        let depth = depth.filter(|depth| (1..=MOST_DEPTH).contains(depth));
        depth.map(Self::Priorities).ok_or_else(|| UnknownStrategy(text.to_owned()))
    }
}

/// Which schedules to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sampling {
    /// How to choose them.
    pub strategy: Strategy,
    /// How many to run.
    pub runs: u64,
    /// The same seed makes the same choices.
    pub seed: u64,
}

/// Runs some schedules and reports what they show. However many there are, the answer is never complete.
pub fn sample<E: Sampler>(
    executor: &mut E,
    sampling: Sampling,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error<E::Error>> {
    Search::new(executor, None, options, observer).sample(sampling)
}

impl<E: Sampler> Search<'_, E> {
    fn sample(mut self, sampling: Sampling) -> Result<Outcome, Error<E::Error>> {
        let mut length = 0;
        for run in 0..sampling.runs {
            if let Some(reason) = self.bound_reached() {
                self.stop(reason);
                break;
            }
            let seed = sampling.seed.wrapping_add(run.wrapping_mul(0xD1B5_4A32_D192_ED03));
            let trace = match sampling.strategy {
                Strategy::Priorities(depth) if run > 0 => {
                    self.executor.sample(Sample::Priorities { seed, depth, length })
                }
                // The first run shows how long runs are.
                _ => self.executor.sample(Sample::Random { seed }),
            };
            let trace = trace.map_err(Error::Executor)?;
            length = length.max(trace.events.len() as u32);
            let (events, deadlocked) = (trace.events.len(), trace.end == End::Deadlock);
            self.examine(None, &trace)?;
            self.count(RunKind::Execution, events, deadlocked);
        }
        self.stop(StopReason::Sampled);
        self.finish()
    }
}
