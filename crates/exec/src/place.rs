//! Where runs are made: on this machine, or at a target elsewhere.

use model::Schedule;
use wire::{Policy, Record, Reply};

use crate::config::Config;
use crate::error::Error;
use crate::process::Output;
use crate::processor::Processor;

/// What a run is asked for besides its schedule.
#[derive(Clone, Copy)]
pub(crate) struct Wish {
    /// Who runs after the schedule.
    pub(crate) policy: Policy,
    /// Whether stacks are written down where threads stop.
    pub(crate) stacks: bool,
    /// Whether the run begins at the start of the program, in a new process. (Runs of a process that has a checkpoint do
    /// not.)
    pub(crate) fresh: bool,
}

/// How a run went, but for its records and its output.
#[derive(Clone, Debug)]
pub(crate) struct Ran {
    /// What the runtime answered; never that another process has to be asked.
    pub(crate) reply: Reply,
    /// Its text.
    pub(crate) message: String,
    /// Where the executable was loaded.
    pub(crate) load_base: u64,
    /// Whether runs are kept apart by forking.
    pub(crate) forks: bool,
}

/// Makes runs of one program, one after the other.
pub(crate) trait Place: Send {
    /// Runs once. `None` when the run took too long and nothing else is known of it.
    fn execute(&mut self, config: &Config, schedule: &Schedule, wish: Wish) -> Result<Option<Ran>, Error>;

    /// Replaces `out`, which has the records of an earlier run, by those of the last; says how many at the start stayed.
    fn records(&self, out: &mut Vec<Record>) -> Result<usize, Error>;

    /// What the program wrote in the last run.
    fn output(&self) -> Result<Output, Error>;

    /// Changes where it runs; see [`Config::processor`].
    fn set_processor(&mut self, processor: Option<Processor>);
}
