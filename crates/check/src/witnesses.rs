//! Witness files of one search.

use std::path::PathBuf;

use files::{RecordedFinding, RunOptions, Witness};
use model::{Schedule, Trace};

use crate::{Built, Error};

/// Writes witness files into one folder, created with the first.
pub(crate) struct Witnesses<'a> {
    /// The folder, as the user spelled it.
    pub(crate) folder: PathBuf,
    /// The program.
    pub(crate) built: &'a Built,
    /// Options of the runs.
    pub(crate) run: RunOptions,
}

impl Witnesses<'_> {
    /// Writes `<stem>-<id>.rpw` and returns its path in the user's spelling.
    pub(crate) fn write(
        &self,
        id: &str,
        finding: RecordedFinding,
        schedule: &Schedule,
        trace: &Trace,
    ) -> Result<String, Error> {
        let witness = Witness::new(self.built.identity.clone(), self.run, finding, schedule, trace)
            .map_err(|difference| Error::NotReproducible { difference })?;
        let path = self.folder.join(format!("{}-{id}.rpw", self.built.name()));
        std::fs::create_dir_all(&self.folder).map_err(|source| files::Error::Io {
            action: "write",
            path: self.folder.clone(),
            source,
        })?;
        witness.write(&path)?;
        Ok(path.to_string_lossy().into_owned())
    }
}
