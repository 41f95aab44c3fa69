//! Where results go.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use report::svcomp::InputFile;
use report::{Report, Sources};

use crate::failure::Failure;

/// Columns of the terminal on standard output; a fixed number when it is none, so that output can be compared.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size_of(std::io::stdout()).map_or(100, |(width, _)| usize::from(width.0).clamp(40, 160))
}

/// Prints to standard output, without styles where they are not wanted. A closed pipe is the reader's choice.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::new(
            format!("cannot write to standard output: {error}"),
            "make room there, or give the result another place with `--json-out`",
        )),
        _ => Ok(()),
    }
}

/// Shows a report: one JSON document, or text with `more` before the last lines.
pub(crate) fn show(report: &Report, json: bool) -> Result<(), Failure> {
    print(&if json {
        report::json::render(report)
    } else {
        report::terminal::render(report, &mut Sources::new(), width())
    })
}

/// Prints to standard error what was asked for besides the result.
pub(crate) fn note(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// Says something on standard error that does not change the result.
pub(crate) fn warn(text: &str) {
    const WARNING: anstyle::Style = anstyle::AnsiColor::BrightYellow.on_default().bold();
    let mut stderr = anstream::stderr().lock();
    let _ = writeln!(stderr, "{WARNING}warning{WARNING:#}: {text}");
}

/// Writes the JSON document to a file.
pub(crate) fn write_json(report: &Report, path: &Path) -> Result<(), Failure> {
    write_file(path, &report::json::render(report))
}

/// Writes a whole file or nothing. What is no ordinary file, such as a pipe, is written as it is.
pub(crate) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    let written = if path.exists() && !path.is_file() { std::fs::write(path, text) } else { replace(path, text) };
    written.map_err(|error| cannot_write(path, &error))
}

/// Whether a file could be written now, so that a mistake in its path costs no time.
pub(crate) fn try_file(path: &Path) -> Result<(), Failure> {
    let tried = if path.is_dir() {
        Err(std::io::ErrorKind::IsADirectory.into())
    } else if path.exists() && !path.is_file() {
        Ok(())
    } else {
        beside(path).map(drop)
    };
    tried.map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    // The system's reason, without the name of a temporary file.
    let message = format!("cannot write `{}`: {}", path.display(), error.kind());
    Failure::new(message, "choose a folder that exists and that you may write to")
}

/// Writes a file beside the target and renames it.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = beside(path)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

/// A new file in the folder of another, removed unless it takes its place.
fn beside(path: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let ordinary = std::fs::Permissions::from_mode(0o666);
    tempfile::Builder::new().prefix(".raceproof-").permissions(ordinary).tempfile_in(folder)
}

/// The report for GitLab. Its runner stands in the project's folder.
pub(crate) fn code_quality(report: &Report) -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    report::gitlab::render(report, &folder.to_string_lossy())
}

/// The report's first race as a violation witness of the software-verification competition.
pub(crate) fn svcomp(report: &Report) -> Result<String, Failure> {
    let mut inputs = Vec::new();
    for name in &report.inputs {
        let bytes = std::fs::read(name).map_err(|error| {
            Failure::new(
                format!("cannot read `{name}`: {error}"),
                "the witness names the inputs' hashes: they must be there",
            )
        })?;
        let sha256 = files::hash(&bytes);
        inputs.push(InputFile { name: name.clone(), sha256 });
    }
    report::svcomp::render(report, &inputs, &now()).ok_or_else(|| {
        let help = "a violation witness speaks of a race that a run has shown";
        Failure::new("the result has no race with its run", help)
    })
}

/// The time now, as RFC 3339 has it.
fn now() -> String {
    let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days to a date of the Gregorian calendar, in years that begin in March.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3_600, rest / 60 % 60, rest % 60)
}

/// The exit status of a report.
pub(crate) fn status(report: &Report) -> ExitCode {
    ExitCode::from(report.exit_status())
}
