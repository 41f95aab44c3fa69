//! `raceproof-target`: what `raceproof target` does, without the rest.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

/// Runs programs for `raceproof explore --target` on another machine.
#[derive(Parser)]
#[command(name = "raceproof-target", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    arguments: target::Arguments,
}

/// Says something on standard error, where somebody may read it.
fn say(kind: &str, text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{kind}: {text}");
}

fn main() -> ExitCode {
    match Cli::parse().arguments.run(|text| say("warning", text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(target::Refusal { message, help }) => {
            say("error", &message);
            say("help", help);
            ExitCode::from(2)
        }
    }
}
