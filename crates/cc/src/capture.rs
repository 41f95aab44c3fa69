//! What a build makes, for `raceproof build`: every compiler of the build appends a line to one log.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, FileAction};

/// The variable that names the log.
pub const LOG_VARIABLE: &str = "RACEPROOF_BUILD_LOG";

/// Something that a compiler made.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Made {
    /// A source was compiled, and its bitcode embedded.
    Compiled {
        /// As the command line spells it.
        source: String,
    },
    /// A source was compiled without bitcode.
    Without {
        /// As the command line spells it.
        source: String,
        /// Why, in a sentence.
        reason: String,
    },
    /// An executable was linked.
    Linked {
        /// The absolute path.
        executable: PathBuf,
    },
}

/// Appends to the log.
pub fn append(log: &Path, made: &[Made]) -> Result<(), Error> {
    let mut lines = String::new();
    for made in made {
        // Paths that are not text are not in the log; nothing else fails.
        lines.extend(serde_json::to_string(made).ok().map(|line| line + "\n"));
    }
    // One write for all: compilers work at the same time.
    let file = std::fs::OpenOptions::new().append(true).create(true).open(log);
    let written = file.and_then(|mut file| file.write_all(lines.as_bytes()));
    written.map_err(|cause| Error::File { action: FileAction::Write, path: log.to_owned(), cause })
}

/// Reads the log, in an order that does not depend on which compiler was faster.
pub fn read(log: &Path) -> Result<Vec<Made>, Error> {
    let text = match std::fs::read_to_string(log) {
        Ok(text) => text,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(cause) => return Err(Error::File { action: FileAction::Read, path: log.to_owned(), cause }),
    };
    // A compiler that was killed may have written half a line.
    let mut made: Vec<Made> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    made.sort();
    Ok(made)
}

/// Whether a compiler is called for a program with which a build system tries it out: nobody checks those.
pub(crate) fn is_trial<'a>(directory: &Path, mut sources: impl Iterator<Item = &'a str>) -> bool {
    let of_cmake = |part: &str| ["CMakeTmp", "CMakeScratch"].contains(&part) || part.starts_with("CompilerId");
    let mut parts = directory.components().filter_map(|part| part.as_os_str().to_str());
    parts.any(of_cmake)
        || sources.any(|source| {
            let path = Path::new(source);
            let of_autoconf = path.file_stem().is_some_and(|stem| stem == "conftest");
            let of_meson = directory.join(path).components().any(|part| part.as_os_str() == "meson-private");
            of_autoconf || of_meson
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_read_in_one_order() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        assert_eq!(read(&log).unwrap(), []);
        let linked = Made::Linked { executable: "/b/prog".into() };
        let compiled = |name: &str| Made::Compiled { source: name.to_owned() };
        append(&log, &[compiled("b.c"), linked.clone()]).unwrap();
        append(&log, &[compiled("a.c")]).unwrap();
        std::fs::OpenOptions::new().append(true).open(&log).unwrap().write_all(b"{\"compi").unwrap();
        assert_eq!(read(&log).unwrap(), [compiled("a.c"), compiled("b.c"), linked]);
        let unwritable = append(Path::new("/nowhere/log"), &[compiled("a.c")]);
        assert!(unwritable.unwrap_err().to_string().contains("/nowhere/log"));
    }

    #[test]
    fn programs_that_try_the_compiler_out() {
        let tries = |directory: &str, source: &str| is_trial(Path::new(directory), [source].into_iter());
        assert!(tries("/b", "conftest.c") && tries("/b", "/b/conftest.cpp"));
        assert!(tries("/b/CMakeFiles/CMakeScratch/TryCompile-x", "a.c"));
        assert!(tries("/b/CMakeFiles/3.25.1/CompilerIdC", "CMakeCCompilerId.c"));
        assert!(tries("/b", "meson-private/sanitycheckc.c"));
        assert!(!tries("/b", "src/main.c") && !tries("/CMakeFilesystem", "a.c"));
    }
}
