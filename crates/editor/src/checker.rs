//! Checks in the background, each in a process of its own.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use report::Report;
use tempfile::TempDir;

use crate::options::Options;
use crate::programs::Program;
use crate::server::Event;

/// Most time of a check, whatever its flags say.
const LIMIT: Duration = Duration::from_secs(600);

const INTERVAL: Duration = Duration::from_millis(20);

/// What came of a check.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// A result, and the folder with its witnesses.
    Report(Box<Report>, TempDir),
    /// None, and why, in the words of `raceproof check`.
    Failed(String),
    /// It was not wanted any more.
    Cancelled,
}

/// A check at work. Dropping it cancels it.
#[derive(Debug)]
pub(crate) struct Running(Arc<AtomicBool>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Starts to check a program; what comes of it is an event with this number. `at_work` is shared until the check has ended, with
/// all that it started.
pub(crate) fn start(
    raceproof: &Path,
    program: &Program,
    options: &Options,
    number: u64,
    events: Sender<Event>,
    at_work: &Arc<()>,
) -> Running {
    let cancelled = Arc::new(AtomicBool::new(false));
    let (raceproof, program, options) = (raceproof.to_owned(), program.clone(), options.clone());
    let running = Running(Arc::clone(&cancelled));
    let at_work = Arc::clone(at_work);
    std::thread::spawn(move || {
        let outcome = check(&raceproof, &program, &options, &cancelled);
        // Nobody listens when the server has ended.
        let _ = events.send(Event::Checked { program, number, outcome });
        drop(at_work);
    });
    running
}

fn check(raceproof: &PathBuf, program: &Program, options: &Options, cancelled: &AtomicBool) -> Outcome {
    let failed = |what: &str, error: std::io::Error| Outcome::Failed(format!("cannot {what}: {error}"));
    let folder = match tempfile::Builder::new().prefix("raceproof-lsp-").tempdir() {
        Ok(folder) => folder,
        Err(error) => return failed("make a temporary folder", error),
    };
    let result = folder.path().join("result.json");
    let messages = folder.path().join("messages");
    let mut command = Command::new(raceproof);
    command.args(["check", "--quick", "--quiet", "--color", "never", "--json-out"]).arg(&result);
    command.arg("--witness-dir").arg(folder.path().join("witnesses"));
    command.args(&options.flags).args(&program.inputs).arg("--").args(&options.args);
    command.current_dir(&program.folder).stdin(Stdio::null()).stdout(Stdio::null());
    match File::create(&messages) {
        Ok(file) => command.stderr(file),
        Err(error) => return failed("make a temporary file", error),
    };
    let status = match command.spawn() {
        Ok(child) => wait(child, cancelled),
        Err(error) => return failed("start raceproof", error),
    };
    let why = || String::from_utf8_lossy(&std::fs::read(&messages).unwrap_or_default()).trim().to_owned();
    match status {
        End::Cancelled => Outcome::Cancelled,
        End::TooLong => Outcome::Failed(format!("the check took longer than {} s", LIMIT.as_secs())),
        End::Exited => match std::fs::read_to_string(&result).map(|text| report::json::read(&text)) {
            Ok(Ok(report)) => Outcome::Report(Box::new(report), folder),
            Ok(Err(error)) => Outcome::Failed(format!("raceproof bug: an unreadable result: {error}")),
            Err(_) => Outcome::Failed(why()),
        },
    }
}

enum End {
    Exited,
    Cancelled,
    TooLong,
}

/// Waits for the end of a process, which comes at once when it is cancelled. What it started ends with it.
fn wait(mut child: Child, cancelled: &AtomicBool) -> End {
    let start = Instant::now();
    loop {
        if !matches!(child.try_wait(), Ok(None)) {
            return End::Exited;
        }
        let is_cancelled = cancelled.load(Ordering::Acquire);
        if is_cancelled || start.elapsed() > LIMIT {
            // Gone already is as good.
            let _ = child.kill();
            let _ = child.wait();
            return if is_cancelled { End::Cancelled } else { End::TooLong };
        }
        std::thread::sleep(INTERVAL);
    }
}
