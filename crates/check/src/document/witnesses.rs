//! Witness files of one report.

use std::path::{Path, PathBuf};

use files::{DataFile, RecordedFinding, Witness};
use model::{Schedule, SiteId, Trace};

use crate::Built;
use crate::gap::Gap;
use crate::request::Request;
use crate::run::Limits;

/// Writes witness files into one folder, created with the first.
pub(crate) struct Witnesses {
    /// The folder, as the user spelled it.
    folder: PathBuf,
    /// Options of the runs.
    limits: Limits,
    /// Findings whose schedule did not show them again, in the order in which that was noticed.
    unrepeatable: Vec<Gap>,
    /// Why files could not be written, once for each reason.
    unwritten: Vec<String>,
}

impl Witnesses {
    pub(crate) fn new(request: &Request) -> Self {
        Self {
            folder: request.witness_dir.clone(),
            limits: request.limits,
            unrepeatable: Vec::new(),
            unwritten: Vec::new(),
        }
    }

    /// What is written from now on has teams of this size.
    pub(crate) fn set_team_size(&mut self, size: Option<u32>) {
        self.limits.team_size = size;
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

    /// What the report says of files that could not be written.
    pub(super) fn unwritten(&self) -> &[String] {
        &self.unwritten
    }

    /// Writes `<stem>-<id>.rpw` and returns its path in the user's spelling. `None` if the trace is not of that schedule, or
    /// if the file cannot be written: the finding stays, and the reason is noted.
    pub(super) fn write(
        &mut self,
        built: &Built,
        id: &str,
        finding: RecordedFinding,
        schedule: &Schedule,
        trace: &Trace,
    ) -> Option<String> {
        let run = Limits { team_size: self.limits.team_size_of(built), ..self.limits }.record();
        let witness = match Witness::new(built.identity.clone(), run, finding, schedule, trace) {
            // The names that a run on another machine opens are names there.
            Ok(witness) if built.machine.is_none() => Witness { data: DataFile::all_of(trace), ..witness },
            Ok(witness) => witness,
            Err(difference) => {
                self.note_unrepeatable(id, None, &difference.to_string());
                return None;
            }
        };
        match self.save(&witness, &built.name(), id) {
            Ok(path) => Some(path.to_string_lossy().into_owned()),
            Err(error) => {
                let reason = format!("findings have no witness: {error}");
                if !self.unwritten.contains(&reason) {
                    self.unwritten.push(reason);
                }
                None
            }
        }
    }

    fn save(&self, witness: &Witness, name: &str, id: &str) -> Result<PathBuf, files::Error> {
        let cannot = |source| files::Error::Io { action: "write", path: self.folder.clone(), source };
        std::fs::create_dir_all(&self.folder).map_err(cannot)?;
        let numbered = (2..).map(|number| format!("{name}.{number}-{id}.rpw"));
        let mut paths = std::iter::once(format!("{name}-{id}.rpw")).chain(numbered).map(|file| self.folder.join(file));
        let path = paths.find(|path| !is_of_another_program(path, witness)).unwrap_or_else(|| self.folder.join(id));
        witness.write(&path)?;
        Ok(path)
    }
}

/// Whether a file is the witness of another program than the witness in `kept`.
pub(crate) fn is_witness_of_another(path: &Path, kept: &Path) -> bool {
    Witness::read(kept).is_ok_and(|witness| is_of_another_program(path, &witness))
}

/// Whether a file is the witness of a program made of other inputs.
fn is_of_another_program(path: &Path, witness: &Witness) -> bool {
    path.exists() && Witness::read(path).is_ok_and(|there| there.program.inputs != witness.program.inputs)
}
