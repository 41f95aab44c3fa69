//! `raceproof static`.

use std::process::ExitCode;

use check::{Request, Subject};
use clap::ValueEnum;
use report::Command;

use crate::commands::flags::{AgainFlags, BudgetFlags, ProgramFlags, ReportFlags};
use crate::failure::Failure;
use crate::output;
use crate::settings::Settings;

/// Look for races in the text of the program, for all inputs, without running it
///
/// Pairs that cannot race are absent, each with its reason; all others are warnings, most promising first. A warning is
/// never a race by itself.
#[derive(clap::Args)]
pub(crate) struct Static {
    #[command(flatten)]
    program: ProgramFlags,

    /// Show on standard error how long each part of the analysis took, how many warnings others imply, how many pairs of
    /// lines the rest has, and what keeps pairs open
    #[arg(long)]
    stats: bool,

    /// Print an intermediate value and stop there
    #[arg(long, value_enum, value_name = "VALUE")]
    emit: Option<Emit>,

    #[command(flatten)]
    budget: BudgetFlags,

    #[command(flatten)]
    again: AgainFlags,

    #[command(flatten)]
    report: ReportFlags,
}

/// Intermediate values.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Emit {
    /// Shared variables, partitions, locks held at each access and the thread tree, as text
    Facts,
    /// The thread tree and who calls whom, for Graphviz
    FactsDot,
}

impl Static {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        self.again.watch()?;
        let settings = Settings::find()?;
        let known = self.report.known(&settings)?;
        let budget = self.budget.budget(&settings, None)?;
        let build = self.program.build_options(&settings)?;
        if let Some(emit) = self.emit {
            let subject = Subject::text(&build, &budget)?;
            output::print(&check::facts_text(&subject, emit == Emit::FactsDot)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        // An earlier answer has no figures.
        self.again.afresh_if(self.stats).carry_out(
            &Request::new(Command::Static, build, budget),
            &self.report,
            known,
            |line| {
                if self.stats {
                    output::note(&line.statistics());
                }
            },
        )
    }
}
