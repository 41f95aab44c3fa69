//! Where a run crashed, more exactly than by the last site it reached.

use exec::Target;
use program::Program;
use report::Finding;

use super::position;
use crate::Error;

/// The finding with the line of the last run's crash, where that is code of the program with a known line. A crash
/// inside a library stays at the site of the call.
pub(crate) fn at_its_line(finding: Finding, program: &Program, target: &mut Target) -> Result<Finding, Error> {
    let Some(counter) = target.crash_counter() else { return Ok(finding) };
    let Some(found) = target.line_of(counter)? else { return Ok(finding) };
    let Some(file) = position::spelled(program, &found.file) else { return Ok(finding) };
    Ok(Finding { file: Some(file.to_owned()), line: found.line, column: found.column.unwrap_or(0), ..finding })
}
