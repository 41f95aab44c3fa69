//! `raceproof.toml`: what a project always wants to say on the command line.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use suite::Declared;

use crate::failure::Failure;

/// The file's name.
const NAME: &str = "raceproof.toml";

/// A project's settings. What the command line says counts more. Paths are relative to the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Settings {
    /// The inputs of the program that `raceproof lsp` checks.
    pub(crate) inputs: Vec<String>,
    /// Further compiler flags, in front of those of the command line.
    pub(crate) cflags: Vec<String>,
    /// External functions that touch no shared memory.
    pub(crate) assume_pure: Vec<String>,
    /// The engines that may work.
    pub(crate) engines: Vec<String>,
    /// What the environment may do.
    pub(crate) environment: Vec<String>,
    /// Seconds for everything but building.
    pub(crate) time: Option<f64>,
    /// Folder for witness files.
    pub(crate) witness_dir: Option<PathBuf>,
    /// Suppression files.
    pub(crate) suppressions: Vec<PathBuf>,
    /// An earlier result.
    pub(crate) baseline: Option<PathBuf>,
    /// Tests, for `raceproof test`.
    pub(crate) test: Vec<Declared>,
    /// The folder of the file, from the current one.
    #[serde(skip)]
    pub(crate) folder: PathBuf,
}

impl Settings {
    /// Those of the nearest folder, from the current one upwards, that has the file; else none.
    pub(crate) fn find() -> Result<Self, Failure> {
        let Ok(here) = std::env::current_dir() else { return Ok(Self::default()) };
        Self::find_from(&here)
    }

    /// The same from another folder.
    pub(crate) fn find_from(here: &Path) -> Result<Self, Failure> {
        match here.ancestors().map(|folder| folder.join(NAME)).find(|file| file.is_file()) {
            Some(file) => Self::read(&file, here),
            None => Ok(Self::default()),
        }
    }

    /// Those of a folder, if it has the file.
    pub(crate) fn of_folder(folder: &Path) -> Result<Option<Self>, Failure> {
        let file = folder.join(NAME);
        if !file.is_file() {
            return Ok(None);
        }
        // What is relative to the file is relative to its folder, which is seen from the current one.
        Ok(Some(Self { folder: folder.to_owned(), ..Self::read(&file, folder)? }))
    }

    /// The file.
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.join(NAME)
    }

    fn read(file: &Path, here: &Path) -> Result<Self, Failure> {
        let cannot = |why: String| {
            let known =
                "inputs, cflags, assume-pure, engines, environment, time, witness-dir, suppressions, baseline, test";
            let message = format!("cannot use the settings in `{}`: {}", file.display(), why.trim_end());
            Failure::new(message, format!("correct the file; the settings are {known}"))
        };
        let text = std::fs::read_to_string(file).map_err(|error| cannot(error.to_string()))?;
        let mut settings: Self = toml::from_str(&text).map_err(|error| cannot(error.to_string()))?;
        let folder = file.parent().unwrap_or(here);
        if folder != here {
            let paths = settings.suppressions.iter_mut().chain(&mut settings.baseline).chain(&mut settings.witness_dir);
            for path in paths {
                *path = folder.join(&path);
            }
            settings.folder = folder.to_owned();
        }
        Ok(settings)
    }
}
