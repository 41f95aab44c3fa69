//! Recording one run of a program, and reading the recording.
//!
//! On real threads the program is instrumented for the recorder: a second executable with the same sites. Accesses that
//! the static engine shows to be harmless are not recorded. What they read may have decided what a thread did, so a
//! prediction from such a recording may turn out impossible; the replay tells.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use files::Detail;
use files::TraceFile;
use files::trace::SiteTable;
use llvm::instrument::Logged;
use lockset::Answer;
use model::{Addr, Budget, End, SiteId};
use program::Program;
use recording::RecordConfig;

use crate::Error;
use crate::build::Built;
use crate::describe::ObjectNames;
use crate::run::{Limits, Running};
use crate::subject::Subject;

/// How to record.
#[derive(Clone, Debug)]
pub struct RecordOptions {
    /// How long a run under the controlled scheduler may be.
    pub limits: Limits,
    /// Under the controlled scheduler, not on real threads: the same run every time. Programs that ask their checker for
    /// values or sections are always recorded so.
    pub controlled: bool,
    /// Also accesses that the static engine shows to be harmless.
    pub every_access: bool,
    /// Most bytes of a recording on real threads, about.
    pub max_trace: u64,
    /// Longest time of a run on real threads.
    pub time: Option<Duration>,
    /// Whether what the program prints on real threads is shown.
    pub show_output: bool,
}

impl Default for RecordOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            controlled: false,
            every_access: false,
            max_trace: 1 << 30,
            time: None,
            show_output: false,
        }
    }
}

/// The figures of a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recorded {
    /// Number of events, with those that are left out of the trace.
    pub events: u64,
    /// Number of threads.
    pub threads: usize,
    /// Bytes of the file.
    pub bytes: u64,
    /// How the run ended, in words.
    pub end: String,
    /// Why the end of the run is not in the recording, if it is not.
    pub cut: Option<String>,
}

impl Recorded {
    /// The figures of a recording that was written to `path`.
    pub fn of(file: &TraceFile, path: &Path) -> Self {
        let end = match &file.trace.end {
            End::Exit { code } => format!("exit status {code}"),
            End::Deadlock => "a deadlock".to_owned(),
            End::Assumed { .. } => "an assumption that does not hold".to_owned(),
            End::Assertion { message, .. } => format!("a failed assertion: {message}"),
            End::Crash { message, .. } => format!("a crash: {message}"),
            End::StepLimit => "its limit of events".to_owned(),
            End::TimeLimit => "its limit of time".to_owned(),
            End::Diverged { message, .. } => message.clone(),
        };
        Self {
            events: file.trace.events.len() as u64 + file.left_out,
            threads: file.trace.threads.len(),
            bytes: std::fs::metadata(path).map_or(0, |metadata| metadata.len()),
            end,
            cut: file.cut.clone(),
        }
    }
}

/// Runs the program once and writes what happened to `output`.
pub fn record(subject: &mut Subject, options: &RecordOptions, output: &Path) -> Result<TraceFile, Error> {
    if options.controlled || needs_control(subject.program()) {
        let file = controlled(subject.must_be_running(&options.limits)?);
        file.write(output)?;
        return Ok(file);
    }
    prepare_recorder(subject, options)?.run(output)?;
    read_trace(output, Detail::Shared)
}

/// The same, kept for this command only.
pub(crate) fn record_anew(subject: &mut Subject, options: &RecordOptions) -> Result<TraceFile, Error> {
    let path = subject.must_run()?.folder().join("trace.rpt");
    record(subject, options, &path)
}

/// A program that is ready to be recorded on real threads.
#[derive(Debug)]
pub struct Recorder {
    executable: PathBuf,
    config: RecordConfig,
}

impl Recorder {
    /// Runs the program once and writes what happened to `output`.
    pub fn run(&self, output: &Path) -> Result<(), Error> {
        Ok(recording::record(&self.executable, &self.config, output)?)
    }
}

/// Builds the program for the recorder. It lives as long as the subject does.
pub fn prepare_recorder(subject: &mut Subject, options: &RecordOptions) -> Result<Recorder, Error> {
    let built = subject.must_run()?;
    let without = if options.every_access { BTreeSet::new() } else { harmless_sites(subject, &built) };
    let (executable, Logged { accesses, together }) = built.build_recorder(without, subject.budget())?;
    let config = RecordConfig {
        program: built.identity.clone(),
        sites: SiteTable { accesses, together },
        max_trace: options.max_trace,
        time: shorter(options.time, subject.budget().remaining()),
        stdin: built.stdin.clone(),
        args: built.identity.args.iter().map(Into::into).collect(),
        name: built.name().into(),
        show_output: options.show_output,
    };
    Ok(Recorder { executable, config })
}

/// The shorter of two limits, where there are any.
fn shorter(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// The first run under the controlled scheduler as a recording: the same run every time, with every access.
pub(crate) fn controlled(running: &Running) -> TraceFile {
    let trace = running.first.clone();
    let cut = match trace.end {
        End::StepLimit => Some("the recorded run was cut at its limit of events".to_owned()),
        End::TimeLimit => Some("the recorded run was cut at its limit of time".to_owned()),
        _ => None,
    };
    let (program, symbols) = (running.built.identity.clone(), running.symbols.clone().globals());
    TraceFile { program, symbols, trace, cut, left_out: 0 }
}

/// Whether the program asks its checker something (a value, a section), which only the controlled scheduler answers.
fn needs_control(program: &Program) -> bool {
    let asks = |symbol: &str| {
        symbol.starts_with("__VERIFIER_") || matches!(symbol, "raceproof_choose" | "reach_error" | "__rp_error")
    };
    program.functions.iter().any(|function| asks(&function.symbol))
}

/// Sites that are in no pair that may race, by the static engine.
fn harmless_sites(subject: &Subject, built: &Built) -> BTreeSet<SiteId> {
    let Ok(analysis) = lockset::analyse(subject.facts()) else { return BTreeSet::new() };
    if !analysis.obstacles.is_empty() || analysis.more_warnings > 0 || !built.unmodelled.is_empty() {
        return BTreeSet::new();
    }
    let open = analysis.findings.iter().filter(|finding| matches!(finding.answer, Answer::Unknown { .. }));
    let open: BTreeSet<SiteId> = open.flat_map(|finding| finding.pair.sites()).collect();
    built.program.sites.ids().filter(|site| !open.contains(site)).collect()
}

/// Reads a recording.
pub fn read_trace(path: &Path, detail: Detail) -> Result<TraceFile, Error> {
    Ok(TraceFile::read(path, detail)?)
}

/// Builds the program of a recording and checks that it is the same.
pub fn rebuild_recorded(path: &Path, file: &TraceFile, budget: &Budget) -> Result<Subject, Error> {
    let program = &file.program;
    let mut subject = Subject::new(&program.into(), budget)?;
    let built = subject.must_run()?;
    if built.identity.hash != program.hash {
        return Err(Error::RecordedChanged { trace: path.to_owned() });
    }
    if built.identity.stdin_hash != program.stdin_hash {
        let stdin = program.stdin.clone().unwrap_or_default();
        return Err(Error::StdinChanged { witness: path.to_owned(), stdin });
    }
    Ok(subject)
}

/// A recording in RAPID's text form, or as the paper's CSP model of what is left of it after reduction.
pub fn emit_trace(subject: &Subject, file: &TraceFile, as_cspm: bool) -> Result<String, Error> {
    let names = ObjectNames::new(subject.program(), &file.symbols);
    in_form(&file.trace, as_cspm, |addr| Some(names.synchronisation(&file.trace, addr)))
}

/// A trace in another form.
pub(crate) fn in_form(
    trace: &model::Trace,
    as_cspm: bool,
    name: impl Fn(Addr) -> Option<String>,
) -> Result<String, Error> {
    let refused = |what: String| Error::Unwritable { what };
    if !as_cspm {
        return ::predict::rapid::write(trace).map_err(|error| refused(error.to_string()));
    }
    let reduced = ::predict::reduce::group(&::predict::reduce::reduce(trace).trace).reduced.trace;
    ::predict::cspm::write(&reduced, name).map_err(|error| refused(error.to_string()))
}
