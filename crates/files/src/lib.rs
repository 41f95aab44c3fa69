//! Files: traces, schedules, witnesses and checkpoints.
//!
//! Every file says what it is, in which version, and carries a checksum, so that a foreign, older, truncated or
//! edited file is refused with its name, the place and a remedy, and never half understood. Writing is atomic:
//! the content goes to a temporary file beside the target, which is then renamed over it.

mod binary;
mod document;
mod identity;
pub mod input;
mod schedule;
pub mod trace;
mod witness;

use std::io::Write;
use std::path::{Path, PathBuf};

pub use binary::BinaryKind;
pub use decode::Detail;
pub use identity::{DataFile, ProgramIdentity, hash};
pub use schedule::{NamedChoice, NamedSegment, ScheduleFile};
pub use trace::TraceFile;
pub use witness::{Difference, RecordedAccess, RecordedEvent, RecordedFinding, RecordedSegment, RunOptions, Witness};

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are the parts of the messages")]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action} `{}`: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: std::io::Error },
    /// Not one of our files, or one of another kind.
    #[error("`{}` is not a {expected}: {found}", path.display())]
    Foreign { path: PathBuf, expected: &'static str, found: String },
    /// One of our files in a version this build does not read.
    #[error("`{}` is a {kind} of version {found}; this raceproof reads version {supported}", path.display())]
    Version { path: PathBuf, kind: &'static str, found: u64, supported: u32 },
    /// Ends too early.
    #[error("`{}` is cut off: {place}", path.display())]
    Truncated { path: PathBuf, place: String },
    /// Changed after it was written.
    #[error("`{}` was changed after it was written: its checksum is {expected}, its content gives {found}", path.display())]
    Edited { path: PathBuf, expected: String, found: String },
    /// The parts contradict each other.
    #[error("`{}` is damaged at {place}: {problem}", path.display())]
    Damaged { path: PathBuf, place: String, problem: String },
}

impl Error {
    /// What the user can do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Io { action: "write", .. } => "choose a folder that you may write to",
            Self::Io { .. } => "check the spelling and the permissions",
            Self::Foreign { .. } => "give a file that raceproof wrote",
            Self::Version { .. } => "make it again with this raceproof, or read it with the one that made it",
            Self::Truncated { .. } | Self::Edited { .. } | Self::Damaged { .. } => {
                "make it again with the command that wrote it; these files are not meant to be edited"
            }
        }
    }
}

/// Reads a whole file.
fn read_bytes(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|source| Error::Io { action: "read", path: path.to_owned(), source })
}

/// Writes a whole file or nothing.
fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let error = |source| Error::Io { action: "write", path: path.to_owned(), source };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new().prefix(".raceproof-").tempfile_in(folder).map_err(error)?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(error)?;
    share(file.as_file()).map_err(error)?;
    file.persist(path).map_err(|e| error(e.error))?;
    Ok(())
}

/// Gives a temporary file (private by default) the permissions of an ordinary one.
fn share(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

/// Lower-case hexadecimal digits of `bytes`.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
