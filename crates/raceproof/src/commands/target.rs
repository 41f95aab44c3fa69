//! `raceproof target`.

use std::process::ExitCode;

use crate::failure::Failure;
use crate::output;

/// Serves searches on other machines until a signal ends it.
pub(crate) fn run(target: target::Arguments) -> Result<ExitCode, Failure> {
    target.run(output::warn).map_err(|refusal| Failure::new(refusal.message, refusal.help))?;
    Ok(ExitCode::SUCCESS)
}
