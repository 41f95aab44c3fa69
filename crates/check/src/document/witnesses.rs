//! Witness files of one report.

use std::path::PathBuf;

use files::{RecordedFinding, RunOptions, Witness};
use model::{Schedule, Trace};

use crate::request::Request;
use crate::{Built, Error};

/// Writes witness files into one folder, created with the first.
pub(crate) struct Witnesses {
    /// The folder, as the user spelled it.
    folder: PathBuf,
    /// Options of the runs.
    run: RunOptions,
}

impl Witnesses {
    pub(crate) fn new(request: &Request) -> Self {
        Self { folder: request.witness_dir.clone(), run: request.limits.record() }
    }

    /// Writes `<stem>-<id>.rpw` and returns its path in the user's spelling.
    pub(super) fn write(
        &mut self,
        built: &Built,
        id: &str,
        finding: RecordedFinding,
        schedule: &Schedule,
        trace: &Trace,
    ) -> Result<String, Error> {
        let witness = Witness::new(built.identity.clone(), self.run, finding, schedule, trace)
            .map_err(|difference| Error::NotReproducible { difference })?;
        let path = self.folder.join(format!("{}-{id}.rpw", built.name()));
        std::fs::create_dir_all(&self.folder).map_err(|source| files::Error::Io {
            action: "write",
            path: self.folder.clone(),
            source,
        })?;
        witness.write(&path)?;
        Ok(path.to_string_lossy().into_owned())
    }
}
