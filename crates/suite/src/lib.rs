//! The tests of a project as inputs: which programs they run, and with what.
//!
//! | file | concept |
//! |---|---|
//! | `ctest` | the tests of a build folder of CMake |
//! | `meson` | the tests of a build folder of Meson |
//! | `declared` | the tests that `raceproof.toml` has |
//! | `subject` | from the command of a test to the program that can be checked |
//! | `variables` | changes to the environment, as CTest writes them |
//! | `selection` | patterns of names |

mod ctest;
mod declared;
mod error;
mod meson;
mod selection;
mod subject;
mod variables;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub use declared::Declared;
pub use error::Error;
pub use selection::{Selection, matches};

/// Variables of an environment that are set, or removed where there is no value.
pub type Variables = BTreeMap<String, Option<String>>;

/// What a test runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// A program that can be checked: what `raceproof check` takes as inputs.
    Program(Vec<String>),
    /// Something else, and why it cannot be checked.
    Other(String),
}

/// A test of a project.
#[derive(Clone, PartialEq, Debug)]
pub struct Test {
    /// No other test of the suite has it.
    pub name: String,
    /// What it runs.
    pub subject: Subject,
    /// The arguments of the program.
    pub args: Vec<String>,
    /// Which executable, for programs that are a compilation database.
    pub executable: Option<String>,
    /// Compiler flags, for programs that are sources.
    pub cflags: Vec<String>,
    /// The file for its standard input.
    pub stdin: Option<PathBuf>,
    /// Files that it finds in its folder, which is an empty one otherwise.
    pub files: Vec<PathBuf>,
    /// Where it runs; the current folder if `None`.
    pub folder: Option<PathBuf>,
    /// What is different in its environment.
    pub variables: Variables,
    /// How long a run of it may take, in seconds.
    pub time: Option<f64>,
    /// Whether it is a test that fails.
    pub should_fail: bool,
    /// Whether no other test may run beside it.
    pub alone: bool,
}

impl Test {
    /// A test with nothing but a name and a subject.
    fn new(name: String, subject: Subject) -> Self {
        Self {
            name,
            subject,
            args: Vec::new(),
            executable: None,
            cflags: Vec::new(),
            stdin: None,
            files: Vec::new(),
            folder: None,
            variables: Variables::new(),
            time: None,
            should_fail: false,
            alone: false,
        }
    }
}

/// The tests of a project.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Suite {
    /// In the order of the build system.
    pub tests: Vec<Test>,
    /// What could not be found out, and does not matter for most tests.
    pub warnings: Vec<String>,
}

/// Whether a build system's tests are in a folder.
pub fn is_build(folder: &Path) -> bool {
    ctest::is_build(folder) || meson::is_build(folder)
}

/// The tests of a build folder of CMake or Meson.
pub fn of_build(folder: &Path) -> Result<Suite, Error> {
    let mut suite = match () {
        () if ctest::is_build(folder) => ctest::read(folder)?,
        () if meson::is_build(folder) => meson::read(folder)?,
        () => return Err(Error::NoBuild { folder: folder.to_owned() }),
    };
    name_apart(&mut suite.tests);
    Ok(suite)
}

/// The tests that `raceproof.toml` has, whose paths are relative to `folder`.
pub fn of_settings(declared: &[Declared], folder: &Path) -> Result<Suite, Error> {
    let tests = declared.iter().map(|declared| declared.test(folder)).collect::<Result<Vec<_>, _>>()?;
    let mut names = BTreeSet::new();
    match tests.iter().find(|test| !names.insert(&test.name)) {
        Some(again) => Err(Error::SameName { name: again.name.clone() }),
        None => Ok(Suite { tests, warnings: Vec::new() }),
    }
}

/// Numbers tests whose names others have.
fn name_apart(tests: &mut [Test]) {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for test in tests {
        let name = test.name.clone();
        let mut number = 1;
        while !seen.insert(test.name.clone()) {
            number += 1;
            test.name = format!("{name} #{number}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_has_a_name_of_its_own() {
        let mut tests =
            ["a", "b", "a", "a #2", "a"].map(|name| Test::new(name.to_owned(), Subject::Other(String::new())));
        name_apart(&mut tests);
        assert_eq!(tests.map(|test| test.name), ["a", "b", "a #2", "a #2 #2", "a #3"]);
    }
}
