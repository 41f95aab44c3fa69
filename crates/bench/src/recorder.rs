//! Records a program repeatedly for the driver of the benchmarks, and prints what each recording took.
//!
//! This is a separate process because the recorder is called as a library: the command would build the program first,
//! and the library would make the driver so large that Linux would count it in the memory of everything the driver
//! starts.
//!
//! Arguments: `--every-access` or not, the trace to write, the program and its arguments. For each line of standard
//! input it records the program once and prints a line with the seconds of processor time (of the program and of this
//! process) and of wall-clock time.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command that says what it measures")]

mod cost;

use std::error::Error;
use std::io::{BufRead, stdin};
use std::path::PathBuf;
use std::process::ExitCode;

use check::{BuildOptions, RecordOptions, prepare_recorder};
use clap::Parser;
use model::Budget;

/// Records a program once for each line of standard input
#[derive(Parser)]
struct Args {
    /// Also accesses that the static engine shows to be harmless
    #[arg(long)]
    every_access: bool,
    /// The recording, written anew each time
    trace: PathBuf,
    /// A source, or a program that `raceproof cc` has built
    program: String,
    /// Its arguments
    #[arg(last = true)]
    args: Vec<String>,
}

fn main() -> ExitCode {
    match run(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(Args { every_access, trace, program, args }: Args) -> Result<(), Box<dyn Error + Send + Sync>> {
    let build = BuildOptions { inputs: vec![program], args, ..BuildOptions::default() };
    let options = RecordOptions { every_access, max_trace: 4 << 30, ..RecordOptions::default() };
    let recorder =
        prepare_recorder(&build, &options, &Budget::default())?.ok_or("only the controlled scheduler runs it")?;
    for line in stdin().lock().lines() {
        line?;
        let cost = cost::of(|| recorder.run(&trace).map(|_| ()))?;
        println!("{} {}", cost.processor, cost.clock);
    }
    Ok(())
}
