//! `raceproof explore`.

use std::collections::BTreeSet;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use check::{BuildOptions, ExploreOptions, Limits};
use clap::ValueEnum;
use exec::Isolation;
use explore::{Check, ReductionName, Sampling, Strategy};
use remote::Machine;

use crate::commands::pragmas;
use crate::failure::Failure;
use crate::progress::Line;
use crate::{interrupt, output};

/// Run the program under every schedule of one input
#[derive(clap::Args)]
pub(crate) struct Explore {
    /// C or C++ sources, `.bc` or `.ll` files of one program
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<String>,

    /// Arguments of the program, after `--`
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<String>,

    /// Which schedules may be left out because they are equivalent to others
    #[arg(long, default_value = ReductionName::default().as_str(), value_name = "REDUCTION",
          value_parser = clap::builder::PossibleValuesParser::new(ReductionName::ALL.map(ReductionName::as_str)))]
    reduction: String,

    /// What to look for, separated by commas; crashes and misuses are reported where they are met
    #[arg(long, value_delimiter = ',', default_value = "race,deadlock,assert,crash,misuse", value_name = "CHECKS",
          value_parser = clap::builder::PossibleValuesParser::new(Check::ALL.map(Check::as_str)))]
    check: Vec<String>,

    /// Further compiler flags, split as a shell would; may be repeated
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    cflags: Vec<String>,

    /// How runs are kept apart
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    isolation: IsolationFlag,

    /// Most events of one run
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_steps)]
    max_steps: u64,

    /// Longest time of one run, in seconds
    #[arg(long, value_name = "SECS", default_value_t = Limits::default().time.as_secs_f64())]
    run_time: f64,

    /// Stop the search after N runs
    #[arg(long, value_name = "N")]
    max_executions: Option<u64>,

    /// Stop the search after this many seconds
    #[arg(long, value_name = "SECS")]
    time: Option<f64>,

    /// Search in N processes at once, with `--reduction optimal`; the executions and the answer are the same. Not for
    /// programs that write files
    #[arg(short, long, value_name = "N", default_value_t = NonZeroUsize::MIN)]
    jobs: NonZeroUsize,

    /// Run only schedules with at most N preemptions, those with fewer first, whatever the reduction
    #[arg(long, value_name = "N")]
    max_preemptions: Option<u32>,

    /// Try only some schedules, chosen at random: `random`, or `pct:d` for what needs d events in a certain order
    #[arg(long, value_name = "HOW", requires = "runs", conflicts_with_all = ["max_preemptions", "checkpoint", "resume", "max_executions"])]
    sample: Option<Strategy>,

    /// How many schedules to try with `--sample`
    #[arg(long, value_name = "N", requires = "sample")]
    runs: Option<u64>,

    /// Another seed chooses other schedules with `--sample`
    #[arg(long, value_name = "N", requires = "sample", default_value_t = 0)]
    seed: u64,

    /// Write a checkpoint of the search to a file, every few seconds and when the search is stopped
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,

    /// Go on with the search from a checkpoint
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,

    /// Stop at the first finding
    #[arg(long)]
    first: bool,

    /// Let condition-variable waits end without a signal, as the standards allow
    #[arg(long)]
    spurious: bool,

    /// Show what the program prints in its first run
    #[arg(long)]
    show_output: bool,

    /// Compare what the program prints in all runs that come to their end, and its exit status
    #[arg(long)]
    compare_output: bool,

    /// Assume that an external function touches no shared memory; may be repeated
    #[arg(long, value_name = "NAME")]
    assume_pure: Vec<String>,

    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    json: bool,

    /// Write the JSON document to a file
    #[arg(long, value_name = "FILE")]
    json_out: Option<PathBuf>,

    /// Folder for witness files
    #[arg(long, value_name = "DIR", default_value = "raceproof-witnesses")]
    witness_dir: PathBuf,

    /// Print an intermediate value as text and stop there
    #[arg(long, value_enum, value_name = "VALUE")]
    emit: Option<Emit>,

    /// File to give the program as standard input
    #[arg(long, value_name = "FILE")]
    stdin: Option<String>,

    /// Run the program on another machine, where `raceproof target` listens
    #[arg(long, value_name = "HOST[:PORT]")]
    target: Option<String>,
}

/// How runs are kept apart.
#[derive(Clone, Copy, Default, ValueEnum)]
enum IsolationFlag {
    /// Restore memory in process, or fork where that is not possible
    #[default]
    Auto,
    /// Fork a process for every run
    Fork,
    /// Restore memory in process
    Restore,
}

/// Intermediate values.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Emit {
    /// The program in the small concurrent language
    Program,
    /// The events of the run that the empty schedule gives
    Trace,
}

impl Explore {
    /// What to look for.
    fn checks(&self) -> Result<BTreeSet<Check>, Failure> {
        let unknown = |e: explore::UnknownCheck| Failure::new(e.to_string(), "see `raceproof explore --help`");
        self.check.iter().map(|check| check.parse().map_err(unknown)).collect()
    }

    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let checks = self.checks()?;
        let cflags = split_flags(&self.cflags)?;
        let time = self.time.map(|time| seconds("--time", time)).transpose()?;
        let limits = Limits {
            isolation: match self.isolation {
                IsolationFlag::Auto => Isolation::Auto,
                IsolationFlag::Fork => Isolation::Fork,
                IsolationFlag::Restore => Isolation::Restore,
            },
            max_steps: self.max_steps,
            time: seconds("--run-time", self.run_time)?,
            spurious: self.spurious,
        };
        let build = BuildOptions {
            inputs: self.inputs,
            cflags,
            assume_pure: self.assume_pure.into_iter().collect(),
            args: self.args,
            stdin: self.stdin,
            machine: self.target.as_deref().map(find_target).transpose()?,
        };
        pragmas::warn_if_ignored(&build);
        if self.emit == Some(Emit::Program) {
            output::print(&check::lower(&build)?.to_string());
            return Ok(ExitCode::SUCCESS);
        }
        let built = check::build(&build)?;
        if self.show_output || self.emit == Some(Emit::Trace) {
            let run = check::run(&built, &limits)?;
            if self.show_output {
                let mut stderr = std::io::stderr().lock();
                let _ = stderr.write_all(&run.output.stdout).and_then(|()| stderr.write_all(&run.output.stderr));
            }
            if self.emit == Some(Emit::Trace) {
                output::print(&run.text);
                return Ok(ExitCode::SUCCESS);
            }
        }
        let reduction: ReductionName = self
            .reduction
            .parse()
            .map_err(|e: explore::UnknownReduction| Failure::new(e.to_string(), "see `raceproof explore --help`"))?;
        let options = ExploreOptions {
            limits,
            reduction,
            checks,
            max_executions: self.max_executions,
            time,
            stop_at_first: self.first,
            witness_dir: self.witness_dir,
            jobs: self.jobs.get(),
            max_preemptions: self.max_preemptions,
            sampling: self.sample.zip(self.runs).map(|(strategy, runs)| Sampling { strategy, runs, seed: self.seed }),
            interrupt: Some(interrupt::flag()),
            checkpoint: self.checkpoint,
            resume: self.resume,
            compare_output: self.compare_output,
        };
        if options.jobs > 1 && !options.can_be_split() {
            output::warn(
                "the search is made in one process: only one with `--reduction optimal` can be split for `-j`",
            );
        }
        let report = check::explore(&built, &options, &mut Line::new())?;
        if let Some(path) = &self.json_out {
            output::write_json(&report, path)?;
        }
        output::show(&report, self.json);
        Ok(output::status(&report))
    }
}

/// The machine at an address given with `--target`.
pub(crate) fn find_target(address: &str) -> Result<Machine, Failure> {
    Ok(Machine::find(address).map_err(check::Error::from)?)
}

/// Compiler flags, each given text split as a shell would.
pub(crate) fn split_flags(given: &[String]) -> Result<Vec<String>, Failure> {
    let mut split = Vec::new();
    for flags in given {
        split.extend(shlex::split(flags).ok_or_else(|| {
            Failure::new(format!("the flags `{flags}` have an unclosed quote"), "quote them as for a shell")
        })?);
    }
    Ok(split)
}

/// A time given with a flag.
pub(crate) fn seconds(flag: &str, value: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(value)
        .map_err(|_| Failure::new(format!("`{flag} {value}` is not a time"), "give a number of seconds, zero or more"))
}
