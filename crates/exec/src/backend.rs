//! What makes the runs of a program: a process on this machine, or something elsewhere.

use model::Schedule;
use wire::{Policy, Record, Reply};

use crate::config::Config;
use crate::error::Error;
use crate::processor::Processor;
use crate::streams::Output;

/// What a run is asked for besides its schedule.
#[derive(Clone, Copy, Debug)]
pub struct RunMode {
    /// Who runs after the schedule.
    pub policy: Policy,
    /// Whether stacks are written down where threads stop.
    pub stacks: bool,
    /// Whether the run begins at the start of the program, in a new process. (Runs of a process that has a checkpoint do
    /// not.)
    pub fresh: bool,
}

/// How a run went, but for its records and its output.
#[derive(Clone, Debug)]
pub struct RunSummary {
    /// What the runtime answered; never that another process has to be asked.
    pub reply: Reply,
    /// Its text.
    pub message: String,
    /// Where the executable was loaded.
    pub load_base: u64,
    /// Whether runs are kept apart by forking.
    pub forks: bool,
}

/// Makes runs of one program, one after the other.
pub trait Backend: Send {
    /// Runs once. `None` when the run took too long and nothing else is known of it.
    ///
    /// # Errors
    /// When there is no run; what the program does wrong is no error.
    fn execute(&mut self, config: &Config, schedule: &Schedule, mode: RunMode) -> Result<Option<RunSummary>, Error>;

    /// Begins a run that will probably be asked for, if that can be done while the caller does something else. Returns false
    /// where the run is made already.
    fn prefetch(&mut self, config: &Config, schedule: &Schedule, mode: RunMode) -> bool {
        let _ = (config, schedule, mode);
        true
    }

    /// Drops the runs made ahead.
    fn forget_prefetched(&mut self) {}

    /// Replaces `out`, which has the records of an earlier run, by those of the last; says how many at the start stayed.
    ///
    /// # Errors
    /// When there are more than a run can have.
    fn records(&self, out: &mut Vec<Record>) -> Result<usize, Error>;

    /// What the program wrote in the last run.
    ///
    /// # Errors
    /// When the operating system refuses.
    fn output(&self) -> Result<Output, Error>;

    /// Changes where it runs; see [`Config::processor`].
    fn set_processor(&mut self, processor: Option<Processor>);
}
