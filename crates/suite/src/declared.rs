//! The tests that `raceproof.toml` has, for projects whose tests no build system knows.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::subject::inside;
use crate::{Error, Subject, Test, Variables};

/// A `[[test]]` table. Paths are relative to the file.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Declared {
    /// What it is called.
    pub name: String,
    /// A program, as `raceproof check` takes it.
    #[serde(default)]
    program: Option<PathBuf>,
    /// Which executable of a program that is a compilation database.
    #[serde(default)]
    executable: Option<String>,
    /// The sources of a program.
    #[serde(default)]
    sources: Vec<PathBuf>,
    /// Compiler flags for them.
    #[serde(default)]
    cflags: Vec<String>,
    /// The program's arguments.
    #[serde(default)]
    args: Vec<String>,
    /// A file for its standard input.
    #[serde(default)]
    stdin: Option<PathBuf>,
    /// Files that it finds in its folder.
    #[serde(default)]
    files: Vec<PathBuf>,
    /// Where it runs.
    #[serde(default)]
    folder: Option<PathBuf>,
    /// Variables of its environment.
    #[serde(default)]
    env: std::collections::BTreeMap<String, String>,
    /// How long a run may take, in seconds.
    #[serde(default)]
    time: Option<f64>,
    /// Whether it fails.
    #[serde(default)]
    should_fail: bool,
}

impl Declared {
    /// The test, seen from the current folder.
    pub(crate) fn test(&self, folder: &Path) -> Result<Test, Error> {
        let wrong = |what: &str| Err(Error::Declared { name: self.name.clone(), what: what.to_owned() });
        let inputs: Vec<&PathBuf> = self.program.iter().chain(&self.sources).collect();
        if self.name.is_empty() {
            return wrong("has an empty name");
        }
        if self.program.is_some() != self.sources.is_empty() {
            return wrong("needs either `program` or `sources`");
        }
        if self.folder.is_some() && !self.files.is_empty() {
            return wrong("has `folder` and `files`: files are copied into a new folder");
        }
        if let Some(time) = self.time.filter(|time| !time.is_finite() || *time <= 0.0) {
            return wrong(&format!("has the time {time}, which is no number of seconds"));
        }
        let names = self.files.iter().map(|file| file.file_name());
        let mut sorted: Vec<_> = names.collect();
        sorted.sort();
        if sorted.iter().any(Option::is_none) || sorted.windows(2).any(|two| two[0] == two[1]) {
            return wrong("has two `files` of one name, or one without a name");
        }
        let text = |path: &&PathBuf| inside(folder, path).to_string_lossy().into_owned();
        let mut test = Test::new(self.name.clone(), Subject::Program(inputs.iter().map(text).collect()));
        test.args.clone_from(&self.args);
        test.executable.clone_from(&self.executable);
        test.cflags.clone_from(&self.cflags);
        test.stdin = self.stdin.as_ref().map(|file| inside(folder, file));
        test.files = self.files.iter().map(|file| inside(folder, file)).collect();
        let is_here = folder == Path::new(".") || folder.as_os_str().is_empty();
        test.folder = match &self.folder {
            Some(own) => Some(inside(folder, own)),
            None => (!is_here).then(|| folder.to_owned()),
        };
        test.variables =
            self.env.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).collect::<Variables>();
        (test.time, test.should_fail) = (self.time, self.should_fail);
        Ok(test)
    }
}
