//! `raceproof check`.

use std::process::ExitCode;

use check::{Effort, LINE, Limits, ProofOptions, Request, SearchOptions};
use model::Engine;
use report::Command;

use crate::commands::flags::{AgainFlags, BudgetFlags, ProgramFlags, ReportFlags, RunFlags, SearchFlags};
use crate::failure::Failure;
use crate::output;
use crate::settings::Settings;

/// Settle every data race of a program: all engines in turn, one report
///
/// Proofs for all inputs come first, then runs of the program with this input. What the earlier engines settle, the
/// later ones leave alone. Ctrl-C ends the check with a report of what is known.
#[derive(clap::Args)]
pub(crate) struct Check {
    #[command(flatten)]
    program: ProgramFlags,

    /// The engines that may work, separated by commas
    #[arg(long, value_name = "ENGINES", value_delimiter = ',',
          value_parser = clap::builder::PossibleValuesParser::new(LINE.map(Engine::as_str)))]
    engines: Vec<String>,

    /// At most 5 seconds: for editors and before commits
    #[arg(long, conflicts_with = "thorough")]
    quick: bool,

    /// As long as an hour, where a minute is usual: for nightly runs
    #[arg(long)]
    thorough: bool,

    #[command(flatten)]
    search: SearchFlags,

    #[command(flatten)]
    budget: BudgetFlags,

    #[command(flatten)]
    runs: RunFlags,

    #[command(flatten)]
    again: AgainFlags,

    #[command(flatten)]
    report: ReportFlags,
}

impl Check {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let effort = match (self.quick, self.thorough) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Thorough,
            _ => Effort::Normal,
        };
        self.again.watch()?;
        let mut settings = Settings::find()?;
        // A choice of effort on the command line counts more than the project's time.
        settings.time = settings.time.filter(|_| effort == Effort::Normal);
        let known = self.report.known(&settings)?;
        let budget = self.budget.budget(&settings, Some(effort.time()))?;
        if let check::Input::SmallLanguage(path) = self.program.input()? {
            let report = check::verify_small_language(Command::Check, &path, &ProofOptions::default(), &budget)?;
            return self.report.show(report, known);
        }
        let search = SearchOptions { jobs: self.runs.jobs.get(), ..self.search.options()? };
        if search.jobs > 1 && !search.can_be_split() {
            output::warn("the search is made in one process: the one that `check` makes cannot be split for `-j`");
        }
        let larger = if effort == Effort::Thorough { 5 } else { 1 };
        let request = Request {
            engines: self.engines(&settings)?,
            effort,
            limits: self.runs.limits(&settings, Limits::default().max_steps)?,
            team_sizes: self.runs.team_sizes(),
            proofs: ProofOptions { larger, ..ProofOptions::default() },
            search,
            promises_other_errors: self.search.names_other_errors(),
            reached_only: self.runs.reached_only,
            witness_dir: self.report.witness_dir(&settings),
            ..Request::new(Command::Check, self.program.build_options(&settings)?, budget)
        };
        self.again.carry_out(&request, &self.report, known, |_| {})
    }

    /// The engines asked for, all if none is named.
    fn engines(&self, settings: &Settings) -> Result<Vec<Engine>, Failure> {
        let names = if self.engines.is_empty() { &settings.engines } else { &self.engines };
        if let Some(unknown) = names.iter().find(|name| !LINE.iter().any(|engine| engine.as_str() == **name)) {
            let known = LINE.map(Engine::as_str).join(", ");
            return Err(Failure::new(format!("there is no engine `{unknown}`"), format!("the engines are {known}")));
        }
        let asked = |engine: &Engine| names.is_empty() || names.iter().any(|name| name == engine.as_str());
        Ok(LINE.into_iter().filter(asked).collect())
    }
}
