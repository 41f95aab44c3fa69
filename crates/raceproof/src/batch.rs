//! Checks of many tests, some at a time, each by a process of its own: what one does to itself leaves the others alone.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use launch::Scratch;
use model::{Budget, Spent};
use report::merge::Checked;
use report::{Outcome, Report, TestResult, Verdict};
use suite::{Subject, Test};

use crate::failure::Failure;

/// Time between two looks at a check.
const INTERVAL: Duration = Duration::from_millis(20);

/// How much longer than its budget a check may take to report, before it is ended.
const LATE: Duration = Duration::from_secs(10);

/// How each test is checked.
pub(crate) struct Checks {
    /// Further flags of `raceproof check`.
    pub(crate) flags: Vec<String>,
    /// Most time for one.
    pub(crate) time: Duration,
    /// Most memory for one.
    pub(crate) memory: Option<u64>,
    /// How many at once.
    pub(crate) jobs: usize,
    /// Folder for the folders with their witnesses.
    pub(crate) witness_dir: PathBuf,
}

/// Tests that are to be checked.
pub(crate) struct Batch<'a> {
    pub(crate) tests: &'a [Test],
    pub(crate) checks: &'a Checks,
    /// Time and interrupt for all.
    pub(crate) budget: &'a Budget,
    pub(crate) shows_progress: bool,
}

impl Checks {
    /// The words of a check that is only parsed, to see whether the flags are right.
    pub(crate) fn trial(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["raceproof".into(), "check".into(), "program".into()];
        words.extend(self.limits(self.time));
        words.extend(self.flags.iter().map(OsString::from));
        words
    }

    fn limits(&self, time: Duration) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["--quiet".into(), "--color=never".into()];
        words.push(format!("--time={}", time.as_secs_f64()).into());
        words.extend(self.memory.map(|memory| format!("--memory={memory}").into()));
        words
    }

    /// Whether the user says something for every test.
    fn says(&self, flag: &str) -> bool {
        self.flags.iter().any(|given| given == flag || given.starts_with(&format!("{flag}=")))
    }

    /// The command that checks a test and writes its result.
    fn command(&self, test: &Test, place: &Place, time: Duration, result: &Path) -> io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("check");
        if let Subject::Program(inputs) = &test.subject {
            command.args(inputs.iter().map(|input| from_here(Path::new(input))));
        }
        command.args(self.limits(time)).arg("--json-out").arg(result);
        command.arg("--witness-dir").arg(&place.witnesses);
        let folder = place.files.as_ref().or(test.folder.as_ref());
        let mut flag = |name: &str, value: &str| {
            command.arg(format!("--{name}={value}"));
        };
        if let Some(folder) = folder.map(|folder| from_here(folder)).filter(|folder| folder != Path::new(".")) {
            flag("folder", &folder.to_string_lossy());
        }
        for (name, value) in &test.variables {
            match value {
                Some(value) => flag("env", &format!("{name}={value}")),
                None => flag("env", name),
            }
        }
        if let Some(stdin) = &test.stdin {
            flag("stdin", &stdin.to_string_lossy());
        }
        if let Some(executable) = &test.executable {
            flag("executable", executable);
        }
        test.cflags.iter().for_each(|flags| flag("cflags", flags));
        let usual = check::Limits::default().time.as_secs_f64();
        if let Some(time) = test.time.filter(|time| *time > usual && !self.says("--run-time")) {
            flag("run-time", &time.to_string());
        }
        let team_size = test.variables.get("OMP_NUM_THREADS").cloned().flatten();
        let team_size = team_size.filter(|size| size.parse::<u32>().is_ok_and(|size| (1..=128).contains(&size)));
        if let Some(size) = team_size.filter(|_| !self.says("--threads")) {
            flag("threads", &size);
        }
        command.args(&self.flags).arg("--").args(&test.args);
        Ok(command)
    }
}

/// A path as it is from the current folder.
fn from_here(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    match path.strip_prefix(&here) {
        Ok(inside) if inside.as_os_str().is_empty() => PathBuf::from("."),
        Ok(inside) => inside.to_owned(),
        Err(_) => path.to_owned(),
    }
}

/// The folders of a test.
struct Place {
    witnesses: PathBuf,
    /// Where it finds its files, if it has any.
    files: Option<PathBuf>,
}

/// The names of the tests' folders: what a file system takes, and each once.
fn folder_names(tests: &[Test]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let name = |test: &Test| {
        let plain = |c: char| if c.is_alphanumeric() || "-_.+".contains(c) { c } else { '_' };
        let name: String = test.name.chars().map(plain).take(100).collect();
        let name = if name.starts_with('.') || name.is_empty() { format!("_{name}") } else { name };
        let mut unique = name.clone();
        let mut number = 1;
        while !taken.insert(unique.clone()) {
            number += 1;
            unique = format!("{name}-{number}");
        }
        unique
    };
    tests.iter().map(name).collect()
}

impl Batch<'_> {
    /// Checks all tests: those that may run beside others first.
    pub(crate) fn run(&self) -> Result<Vec<Checked>, Failure> {
        let scratch = Scratch::new("").map_err(check::Error::WorkFolder)?;
        let names = folder_names(self.tests);
        let (alone, together): (Vec<usize>, Vec<usize>) =
            (0..self.tests.len()).partition(|number| self.tests[*number].alone);
        let results: Vec<Mutex<Option<Checked>>> = self.tests.iter().map(|_| Mutex::new(None)).collect();
        let progress = Progress::new(self.tests.len(), self.shows_progress);
        let work = |numbers: &[usize], jobs: usize| {
            let next = AtomicUsize::new(0);
            let work_through = || {
                while let Some(number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let test = &self.tests[*number];
                    progress.begin(&test.name);
                    let checked = self.check(test, &names[*number], &scratch.path().join(number.to_string()));
                    progress.end(&test.name, &checked);
                    *results[*number].lock().unwrap_or_else(PoisonError::into_inner) = Some(checked);
                }
            };
            std::thread::scope(|scope| {
                for _ in 1..jobs.min(numbers.len()) {
                    // Without room for another thread, this one does it all.
                    let _ = std::thread::Builder::new().spawn_scoped(scope, work_through);
                }
                work_through();
            });
        };
        work(&together, self.checks.jobs);
        work(&alone, 1);
        drop(progress);
        Ok(results
            .into_iter()
            .filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner))
            .collect())
    }

    fn check(&self, test: &Test, name: &str, scratch: &Path) -> Checked {
        let start = Instant::now();
        let inputs = match &test.subject {
            Subject::Program(inputs) => {
                inputs.iter().map(|i| from_here(Path::new(i)).to_string_lossy().into_owned()).collect()
            }
            Subject::Other(_) => Vec::new(),
        };
        let result = |outcome: Outcome, reason: Option<String>, report: Option<Report>| Checked {
            test: TestResult {
                name: test.name.clone(),
                outcome,
                reason,
                inputs,
                args: test.args.clone(),
                time_ms: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
            },
            report,
            should_fail: test.should_fail,
        };
        if let Subject::Other(why) = &test.subject {
            return result(Outcome::Skipped, Some(why.clone()), None);
        }
        if let Some(spent) = self.budget.spent() {
            return result(Outcome::Unknown, Some(why_unchecked(spent).to_owned()), None);
        }
        match self.start(test, name, scratch) {
            Ok(report) => result(Outcome::Unknown, None, Some(report)),
            Err(why) => result(Outcome::Error, Some(why), None),
        }
    }

    /// Checks one test in a process of its own; why there is no result, if there is none.
    fn start(&self, test: &Test, name: &str, scratch: &Path) -> Result<Report, String> {
        let witnesses = self.checks.witness_dir.join(name);
        let files = (!test.files.is_empty()).then(|| witnesses.join("files"));
        let place = Place { witnesses, files };
        if let Some(folder) = &place.files {
            copy_files(&test.files, folder)?;
        }
        let time = self.budget.remaining().map_or(self.checks.time, |left| left.min(self.checks.time));
        let [result, said] = ["json", "stderr"].map(|extension| scratch.with_extension(extension));
        let cannot = |error: io::Error| format!("its check cannot be started: {error}");
        let mut command = self.checks.command(test, &place, time, &result).map_err(cannot)?;
        let stderr = File::create(&said).map_err(cannot)?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).env_remove("CLICOLOR_FORCE");
        // Ctrl-C is passed on once; twice would end it without a result.
        command.process_group(0);
        launch::end_with_host(&mut command);
        let mut child = command.spawn().map_err(cannot)?;
        let in_time = self.wait(&mut child, time).map_err(cannot)?;
        if let Some(report) = read_result(&result) {
            return Ok(report);
        }
        let said = std::fs::read(&said).unwrap_or_default();
        Err(match error_line(&String::from_utf8_lossy(&said)) {
            Some(line) => line,
            None if !in_time => "its check did not end in time".to_owned(),
            None => "its check ended without a result".to_owned(),
        })
    }

    /// Waits for the end of a check. It is asked to end when the time for all tests is over, and ended if it does not.
    fn wait(&self, child: &mut Child, time: Duration) -> io::Result<bool> {
        let mut late = Instant::now() + time + LATE;
        let mut asked = false;
        loop {
            if child.try_wait()?.is_some() {
                return Ok(true);
            }
            if self.budget.is_spent() && !asked {
                asked = true;
                late = Instant::now() + LATE;
                launch::ask_to_end(child);
            }
            if Instant::now() > late {
                child.kill()?;
                child.wait()?;
                return Ok(false);
            }
            std::thread::sleep(INTERVAL);
        }
    }
}

/// Why a test was not checked.
fn why_unchecked(spent: Spent) -> &'static str {
    match spent {
        Spent::Interrupt => "you stopped the command before",
        _ => "the time for all tests was over",
    }
}

/// A result that is whole.
fn read_result(path: &Path) -> Option<Report> {
    report::json::read(&std::fs::read_to_string(path).ok()?).ok()
}

/// The message of a command that failed.
fn error_line(said: &str) -> Option<String> {
    let message =
        said.lines().skip_while(|line| !line.starts_with("error: ")).take_while(|line| !line.starts_with("help: "));
    let message = message.collect::<Vec<_>>().join("\n");
    message.strip_prefix("error: ").map(|text| text.trim_end().to_owned())
}

/// Copies the files of a test into its folder, which has nothing else then.
fn copy_files(files: &[PathBuf], folder: &Path) -> Result<(), String> {
    let cannot = |what: &Path, error: io::Error| format!("its files cannot be copied: `{}`: {error}", what.display());
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(cannot(folder, error)),
        _ => {}
    }
    std::fs::create_dir_all(folder).map_err(|error| cannot(folder, error))?;
    for file in files {
        let name = file.file_name().unwrap_or_default();
        std::fs::copy(file, folder.join(name)).map_err(|error| cannot(file, error))?;
    }
    Ok(())
}

/// A line of progress.
struct Progress {
    bar: ProgressBar,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: Vec<String>,
    racy: usize,
}

impl Progress {
    fn new(tests: usize, is_shown: bool) -> Self {
        let bar = if is_shown { ProgressBar::new(tests as u64) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("{spinner} {pos} of {len} tests{wide_msg} [{elapsed}]");
        let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar, state: Mutex::default() }
    }

    fn begin(&self, name: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.running.push(name.to_owned());
        self.show(&state);
    }

    fn end(&self, name: &str, checked: &Checked) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.running.retain(|running| running != name);
        state.racy += usize::from(checked.report.as_ref().is_some_and(|report| report.verdict == Verdict::Race));
        self.bar.inc(1);
        self.show(&state);
    }

    fn show(&self, state: &State) {
        let racy = if state.racy > 0 { format!(", {} with races", state.racy) } else { String::new() };
        let running = if state.running.is_empty() { String::new() } else { format!(": {}", state.running.join(", ")) };
        self.bar.set_message(format!("{racy}{running}"));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
