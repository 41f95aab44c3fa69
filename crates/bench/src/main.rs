//! The driver of the benchmarks: runs `raceproof` and other tools as processes, stores raw results, and writes
//! `docs/benchmarks.md` with its plots from these results alone.
//!
//! Every figure of the page comes from a file in `bench/results`; comparing sentences are chosen by the figures.
#![allow(clippy::print_stderr, reason = "a command that says what it is doing")]

mod drivers;
mod environment;
mod machine;
mod page;
mod plot;
mod process;
mod results;
mod statistics;
mod tables;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

use crate::environment::Environment;
use crate::results::{Latest, Results};

/// An error while measuring, in words.
type Failure = Box<dyn Error + Send + Sync>;

/// Measures raceproof beside other tools and writes docs/benchmarks.md from what was measured.
#[derive(Parser)]
struct Args {
    /// Fewer runs and shorter limits: minutes instead of an hour
    #[arg(long)]
    quick: bool,
    /// Only these tables, separated by commas; the others stay as they were measured last
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Of the table `programs`, only these, separated by commas
    #[arg(long, value_delimiter = ',')]
    programs: Vec<String>,
    /// Measure nothing: write the page again from the latest results
    #[arg(long)]
    page: bool,
    /// The raceproof to measure
    #[arg(long, default_value = "target/release/raceproof")]
    raceproof: PathBuf,
    /// An earlier raceproof, to be measured in turns with this one where a table compares the two
    #[arg(long)]
    previous: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let folder = root.join("bench/results");
    if let Some(unknown) = args.only.iter().find(|name| tables::ALL.iter().all(|table| table.name != **name)) {
        let names: Vec<&str> = tables::ALL.iter().map(|table| table.name).collect();
        return Err(format!("there is no table `{unknown}`; there are: {}", names.join(", ")).into());
    }
    if !args.page {
        let mut environment = Environment::new(&root, &root.join(&args.raceproof), args.quick)?;
        environment.programs.clone_from(&args.programs);
        environment.previous.clone_from(&args.previous);
        for table in
            tables::ALL.iter().filter(|table| args.only.is_empty() || args.only.iter().any(|o| o == table.name))
        {
            eprintln!("bench: {}", table.name);
            Results::measure(&folder, table, &environment)?;
        }
    }
    page::write(&Latest::of(&folder)?, &root.join("docs"))
}
