//! Checkpoints of a search as files: written every few seconds and when the search stops, each whole or not at all.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ::explore::{Checkpoint, Observer, Progress};
use files::{BinaryKind, ProgramIdentity, RunOptions};
use model::{Step, Trace};
use serde::{Deserialize, Serialize};

use super::explore::SearchOptions;
use crate::Error;
use crate::build::Built;
use crate::describe::Sightings;
use crate::describe::sightings::Watch;
use crate::run::Limits;

const KIND: BinaryKind = BinaryKind { magic: *b"rpcheckp", version: 8, name: "raceproof checkpoint" };
/// Time between two checkpoints.
const INTERVAL: Duration = Duration::from_secs(1);

/// What a file holds.
#[derive(Serialize, Deserialize)]
struct CheckpointFile {
    program: ProgramIdentity,
    run: RunOptions,
    /// The search.
    search: Checkpoint,
    /// Executed accesses, for the report, as JSON: parts of the result document leave out empty fields, which the binary
    /// format cannot.
    sightings: Vec<u8>,
}

/// Watches a search and keeps its checkpoints.
pub(crate) struct Keeper<'a> {
    watch: Watch<'a>,
    built: &'a Built,
    run: RunOptions,
    path: Option<PathBuf>,
    next: Instant,
    /// Why a checkpoint could not be written.
    failed: Option<files::Error>,
}

impl<'a> Keeper<'a> {
    /// Keeps checkpoints where the options say so.
    pub(crate) fn new(watch: Watch<'a>, built: &'a Built, limits: &Limits, options: &SearchOptions) -> Self {
        let (path, run) = (options.checkpoint.clone(), limits.record());
        Self { watch, built, run, path, next: Instant::now(), failed: None }
    }

    /// Reads a checkpoint to go on from.
    pub(crate) fn resume(&mut self, path: &Path) -> Result<Checkpoint, Error> {
        let file: CheckpointFile = KIND.read(path)?;
        let same = file.program == self.built.identity && file.run == self.run;
        let sightings: Option<Sightings> = serde_json::from_slice(&file.sightings).ok();
        let Some(sightings) = sightings.filter(|sightings| same && sightings.fit(&self.built.program)) else {
            return Err(Error::OtherCheckpoint { path: path.to_owned() });
        };
        self.watch.sightings = sightings;
        Ok(file.search)
    }

    /// The accesses seen, when the search is over, and why there is no checkpoint, where there should be one.
    pub(crate) fn finish(self) -> (Sightings, Option<files::Error>) {
        (self.watch.sightings, self.failed)
    }
}

impl Observer for Keeper<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.watch.progress(progress);
    }

    fn trace(&mut self, trace: &Trace, from: Step) {
        self.watch.trace(trace, from);
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
            sightings: serde_json::to_vec(&self.watch.sightings)
                .expect("raceproof bug: sightings that cannot be serialised"),
        };
        self.failed = KIND.write(path, &file).err();
        self.next = Instant::now() + INTERVAL;
    }
}
