//! `raceproof replay`.

mod step;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstyle::Style;
use check::Extent;
use report::story::Story;
use report::{Sources, terminal};

use crate::commands::flags::{find_target, unlimited};
use crate::failure::Failure;
use crate::output;

const BOLD: Style = Style::new().bold();

/// Run a witness again and show the finding
///
/// Exit status: 1 when the witness shows its finding again; 2 when it does not.
#[derive(clap::Args)]
pub(crate) struct Replay {
    /// A witness file (`.rpw`)
    witness: PathBuf,

    /// Run it on another machine, where `raceproof target` listens: what was found there
    #[arg(long, value_name = "HOST[:PORT]", conflicts_with = "gdb")]
    target: Option<String>,

    /// Start gdb, stopped right before the second access of the race
    #[arg(long, conflicts_with = "json")]
    gdb: bool,

    /// Go through the run event by event: Enter for the next, `b` back, a number, `f` the finding, `q` quit
    #[arg(long, conflicts_with_all = ["json", "gdb"])]
    step: bool,

    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    json: bool,

    /// Further arguments for gdb, after `--`
    #[arg(last = true, value_name = "ARGS", requires = "gdb")]
    gdb_args: Vec<String>,
}

impl Replay {
    pub(crate) fn run(mut self) -> Result<ExitCode, Failure> {
        self.find_sources()?;
        if self.gdb {
            return self.debug();
        }
        let machine = self.target.as_deref().map(find_target).transpose()?;
        let extent = if self.step { Extent::All } else { Extent::Finding };
        let replayed = check::replay(&self.witness, machine, extent, &unlimited())?;
        if replayed.changed {
            output::warn("the program is not the one the witness was made of, but its run is the same");
        }
        if self.step {
            step::walk(&replayed.run)?;
        } else if self.json {
            output::show(&replayed.report, true)?;
        } else {
            let (sources, width) = (&mut Sources::new(), output::width());
            let story = report::story::render(&Story::of(&replayed.run), sources, width);
            let findings = terminal::findings(&replayed.report, sources, width);
            let switches = replayed.segments.saturating_sub(1);
            let plural = if switches == 1 { "" } else { "es" };
            let time = terminal::seconds(replayed.report.time_ms);
            output::print(&format!(
                "{story}\n{findings}{BOLD}replayed exactly{BOLD:#} ({switches} thread switch{plural})\n  \
                 finished in {time}\n"
            ))?;
        }
        Ok(ExitCode::from(1))
    }

    /// Goes to the folder that the witness's inputs are relative to: this one, else the one with the folder of the witness,
    /// or with the folder that has those of several tests.
    fn find_sources(&mut self) -> Result<(), Failure> {
        let program = files::Witness::read(&self.witness).map_err(check::Error::from)?.program;
        let inputs: Vec<String> = program.inputs.into_iter().chain(program.folder).collect();
        let missing = |folder: &Path| inputs.iter().filter(|input| !folder.join(input).exists()).collect::<Vec<_>>();
        let here = missing(Path::new("."));
        if here.is_empty() {
            return Ok(());
        }
        let cannot =
            |what: String| Failure::new(what, "give the witness in the folder it was made in, with its sources");
        let witness = self.witness.canonicalize().map_err(|error| cannot(error.to_string()))?;
        match witness.ancestors().skip(1).take(3).find(|folder| missing(folder).is_empty()) {
            Some(folder) => std::env::set_current_dir(folder).map_err(|error| cannot(error.to_string()))?,
            None => {
                let names = here.iter().map(|input| format!("`{input}`")).collect::<Vec<_>>().join(", ");
                return Err(cannot(format!("cannot find {names}, of which `{}` was made", self.witness.display())));
            }
        }
        self.witness = witness;
        Ok(())
    }

    /// Hands the terminal over to gdb; its exit status becomes ours.
    fn debug(&self) -> Result<ExitCode, Failure> {
        let (mut gdb, _program) = check::debugger(&self.witness, &self.gdb_args, &unlimited())?;
        let status = gdb.status().map_err(|error| {
            Failure::new(format!("cannot start gdb: {error}"), "on Debian and Ubuntu: apt install gdb")
        })?;
        Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2)))
    }
}
