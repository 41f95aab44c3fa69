//! Where results go.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use report::{Report, Sources};

use crate::failure::Failure;

/// Columns of the terminal on standard output; a fixed number when it is none, so that output can be compared.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size_of(std::io::stdout()).map_or(100, |(width, _)| usize::from(width.0).clamp(40, 160))
}

/// Prints to standard output, without styles where they are not wanted. A closed pipe is the reader's choice.
pub(crate) fn print(text: &str) {
    let mut stdout = anstream::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

/// Shows a report: one JSON document, or text with `more` before the last lines.
pub(crate) fn show(report: &Report, json: bool) {
    if json {
        print(&report::json::render(report));
    } else {
        print(&report::terminal::render(report, &mut Sources::new(), width()));
    }
}

/// Writes the JSON document to a file.
pub(crate) fn write_json(report: &Report, path: &Path) -> Result<(), Failure> {
    std::fs::write(path, report::json::render(report)).map_err(|error| {
        Failure::new(
            format!("cannot write `{}`: {error}", path.display()),
            "choose a folder that exists and that you may write to",
        )
    })
}

/// The exit status of a report.
pub(crate) fn status(report: &Report) -> ExitCode {
    ExitCode::from(report.exit_status())
}
