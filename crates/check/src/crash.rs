//! Where a run crashed, more exactly than by the last site it reached.

use exec::Target;
use program::Program;
use report::Finding;

use crate::Error;

/// The finding with the line of the last run's crash, where that is code of the program with a known line. A crash
/// inside a library stays at the site of the call.
pub(crate) fn at_its_line(finding: Finding, program: &Program, target: &Target) -> Result<Finding, Error> {
    let Some(counter) = target.crash_counter() else { return Ok(finding) };
    let Some(found) = target.line_of(counter)? else { return Ok(finding) };
    let same = |spelled: &&String| found.file == **spelled || found.file.ends_with(&format!("/{}", relative(spelled)));
    let Some(file) = program.files.iter().find(same) else { return Ok(finding) };
    Ok(Finding { file: Some(file.clone()), line: found.line, column: found.column.unwrap_or(0), ..finding })
}

/// A relative name without what leads up and out: `../src/a.c` ends as `src/a.c` does.
fn relative(spelled: &str) -> &str {
    let mut rest = spelled;
    while let Some(shorter) = rest.strip_prefix("./").or_else(|| rest.strip_prefix("../")) {
        rest = shorter;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::relative;

    #[test]
    fn leading_dots_do_not_count() {
        assert_eq!(relative(".././../src/a.c"), "src/a.c");
        assert_eq!(relative("a.c"), "a.c");
    }
}
