//! What to send when two engines contradict each other.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use model::Contradiction;

use super::CheckOptions;
use super::book::Book;
use crate::Error;
use crate::place::Place;

/// Writes a folder with the sources, the lowered program, the ledger and the versions, and returns where it is. It
/// appears whole or not at all.
pub(super) fn write(options: &CheckOptions, book: &Book<'_>, contradiction: &Contradiction) -> Result<PathBuf, Error> {
    let folder = free_name(&options.bundle_dir);
    write_files(options, book, contradiction, &folder).map_err(|cause| Error::Bundle {
        contradiction: contradiction.clone(),
        folder: folder.clone(),
        cause,
    })?;
    Ok(folder)
}

/// `raceproof-bug`, or the first of `raceproof-bug-2`… that is not there yet.
fn free_name(parent: &Path) -> PathBuf {
    let mut names = (2..).map(|n| parent.join(format!("raceproof-bug-{n}")));
    let first = parent.join("raceproof-bug");
    if first.exists() { names.find(|name| !name.exists()).unwrap_or(first) } else { first }
}

fn write_files(
    options: &CheckOptions,
    book: &Book<'_>,
    contradiction: &Contradiction,
    folder: &Path,
) -> std::io::Result<()> {
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let work = tempfile::Builder::new().prefix(".raceproof-bug-").tempdir_in(parent)?;
    let inside = |name: &str| work.path().join(name);
    std::fs::write(inside("about.txt"), about(options, book, contradiction))?;
    std::fs::write(inside("program.txt"), book.program.to_string())?;
    std::fs::write(inside("ledger.txt"), ledger(book))?;
    std::fs::create_dir(inside("inputs"))?;
    let files = options.build.inputs.iter().filter(|input| Path::new(input).is_file());
    for (number, input) in files.enumerate() {
        let name = Path::new(input).file_name().map_or_else(|| "input".into(), |name| name.to_string_lossy());
        std::fs::copy(input, inside("inputs").join(format!("{number}-{name}")))?;
    }
    std::fs::rename(work.keep(), folder)
}

fn about(options: &CheckOptions, book: &Book<'_>, contradiction: &Contradiction) -> String {
    let mut text = format!("raceproof {}\n{contradiction}\n", env!("CARGO_PKG_VERSION"));
    for site in contradiction.pair.sites() {
        let Place { function, file, line, column } = Place::of(book.program, Some(site));
        let _ = writeln!(text, "{site}: {}:{line}:{column} in {function}", file.as_deref().unwrap_or("?"));
    }
    let _ = writeln!(text, "{options:#?}");
    text
}

fn ledger(book: &Book<'_>) -> String {
    let line = |(pair, entry): (model::Pair, Option<&model::verdict::Entry>)| match entry {
        Some(entry) => format!("{pair} {}: {:?}\n", entry.by, entry.verdict),
        None => format!("{pair} open\n"),
    };
    book.ledger().iter().map(line).collect()
}
