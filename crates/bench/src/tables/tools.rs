//! Tools that observe one run of a program: ThreadSanitizer, Helgrind, DRD.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::environment::{Environment, FOUND};
use crate::process::Usage;
use crate::statistics::Sample;

/// Time limit of a run.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// A tool: its name, the program that runs the subject, if there is one, and the compiler flags. Nothing is optimised
/// away, so that each tool sees each access.
pub(super) struct Tool {
    pub(super) name: &'static str,
    under: Option<&'static str>,
    args: &'static [&'static str],
    flags: &'static [&'static str],
}

pub(super) const SANITIZER: Tool =
    Tool { name: "ThreadSanitizer", under: None, args: &[], flags: &["-g", "-fsanitize=thread"] };

pub(super) const TOOLS: [Tool; 3] = [
    SANITIZER,
    valgrind("Helgrind", &["--tool=helgrind", "--error-exitcode=66", "-q"]),
    valgrind("DRD", &["--tool=drd", "--error-exitcode=66", "-q"]),
];

const fn valgrind(name: &'static str, args: &'static [&'static str]) -> Tool {
    Tool { name, under: Some("valgrind"), args, flags: &["-gdwarf-4"] }
}

impl Tool {
    pub(super) fn is_installed(&self, environment: &Environment) -> bool {
        self.under.is_none_or(|under| environment.has(under))
    }
}

/// A program built for a tool.
pub(super) struct Subject<'t> {
    tool: &'t Tool,
    binary: PathBuf,
}

impl<'t> Subject<'t> {
    /// Compiles a source, relative to the project root, into a folder.
    pub(super) fn new(
        environment: &Environment,
        source: &str,
        flags: &[&str],
        tool: &'t Tool,
        folder: &Path,
    ) -> Result<Self, Failure> {
        let binary = folder.join(tool.name);
        environment.compiled(source, &[tool.flags, flags].concat(), &binary)?;
        Ok(Self { tool, binary })
    }

    pub(super) fn run(&self, environment: &Environment) -> Result<Usage, Failure> {
        let subject = self.binary.display().to_string();
        match self.tool.under {
            Some(under) => environment.tool(Path::new(under), &[self.tool.args, &[&subject]].concat(), TIME_LIMIT),
            None => environment.tool(&self.binary, self.tool.args, TIME_LIMIT),
        }
    }
}

/// What a tool reported about a program in several runs.
#[derive(Serialize, Deserialize)]
pub(super) struct Runs {
    pub(super) runs: usize,
    /// The number of runs with a report.
    pub(super) found: usize,
    /// The minimum, median and maximum of wall-clock time.
    pub(super) seconds: Sample,
    pub(super) megabytes: f64,
}

impl Runs {
    pub(super) fn of(seen: &[Usage]) -> Self {
        Self {
            runs: seen.len(),
            found: seen.iter().filter(|usage| usage.status == Some(FOUND)).count(),
            seconds: Sample(seen.iter().map(|usage| usage.clock).collect()).extremes(),
            megabytes: seen.iter().map(|usage| usage.megabytes).fold(0.0, f64::max),
        }
    }
}
