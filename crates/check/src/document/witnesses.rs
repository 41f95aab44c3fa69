//! Witness files of one report.

use std::path::PathBuf;

use files::{RecordedFinding, RunOptions, Witness};
use model::{Schedule, SiteId, Trace};

use crate::gap::Gap;
use crate::request::Request;
use crate::{Built, Error};

/// Writes witness files into one folder, created with the first.
pub(crate) struct Witnesses {
    /// The folder, as the user spelled it.
    folder: PathBuf,
    /// Options of the runs.
    run: RunOptions,
    /// Findings whose schedule did not show them again, in the order in which that was noticed.
    unrepeatable: Vec<Gap>,
}

impl Witnesses {
    pub(crate) fn new(request: &Request) -> Self {
        Self { folder: request.witness_dir.clone(), run: request.limits.record(), unrepeatable: Vec::new() }
    }

    /// What the report says of findings that could not be shown again.
    pub(super) fn unrepeatable(&self) -> &[Gap] {
        &self.unrepeatable
    }

    /// Notes that a run of a finding's schedule does not show it: the finding stays, without a witness.
    pub(super) fn note_unrepeatable(&mut self, id: &str, site: Option<SiteId>, difference: &str) {
        let reason = format!("finding {id} has no witness: another run of its schedule differs: {difference}");
        self.unrepeatable.push(Gap::unrepeatable(reason).at(site));
    }

    /// Writes `<stem>-<id>.rpw` and returns its path in the user's spelling; `None` if the trace is not of that schedule,
    /// which is noted.
    pub(super) fn write(
        &mut self,
        built: &Built,
        id: &str,
        finding: RecordedFinding,
        schedule: &Schedule,
        trace: &Trace,
    ) -> Result<Option<String>, Error> {
        let witness = match Witness::new(built.identity.clone(), self.run, finding, schedule, trace) {
            Ok(witness) => witness,
            Err(difference) => {
                self.note_unrepeatable(id, None, &difference.to_string());
                return Ok(None);
            }
        };
        let path = self.folder.join(format!("{}-{id}.rpw", built.name()));
        std::fs::create_dir_all(&self.folder).map_err(|source| files::Error::Io {
            action: "write",
            path: self.folder.clone(),
            source,
        })?;
        witness.write(&path)?;
        Ok(Some(path.to_string_lossy().into_owned()))
    }
}
