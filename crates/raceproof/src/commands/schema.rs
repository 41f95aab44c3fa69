//! `raceproof schema`, `raceproof completions` and `raceproof man`: what other programs need to know.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::failure::Failure;
use crate::output;

/// Print the JSON schema of the result document
#[derive(clap::Args)]
pub(crate) struct Schema {}

impl Schema {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        output::print(report::schema::TEXT)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Print completions for a shell
///
/// For bash: raceproof completions bash > ~/.local/share/bash-completion/completions/raceproof
#[derive(clap::Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut crate::Cli::command(), "raceproof", &mut text);
        output::print(&String::from_utf8_lossy(&text))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Print the manual page, of raceproof or of one of its commands
///
/// To read it: raceproof man check | man -l -
#[derive(clap::Args)]
pub(crate) struct Man {
    /// The command
    command: Option<String>,
}

impl Man {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let mut cli = crate::Cli::command();
        cli.build();
        let command = match &self.command {
            None => cli,
            Some(name) => cli.find_subcommand(name).cloned().ok_or_else(|| {
                Failure::new(format!("there is no command `{name}`"), "`raceproof --help` lists the commands")
            })?,
        };
        let mut text = Vec::new();
        clap_mangen::Man::new(command)
            .render(&mut text)
            .map_err(|error| Failure::new(format!("cannot make the page: {error}"), "please report this"))?;
        output::print(&String::from_utf8_lossy(&text))?;
        Ok(ExitCode::SUCCESS)
    }
}
