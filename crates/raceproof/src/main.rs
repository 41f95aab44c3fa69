//! `raceproof`: settles data races in multithreaded C and C++ programs.
//!
//! Flags, help, exit status, colours and progress; everything else is in the crates below.

mod batch;
mod commands;
mod failure;
mod guard;
mod interrupt;
mod memory;
mod output;
mod progress;
mod revision;
mod settings;
mod watch;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Settles data races in multithreaded C and C++ programs.
///
/// Exit status: 0 no race in the scope asked for; 1 a race or another error was found; 2 wrong use or a failure of
/// raceproof itself; 3 nothing found but something is unknown.
#[derive(Parser)]
#[command(version, propagate_version = true, max_term_width = 100)]
struct Cli {
    /// When to use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, global = true)]
    color: Color,

    #[command(subcommand)]
    command: Command,
}

/// When to use colours.
#[derive(clap::ValueEnum, Clone, Copy, Default)]
enum Color {
    /// On terminals that have them
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl From<Color> for anstream::ColorChoice {
    fn from(color: Color) -> Self {
        match color {
            Color::Auto => Self::Auto,
            Color::Always => Self::Always,
            Color::Never => Self::Never,
        }
    }
}

#[derive(Subcommand)]
enum Command {
    Check(Box<commands::check::Check>),
    Test(Box<commands::test::Test>),
    Explore(commands::explore::Explore),
    Record(commands::record::Record),
    Predict(commands::predict::Predict),
    Replay(commands::replay::Replay),
    Static(commands::static_::Static),
    Verify(commands::verify::Verify),
    Cover(commands::cover::Cover),
    Build(commands::build::Build),
    Cc(commands::cc::Cc),
    #[command(name = "c++")]
    Cxx(commands::cc::Cc),
    Target(target::Arguments),
    Report(commands::report::Show),
    Lsp(commands::lsp::Lsp),
    Explain(commands::explain::Explain),
    Doctor(commands::doctor::Doctor),
    Schema(commands::schema::Schema),
    Completions(commands::schema::Completions),
    Man(commands::schema::Man),
}

fn main() -> ExitCode {
    failure::install_panic_hook();
    interrupt::survive_file_limits();
    let Cli { color, command } = Cli::parse();
    anstream::ColorChoice::from(color).write_global();
    let result = match command {
        Command::Check(check) => check.run(),
        Command::Test(test) => test.run(),
        Command::Explore(explore) => explore.run(),
        Command::Record(record) => record.run(),
        Command::Predict(predict) => predict.run(),
        Command::Replay(replay) => replay.run(),
        Command::Static(engine) => engine.run(),
        Command::Verify(verify) => verify.run(),
        Command::Cover(cover) => cover.run(),
        Command::Build(build) => build.run(),
        Command::Cc(compile) => compile.run(cc::Language::C),
        Command::Cxx(compile) => compile.run(cc::Language::Cxx),
        Command::Target(target) => commands::target::run(target),
        Command::Report(show) => show.run(),
        Command::Lsp(lsp) => lsp.run(),
        Command::Explain(explain) => explain.run(),
        Command::Doctor(doctor) => doctor.run(),
        Command::Schema(schema) => schema.run(),
        Command::Completions(completions) => completions.run(),
        Command::Man(man) => man.run(),
    };
    result.unwrap_or_else(|failure| failure.report())
}
