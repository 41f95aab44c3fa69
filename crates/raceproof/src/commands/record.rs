//! `raceproof record`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use check::{BuildOptions, Built, Limits, RecordOptions, Recorded};
use files::TraceFile;

use crate::commands::explore::{seconds, split_flags};
use crate::commands::pragmas;
use crate::failure::Failure;
use crate::output;

/// The program and how it is recorded
#[derive(clap::Args)]
pub(crate) struct Recording {
    /// Arguments of the program, after `--`
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<String>,

    /// Record under the controlled scheduler instead of real threads: the same run every time
    #[arg(long)]
    controlled: bool,

    /// Record accesses too that the static engine shows to be harmless
    #[arg(long)]
    every_access: bool,

    /// Keep at most this much of a run on real threads; K, M and G may follow
    #[arg(long, value_name = "SIZE", default_value = "1G")]
    max_trace: String,

    /// Stop the recorded run after this many seconds
    #[arg(long, value_name = "SECS")]
    time: Option<f64>,

    /// Most events of a run under the controlled scheduler
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_steps)]
    max_steps: u64,

    /// Further compiler flags, split as a shell would; may be repeated
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    cflags: Vec<String>,

    /// Assume that an external function touches no shared memory; may be repeated
    #[arg(long, value_name = "NAME")]
    assume_pure: Vec<String>,

    /// File to give the program as standard input
    #[arg(long, value_name = "FILE")]
    stdin: Option<String>,
}

/// Run the program once and keep what happened, for `predict`
#[derive(clap::Args)]
pub(crate) struct Record {
    /// C or C++ sources, `.bc` or `.ll` files of one program
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<String>,

    /// Where the trace goes; the first input's name with `.rpt` if not given
    #[arg(short, long, value_name = "TRACE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    recording: Recording,
}

impl Recording {
    /// How long runs may be.
    pub(crate) fn limits(&self) -> Result<Limits, Failure> {
        let time = self.time.map(|time| seconds("--time", time)).transpose()?;
        let default = Limits::default();
        Ok(Limits { max_steps: self.max_steps, time: time.unwrap_or(default.time), ..default })
    }

    /// Builds the program.
    pub(crate) fn build(&self, inputs: &[String]) -> Result<Built, Failure> {
        let build = BuildOptions {
            inputs: inputs.to_vec(),
            cflags: split_flags(&self.cflags)?,
            assume_pure: self.assume_pure.iter().cloned().collect(),
            args: self.args.clone(),
            stdin: self.stdin.clone(),
            machine: None,
        };
        pragmas::warn_if_ignored(&build);
        Ok(check::build(&build)?)
    }

    /// Runs it once and writes the trace.
    pub(crate) fn record(&self, built: &Built, output: &Path, show_output: bool) -> Result<TraceFile, Failure> {
        let options = RecordOptions {
            limits: self.limits()?,
            controlled: self.controlled,
            every_access: self.every_access,
            max_trace: size(&self.max_trace)?,
            time: self.time.map(|time| seconds("--time", time)).transpose()?,
            show_output,
        };
        Ok(check::record(built, &options, output)?)
    }
}

impl Record {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let built = self.recording.build(&self.inputs)?;
        let path = self.output.unwrap_or_else(|| {
            let stem = self.inputs.first().and_then(|input| Path::new(input).file_stem());
            PathBuf::from(stem.unwrap_or_else(|| "program".as_ref())).with_extension("rpt")
        });
        let Recorded { events, threads, cut, end, bytes } =
            Recorded::of(&self.recording.record(&built, &path, true)?, &path);
        let mut text = format!(
            "recorded {events} events of {threads} threads in `{}` ({bytes} bytes); the run ended with {end}\n",
            path.display()
        );
        if let Some(cut) = cut {
            text += &format!("note: {cut}\n");
        }
        text += &format!("help: predict races from it: raceproof predict {}\n", path.display());
        output::print(&text);
        Ok(ExitCode::SUCCESS)
    }
}

/// A size with its unit.
fn size(given: &str) -> Result<u64, Failure> {
    let units = [("K", 1u64 << 10), ("M", 1 << 20), ("G", 1 << 30)];
    let unit = units.into_iter().find_map(|(name, unit)| Some((given.strip_suffix(name)?, unit)));
    let (number, unit) = unit.unwrap_or((given, 1));
    number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).filter(|size| *size > 0).ok_or_else(|| {
        Failure::new(format!("`--max-trace {given}` is not a size"), "give a number of bytes, or one with K, M or G")
    })
}
