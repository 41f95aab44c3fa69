//! Why the tests of a project cannot be read.

use std::path::PathBuf;

/// Why the tests of a project cannot be read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are the parts of the messages")]
pub enum Error {
    /// A folder in which no build system has tests.
    #[error("`{}` has no tests: it has neither CTestTestfile.cmake nor meson-info/intro-tests.json", folder.display())]
    NoBuild { folder: PathBuf },
    /// A program of the build system cannot be started.
    #[error("cannot start `{program}`: {cause}")]
    Start { program: String, cause: std::io::Error },
    /// CTest does not tell its tests.
    #[error("`ctest --show-only=json-v1` fails in `{}`: {said}", folder.display())]
    Refused { folder: PathBuf, said: String },
    /// What a build system says is not as it should be.
    #[error("the list of tests {from} cannot be read: {what}")]
    Malformed { from: String, what: String },
    /// A file cannot be read.
    #[error("cannot read `{}`: {cause}", path.display())]
    Unreadable { path: PathBuf, cause: std::io::Error },
    /// A test of raceproof.toml that says too much or too little.
    #[error("the test `{name}` in raceproof.toml {what}")]
    Declared { name: String, what: String },
    /// Two tests of raceproof.toml with one name.
    #[error("two tests in raceproof.toml are called `{name}`")]
    SameName { name: String },
    /// A pattern that no test matches.
    #[error("no test is called `{pattern}`; the tests are {names}")]
    NoSuchTest { pattern: String, names: String },
}

impl Error {
    /// What to do.
    pub fn help(&self) -> &'static str {
        match self {
            Self::NoBuild { .. } => {
                "give the build folder of a project with `enable_testing()` or `test(...)`, or write [[test]] tables into \
                 raceproof.toml; see docs/builds.md"
            }
            Self::Start { .. } => "install it, on Debian and Ubuntu: apt install cmake",
            Self::Refused { .. } => "configure the build folder again",
            Self::Malformed { .. } => "configure the build folder again, with CMake 3.20 or Meson 0.55 or newer",
            Self::Unreadable { .. } => "check the spelling and the permissions",
            Self::Declared { .. } | Self::SameName { .. } => "correct the file; see docs/builds.md for its form",
            Self::NoSuchTest { .. } => "`*` in a name stands for anything",
        }
    }
}
