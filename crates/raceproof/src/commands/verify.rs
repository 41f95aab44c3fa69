//! `raceproof verify`.

use std::process::ExitCode;
use std::time::Duration;

use check::{Input, ProofOptions, Request, SearchOptions, Subject};
use clap::ValueEnum;
use report::Command;

use crate::commands::flags::{AgainFlags, BudgetFlags, ProgramFlags, PruningFlag, ReportFlags, RunFlags};
use crate::failure::Failure;
use crate::output;
use crate::settings::Settings;

/// Prove the absence of races for all inputs and any number of threads
///
/// Pairs that are not proved absent are looked for in runs of the program: what a run shows is a race, everything else
/// stays unknown. Proofs take at most half of the time, which is a minute if nothing else is said.
#[derive(clap::Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    program: ProgramFlags,

    /// Stop the search after N runs
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    max_executions: u64,

    /// Show the counters of the searches for proofs
    #[arg(long)]
    stats: bool,

    /// What these searches may leave out
    #[arg(long, value_enum, value_name = "PRUNING", default_value_t)]
    pruning: PruningFlag,

    /// Print an intermediate value as text and stop there
    #[arg(long, value_enum, value_name = "VALUE")]
    emit: Option<Emit>,

    #[command(flatten)]
    budget: BudgetFlags,

    #[command(flatten)]
    runs: RunFlags,

    #[command(flatten)]
    again: AgainFlags,

    #[command(flatten)]
    report: ReportFlags,
}

/// Intermediate values.
#[derive(Clone, Copy, ValueEnum)]
enum Emit {
    /// The net of the first pair that is not proved absent, for Graphviz
    Net,
}

/// Time for everything.
const USUAL: Duration = Duration::from_secs(60);

/// Events of one run of the search.
const USUAL_STEPS: u64 = 500;

impl Verify {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        self.again.watch()?;
        let settings = Settings::find()?;
        let known = self.report.known(&settings)?;
        let budget = self.budget.budget(&settings, Some(USUAL))?;
        let proofs = ProofOptions { pruning: self.pruning.into(), statistics: self.stats, ..ProofOptions::default() };
        if let Input::SmallLanguage(path) = self.program.input()? {
            if self.emit.is_some() {
                output::print(&check::small_language_net(&path)?)?;
                return Ok(ExitCode::SUCCESS);
            }
            return self.report.show(check::verify_small_language(Command::Verify, &path, &proofs, &budget)?, known);
        }
        let build = self.program.build_options(&settings)?;
        if self.emit.is_some() {
            let net = check::net(&Subject::text(&build, &budget)?, &proofs, &budget).ok_or_else(|| {
                let help = "without `--emit`, the report says what there is";
                Failure::new("there is no pair, or something in the program is not modelled: no net", help)
            })?;
            output::print(&net)?;
            return Ok(ExitCode::SUCCESS);
        }
        let request = Request {
            proofs,
            limits: self.runs.limits(&settings, USUAL_STEPS)?,
            search: SearchOptions { max_executions: Some(self.max_executions), ..SearchOptions::default() },
            witness_dir: self.report.witness_dir(&settings),
            ..Request::new(Command::Verify, build, budget)
        };
        self.again.carry_out(&request, &self.report, known, |_| {})
    }
}
