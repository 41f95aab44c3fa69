//! `raceproof check`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use check::{CheckOptions, Effort, LINE, Limits};
use model::Interrupt;
use report::suppress::{self, Known};
use report::{Report, Sources};

use crate::commands::explore::{seconds, split_flags};
use crate::commands::flags::ProgramFlags;
use crate::commands::pragmas;
use crate::failure::Failure;
use crate::progress::Line;
use crate::settings::Settings;
use crate::{interrupt, output};

/// Settle every data race of a program: all engines in turn, one report
///
/// Proofs for all inputs come first, then runs of the program with this input. What the earlier engines settle, the
/// later ones leave alone. Ctrl-C ends the check with a report of what is known.
#[derive(clap::Args)]
pub(crate) struct Check {
    #[command(flatten)]
    program: ProgramFlags,

    /// The engines that may work, separated by commas
    #[arg(long, value_name = "ENGINES", value_delimiter = ',',
          value_parser = clap::builder::PossibleValuesParser::new(LINE.map(engine_name)))]
    engines: Vec<String>,

    /// Most seconds for everything but building [default: 60, with --quick 5, with --thorough 3600]
    #[arg(long, value_name = "SECS")]
    time: Option<f64>,

    /// A few seconds: for editors and before commits
    #[arg(long, conflicts_with = "thorough")]
    quick: bool,

    /// As long as an hour: for nightly runs
    #[arg(long)]
    thorough: bool,

    /// Most events of one run
    #[arg(long, value_name = "N", default_value_t = Limits::default().max_steps)]
    max_steps: u64,

    /// Longest time of one run, in seconds
    #[arg(long, value_name = "SECS", default_value_t = Limits::default().time.as_secs_f64())]
    run_time: f64,

    /// Run the program in N processes at once; the answer is the same. Not for programs that write files
    #[arg(short, long, value_name = "N", default_value_t = NonZeroUsize::MIN)]
    jobs: NonZeroUsize,

    /// Let condition-variable waits end without a signal, as the standards allow
    #[arg(long)]
    spurious: bool,

    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    json: bool,

    /// Write the JSON document to a file
    #[arg(long, value_name = "FILE")]
    json_out: Option<PathBuf>,

    /// Write a page that works from a file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write SARIF 2.1.0, for code scanning and editors
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,

    /// Write the first race as a violation witness of the software-verification competition
    #[arg(long, value_name = "FILE")]
    svcomp: Option<PathBuf>,

    /// Print GitHub's annotations after the report
    #[arg(long, conflicts_with = "json")]
    github: bool,

    /// Leave out findings that a file names, in ThreadSanitizer's format; may be repeated
    #[arg(long, value_name = "FILE")]
    suppressions: Vec<PathBuf>,

    /// Report only what is not in an earlier result
    #[arg(long, value_name = "RESULT.json")]
    baseline: Option<PathBuf>,

    /// Folder for witness files [default: raceproof-witnesses]
    #[arg(long, value_name = "DIR")]
    witness_dir: Option<PathBuf>,
}

/// An engine's name on the command line.
const fn engine_name(engine: model::Engine) -> &'static str {
    match engine {
        model::Engine::Static => "static",
        model::Engine::Verify => "verify",
        model::Engine::Predict => "predict",
        model::Engine::Explore => "explore",
    }
}

impl Check {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let effort = match (self.quick, self.thorough) {
            (true, _) => Effort::Quick,
            (_, true) => Effort::Thorough,
            _ => Effort::Normal,
        };
        let settings = Settings::find()?;
        let names = if self.engines.is_empty() { &settings.engines } else { &self.engines };
        if let Some(unknown) = names.iter().find(|name| !LINE.iter().any(|engine| engine_name(*engine) == **name)) {
            let known = LINE.map(engine_name).join(", ");
            return Err(Failure::new(format!("there is no engine `{unknown}`"), format!("the engines are {known}")));
        }
        let asked = |engine: &model::Engine| names.is_empty() || names.iter().any(|name| name == engine_name(*engine));
        let known = self.known(&settings)?;
        let cflags = [split_flags(&settings.cflags)?, split_flags(&self.program.cflags)?].concat();
        let mut build = self.program.build_options(cflags);
        build.assume_pure.extend(settings.assume_pure.iter().cloned());
        pragmas::warn_if_ignored(&build);
        if self.jobs.get() > 1 && !check::ExploreOptions::default().can_be_split() {
            output::warn("the search is made in one process: the one that `check` makes cannot be split for `-j`");
        }
        // A choice of effort on the command line counts more than the project's time.
        let time = self.time.or(settings.time.filter(|_| effort == Effort::Normal));
        let options = CheckOptions {
            build,
            engines: LINE.into_iter().filter(asked).collect(),
            effort,
            time: time.map_or(Ok(effort.time()), |time| seconds("--time", time))?,
            limits: Limits {
                max_steps: self.max_steps,
                time: seconds("--run-time", self.run_time)?,
                spurious: self.spurious,
                ..Limits::default()
            },
            jobs: self.jobs.get(),
            witness_dir: self
                .witness_dir
                .clone()
                .or(settings.witness_dir)
                .unwrap_or_else(|| PathBuf::from("raceproof-witnesses")),
            bundle_dir: PathBuf::from("."),
            interrupt: Interrupt::from(interrupt::flag()),
        };
        let mut report = check::check(&options, &mut Line::new())?;
        let unused = known.apply(&mut report, &mut Sources::new());
        self.write(&report)?;
        output::show(&report, self.json);
        if self.github {
            output::print(&report::github::render(&report));
        }
        for (file, entry) in unused {
            output::warn(&format!("{}:{}: `{}` suppresses nothing", file.display(), entry.line, entry.text));
        }
        Ok(output::status(&report))
    }

    /// What need not be told again.
    fn known(&self, settings: &Settings) -> Result<Known, Failure> {
        let mut known = Known::default();
        let files = if self.suppressions.is_empty() { &settings.suppressions } else { &self.suppressions };
        for file in files {
            let cannot = |why: String| {
                let message = format!("cannot use the suppressions in `{}`: {why}", file.display());
                Failure::new(message, "one `race:PATTERN` or `deadlock:PATTERN` per line")
            };
            let text = std::fs::read_to_string(file).map_err(|error| cannot(error.to_string()))?;
            known.suppressions(file, suppress::parse(&text).map_err(|error| cannot(error.to_string()))?);
        }
        if let Some(file) = self.baseline.as_ref().or(settings.baseline.as_ref()) {
            known.baseline(&super::report::read(file)?);
        }
        Ok(known)
    }

    /// Writes the files that were asked for.
    fn write(&self, report: &Report) -> Result<(), Failure> {
        if let Some(path) = &self.json_out {
            output::write_json(report, path)?;
        }
        if let Some(path) = &self.html {
            output::write_file(path, &report::html::render(report, &mut Sources::new()))?;
        }
        if let Some(path) = &self.sarif {
            output::write_file(path, &report::sarif::render(report))?;
        }
        if let Some(path) = &self.svcomp
            && report.pairs.iter().any(|pair| pair.confirmed)
        {
            output::write_file(path, &output::svcomp(report)?)?;
        }
        Ok(())
    }
}
