//! How the program is run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use model::{Budget, Environment};
use serde::{Deserialize, Serialize};

use crate::children::Children;
use crate::opened::Opened;
use crate::processor::Processor;

/// How runs are kept apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Isolation {
    /// `Restore` where the kernel can, else `Fork`.
    #[default]
    Auto,
    /// A checkpoint at the first thread creation is put back in the same process.
    Restore,
    /// Every run is a process forked at the first thread creation.
    Fork,
    /// Every run is a process of its own from its start.
    Fresh,
}

/// How the program is run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Config {
    /// How runs are kept apart.
    pub isolation: Isolation,
    /// Most events of a run.
    pub max_steps: u64,
    /// Most time of a run.
    pub time_limit: Duration,
    /// What the command has left: a run ends with it, and when the program's processes use more than its memory.
    #[serde(skip)]
    pub budget: Budget,
    /// Events a thread may execute without a switch while others can run, after the schedule prefix; 0 for any number.
    pub quantum: u32,
    /// What the environment may do to the program.
    pub environment: Environment,
    /// The only processor to run on, where there are fewer than processes: host and program then do not wait for each other
    /// by looking, and hand over to each other without waking another processor.
    pub processor: Option<Processor>,
    /// Whether it is checked that each run begins as the first: descriptors, mappings, attributes of the process.
    pub verify_isolation: bool,
    /// Room for a run's trace, in records of 16 bytes.
    pub trace_capacity: usize,
    /// The program's standard input; nothing if `None`.
    pub stdin: Option<Vec<u8>>,
    /// What the program's peers do, as [`wire::peers::encode`] gives it; empty without peers.
    pub peers: Vec<u8>,
    /// How many threads a team of OpenMP has where the program leaves it open; what the environment says if `None`.
    pub team_size: Option<u32>,
    /// The program's arguments, without its name.
    pub args: Vec<OsString>,
    /// The program's name as it sees it; the executable's path if `None`.
    pub name: Option<OsString>,
    /// Where it runs; the current directory if `None`.
    pub directory: Option<PathBuf>,
    /// Variables of its environment that are set, or removed where there is no value.
    pub variables: BTreeMap<String, Option<String>>,
    /// What its child processes did.
    #[serde(skip)]
    pub children: Children,
    /// What its runs look at outside.
    #[serde(skip)]
    pub opened: Opened,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            isolation: Isolation::Auto,
            max_steps: 1_000_000,
            time_limit: Duration::from_secs(10),
            budget: Budget::default(),
            quantum: 10_000,
            environment: Environment::default(),
            processor: None,
            verify_isolation: false,
            trace_capacity: 1 << 22,
            stdin: None,
            peers: Vec::new(),
            team_size: None,
            args: Vec::new(),
            name: None,
            directory: None,
            variables: BTreeMap::new(),
            children: Children::default(),
            opened: Opened::default(),
        }
    }
}
