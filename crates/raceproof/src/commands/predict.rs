//! `raceproof predict`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use check::{Input, Recording, Request, Subject};
use clap::ValueEnum;
use files::Detail;
use model::{Budget, Surprise};
use report::Command;

use crate::commands::flags::{BudgetFlags, ProgramFlags, ReportFlags};
use crate::commands::record::RecordFlags;
use crate::failure::Failure;
use crate::guard::carry_out;
use crate::output;
use crate::settings::Settings;

/// Find races in other orders of a recorded run, and replay each
///
/// Besides a program, which is recorded first, the input may be a trace of `record` (`.rpt`) or one in RAPID's text form.
#[derive(clap::Args)]
pub(crate) struct Predict {
    #[command(flatten)]
    program: ProgramFlags,

    #[command(flatten)]
    recording: RecordFlags,

    /// Let reads read from other writes than they did: predicts more races; fewer of them replay
    #[arg(long)]
    relaxed: bool,

    /// Do not assume that handing over through the kernel (pipes, sockets, event counters, epoll, signals that are
    /// waited for) orders memory: neither C nor POSIX says so
    #[arg(long)]
    strict_posix: bool,

    /// Events that are reordered together
    #[arg(long, value_name = "N", default_value_t = predict::Options::default().window)]
    window: usize,

    /// Events that the search may perform for each pair
    #[arg(long = "budget", value_name = "N", default_value_t = predict::Options::default().budget)]
    events: u64,

    /// Print the trace in another form and stop there
    #[arg(long, value_enum, value_name = "VALUE")]
    emit: Option<Emit>,

    #[command(flatten)]
    budget: BudgetFlags,

    #[command(flatten)]
    report: ReportFlags,
}

/// Forms of a trace.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Emit {
    /// The paper's CSP model, for a refinement checker
    Cspm,
    /// RAPID's text form
    Rapid,
}

impl Predict {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let settings = Settings::find()?;
        let known = self.report.known(&settings)?;
        let prediction = predict::Options { relaxed: self.relaxed, window: self.window, budget: self.events };
        let budget = self.budget.budget(&settings, None)?;
        let input = self.program.input()?;
        if let Some(form) = self.emit {
            output::print(&self.emitted(&input, form == Emit::Cspm, &settings, &budget)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        match input {
            Input::Text(path) => {
                self.report.show(check::predict_foreign(&path, read(&path)?, &prediction, &budget)?, known)
            }
            Input::Recording(path) | Input::Other(path) => {
                let file = check::read_trace(&path, Detail::Shared)?;
                let build = check::build_of_recording(&path, &file)?;
                let mut subject = check::rebuild_recorded(&path, &file, &build, &budget)?;
                let request = Request::new(Command::Predict, build, budget);
                let request = Request { recording: Recording::Given(Arc::new(file)), ..request };
                let request = self.with_flags(request, prediction, &settings)?;
                carry_out(&request, &self.report, known, |request, line| {
                    Ok(check::run_on(&mut subject, request, line)?)
                })
            }
            _ => {
                let build = self.program.build_options(&settings)?;
                let request = Request::new(Command::Predict, build, budget);
                let request = Request { recording: Recording::New(self.recording.options()?), ..request };
                let request = self.with_flags(request, prediction, &settings)?;
                carry_out(&request, &self.report, known, |request, line| Ok(check::run(request, line)?))
            }
        }
    }

    /// A request with what the flags say.
    fn with_flags(
        &self,
        request: Request,
        prediction: predict::Options,
        settings: &Settings,
    ) -> Result<Request, Failure> {
        let (mut limits, witness_dir) = (self.recording.limits()?, self.report.witness_dir(settings));
        if self.strict_posix {
            limits.environment = limits.environment.with(Surprise::Unordered);
        }
        Ok(Request { prediction, limits, witness_dir, ..request })
    }

    /// The trace in another form.
    fn emitted(&self, input: &Input, as_cspm: bool, settings: &Settings, budget: &Budget) -> Result<String, Failure> {
        Ok(match input {
            Input::Text(path) => check::emit_foreign(path, &read(path)?, as_cspm)?,
            Input::Recording(path) | Input::Other(path) => {
                let file = check::read_trace(path, Detail::Every)?;
                let build = (&file.program).into();
                check::emit_trace(&check::rebuild_recorded(path, &file, &build, budget)?, &file, as_cspm)?
            }
            _ => {
                let build = self.program.build_options(settings)?;
                let folder = tempfile::tempdir().map_err(|error| {
                    let help = "set TMPDIR to a folder you may write to";
                    Failure::new(format!("cannot make a folder for the trace: {error}"), help)
                })?;
                let path: PathBuf = folder.path().join("trace.rpt");
                check::record(&build, &self.recording.options()?, budget, &path)?;
                // What cannot race is of use to other readers.
                let subject = Subject::text(&build, budget)?;
                check::emit_trace(&subject, &check::read_trace(&path, Detail::Every)?, as_cspm)?
            }
        })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| {
        Failure::new(format!("cannot read `{}`: {error}", path.display()), "check the spelling and the permissions")
    })
}
