//! `raceproof predict`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use check::{Built, PredictOptions};
use clap::ValueEnum;
use files::Detail;
use files::TraceFile;

use crate::commands::record::Recording;
use crate::failure::Failure;
use crate::output;

/// Find races in other orders of a recorded run, and replay each
#[derive(clap::Args)]
pub(crate) struct Predict {
    /// A trace of `record` (`.rpt`), one in RAPID's text form, or the inputs of a program to record first
    #[arg(required = true, value_name = "TRACE | INPUT")]
    inputs: Vec<String>,

    #[command(flatten)]
    recording: Recording,

    /// Let reads read from other writes than they did: more is predicted, less comes about
    #[arg(long)]
    relaxed: bool,

    /// Events that are reordered together
    #[arg(long, value_name = "N", default_value_t = PredictOptions::default().window)]
    window: usize,

    /// Events that the search may perform for each pair
    #[arg(long, value_name = "N", default_value_t = PredictOptions::default().budget)]
    budget: u64,

    /// Print the trace in another form and stop there
    #[arg(long, value_enum, value_name = "VALUE")]
    emit: Option<Emit>,

    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    json: bool,

    /// Write the JSON document to a file
    #[arg(long, value_name = "FILE")]
    json_out: Option<PathBuf>,

    /// Folder for witness files
    #[arg(long, value_name = "DIR", default_value = "raceproof-witnesses")]
    witness_dir: PathBuf,
}

/// Forms of a trace.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Emit {
    /// The paper's CSP model, for a refinement checker
    Cspm,
    /// RAPID's text form
    Rapid,
}

/// Where a trace came from.
enum Source {
    Ours(Box<(Built, TraceFile)>),
    Foreign(PathBuf, Vec<u8>),
}

impl Predict {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let options = PredictOptions {
            limits: self.recording.limits()?,
            relaxed: self.relaxed,
            window: self.window,
            budget: self.budget,
            witness_dir: self.witness_dir.clone(),
        };
        let report = match (self.source()?, self.emit) {
            (Source::Ours(ours), None) => check::predict(&ours.0, &ours.1, &options)?,
            (Source::Ours(ours), Some(form)) => {
                return emit(form, |as_cspm| check::emit_trace(&ours.0, &ours.1, as_cspm));
            }
            (Source::Foreign(path, bytes), None) => check::predict_foreign(&path, &bytes, &options)?,
            (Source::Foreign(path, bytes), Some(form)) => {
                return emit(form, |as_cspm| check::emit_foreign(&path, &bytes, as_cspm));
            }
        };
        if let Some(path) = &self.json_out {
            output::write_json(&report, path)?;
        }
        output::show(&report, self.json);
        Ok(output::status(&report))
    }

    fn source(&self) -> Result<Source, Failure> {
        // What cannot race is of use to other readers only.
        let detail = if self.emit.is_some() { Detail::Every } else { Detail::Shared };
        if let [input] = self.inputs.as_slice()
            && is_trace(Path::new(input))
        {
            let path = Path::new(input);
            let bytes = std::fs::read(path).map_err(|error| {
                Failure::new(format!("cannot read `{input}`: {error}"), "check the spelling and the permissions")
            })?;
            if check::is_foreign(&bytes) {
                return Ok(Source::Foreign(path.to_owned(), bytes));
            }
            drop(bytes);
            let file = check::read_trace(path, detail)?;
            let built = check::rebuild_recorded(path, &file)?;
            return Ok(Source::Ours(Box::new((built, file))));
        }
        let built = self.recording.build(&self.inputs)?;
        let folder = tempfile::tempdir().map_err(|error| {
            Failure::new(
                format!("cannot make a folder for the trace: {error}"),
                "set TMPDIR to a folder you may write to",
            )
        })?;
        let path = folder.path().join("trace.rpt");
        let mut file = self.recording.record(&built, &path, false)?;
        if detail == Detail::Every {
            file = check::read_trace(&path, detail)?;
        }
        Ok(Source::Ours(Box::new((built, file))))
    }
}

fn emit(form: Emit, text: impl FnOnce(bool) -> Result<String, check::Error>) -> Result<ExitCode, Failure> {
    output::print(&text(form == Emit::Cspm)?);
    Ok(ExitCode::SUCCESS)
}

/// Whether an input is a trace, and not a source or bitcode.
fn is_trace(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    !["c", "cc", "cpp", "cxx", "C", "c++", "cp", "CPP", "bc", "ll"].contains(&extension)
}
