//! Recording one run of a program, and reading the recording.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use files::Detail;
use files::TraceFile;
use files::trace::SiteTable;
use llvm::instrument::Logged;
use model::{Addr, Budget, End};
use recording::Figures;

use crate::Error;
use crate::build::BuildOptions;
use crate::describe::ObjectNames;
use crate::peers;
use crate::recorder::{self, asks_checker, harmless_sites, prepare_recorder};
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

/// How a run ended, in words.
fn in_words(end: &End) -> String {
    match end {
        End::Exit { code } => format!("exit status {code}"),
        End::Deadlock => "a deadlock".to_owned(),
        End::Assumed { .. } => "an assumption that does not hold".to_owned(),
        End::Assertion { message, .. } => format!("a failed assertion: {message}"),
        End::Crash { message, .. } => format!("a crash: {message}"),
        End::StepLimit => "its limit of events".to_owned(),
        End::TimeLimit => "its limit of time".to_owned(),
        End::Diverged { message, .. } => message.clone(),
    }
}

impl Recorded {
    /// Those that were counted while the run was recorded.
    fn new(Figures { events, threads, bytes, end, cut }: Figures) -> Self {
        Self { events, threads, bytes, end: in_words(&end), cut }
    }

    /// Those of a recording under the controlled scheduler that was written to `path`.
    fn of(file: &TraceFile, path: &Path) -> Self {
        Self {
            events: file.trace.events.len() as u64,
            threads: file.trace.threads.len(),
            bytes: std::fs::metadata(path).map_or(0, |metadata| metadata.len()),
            end: in_words(&file.trace.end),
            cut: file.cut.clone(),
        }
    }
}

/// Runs a program once and writes what happened to `output`. Nothing is built but what this needs.
pub fn record(
    build: &BuildOptions,
    options: &RecordOptions,
    budget: &Budget,
    output: &Path,
) -> Result<Recorded, Error> {
    let recorder = if options.controlled { None } else { prepare_recorder(build, options, budget)? };
    match recorder {
        Some(recorder) => Ok(Recorded::new(recorder.run(output)?)),
        None => {
            let mut subject = Subject::new(build, budget)?;
            let file = controlled(subject.must_be_running(&options.limits)?);
            file.write(output)?;
            Ok(Recorded::of(&file, output))
        }
    }
}

/// Records a program that other engines work on too. Its sources are not compiled again.
pub(crate) fn record_anew(subject: &mut Subject, options: &RecordOptions) -> Result<TraceFile, Error> {
    // Peers are played by the controlled scheduler alone.
    let has_peers = subject.identity().is_some_and(|program| program.peers.is_some());
    if options.controlled || has_peers || asks_checker(subject.program()) {
        return Ok(controlled(subject.must_be_running(&options.limits)?));
    }
    let built = subject.must_run()?;
    let pure = built.identity.assume_pure.iter().cloned().collect();
    let leave_out = !options.every_access && built.unmodelled.is_empty();
    let without = if leave_out { harmless_sites(&built.program, &pure, subject.budget()) } else { BTreeSet::new() };
    let (executable, Logged { accesses, together }) = built.build_recorder(without, subject.budget())?;
    let (sites, stdin) = (SiteTable { accesses, together }, built.given.stdin.clone());
    let config = recorder::config(built.identity.clone(), built.name(), sites, options, stdin, subject.budget());
    let output = built.folder().join("trace.rpt");
    recording::record(&executable, &config, &output)?;
    read_trace(&output, Detail::Shared)
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

/// Reads a recording.
pub fn read_trace(path: &Path, detail: Detail) -> Result<TraceFile, Error> {
    Ok(TraceFile::read(path, detail)?)
}

/// How the program of a recording is built for replays: clients from outside are played as they were recorded.
pub fn build_of_recording(path: &Path, file: &TraceFile) -> Result<BuildOptions, Error> {
    let mut build = BuildOptions::from(&file.program);
    if build.peers.is_none() && !peers::of_recording(&files::input::connections(path)?).is_empty() {
        build.peers = Some(path.to_string_lossy().into_owned());
    }
    Ok(build)
}

/// Builds the program of a recording and checks that it is the same.
pub fn rebuild_recorded(
    path: &Path,
    file: &TraceFile,
    build: &BuildOptions,
    budget: &Budget,
) -> Result<Subject, Error> {
    let subject = Subject::new(build, budget)?;
    let found = match subject.why_not() {
        Some(why) => return Err(why.error()),
        None => subject.identity().ok_or(Error::Llvm(llvm::Error::NoMain))?,
    };
    if found.hash != file.program.hash {
        return Err(Error::RecordedChanged { trace: path.to_owned() });
    }
    let mut program = file.program.clone();
    if program.peers.is_none() {
        // The clients are those of the recording itself.
        (program.peers, program.peers_hash) = (found.peers.clone(), found.peers_hash.clone());
    }
    if let Some(input) = program.other_input(found) {
        return Err(Error::InputChanged { witness: path.to_owned(), input: input.to_owned() });
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
