//! `raceproof explain`.

use std::process::ExitCode;

use report::Code;

use crate::failure::Failure;
use crate::output;

/// Say what a finding or an unknown means and what to do about it
#[derive(clap::Args)]
pub(crate) struct Explain {
    /// The code in brackets, e.g. RP0001; without it, all codes are listed
    code: Option<String>,
}

impl Explain {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        match self.code {
            None => {
                let lines: String = Code::ALL.iter().map(|code| format!("{code}  {}\n", code.title())).collect();
                output::print(&lines);
            }
            Some(text) => {
                let code: Code = text.parse().map_err(|()| {
                    Failure::new(format!("there is no code `{text}`"), "`raceproof explain` lists all codes")
                })?;
                output::print(code.text());
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
