//! Where a report goes, and what it leaves out.

use std::path::PathBuf;
use std::process::ExitCode;

use report::suppress::{self, Known};
use report::{Report, Sources};

use crate::commands::report::read;
use crate::failure::Failure;
use crate::output;
use crate::settings::Settings;

/// How a report is printed.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Default)]
enum Format {
    /// With source lines and the run
    #[default]
    Full,
    /// `file:line:column: severity: message`, for editors and problem matchers
    Short,
}

/// What makes a command fail.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Default)]
enum FailOn {
    /// A finding, or something that is not known
    #[default]
    Unknown,
    /// A race or another error
    Finding,
}

/// Where a report goes, and what it leaves out.
#[derive(clap::Args, Clone)]
pub(crate) struct ReportFlags {
    /// Print one JSON document and nothing else on standard output
    #[arg(long, help_heading = "Report")]
    json: bool,

    /// How the report is printed
    #[arg(long, value_name = "FORM", value_enum, default_value_t, conflicts_with = "json", help_heading = "Report")]
    format: Format,

    /// Print findings only, and nothing where there are none; no progress
    #[arg(short, long, conflicts_with = "json", help_heading = "Report")]
    quiet: bool,

    /// The least that makes the exit status other than 0: `unknown`, or only a `finding`; then 3 becomes 0
    #[arg(long, value_name = "WHAT", value_enum, default_value_t, help_heading = "Report")]
    fail_on: FailOn,

    /// Write the JSON document to a file
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    json_out: Option<PathBuf>,

    /// Write a self-contained HTML report
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    html: Option<PathBuf>,

    /// Write SARIF 2.1.0, for code scanning and editors
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    sarif: Option<PathBuf>,

    /// Write GitLab's code-quality report
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    code_quality: Option<PathBuf>,

    /// Write the first race as a violation witness of the software-verification competition
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    svcomp: Option<PathBuf>,

    /// Print GitHub's annotations after the report
    #[arg(long, conflicts_with = "json", help_heading = "Report")]
    github: bool,

    /// List every pair in the document, the page and SARIF, also those that cannot race
    #[arg(long, help_heading = "Report")]
    all_pairs: bool,

    /// Leave out findings that a file names, in ThreadSanitizer's format; may be repeated
    #[arg(long, value_name = "FILE", help_heading = "Report")]
    suppressions: Vec<PathBuf>,

    /// Report only what is not in an earlier result
    #[arg(long, value_name = "RESULT.json", help_heading = "Report")]
    baseline: Option<PathBuf>,

    /// Folder for witness files [default: raceproof-witnesses]
    #[arg(long, value_name = "DIR", help_heading = "Report")]
    witness_dir: Option<PathBuf>,
}

impl ReportFlags {
    /// The folder for witness files.
    pub(crate) fn witness_dir(&self, settings: &Settings) -> PathBuf {
        let chosen = self.witness_dir.clone().or_else(|| settings.witness_dir.clone());
        chosen.unwrap_or_else(|| PathBuf::from("raceproof-witnesses"))
    }

    /// Suppressions and baseline, read before there is a report, so that a mistake in them costs no time. Files that will
    /// be written are tried too.
    pub(crate) fn known(&self, settings: &Settings) -> Result<Known, Failure> {
        let files = [&self.json_out, &self.html, &self.sarif, &self.code_quality, &self.svcomp];
        files.into_iter().flatten().try_for_each(|file| output::try_file(file))?;
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
            known.baseline(&read(file)?);
        }
        Ok(known)
    }

    /// Shows a report; its exit status.
    pub(crate) fn show(&self, report: Report, known: Known) -> Result<ExitCode, Failure> {
        self.show_report(report, known).map(ExitCode::from)
    }

    /// Applies suppressions and baseline, prints the report and writes the files that were asked for. What cannot be written
    /// takes nothing from the report.
    pub(crate) fn show_report(&self, report: Report, known: Known) -> Result<u8, Failure> {
        self.show_with(report, known, |_| Ok(()))
    }

    /// The same, with one more file that `more` writes.
    pub(crate) fn show_with(
        &self,
        mut report: Report,
        known: Known,
        more: impl FnOnce(&Report) -> Result<(), Failure>,
    ) -> Result<u8, Failure> {
        let unused = known.apply(&mut report, &mut Sources::new());
        if !self.all_pairs {
            report.shorten();
        }
        let shown = self.print(&report);
        if let Err(unwritten) = self.write(&report).and_then(|()| more(&report)) {
            output::warn(&unwritten.to_string());
        }
        shown?;
        if self.github {
            output::print(&report::github::render(&report))?;
        }
        for (file, entry) in unused {
            output::warn(&format!("{}:{}: `{}` suppresses nothing", file.display(), entry.line, entry.text));
        }
        Ok(match (report.exit_status(), self.fail_on) {
            (3, FailOn::Finding) => 0,
            (status, _) => status,
        })
    }

    /// Whether every pair is listed.
    pub(crate) fn lists_all_pairs(&self) -> bool {
        self.all_pairs
    }

    /// Whether progress is shown.
    pub(crate) fn shows_progress(&self) -> bool {
        !self.quiet
    }

    /// Whether what is not known makes no command fail.
    pub(crate) fn passes_unknown(&self) -> bool {
        self.fail_on == FailOn::Finding
    }

    fn print(&self, report: &Report) -> Result<(), Failure> {
        let nothing = report.exit_status() == 0 || (report.exit_status() == 3 && self.fail_on == FailOn::Finding);
        match self.format {
            _ if self.quiet && nothing => Ok(()),
            Format::Full => output::show(report, self.json),
            Format::Short => output::print(&report::short::render(report)),
        }
    }

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
        if let Some(path) = &self.code_quality {
            output::write_file(path, &output::code_quality(report))?;
        }
        if let Some(path) = &self.svcomp
            && report.pairs.iter().any(|pair| pair.confirmed)
        {
            output::write_file(path, &output::svcomp(report)?)?;
        }
        Ok(())
    }
}
