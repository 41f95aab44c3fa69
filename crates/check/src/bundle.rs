//! What to send when a result shows a bug of raceproof: a run that refutes a proof, or a finding that a new process does not
//! show.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use program::Program;

use crate::describe::Position;
use crate::engine::Verdict;
use crate::ledger::{Contradiction, Ledger};
use crate::request::Request;

/// Writes a folder with the sources, the lowered program, the ledger and the versions, and returns where it is. It
/// appears whole or not at all.
pub(crate) fn write(request: &Request, program: &Program, ledger: &Ledger, bug: &str) -> std::io::Result<PathBuf> {
    let folder = free_name(&request.bundle_dir);
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let work = tempfile::Builder::new().prefix(".raceproof-bug-").tempdir_in(parent)?;
    let inside = |name: &str| work.path().join(name);
    std::fs::write(inside("about.txt"), about(request, bug))?;
    std::fs::write(inside("program.txt"), program.to_string())?;
    std::fs::write(inside("ledger.txt"), text_of(ledger))?;
    std::fs::create_dir(inside("inputs"))?;
    let files = request.build.inputs.iter().filter(|input| Path::new(input).is_file());
    for (number, input) in files.enumerate() {
        let name = Path::new(input).file_name().map_or_else(|| "input".into(), |name| name.to_string_lossy());
        std::fs::copy(input, inside("inputs").join(format!("{number}-{name}")))?;
    }
    std::fs::rename(work.keep(), &folder)?;
    Ok(folder)
}

/// `raceproof-bug`, or the first of `raceproof-bug-2`… that is not there yet.
fn free_name(parent: &Path) -> PathBuf {
    let mut names = (2..).map(|n| parent.join(format!("raceproof-bug-{n}")));
    let first = parent.join("raceproof-bug");
    if first.exists() { names.find(|name| !name.exists()).unwrap_or(first) } else { first }
}

fn about(request: &Request, bug: &str) -> String {
    format!("raceproof {}\n{bug}\n{request:#?}\n", env!("CARGO_PKG_VERSION"))
}

/// Which proof a run refutes, in words.
pub(crate) fn of_contradiction(program: &Program, Contradiction { pair, proved, shown }: &Contradiction) -> String {
    let mut text = format!("{proved} proved absent what a run of {shown} shows");
    for site in pair.sites() {
        let Position { function, file, line, column, .. } = Position::of(program, Some(site));
        let _ = write!(text, "\n{site}: {}:{line}:{column} in {function}", file.as_deref().unwrap_or("?"));
    }
    text
}

/// What to do about the bug.
pub(crate) fn settle(bundle: &Result<PathBuf, String>) -> String {
    match bundle {
        Ok(folder) => {
            format!(
                "please send us `{}`: it has the sources, the program, the ledger and the versions",
                folder.display()
            )
        }
        Err(cause) => format!("please send us the program; the bundle could not be written: {cause}"),
    }
}

fn text_of(ledger: &Ledger) -> String {
    let mut text = String::new();
    for (pair, entry) in ledger.iter() {
        let _ = match &entry.verdict {
            Some((by, Verdict::Race(witness))) => writeln!(text, "{pair} {by}: race {witness:?}"),
            Some((by, verdict)) => writeln!(text, "{pair} {by}: {verdict:?}"),
            None => writeln!(text, "{pair} open"),
        };
    }
    text
}
