//! Checkpoints of a search as files: written every few seconds and when the search stops, each whole or not at all.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use explore::{Checkpoint, Observer, Progress};
use files::{BinaryKind, ProgramIdentity, RunOptions};
use model::{Step, Trace};
use serde::{Deserialize, Serialize};

use crate::build::Built;
use crate::examples::Examples;
use crate::{Error, ExploreOptions};

const KIND: BinaryKind = BinaryKind { magic: *b"rpcheckp", version: 2, name: "raceproof checkpoint" };
/// Time between two checkpoints.
const INTERVAL: Duration = Duration::from_secs(2);

/// What a file holds.
#[derive(Serialize, Deserialize)]
struct CheckpointFile {
    program: ProgramIdentity,
    run: RunOptions,
    /// The search.
    search: Checkpoint,
    /// Examples of accesses, for the report.
    examples: Vec<u8>,
}

/// Watches a search and keeps its checkpoints.
pub(crate) struct Keeper<'a> {
    examples: Examples<'a>,
    built: &'a Built,
    run: RunOptions,
    path: Option<PathBuf>,
    next: Instant,
    /// Why a checkpoint could not be written.
    failed: Option<files::Error>,
}

impl<'a> Keeper<'a> {
    /// Keeps checkpoints where the options say so.
    pub(crate) fn new(examples: Examples<'a>, built: &'a Built, options: &ExploreOptions) -> Self {
        let (path, run) = (options.checkpoint.clone(), options.limits.record());
        Self { examples, built, run, path, next: Instant::now(), failed: None }
    }

    /// Reads a checkpoint to go on from.
    pub(crate) fn resume(&mut self, path: &Path) -> Result<Checkpoint, Error> {
        let file: CheckpointFile = KIND.read(path)?;
        let same = file.program == self.built.identity && file.run == self.run;
        if !same || !self.examples.restore(&file.examples) {
            return Err(Error::OtherCheckpoint { path: path.to_owned() });
        }
        Ok(file.search)
    }

    /// The examples, when the search is over.
    pub(crate) fn finish(self) -> Result<Examples<'a>, Error> {
        match self.failed {
            Some(error) => Err(error.into()),
            None => Ok(self.examples),
        }
    }
}

impl Observer for Keeper<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.examples.progress(progress);
    }

    fn trace(&mut self, trace: &Trace, from: Step) {
        self.examples.trace(trace, from);
    }

    fn wants_checkpoint(&mut self, last: bool) -> bool {
        self.path.is_some() && self.failed.is_none() && (last || Instant::now() >= self.next)
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) {
        let Some(path) = &self.path else { return };
        let file = CheckpointFile {
            program: self.built.identity.clone(),
            run: self.run,
            search: checkpoint.clone(),
            examples: self.examples.save(),
        };
        self.failed = KIND.write(path, &file).err();
        self.next = Instant::now() + INTERVAL;
    }
}
