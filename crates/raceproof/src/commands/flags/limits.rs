//! What commands and runs may use.

use std::num::NonZeroUsize;
use std::time::Duration;

use check::Limits;
use clap::ValueEnum;
use exec::Isolation;
use model::{Budget, Environment, Interrupt, Surprise};

use crate::failure::Failure;
use crate::interrupt;
use crate::memory;
use crate::settings::Settings;

/// Time and memory for a whole command.
#[derive(clap::Args)]
pub(crate) struct BudgetFlags {
    /// Most seconds for everything
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, help_heading = "Limits")]
    pub(crate) time: Option<f64>,

    /// Most memory for everything; K, M and G may follow [default: half of what is available]
    #[arg(long, value_name = "SIZE", help_heading = "Limits")]
    memory: Option<String>,
}

impl BudgetFlags {
    /// The budget of a command that began now: the flags, else the project's settings, else the command's usual time.
    pub(crate) fn budget(&self, settings: &Settings, usual: Option<Duration>) -> Result<Budget, Failure> {
        let time = match self.time.or(settings.time) {
            Some(time) => Some(seconds("--time", time)?),
            None => usual,
        };
        let limit = match &self.memory {
            Some(given) => Some(size("--memory", given)?),
            None => launch::memory::available().map(|available| available / 2),
        };
        let budget = Budget::new(time, limit, Interrupt::from(interrupt::flag()));
        memory::watch(&budget);
        Ok(budget)
    }
}

/// No limits but the user's interrupt.
pub(crate) fn unlimited() -> Budget {
    Budget::unlimited(Interrupt::from(interrupt::flag()))
}

/// How runs are kept apart and how long each may be.
#[derive(clap::Args)]
pub(crate) struct RunFlags {
    /// Most events of one run [default: 1000000; of `verify`: 500]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_steps: Option<u64>,

    /// Longest time of one run, in seconds
    #[arg(long, value_name = "SECS", default_value_t = Limits::default().time.as_secs_f64(), help_heading = "Limits")]
    run_time: f64,

    /// What the environment may do, separated by commas: threads cannot be created (`creation`), memory is short
    /// (`allocation`), waits end and weak compare-exchanges fail without a cause (`spurious`), memory that was never
    /// written holds any value (`uninitialised`), or `all`
    #[arg(long, value_name = "PARTS", value_delimiter = ',', help_heading = "Runs")]
    environment: Vec<String>,

    /// The same as `--environment spurious`
    #[arg(long, help_heading = "Runs")]
    spurious: bool,

    /// Do not assume that handing over through the kernel (pipes, sockets, event counters, epoll, signals that are
    /// waited for) orders memory: neither C nor POSIX says so
    #[arg(long, help_heading = "Runs")]
    strict_posix: bool,

    /// Ask only about accesses that this input reaches, whatever the program reads from outside
    #[arg(long, help_heading = "Runs")]
    pub(crate) reached_only: bool,

    /// How many threads a team of OpenMP has where the program leaves it open: one number, or several to try in turn
    /// [default: `OMP_NUM_THREADS`, else 2; `check` also tries 3, 5 and what the program suggests]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=128),
          help_heading = "Runs")]
    threads: Vec<u32>,

    /// How runs are kept apart
    #[arg(long, value_enum, default_value_t, value_name = "HOW", help_heading = "Runs")]
    isolation: IsolationFlag,

    /// Check before each run that the process is as it was before the first: a self-check of raceproof
    #[arg(long, help_heading = "Runs")]
    verify_isolation: bool,

    /// Run the program in N processes at once, with `--reduction best` or `optimal`; the answer is the same. Not for
    /// programs that write files
    #[arg(short, long, value_name = "N", default_value_t = NonZeroUsize::MIN, help_heading = "Runs")]
    pub(crate) jobs: NonZeroUsize,
}

/// How runs are kept apart.
#[derive(Clone, Copy, Default, ValueEnum)]
enum IsolationFlag {
    /// Restore memory in process, or fork where that is not possible
    #[default]
    Auto,
    /// Fork a process for every run
    Fork,
    /// Start a process for every run: slow, and the measure of the other ways
    Fresh,
    /// Restore memory in process
    Restore,
}

impl RunFlags {
    /// The limits of runs, of which the command usually has so many events.
    pub(crate) fn limits(&self, settings: &Settings, usual_steps: u64) -> Result<Limits, Failure> {
        let named = if self.environment.is_empty() { &settings.environment } else { &self.environment };
        let names = named.iter().map(String::as_str).chain(self.spurious.then_some(Surprise::Spurious.as_str()));
        let names = names.chain(self.strict_posix.then_some(Surprise::Unordered.as_str()));
        let environment = Environment::from_names(names)
            .map_err(|unknown| Failure::new(unknown.to_string(), "see `raceproof explore --help`"))?;
        Ok(Limits {
            isolation: match self.isolation {
                IsolationFlag::Auto => Isolation::Auto,
                IsolationFlag::Fork => Isolation::Fork,
                IsolationFlag::Fresh => Isolation::Fresh,
                IsolationFlag::Restore => Isolation::Restore,
            },
            max_steps: self.max_steps.unwrap_or(usual_steps),
            time: seconds("--run-time", self.run_time)?,
            environment,
            verify_isolation: self.verify_isolation,
            team_size: self.team_sizes().first().copied(),
        })
    }

    /// How many threads teams of OpenMP have in turn, as the flag or the environment says.
    pub(crate) fn team_sizes(&self) -> Vec<u32> {
        let of_environment = || {
            let text = std::env::var("OMP_NUM_THREADS").ok()?;
            text.split(',').next()?.trim().parse().ok().filter(|size| *size > 0)
        };
        if self.threads.is_empty() { of_environment().into_iter().collect() } else { self.threads.clone() }
    }
}

/// A time given with a flag.
pub(crate) fn seconds(flag: &str, value: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(value)
        .map_err(|_| Failure::new(format!("`{flag} {value}` is not a time"), "give a number of seconds, zero or more"))
}

/// A size with its unit.
pub(crate) fn size(flag: &str, given: &str) -> Result<u64, Failure> {
    let units = [("K", 1u64 << 10), ("M", 1 << 20), ("G", 1 << 30)];
    let unit = units.into_iter().find_map(|(name, unit)| Some((given.strip_suffix(name)?, unit)));
    let (number, unit) = unit.unwrap_or((given, 1));
    number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).filter(|size| *size > 0).ok_or_else(|| {
        Failure::new(format!("`{flag} {given}` is not a size"), "give a number of bytes, or one with K, M or G")
    })
}
