//! `raceproof record`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use check::{Limits, RecordOptions, Recorded};

use crate::commands::flags::{BudgetFlags, ProgramFlags, seconds, size};
use crate::failure::Failure;
use crate::output;
use crate::settings::Settings;

/// How the program is recorded
#[derive(clap::Args)]
pub(crate) struct RecordFlags {
    /// Record under the controlled scheduler instead of real threads: the same run every time
    #[arg(long, help_heading = "Recording")]
    controlled: bool,

    /// Record accesses too that the static engine shows to be harmless
    #[arg(long, help_heading = "Recording")]
    every_access: bool,

    /// Keep at most this much of a run on real threads; K, M and G may follow
    #[arg(long, value_name = "SIZE", default_value = "1G", help_heading = "Recording")]
    max_trace: String,

    /// Stop the recorded run after this many seconds
    #[arg(long, value_name = "SECS", help_heading = "Recording")]
    run_time: Option<f64>,

    /// Most events of a run under the controlled scheduler
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_steps, help_heading = "Recording")]
    max_steps: u64,
}

impl RecordFlags {
    /// How long runs may be.
    pub(crate) fn limits(&self) -> Result<Limits, Failure> {
        let default = Limits::default();
        Ok(Limits { max_steps: self.max_steps, time: self.run_time()?.unwrap_or(default.time), ..default })
    }

    fn run_time(&self) -> Result<Option<std::time::Duration>, Failure> {
        self.run_time.map(|time| seconds("--run-time", time)).transpose()
    }

    /// How to record.
    pub(crate) fn options(&self) -> Result<RecordOptions, Failure> {
        Ok(RecordOptions {
            limits: self.limits()?,
            controlled: self.controlled,
            every_access: self.every_access,
            max_trace: size("--max-trace", &self.max_trace)?,
            time: self.run_time()?,
            show_output: false,
        })
    }
}

/// Run the program once and keep what happened, for `predict`
#[derive(clap::Args)]
pub(crate) struct Record {
    #[command(flatten)]
    program: ProgramFlags,

    /// Where the trace goes; the first input's name with `.rpt` if not given
    #[arg(short, long, value_name = "TRACE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    recording: RecordFlags,

    #[command(flatten)]
    budget: BudgetFlags,
}

impl Record {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let settings = Settings::find()?;
        let build = self.program.build_options(&settings)?;
        let budget = self.budget.budget(&settings, None)?;
        let path = self.output.unwrap_or_else(|| {
            let stem = build.inputs.first().and_then(|input| Path::new(input).file_stem());
            PathBuf::from(stem.unwrap_or_else(|| "program".as_ref())).with_extension("rpt")
        });
        let options = RecordOptions { show_output: true, ..self.recording.options()? };
        let Recorded { events, threads, cut, end, bytes } = check::record(&build, &options, &budget, &path)?;
        let mut text = format!(
            "raceproof: recorded {events} events of {threads} threads in `{}` ({bytes} bytes); the run ended with {end}\n",
            path.display()
        );
        if let Some(cut) = cut {
            text += &format!("raceproof: note: {cut}\n");
        }
        text += &format!("raceproof: help: predict races from it: raceproof predict {}\n", path.display());
        // Standard output is the program's.
        output::note(&text);
        Ok(ExitCode::SUCCESS)
    }
}
