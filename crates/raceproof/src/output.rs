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
    write_file(path, &report::json::render(report))
}

/// Writes a whole file or nothing. What is no ordinary file, such as a pipe, is written as it is.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    let written = if path.exists() && !path.is_file() { std::fs::write(path, text) } else { replace(path, text) };
    written.map_err(|error| {
        Failure::new(
            format!("cannot write `{}`: {error}", path.display()),
            "choose a folder that exists and that you may write to",
        )
    })
}

/// Writes a file beside the target and renames it.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let ordinary = std::fs::Permissions::from_mode(0o666);
    let mut file = tempfile::Builder::new().prefix(".raceproof-").permissions(ordinary).tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

/// The exit status of a report.
pub(crate) fn status(report: &Report) -> ExitCode {
    ExitCode::from(report.exit_status())
}
