//! `raceproof verify`.

use std::path::PathBuf;
use std::process::ExitCode;

use check::{BuildOptions, Limits, ProofOptions, VerifyOptions};
use clap::ValueEnum;

use crate::commands::explore::{seconds, split_flags};
use crate::commands::flags::PruningFlag;
use crate::commands::pragmas;
use crate::failure::Failure;
use crate::output;
use crate::progress::Line;

/// Prove the absence of races for all inputs and any number of threads
///
/// Pairs that are not proved absent are looked for in runs of the program, with empty standard input: what a run shows
/// is a race, everything else stays unknown.
#[derive(clap::Args)]
pub(crate) struct Verify {
    /// C or C++ sources, `.bc` or `.ll` files of one program, or one program of the small language (`.sml`)
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<String>,

    /// Arguments of the program in the search, after `--`
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<String>,

    /// Further compiler flags, split as a shell would; may be repeated
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    cflags: Vec<String>,

    /// Assume that an external function touches no shared memory; may be repeated
    #[arg(long, value_name = "NAME")]
    assume_pure: Vec<String>,

    /// Stop after this many seconds; proofs take at most half of them
    #[arg(long, value_name = "SECS", default_value_t = 60.0)]
    time: f64,

    /// Most events of one run of the search
    #[arg(long, value_name = "N", default_value_t = 500)]
    max_steps: u64,

    /// Stop the search after N runs
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    max_executions: u64,

    /// Show the counters of the searches for proofs
    #[arg(long)]
    stats: bool,

    /// What these searches may leave out
    #[arg(long, value_enum, value_name = "PRUNING", default_value_t)]
    pruning: PruningFlag,

    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    json: bool,

    /// Write the JSON document to a file
    #[arg(long, value_name = "FILE")]
    json_out: Option<PathBuf>,

    /// Folder for witness files
    #[arg(long, value_name = "DIR", default_value = "raceproof-witnesses")]
    witness_dir: PathBuf,

    /// Print an intermediate value as text and stop there
    #[arg(long, value_enum, value_name = "VALUE")]
    emit: Option<Emit>,
}

/// Intermediate values.
#[derive(Clone, Copy, ValueEnum)]
enum Emit {
    /// The net of the first pair that is not proved absent, for Graphviz
    Net,
}

impl Verify {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let time = seconds("--time", self.time)?;
        let options = VerifyOptions {
            build: BuildOptions {
                inputs: self.inputs,
                cflags: split_flags(&self.cflags)?,
                assume_pure: self.assume_pure.into_iter().collect(),
                args: self.args,
                ..BuildOptions::default()
            },
            proofs: ProofOptions { time: Some(time), pruning: self.pruning.into(), statistics: self.stats },
            limits: Limits { max_steps: self.max_steps, ..Limits::default() },
            max_executions: self.max_executions,
            witness_dir: self.witness_dir,
        };
        pragmas::warn_if_ignored(&options.build);
        let inputs = &options.build.inputs;
        let report = if inputs.iter().any(|input| check::is_small_language(input)) {
            let [input] = inputs.as_slice() else {
                return Err(Failure::new("a program of the small language is one file", "give that file alone"));
            };
            if self.emit.is_some() {
                output::print(&check::small_language_net(input)?);
                return Ok(ExitCode::SUCCESS);
            }
            check::verify_small_language(input, &options.proofs)?
        } else {
            if self.emit.is_some() {
                let net = check::net(&options)?.ok_or_else(|| {
                    let help = "without `--emit`, the report says what there is";
                    Failure::new("there is no pair, or something in the program is not modelled: no net", help)
                })?;
                output::print(&net);
                return Ok(ExitCode::SUCCESS);
            }
            check::verify(&options, &mut Line::new())?
        };
        if let Some(path) = &self.json_out {
            output::write_json(&report, path)?;
        }
        output::show(&report, self.json);
        Ok(output::status(&report))
    }
}
