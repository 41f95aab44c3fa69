//! `raceproof test`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use check::Effort;
use clap::Parser;
use model::{Budget, Interrupt};
use report::junit::{self, OfUnknown};
use report::{Outcome, merge};
use suite::{Selection, Subject, Suite};

use crate::batch::{Batch, Checks};
use crate::commands::flags::{ReportFlags, seconds, size};
use crate::failure::Failure;
use crate::interrupt;
use crate::output;
use crate::settings::Settings;

/// Check the tests of a project: each with its arguments, folder and environment, one report
///
/// The tests are those that CTest or Meson know, of programs that were built with `raceproof build` or `raceproof cc`, or
/// those of `raceproof.toml`. What several tests show is one finding. Ctrl-C ends with a report of what is known. Exit
/// status: that of `check`, the worst of all tests.
#[derive(clap::Args)]
pub(crate) struct Test {
    /// The build folder of CMake or Meson, or a folder with `raceproof.toml` [default: the nearest `raceproof.toml`]
    #[arg(value_name = "BUILD")]
    build: Option<PathBuf>,

    /// Further flags of `raceproof check` for every test, after `--`
    #[arg(last = true, value_name = "FLAGS")]
    flags: Vec<String>,

    /// Only tests of this name; `*` stands for anything; may be repeated
    #[arg(short = 'R', long, value_name = "NAME", help_heading = "Tests")]
    tests: Vec<String>,

    /// No tests of this name; `*` stands for anything; may be repeated
    #[arg(short = 'E', long, value_name = "NAME", help_heading = "Tests")]
    exclude: Vec<String>,

    /// How many tests are checked at once [default: one for each processor]
    #[arg(short, long, value_name = "N", help_heading = "Tests")]
    jobs: Option<NonZeroUsize>,

    /// Write JUnit's XML: one test case for each test
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    junit: Option<PathBuf>,

    /// At most 5 seconds for each test
    #[arg(long, conflicts_with = "thorough")]
    quick: bool,

    /// As long as an hour for each test, where a minute is usual
    #[arg(long)]
    thorough: bool,

    /// Most seconds for each test
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, help_heading = "Limits")]
    time: Option<f64>,

    /// Most seconds for all tests together
    #[arg(long, value_name = "SECS", allow_negative_numbers = true, help_heading = "Limits")]
    total_time: Option<f64>,

    /// Most memory for all tests together; K, M and G may follow [default: half of what is available]
    #[arg(long, value_name = "SIZE", help_heading = "Limits")]
    memory: Option<String>,

    #[command(flatten)]
    report: ReportFlags,
}

impl Test {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let start = Instant::now();
        let settings = Settings::find()?;
        let known = self.report.known(&settings)?;
        if let Some(file) = &self.junit {
            output::try_file(file)?;
        }
        let checks = self.checks(&settings)?;
        let total = self.total_time.map(|time| seconds("--total-time", time)).transpose()?;
        let budget = Budget::new(total, None, Interrupt::from(interrupt::flag()));
        let (Suite { tests, warnings }, given) = self.suite(&settings)?;
        warnings.iter().for_each(|warning| output::warn(warning));
        let selection = Selection { only: self.tests.clone(), exclude: self.exclude.clone() };
        let tests = selection.apply(tests).map_err(failure)?;
        refuse_unless_some_can_be_checked(&tests)?;

        let batch =
            Batch { tests: &tests, checks: &checks, budget: &budget, shows_progress: self.report.shows_progress() };
        let checked = batch.run()?;
        let time = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let report = merge::merge(env!("CARGO_PKG_VERSION"), vec![given], checked, time);
        let has_failed = report.tests_with(Outcome::Error) > 0;
        let of_unknown = if self.report.passes_unknown() { OfUnknown::Passes } else { OfUnknown::Fails };
        let status = self.report.show_with(report, known, |report| match &self.junit {
            Some(file) => output::write_file(file, &junit::render(report, of_unknown)),
            None => Ok(()),
        })?;
        // A check that failed is not a test that passed.
        Ok(ExitCode::from(if has_failed && status != 1 { 2 } else { status }))
    }

    /// The tests, and what the user called the place where they are.
    fn suite(&self, settings: &Settings) -> Result<(Suite, String), Failure> {
        let declared = |settings: &Settings| suite::of_settings(&settings.test, &settings.folder).map_err(failure);
        let Some(build) = &self.build else {
            if settings.test.is_empty() {
                let help = "name a build folder, or write [[test]] tables into raceproof.toml; see docs/builds.md";
                return Err(Failure::new("there are no tests: no raceproof.toml here or above has any", help));
            }
            return Ok((declared(settings)?, settings.file().to_string_lossy().into_owned()));
        };
        let given = build.to_string_lossy().into_owned();
        let folder = if build.is_file() { build.parent().unwrap_or(Path::new("")) } else { build };
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let own = Settings::of_folder(folder)?.filter(|settings| !settings.test.is_empty());
        match own {
            Some(own) if !suite::is_build(folder) => Ok((declared(&own)?, given)),
            Some(own) => {
                let (mut suite, more) = (suite::of_build(folder).map_err(failure)?, declared(&own)?);
                suite.tests.extend(more.tests);
                Ok((suite, given))
            }
            None => Ok((suite::of_build(folder).map_err(failure)?, given)),
        }
    }

    /// How each test is checked.
    fn checks(&self, settings: &Settings) -> Result<Checks, Failure> {
        let effort = match (self.quick, self.thorough) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Thorough,
            _ => Effort::Normal,
        };
        let usual = || settings.time.filter(|_| effort == Effort::Normal);
        let time = match self.time.or_else(usual) {
            Some(time) => seconds("--time", time)?,
            None => effort.time(),
        };
        let processors = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        let jobs = self.jobs.unwrap_or_else(processors).get();
        let memory = match &self.memory {
            Some(given) => Some(size("--memory", given)?),
            None => launch::memory::available().map(|available| available / 2),
        };
        let mut flags = self.flags.clone();
        flags.extend(self.quick.then(|| "--quick".to_owned()));
        flags.extend(self.thorough.then(|| "--thorough".to_owned()));
        flags.extend(self.report.lists_all_pairs().then(|| "--all-pairs".to_owned()));
        let memory = memory.map(|memory| (memory / jobs as u64).max(1));
        let checks = Checks { flags, time, memory, jobs, witness_dir: self.report.witness_dir(settings) };
        crate::Cli::try_parse_from(checks.trial()).map_err(|error| {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            Failure::new(format!("the flags after `--` are refused: {first}"), "give flags of `raceproof check`")
        })?;
        Ok(checks)
    }
}

fn failure(error: suite::Error) -> Failure {
    Failure::new(error.to_string(), error.help())
}

/// A project of which nothing can be checked was not built for it.
fn refuse_unless_some_can_be_checked(tests: &[suite::Test]) -> Result<(), Failure> {
    let mut reasons = tests.iter().map(|test| match &test.subject {
        Subject::Program(_) => None,
        Subject::Other(why) => Some((test, why)),
    });
    let Some(first) = reasons.next() else {
        return Err(Failure::new("there are no tests", "`-R` and `-E` select tests by name"));
    };
    match first {
        Some((test, why)) if reasons.all(|reason| reason.is_some()) => {
            let message = match tests.len() {
                1 => format!("the test `{}` cannot be checked: {why}", test.name),
                n => format!("none of the {n} tests can be checked; `{}`: {why}", test.name),
            };
            let help = "build the project under `raceproof build`, with its configuration; see docs/builds.md";
            Err(Failure::new(message, help))
        }
        _ => Ok(()),
    }
}
