//! `raceproof explore`.

use std::io::Write;
use std::process::ExitCode;

use check::{Limits, Request, SearchOptions, Subject};
use clap::ValueEnum;
use explore::{ReductionName, Sampling, Strategy};
use report::Command;

use crate::commands::flags::{AgainFlags, BudgetFlags, ProgramFlags, ReportFlags, RunFlags, SearchFlags};
use crate::failure::Failure;
use crate::guard::carry_out;
use crate::output;
use crate::settings::Settings;

/// Run the program under every schedule of one input
#[derive(clap::Args)]
pub(crate) struct Explore {
    #[command(flatten)]
    program: ProgramFlags,

    /// Which schedules may be left out because they are equivalent to others
    #[arg(long, default_value = ReductionName::default().as_str(), value_name = "REDUCTION",
          value_parser = clap::builder::PossibleValuesParser::new(ReductionName::ALL.map(ReductionName::as_str)))]
    reduction: String,

    #[command(flatten)]
    search: SearchFlags,

    /// Stop the search after N runs
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_executions: Option<u64>,

    /// Run only schedules with at most N preemptions, those with fewer first, whatever the reduction
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_preemptions: Option<u32>,

    /// Try only some schedules, chosen at random: `random`, `pos` (by what events conflict), or `pct:d` for what needs d
    /// events in a certain order
    #[arg(long, value_name = "HOW", requires = "runs", conflicts_with_all = ["max_preemptions", "checkpoint", "resume", "max_executions"])]
    sample: Option<Strategy>,

    /// How many schedules to try with `--sample`
    #[arg(long, value_name = "N", requires = "sample")]
    runs: Option<u64>,

    /// Another seed chooses other schedules with `--sample`
    #[arg(long, value_name = "N", requires = "sample", default_value_t = 0)]
    seed: u64,

    /// Show what the program prints in its first run
    #[arg(long)]
    show_output: bool,

    /// Compare what the program prints in all runs that finish, and its exit status
    #[arg(long)]
    compare_output: bool,

    /// Print an intermediate value as text and stop there
    #[arg(long, value_enum, value_name = "VALUE")]
    emit: Option<Emit>,

    #[command(flatten)]
    budget: BudgetFlags,

    #[command(flatten)]
    limits: RunFlags,

    #[command(flatten)]
    again: AgainFlags,

    #[command(flatten)]
    report: ReportFlags,
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
    /// How to search.
    fn search_options(&self) -> Result<SearchOptions, Failure> {
        let unknown = |e: explore::UnknownReduction| Failure::new(e.to_string(), "see `raceproof explore --help`");
        let sampling = self.sample.zip(self.runs);
        let search = SearchOptions {
            reduction: self.reduction.parse().map_err(unknown)?,
            max_executions: self.max_executions,
            jobs: self.limits.jobs.get(),
            max_preemptions: self.max_preemptions,
            sampling: sampling.map(|(strategy, runs)| Sampling { strategy, runs, seed: self.seed }),
            compare_output: self.compare_output,
            ..self.search.options()?
        };
        if search.jobs > 1 && !search.can_be_split() {
            output::warn(
                "the search is made in one process: only one with `--reduction best` or `optimal` can be split for `-j`",
            );
        }
        Ok(search)
    }

    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        self.again.watch()?;
        let settings = Settings::find()?;
        let known = self.report.known(&settings)?;
        let search = self.search_options()?;
        let limits = self.limits.limits(&settings, Limits::default().max_steps)?;
        let budget = self.budget.budget(&settings, None)?;
        let build = self.program.build_options(&settings)?;
        if self.emit == Some(Emit::Program) {
            output::print(&Subject::new(&build, &budget)?.program().to_string())?;
            return Ok(ExitCode::SUCCESS);
        }
        let request = Request {
            limits,
            team_sizes: self.limits.team_sizes(),
            search,
            reached_only: self.limits.reached_only,
            witness_dir: self.report.witness_dir(&settings),
            ..Request::new(Command::Explore, build, budget)
        };
        if !self.show_output && self.emit.is_none() {
            return self.again.carry_out(&request, &self.report, known, |_| {});
        }
        let mut subject = Subject::new(&request.build, &request.budget)?;
        let run = check::first_run(&mut subject, &limits)?;
        if self.show_output {
            let mut stderr = std::io::stderr().lock();
            let _ = stderr.write_all(&run.output.stdout).and_then(|()| stderr.write_all(&run.output.stderr));
        }
        if self.emit == Some(Emit::Trace) {
            output::print(&run.text)?;
            return Ok(ExitCode::SUCCESS);
        }
        carry_out(&request, &self.report, known, |request, line| Ok(check::run_on(&mut subject, request, line)?))
    }
}
