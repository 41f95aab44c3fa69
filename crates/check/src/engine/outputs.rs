//! Whether the program writes the same in every run.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use exec::Target;
use model::{End, Executor, Sample, Sampler, Schedule, Trace};

/// What the program wrote in runs that finished.
#[derive(Default)]
struct Seen {
    runs: u64,
    /// Digests of standard output and exit status.
    different: BTreeSet<u64>,
}

/// Compares what the program writes in runs that come to their end.
#[derive(Default)]
pub(crate) struct Outputs(Mutex<Seen>);

impl Outputs {
    fn add(&self, digest: u64) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.runs += 1;
        seen.different.insert(digest);
    }

    /// What came of it.
    pub(crate) fn summary(&self) -> report::Outputs {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        report::Outputs { runs: seen.runs, different: seen.different.len() as u64 }
    }
}

/// Runs the program, and looks at what it writes if that is compared.
pub(crate) struct Watched<'a> {
    pub(crate) target: &'a mut Target,
    pub(crate) outputs: Option<&'a Outputs>,
}

impl Watched<'_> {
    /// Looks at what the program wrote in the run just made.
    fn look(&mut self, trace: Trace) -> Result<Trace, exec::Error> {
        if let (Some(outputs), End::Exit { .. }) = (self.outputs, &trace.end) {
            let mut hasher = DefaultHasher::new();
            (&trace.end, self.target.output()?.stdout).hash(&mut hasher);
            outputs.add(hasher.finish());
        }
        Ok(trace)
    }
}

impl Executor for Watched<'_> {
    type Error = exec::Error;

    fn run(&mut self, schedule: &Schedule) -> Result<Trace, exec::Error> {
        let trace = self.target.run(schedule)?;
        self.look(trace)
    }

    /// What a run writes is known as long as it is the last one made.
    fn prefetch(&mut self, schedule: &Schedule) -> bool {
        self.outputs.is_some() || self.target.prefetch(schedule)
    }

    fn forget_prefetched(&mut self) {
        self.target.forget_prefetched();
    }

    fn run_alone(&mut self, schedule: &Schedule) -> Result<Trace, exec::Error> {
        self.target.run_alone(schedule)
    }
}

impl Sampler for Watched<'_> {
    fn sample(&mut self, sample: Sample) -> Result<Trace, exec::Error> {
        let trace = self.target.sample(sample)?;
        self.look(trace)
    }
}
