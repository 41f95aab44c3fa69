//! Schedules as files: JSON, threads by their paths.

use std::path::Path;

use model::index::Idx;
use model::{Chosen, EventId, IndexVec, Schedule, ThreadId, ThreadPath};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::document::{self, Document};

/// A schedule with the names of its threads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ScheduleFile {
    /// Paths of the threads, by number in order of creation.
    pub threads: Vec<ThreadPath>,
    /// The segments in order.
    pub segments: Vec<NamedSegment>,
    /// The values chosen.
    pub choices: Vec<NamedChoice>,
}

/// A value chosen by an event whose thread is named by its path.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NamedChoice {
    /// Who chooses.
    pub thread: ThreadPath,
    /// In which of its events.
    pub position: u32,
    /// Which of the event's choices, from 0.
    pub index: u32,
    /// The value.
    pub value: i64,
}

impl NamedChoice {
    /// A schedule's choices, with the paths of its threads. `None` when one names a thread without a path.
    pub(super) fn all_of(schedule: &Schedule, paths: &[ThreadPath]) -> Option<Vec<Self>> {
        let named = |c: &Chosen| {
            let thread = paths.get(c.event.thread.index())?.clone();
            Some(Self { thread, position: c.event.position, index: c.index, value: c.value })
        };
        schedule.choices.iter().map(named).collect()
    }
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
        let choices = NamedChoice::all_of(schedule, paths)?;
        Some(Self { threads: paths.to_vec(), segments, choices })
    }

    /// The schedule. Threads not listed are left out, which [`read`](Self::read) never lets happen.
    pub fn schedule(&self) -> Schedule {
        let number = |thread: &ThreadPath| self.threads.iter().position(|path| path == thread).map(ThreadId::new);
        let mut schedule = Schedule::new();
        for segment in &self.segments {
            if let Some(thread) = number(&segment.thread) {
                schedule.push(thread, segment.until);
            }
        }
        for NamedChoice { thread, position, index, value } in &self.choices {
            if let Some(thread) = number(thread) {
                let event = EventId { thread, position: *position };
                schedule.choose(Chosen { event, index: *index, value: *value });
            }
        }
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

/// Whether the choices are those of `threads`.
pub(super) fn check_choices(choices: &[NamedChoice], threads: &[ThreadPath]) -> Result<(), (String, String)> {
    match choices.iter().position(|c| !threads.contains(&c.thread)) {
        Some(i) => Err((format!("choice {}", i + 1), format!("there is no thread `{}`", choices[i].thread))),
        None => Ok(()),
    }
}

impl Document for ScheduleFile {
    const KIND: &'static str = "raceproof schedule";
    const VERSION: u32 = 2;

    fn check(&self) -> Result<(), (String, String)> {
        check_threads(&self.threads)?;
        check_choices(&self.choices, &self.threads)?;
        match self.segments.iter().position(|s| !self.threads.contains(&s.thread)) {
            Some(i) => Err((format!("segment {i}"), format!("there is no thread `{}`", self.segments[i].thread))),
            None => Ok(()),
        }
    }
}

/// The paths of a run's threads, by number.
pub(crate) fn paths(threads: &IndexVec<ThreadId, model::ThreadInfo>) -> Vec<ThreadPath> {
    threads.iter().map(|info| info.path.clone()).collect()
}
