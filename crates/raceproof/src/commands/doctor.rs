//! `raceproof doctor`.

use std::fmt::Write;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use check::{Examined, Health};

use crate::commands::flags::cache_folder;
use crate::failure::Failure;
use crate::output;

/// Say what of this machine works, what is slower, and what to do
///
/// A small program is compiled, linked and run, as any other would be. Exit status: 0 programs can be checked, 2 they cannot.
#[derive(clap::Args)]
pub(crate) struct Doctor {}

impl Doctor {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let examined = check::examine(cache_folder().as_deref());
        let width = examined.iter().map(|part| part.part.len()).max().unwrap_or(0);
        let mut text = String::new();
        for Examined { part, health, seen, help } in &examined {
            let (word, color) = match health {
                Health::Works => ("works", AnsiColor::Green),
                Health::Limited => ("limited", AnsiColor::Yellow),
                Health::Missing => ("missing", AnsiColor::Red),
            };
            let style = Style::new().fg_color(Some(color.into())).bold();
            let mut lines = seen.lines();
            let first = lines.next().unwrap_or_default();
            let _ = writeln!(text, "{part:width$}  {style}{word:7}{style:#}  {first}");
            for line in lines {
                let _ = writeln!(text, "{:width$}           {line}", "");
            }
            if let Some(help) = help {
                let _ = writeln!(text, "{:width$}           help: {help}", "");
            }
        }
        let is_fit = examined.iter().all(|part| part.health != Health::Missing);
        text += if is_fit { "programs can be checked here\n" } else { "programs cannot be checked here\n" };
        output::print(&text)?;
        Ok(ExitCode::from(if is_fit { 0 } else { 2 }))
    }
}
