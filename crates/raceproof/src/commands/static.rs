//! `raceproof static`.

use std::path::PathBuf;
use std::process::ExitCode;

use check::{BuildOptions, Inspected, StaticOptions};
use clap::ValueEnum;

use crate::commands::explore::split_flags;
use crate::commands::pragmas;
use crate::failure::Failure;
use crate::output;

/// Look for races in the text of the program, for all inputs, without running it
///
/// Pairs that cannot race are absent, each with its reason; all others are warnings, most promising first. A warning is
/// never a race by itself.
#[derive(clap::Args)]
pub(crate) struct Static {
    /// C or C++ sources, `.bc` or `.ll` files of one program
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<String>,

    /// Functions that any number of threads may run at any time, for sources without `main`
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    entry: Vec<String>,

    /// Which functions are lock functions: a TOML file, or `linux` for those of the Linux kernel
    #[arg(long, value_name = "SPEC")]
    locks: Option<String>,

    /// Further compiler flags, split as a shell would; may be repeated
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    cflags: Vec<String>,

    /// Assume that an external function touches no shared memory; may be repeated
    #[arg(long, value_name = "NAME")]
    assume_pure: Vec<String>,

    /// Show on standard error how long each part of the analysis took, how many warnings others imply, and how many
    /// pairs of lines the rest has
    #[arg(long)]
    stats: bool,

    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    json: bool,

    /// Write the JSON document to a file
    #[arg(long, value_name = "FILE")]
    json_out: Option<PathBuf>,

    /// Print an intermediate value and stop there
    #[arg(long, value_enum, value_name = "VALUE")]
    emit: Option<Emit>,
}

/// Intermediate values.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Emit {
    /// Shared variables, partitions, locks held at each access and the thread tree, as text
    Facts,
    /// The thread tree and who calls whom, for Graphviz
    FactsDot,
}

impl Static {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let options = StaticOptions {
            build: BuildOptions {
                inputs: self.inputs,
                cflags: split_flags(&self.cflags)?,
                assume_pure: self.assume_pure.into_iter().collect(),
                ..BuildOptions::default()
            },
            entries: self.entry,
            locks: self.locks,
        };
        pragmas::warn_if_ignored(&options.build);
        if let Some(emit) = self.emit {
            output::print(&check::static_facts(&options, emit == Emit::FactsDot)?);
            return Ok(ExitCode::SUCCESS);
        }
        let Inspected { report, phases, implied, folded } = check::static_check(&options)?;
        if self.stats {
            let lines = phases.iter().map(|(name, time)| format!("{name}: {:.2} s\n", time.as_secs_f64()));
            let left = format!("warnings that others imply: {implied}\npairs of lines in the rest: {folded}\n");
            output::note(&(lines.collect::<String>() + &left));
        }
        if let Some(path) = &self.json_out {
            output::write_json(&report, path)?;
        }
        output::show(&report, self.json);
        Ok(output::status(&report))
    }
}
