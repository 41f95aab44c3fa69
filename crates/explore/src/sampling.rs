//! Running some schedules, chosen at random.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use model::{End, Executor, Sample, Sampler, Trace};

use crate::assurance::Missed;
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
    /// Partial order sampling (POS): priorities of events.
    Events,
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => f.write_str("random"),
            Self::Priorities(depth) => write!(f, "pct:{depth}"),
            Self::Events => f.write_str("pos"),
        }
    }
}

/// No strategy has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a strategy: expected `random`, `pos`, or `pct:d` with d from 1 to {most}", most = MOST_DEPTH)]
pub struct UnknownStrategy(String);

/// The largest depth of PCT.
const MOST_DEPTH: u32 = 16;

impl FromStr for Strategy {
    type Err = UnknownStrategy;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "random" => return Ok(Self::Random),
            "pos" => return Ok(Self::Events),
            _ => {}
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

/// Samples beside a search that takes long: once it has taken [`after`](Self::after), they get half of the time. Bugs that
/// need many switches in certain places come late in a search that goes through the schedules in order, and soon where
/// schedules are chosen at random. The n-th sample is the same in every search.
///
/// Samples prove nothing absent: whether the search is complete does not depend on them.
pub(crate) struct Beside<E: Executor> {
    sample: fn(&mut E, Sample) -> Result<Trace, E::Error>,
    after: Duration,
    /// Time taken by samples.
    spent: Duration,
    made: u64,
    /// Events of the longest sample.
    length: u32,
    pub(crate) missed: Missed,
}

impl<E: Sampler> Beside<E> {
    pub(crate) fn new(after: Duration) -> Self {
        Self { sample: E::sample, after, spent: Duration::ZERO, made: 0, length: 0, missed: Missed::default() }
    }
}

impl<E: Executor> Beside<E> {
    /// Whether the next run is a sample, when the search has taken this long.
    fn is_due(&self, elapsed: Duration) -> bool {
        elapsed > self.after && self.spent * 2 <= elapsed - self.after
    }

    /// The next sample: any runnable thread before every event takes turns with priorities that drop and with priorities of
    /// events.
    fn run(&mut self, executor: &mut E) -> Result<Trace, E::Error> {
        /// Depths of PCT.
        const DEPTHS: u64 = 4;
        let (start, seed) = (Instant::now(), seed_of(0, self.made));
        let sample = match self.made % 4 {
            1 => Sample::Priorities { seed, depth: 2 + (self.made / 4 % DEPTHS) as u32, length: self.length },
            3 => Sample::Events { seed },
            _ => Sample::Random { seed },
        };
        let trace = (self.sample)(executor, sample)?;
        self.missed.add(&sample, &trace);
        self.made += 1;
        self.length = self.length.max(trace.events.len() as u32);
        self.spent += start.elapsed();
        Ok(trace)
    }
}

/// The seed of a run.
fn seed_of(seed: u64, run: u64) -> u64 {
    seed.wrapping_add(run.wrapping_mul(0xD1B5_4A32_D192_ED03))
}

impl<E: Executor> Search<'_, E> {
    /// Makes a sample beside the search, if one is due. Returns whether it shows something new.
    pub(crate) fn sample_if_due(&mut self) -> Result<bool, Error<E::Error>> {
        if !self.beside.as_ref().is_some_and(|beside| beside.is_due(self.began.elapsed())) {
            return Ok(false);
        }
        self.sample_beside()
    }

    /// As many samples as the search made executions, where that was its bound.
    pub(crate) fn sample_as_often(&mut self) -> Result<(), Error<E::Error>> {
        for _ in 0..self.statistics.executions {
            let reached = self.bound_reached().filter(|reason| *reason != StopReason::Executions);
            if self.beside.is_none() || reached.is_some() {
                break;
            }
            self.sample_beside()?;
        }
        Ok(())
    }

    /// A sample that was cut says nothing about the search, and is not examined: a schedule chosen at random may let a thread
    /// wait in a loop for as long as it likes.
    fn sample_beside(&mut self) -> Result<bool, Error<E::Error>> {
        let Some(mut beside) = self.beside.take() else { return Ok(false) };
        let trace = beside.run(self.executor).map_err(Error::Executor)?;
        self.beside = Some(beside);
        self.statistics.samples += 1;
        if matches!(trace.end, End::StepLimit | End::TimeLimit) {
            return Ok(false);
        }
        let (known, stopped) = (self.found.count(), self.stopped);
        self.examine(None, &trace)?;
        self.stopped = stopped;
        self.report_progress(trace.events.len());
        Ok(self.found.count() > known)
    }
}

impl<E: Sampler> Search<'_, E> {
    fn sample(mut self, sampling: Sampling) -> Result<Outcome, Error<E::Error>> {
        let mut length = 0;
        for run in 0..sampling.runs {
            if let Some(reason) = self.bound_reached() {
                self.stop(reason);
                break;
            }
            let seed = seed_of(sampling.seed, run);
            let sample = match sampling.strategy {
                Strategy::Priorities(depth) if run > 0 => Sample::Priorities { seed, depth, length },
                Strategy::Events => Sample::Events { seed },
                // The first run shows how long runs are.
                _ => Sample::Random { seed },
            };
            let trace = self.executor.sample(sample).map_err(Error::Executor)?;
            self.missed.add(&sample, &trace);
            length = length.max(trace.events.len() as u32);
            let (events, deadlocked) = (trace.events.len(), trace.end == End::Deadlock);
            self.examine(None, &trace)?;
            self.count(RunKind::Execution, events, deadlocked);
        }
        self.stop(StopReason::Sampled);
        self.finish()
    }
}
