//! `raceproof report`.

use std::path::PathBuf;
use std::process::ExitCode;

use report::{Report, Sources};

use crate::failure::Failure;
use crate::output;

/// Show a result again, in another form
///
/// Exit status: as that of the command that made the result.
#[derive(clap::Args)]
pub(crate) struct Show {
    /// A result, as `--json-out` writes it
    #[arg(value_name = "RESULT.json")]
    result: PathBuf,

    #[command(flatten)]
    form: Form,

    /// File to write instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct Form {
    /// One page that works from a file
    #[arg(long)]
    html: bool,

    /// SARIF 2.1.0, for code scanning and editors
    #[arg(long)]
    sarif: bool,

    /// GitLab's code-quality report
    #[arg(long)]
    code_quality: bool,

    /// The text for terminals
    #[arg(long)]
    text: bool,

    /// One line for each finding, as compilers print them
    #[arg(long)]
    short: bool,

    /// GitHub's annotations
    #[arg(long)]
    github: bool,

    /// The first race as a violation witness of the software-verification competition
    #[arg(long)]
    svcomp: bool,
}

impl Show {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let report = read(&self.result)?;
        let sources = &mut Sources::new();
        let Form { html, sarif, code_quality, short, github, svcomp, .. } = self.form;
        let text = if html {
            report::html::render(&report, sources)
        } else if sarif {
            report::sarif::render(&report)
        } else if code_quality {
            output::code_quality(&report)
        } else if short {
            report::short::render(&report)
        } else if github {
            report::github::render(&report)
        } else if svcomp {
            output::svcomp(&report)?
        } else {
            report::terminal::render(&report, sources, output::width())
        };
        match &self.output {
            Some(path) => output::write_file(path, &anstream::adapter::strip_str(&text).to_string())?,
            None => output::print(&text)?,
        }
        Ok(output::status(&report))
    }
}

/// Reads a result.
pub(crate) fn read(path: &std::path::Path) -> Result<Report, Failure> {
    let help = "give a file that `raceproof check --json-out FILE` wrote";
    let cannot = |why: String| Failure::new(format!("cannot read the result `{}`: {why}", path.display()), help);
    let text = std::fs::read_to_string(path).map_err(|error| cannot(error.to_string()))?;
    report::json::read(&text).map_err(|error| cannot(error.to_string()))
}
