//! Schedules as files: JSON, threads by their paths.

use std::path::Path;

use model::index::Idx;
use model::{IndexVec, Schedule, ThreadId, ThreadPath};
use serde::{Deserialize, Serialize};

use super::Error;
use super::document::{self, Document};

/// A schedule with the names of its threads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ScheduleFile {
    /// Paths of the threads, by number in order of creation.
    pub threads: Vec<ThreadPath>,
    /// The segments in order.
    pub segments: Vec<NamedSegment>,
}

/// A segment whose thread is named by its path.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NamedSegment {
    /// Who runs.
    pub thread: ThreadPath,
    /// Until it is about to execute this event.
    pub until: u32,
}

impl ScheduleFile {
    /// The file's content for a schedule whose threads have these paths. `None` when the schedule names a thread
    /// without a path.
    pub fn new(schedule: &Schedule, paths: &[ThreadPath]) -> Option<Self> {
        let segments = schedule
            .segments
            .iter()
            .map(|s| Some(NamedSegment { thread: paths.get(s.thread.index())?.clone(), until: s.until }))
            .collect::<Option<_>>()?;
        Some(Self { threads: paths.to_vec(), segments })
    }

    /// The schedule. Threads not listed are left out, which [`read`](Self::read) never lets happen.
    pub fn schedule(&self) -> Schedule {
        let numbered = self.segments.iter().filter_map(|s| {
            let index = self.threads.iter().position(|path| *path == s.thread)?;
            Some((ThreadId::new(index), s.until))
        });
        let mut schedule = Schedule::new();
        numbered.for_each(|(thread, until)| schedule.push(thread, until));
        schedule
    }

    /// Writes the file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        document::write(path, self)
    }

    /// Reads the file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        document::read(path)
    }
}

/// Whether `threads` can be the threads of a run by number of creation: the initial one first, parents before
/// children, nobody twice.
pub(super) fn check_threads(threads: &[ThreadPath]) -> Result<(), (String, String)> {
    for (i, path) in threads.iter().enumerate() {
        let known = match path.parent() {
            None => i == 0,
            Some(parent) => threads[..i].contains(&parent) && !threads[..i].contains(path),
        };
        if !known {
            return Err((format!("thread {i}"), format!("`{path}` cannot be created here")));
        }
    }
    Ok(())
}

impl Document for ScheduleFile {
    const KIND: &'static str = "raceproof schedule";
    const VERSION: u32 = 1;

    fn check(&self) -> Result<(), (String, String)> {
        check_threads(&self.threads)?;
        match self.segments.iter().position(|s| !self.threads.contains(&s.thread)) {
            Some(i) => Err((format!("segment {i}"), format!("there is no thread `{}`", self.segments[i].thread))),
            None => Ok(()),
        }
    }
}

/// The paths of a run's threads, by number.
pub fn paths(threads: &IndexVec<ThreadId, model::ThreadInfo>) -> Vec<ThreadPath> {
    threads.iter().map(|info| info.path.clone()).collect()
}
