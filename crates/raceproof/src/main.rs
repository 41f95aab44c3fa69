//! `raceproof`: settles data races in multithreaded C and C++ programs.
//!
//! Flags, help, exit status, colours and progress; everything else is in the crates below.

mod commands;
mod failure;
mod interrupt;
mod output;
mod progress;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Settles data races in multithreaded C and C++ programs.
///
/// Exit status: 0 no race in the scope asked for; 1 a race or another error was found; 2 wrong use or a failure of
/// raceproof itself; 3 nothing found but something is unknown.
#[derive(Parser)]
#[command(version, propagate_version = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Explore(commands::explore::Explore),
    Replay(commands::replay::Replay),
    Static(commands::static_::Static),
    Verify(commands::verify::Verify),
    Cover(commands::cover::Cover),
    Cc(commands::cc::Cc),
    #[command(name = "c++")]
    Cxx(commands::cc::Cc),
    Explain(commands::explain::Explain),
}

fn main() -> ExitCode {
    failure::install_panic_hook();
    let result = match Cli::parse().command {
        Command::Explore(explore) => explore.run(),
        Command::Replay(replay) => replay.run(),
        Command::Static(engine) => engine.run(),
        Command::Verify(verify) => verify.run(),
        Command::Cover(cover) => cover.run(),
        Command::Cc(compile) => compile.run(cc::Language::C),
        Command::Cxx(compile) => compile.run(cc::Language::Cxx),
        Command::Explain(explain) => explain.run(),
    };
    result.unwrap_or_else(|failure| failure.report())
}
