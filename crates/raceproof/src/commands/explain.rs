//! `raceproof explain`.

use std::process::ExitCode;

use report::{Code, assumption};

use crate::failure::Failure;
use crate::output;

/// Say what a finding or an unknown means and what to do about it
#[derive(clap::Args)]
pub(crate) struct Explain {
    /// The code in brackets, e.g. RP0001, or an assumption, e.g. A4; without it, all are listed
    code: Option<String>,
}

impl Explain {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        match self.code {
            None => {
                let codes = Code::ALL.iter().map(|code| format!("{code}  {}\n", code.title()));
                let assumptions = assumption::all().into_iter().map(|(name, title)| format!("{name:6}  {title}\n"));
                output::print(&codes.chain(assumptions).collect::<String>())?;
            }
            Some(name) => match assumption::text(&name) {
                Some(text) => output::print(&text)?,
                None => {
                    let code: Code = name.parse().map_err(|()| {
                        Failure::new(format!("there is no code `{name}`"), "`raceproof explain` lists all codes")
                    })?;
                    output::print(code.text())?;
                }
            },
        }
        Ok(ExitCode::SUCCESS)
    }
}
