//! The measuring environment: which tools there are, and how they are called.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;

use crate::Failure;
use crate::machine::{Machine, now};
use crate::process::{Limits, Usage, run};

/// Time limit after which a process is killed.
const TIME_LIMIT: Duration = Duration::from_secs(600);

pub(crate) struct Environment {
    root: PathBuf,
    raceproof: PathBuf,
    /// An earlier raceproof.
    pub(crate) previous: Option<PathBuf>,
    /// Fewer runs and shorter limits.
    pub(crate) quick: bool,
    /// The programs of the table of that name; all if none are named.
    pub(crate) programs: Vec<String>,
    pub(crate) machine: Machine,
    /// The day on which measuring started, also for measurements after midnight.
    pub(crate) date: String,
    folder: tempfile::TempDir,
}

/// One of the two versions of raceproof.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// The one that the page is about.
    Measured,
    /// An earlier one, if there is one.
    Previous,
}

/// A call of raceproof that ended normally.
pub(crate) struct Answer {
    pub(crate) usage: Usage,
    pub(crate) document: Value,
    /// The call, with paths relative to the project root.
    pub(crate) command: String,
    /// Standard error.
    notes: String,
}

impl Answer {
    /// A number from the first engine's results.
    pub(crate) fn number(&self, key: &str) -> u64 {
        self.document["engines"][0][key].as_u64().unwrap_or_default()
    }

    /// A number printed on standard error, on a line that starts with its name.
    pub(crate) fn note(&self, name: &str) -> Result<usize, Failure> {
        let line = self.notes.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.and_then(|text| text.parse().ok())
            .ok_or_else(|| format!("`{}` does not print {name}", self.command).into())
    }

    /// Pairs that the static engine has counted but not listed.
    pub(crate) fn unlisted(&self) -> usize {
        let unknowns = self.document["unknowns"].as_array().map_or(&[][..], Vec::as_slice);
        let reasons = unknowns.iter().filter_map(|unknown| unknown["reason"].as_str());
        let counts = reasons.filter_map(|reason| reason.strip_suffix(" further pairs are not listed one by one"));
        counts.filter_map(|count| count.parse::<usize>().ok()).sum()
    }

    /// Number of pairs with a verdict.
    pub(crate) fn pairs(&self, verdict: &str) -> usize {
        let pairs = self.document["pairs"].as_array().map_or(&[][..], Vec::as_slice);
        pairs.iter().filter(|pair| pair["verdict"] == verdict).count()
    }
}

impl Environment {
    pub(crate) fn new(root: &Path, raceproof: &Path, quick: bool) -> Result<Self, Failure> {
        if !raceproof.exists() {
            return Err(format!("{} is not there: run `make build` first", raceproof.display()).into());
        }
        let (root, raceproof) = (root.to_owned(), raceproof.to_owned());
        let (machine, (date, _), folder) = (Machine::here(), now()?, tempfile::tempdir()?);
        Ok(Self { root, raceproof, previous: None, quick, programs: Vec::new(), machine, date, folder })
    }

    /// The first value in a quick measurement, the second otherwise.
    pub(crate) fn either<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }

    /// The measured raceproof.
    pub(crate) fn command(&self) -> &Path {
        &self.raceproof
    }

    /// A path relative to the project root.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// An empty folder that is deleted when dropped.
    pub(crate) fn scratch_folder(&self) -> Result<tempfile::TempDir, Failure> {
        Ok(tempfile::tempdir_in(self.folder.path())?)
    }

    /// Whether there is an earlier raceproof to compare with.
    pub(crate) fn has_previous(&self) -> bool {
        self.previous.is_some()
    }

    /// Calls `raceproof`; `input` is relative to the project root. Without `processors` it may use all.
    pub(crate) fn raceproof(
        &self,
        command: &str,
        input: &str,
        args: &[&str],
        processors: Option<usize>,
    ) -> Result<Answer, Failure> {
        self.raceproof_of(Which::Measured, command, input, args, processors)
    }

    /// The same with one of the two versions.
    pub(crate) fn raceproof_of(
        &self,
        which: Which,
        command: &str,
        input: &str,
        args: &[&str],
        processors: Option<usize>,
    ) -> Result<Answer, Failure> {
        let raceproof = match which {
            Which::Measured => Some(&self.raceproof),
            Which::Previous => self.previous.as_ref(),
        };
        let raceproof = raceproof.ok_or("there is no earlier raceproof")?;
        let desk = self.scratch_folder()?;
        let (result, errors) = (desk.path().join("result.json"), desk.path().join("errors"));
        let mut process = Command::new(raceproof);
        process.arg(command).arg(self.path(input)).args(args).arg("--json").current_dir(desk.path());
        process.env("RACEPROOF_FRESH", "1");
        process.stdout(std::fs::File::create(&result)?).stderr(std::fs::File::create(&errors)?);
        let usage = run(&mut process, Limits { processors, time: TIME_LIMIT })?;
        let words = [command, input].into_iter().chain(args.iter().copied());
        let command = format!("raceproof {}", shlex::try_join(words)?);
        let text = std::fs::read_to_string(&result)?;
        let notes = std::fs::read_to_string(&errors)?;
        let document = serde_json::from_str(&text)
            .map_err(|error| format!("`{command}` ended with {:?}: {error}\n{notes}", usage.status))?;
        Ok(Answer { usage, document, command, notes })
    }

    /// Calls another program and discards its output.
    pub(crate) fn tool(&self, program: &Path, args: &[&str], time: Duration) -> Result<Usage, Failure> {
        let desk = self.scratch_folder()?;
        let mut process = Command::new(program);
        process.args(args).current_dir(desk.path()).stdout(Stdio::null()).stderr(Stdio::null());
        process.env("TSAN_OPTIONS", format!("exitcode={FOUND}"));
        run(&mut process, Limits { processors: None, time })
    }

    /// Compiles a source, relative to the project root, with clang.
    pub(crate) fn compiled(&self, source: &str, flags: &[&str], to: &Path) -> Result<(), Failure> {
        let mut clang = Command::new("clang-19");
        clang.args(source.ends_with(".cpp").then_some("--driver-mode=g++"));
        clang.args(flags).arg("-pthread").arg(self.path(source)).arg("-o").arg(to);
        let output = clang.output().map_err(|error| format!("clang-19: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("clang-19 cannot compile {source}: {}", String::from_utf8_lossy(&output.stderr)).into())
    }

    /// Whether an optional tool is installed.
    pub(crate) fn has(&self, tool: &str) -> bool {
        Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success())
    }

    /// Processes all items, as many at once as there are processors; results are in the order of the items.
    pub(crate) fn side_by_side<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&T) -> Result<R, Failure> + Sync,
    ) -> Result<Vec<R>, Failure> {
        let (waiting, done) = (Mutex::new(items.iter().enumerate()), Mutex::new(Vec::new()));
        std::thread::scope(|scope| {
            for _ in 0..self.machine.processors {
                scope.spawn(|| {
                    while let Some((at, item)) = { waiting.lock().map_or(None, |mut items| items.next()) } {
                        let result = work(item);
                        if let Ok(mut done) = done.lock() {
                            done.push((at, result));
                        }
                    }
                });
            }
        });
        let mut done = done.into_inner().map_err(|_| "a measurement panicked")?;
        done.sort_by_key(|(at, _)| *at);
        done.into_iter().map(|(_, result)| result).collect()
    }
}

/// The exit status with which the other tools report a finding.
pub(crate) const FOUND: i32 = 66;
