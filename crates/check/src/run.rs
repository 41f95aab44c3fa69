//! The program under control: launched once, and kept for every engine that runs it.

use std::sync::Arc;
use std::time::Duration;

use exec::{Isolation, Target};
use files::RunOptions;
use model::{Budget, End, Environment, Executor, Schedule, Surprise, Trace};
use symbols::Symbols;

use crate::{Built, Error};

/// How runs are kept apart and how long each may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How runs are kept apart.
    pub isolation: Isolation,
    /// Most events of a run.
    pub max_steps: u64,
    /// Longest time of a run.
    pub time: Duration,
    /// What the environment may do.
    pub environment: Environment,
    /// Whether it is checked that each run begins as the first.
    pub verify_isolation: bool,
    /// How many threads a team of OpenMP has where the program leaves it open.
    pub team_size: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        let exec::Config { isolation, max_steps, time_limit, environment, verify_isolation, .. } =
            exec::Config::default();
        Self { isolation, max_steps, time: time_limit, environment, verify_isolation, team_size: None }
    }
}

/// Events a thread may execute in a row while others can run, after the schedule.
fn quantum() -> u32 {
    exec::Config::default().quantum
}

impl Limits {
    /// Whether the environment may do what the program's text, as it is analysed, does not show: there threads are created
    /// and memory is allocated, what was never written is not followed, and `epoll` orders what it hands over.
    pub(crate) fn leaves_text(&self) -> bool {
        [Surprise::Creation, Surprise::Allocation, Surprise::Uninitialised, Surprise::Unordered]
            .iter()
            .any(|part| self.environment.has(*part))
    }

    /// What witness files keep of them.
    pub(crate) fn record(&self) -> RunOptions {
        let Self { environment, max_steps, team_size, .. } = *self;
        RunOptions { environment, max_steps, quantum: quantum(), team_size }
    }

    /// How many threads the teams of a program have that leaves it open.
    pub(crate) fn team_size_of(&self, built: &Built) -> Option<u32> {
        self.team_size.or(built.features.open_teams.then_some(TEAM_SIZES[0]))
    }

    /// The executor's configuration for a program. Runs end with the budget, but for those that show what was found; one
    /// that does not end leaves most of the budget to others.
    pub(crate) fn config(&self, built: &Built, budget: &Budget) -> exec::Config {
        exec::Config {
            isolation: self.isolation,
            max_steps: self.max_steps,
            time_limit: budget.remaining().map_or(self.time, |left| self.time.min(left / RUNS)),
            budget: budget.with_grace(GRACE),
            environment: self.environment,
            verify_isolation: self.verify_isolation,
            args: built.identity.args.iter().map(Into::into).collect(),
            name: Some(built.name().into()),
            directory: built.identity.folder.as_ref().map(Into::into),
            variables: built.identity.variables.clone(),
            stdin: built.given.stdin.clone(),
            peers: built.given.peers.clone(),
            team_size: self.team_size_of(built),
            children: built.children.clone(),
            opened: built.opened.clone(),
            ..exec::Config::default()
        }
    }
}

/// How many threads teams of OpenMP have in turn, where nobody says.
pub(crate) const TEAM_SIZES: [u32; 3] = [2, 3, 5];

/// Runs without an end that a budget has room for.
const RUNS: u32 = 6;

/// How long a report may take after the budget is spent, without printing it.
pub(crate) const GRACE: Duration = Duration::from_millis(800);

/// A program under control.
pub(crate) struct Running {
    /// The program.
    pub(crate) built: Arc<Built>,
    /// Its process.
    pub(crate) target: Target,
    /// How many threads its teams have.
    pub(crate) team_size: Option<u32>,
    /// The run under the empty schedule.
    pub(crate) first: Trace,
    /// How it went, in short.
    pub(crate) first_run: FirstRun,
    /// Where its globals are.
    pub(crate) symbols: Symbols,
}

impl Running {
    /// Launches the program and runs it once under the empty schedule, which tells where its symbols are.
    pub(crate) fn launch(built: Arc<Built>, limits: &Limits, budget: &Budget) -> Result<Self, Error> {
        let mut target = built.launch(limits.config(&built, budget))?;
        let first = target.run(&Schedule::new())?;
        let symbols = target.symbols()?;
        let output = target.output()?;
        let threads = first.threads.len().saturating_sub(1);
        let last_line = last_line(&output.stderr).or_else(|| last_line(&output.stdout));
        let first_run = FirstRun { end: first.end.clone(), threads, last_line };
        let team_size = limits.team_size_of(&built);
        Ok(Self { built, target, team_size, first, first_run, symbols })
    }
}

/// How the first run of a program went.
#[derive(Clone, Debug)]
pub(crate) struct FirstRun {
    /// How it ended.
    pub(crate) end: End,
    /// Threads it created.
    pub(crate) threads: usize,
    /// The last line it wrote that is not empty: to standard error, if there is one.
    pub(crate) last_line: Option<String>,
}

/// The last line of a stream that says something, cut where it is long.
fn last_line(stream: &[u8]) -> Option<String> {
    const LONGEST: usize = 80;
    let text = String::from_utf8_lossy(&stream[stream.len().saturating_sub(4 * LONGEST)..]).into_owned();
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    let printable: String = line.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    let cut = printable.chars().count() > LONGEST;
    Some(if cut { printable.chars().take(LONGEST).chain(['…']).collect() } else { printable })
}
