//! Witnesses: a finding, the schedule that shows it, and all that is needed to run it again.
//!
//! Besides the schedule a witness holds what its run looked like: per segment the threads that could run when it
//! began and a digest of the events in it. A replay that differs is noticed in the segment where it differs.

use std::fmt;
use std::path::Path;

use model::index::Idx;
use model::{Addr, End, Environment, EventId, Schedule, Step, ThreadPath, ThreadSet, Trace};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::document::{self, Document};
use crate::schedule::{NamedChoice, NamedSegment, ScheduleFile, check_choices, check_threads, paths};
use crate::{DataFile, Error, ProgramIdentity};

/// A witness.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Witness {
    /// The program and its input.
    pub program: ProgramIdentity,
    /// The options of the run that change what it does.
    pub run: RunOptions,
    /// What the schedule shows.
    pub finding: RecordedFinding,
    /// Paths of the threads created in the schedule, by number in order of creation.
    pub threads: Vec<ThreadPath>,
    /// The schedule, with what was observed.
    pub segments: Vec<RecordedSegment>,
    /// The values chosen in it.
    pub choices: Vec<NamedChoice>,
    /// Files that the run opened, if it was on this machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<DataFile>,
}

/// Options of a run that change what it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RunOptions {
    /// What the environment may do.
    pub environment: Environment,
    /// Most events of a run.
    pub max_steps: u64,
    /// Events a thread may execute in a row while others can run, after the schedule.
    pub quantum: u32,
    /// How many threads a team of OpenMP has where the program leaves it open.
    #[serde(default)]
    pub team_size: Option<u32>,
}

/// One segment and what its run looked like.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RecordedSegment {
    /// Who runs.
    pub thread: ThreadPath,
    /// Until it is about to execute this event.
    pub until: u32,
    /// Who could have run when it began.
    pub runnable: Vec<ThreadPath>,
    /// Number of events in it.
    pub events: u32,
    /// Digest of these events: sites, operations, results; addresses by order of first appearance.
    pub digest: String,
}

/// An event by its thread's path and its position there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct RecordedEvent {
    /// The thread.
    pub thread: ThreadPath,
    /// Position among its events, from 0.
    pub position: u32,
}

/// One access of a pair, in a person's words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RecordedAccess {
    /// The event.
    pub event: RecordedEvent,
    /// `read`, `write`, `read-modify-write` or `free`.
    pub kind: String,
    /// Whether atomic.
    pub atomic: bool,
    /// The function, as the source names it.
    pub function: String,
    /// The file, as the user spelled it; `None` when the compiler gave no place.
    pub file: Option<String>,
    /// From 1; 0 when not known.
    pub line: u32,
    /// From 1; 0 when not known.
    pub column: u32,
}

/// What a witness shows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum RecordedFinding {
    /// Two accesses side by side; they are the last two events of the schedule unless `adjacent` is false.
    Race {
        /// What both touch.
        variable: String,
        /// The two, in the schedule's order.
        accesses: Box<[RecordedAccess; 2]>,
        /// Whether nothing happens between them.
        adjacent: bool,
    },
    /// The run ends with threads that wait for ever.
    Deadlock {
        /// One sentence.
        message: String,
    },
    /// An assertion fails.
    Assertion {
        /// The condition.
        message: String,
    },
    /// The program crashes.
    Crash {
        /// How.
        message: String,
    },
    /// The run has more events or takes more time than allowed.
    Endless {
        /// Which of the two.
        message: String,
    },
    /// The thread API is used wrongly.
    Misuse {
        /// What is done.
        message: String,
    },
}

/// The first difference between a witness and a run of its schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Difference {
    /// The schedule could not be followed.
    Diverged {
        /// In which segment, from 1.
        segment: usize,
        /// What was found.
        message: String,
    },
    /// The run ended before the schedule did.
    Ended {
        /// In which segment, from 1.
        segment: usize,
    },
    /// Other threads exist.
    Threads {
        /// Recorded, by number.
        expected: String,
        /// Found, by number.
        found: String,
    },
    /// Other threads could run when a segment began.
    Runnable {
        /// Which segment, from 1.
        segment: usize,
        /// Recorded.
        expected: String,
        /// Found.
        found: String,
    },
    /// Other events happened in a segment.
    Events {
        /// Which segment, from 1.
        segment: usize,
        /// Who ran.
        thread: ThreadPath,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Diverged { segment, message } => write!(f, "segment {segment} cannot be followed: {message}"),
            Self::Ended { segment } => write!(f, "the run ended in segment {segment}, before the schedule did"),
            Self::Threads { expected, found } => {
                write!(f, "the schedule creates threads {expected}, the run created {found}")
            }
            Self::Runnable { segment, expected, found } => {
                write!(f, "when segment {segment} began, threads {expected} could run; now it is {found}")
            }
            Self::Events { segment, thread } => {
                write!(f, "thread {thread} does something else in segment {segment} than when the witness was made")
            }
        }
    }
}

impl Witness {
    /// The witness of `finding`, shown by `trace`, which is a run of `schedule`. The error is the first reason
    /// why it is not.
    pub fn new(
        program: ProgramIdentity,
        run: RunOptions,
        finding: RecordedFinding,
        schedule: &Schedule,
        trace: &Trace,
    ) -> Result<Self, Difference> {
        let observed = observe(schedule, trace)?;
        let names = paths(&trace.threads);
        let threads = names[..observed.threads].to_vec();
        let choices = NamedChoice::all_of(schedule, &threads);
        let choices = choices.ok_or(Difference::Ended { segment: schedule.segments.len() })?;
        Ok(Self { program, run, finding, threads, segments: observed.segments, choices, data: Vec::new() })
    }

    /// The schedule to run.
    pub fn schedule(&self) -> Schedule {
        let segments = self.segments.iter();
        let segments = segments.map(|s| NamedSegment { thread: s.thread.clone(), until: s.until }).collect();
        ScheduleFile { threads: self.threads.clone(), segments, choices: self.choices.clone() }.schedule()
    }

    /// Compares a run of the [`schedule`](Self::schedule) with the recorded one, segment by segment.
    pub fn compare(&self, trace: &Trace) -> Result<(), Difference> {
        let observed = observe(&self.schedule(), trace)?;
        let found: Vec<_> = paths(&trace.threads).into_iter().take(observed.threads).collect();
        for (i, (expected, found)) in self.segments.iter().zip(&observed.segments).enumerate() {
            let segment = i + 1;
            if expected.runnable != found.runnable {
                let (expected, found) = (list(&expected.runnable), list(&found.runnable));
                return Err(Difference::Runnable { segment, expected, found });
            }
            if (expected.events, &expected.digest) != (found.events, &found.digest) {
                return Err(Difference::Events { segment, thread: expected.thread.clone() });
            }
        }
        if found != self.threads {
            return Err(Difference::Threads { expected: list(&self.threads), found: list(&found) });
        }
        Ok(())
    }

    /// The run's event that a recorded one names.
    pub fn event(&self, recorded: &RecordedEvent) -> Option<EventId> {
        let thread = self.threads.iter().position(|path| *path == recorded.thread)?;
        Some(EventId { thread: Idx::new(thread), position: recorded.position })
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

impl Document for Witness {
    const KIND: &'static str = "raceproof witness";
    const VERSION: u32 = 3;

    fn check(&self) -> Result<(), (String, String)> {
        check_threads(&self.threads)?;
        check_choices(&self.choices, &self.threads)?;
        let known = |path: &ThreadPath| self.threads.contains(path);
        let unknown = |place: String, path: &ThreadPath| Err((place, format!("there is no thread `{path}`")));
        for (i, segment) in self.segments.iter().enumerate() {
            if !known(&segment.thread) {
                return unknown(format!("segment {}", i + 1), &segment.thread);
            }
        }
        if let RecordedFinding::Race { accesses, .. } = &self.finding
            && let Some(access) = accesses.iter().find(|a| !known(&a.event.thread))
        {
            return unknown("the pair".to_owned(), &access.event.thread);
        }
        Ok(())
    }
}

struct Observed {
    segments: Vec<RecordedSegment>,
    /// Threads created by the end of the schedule.
    threads: usize,
}

/// Cuts a run into the segments of its schedule.
fn observe(schedule: &Schedule, trace: &Trace) -> Result<Observed, Difference> {
    let mut digester = Digester::default();
    let mut step = 0;
    let mut segments = Vec::with_capacity(schedule.segments.len());
    let events = trace.events.as_slice();
    for (i, segment) in schedule.segments.iter().enumerate() {
        let failed = || match &trace.end {
            End::Diverged { segment, message } if *segment as usize == i => {
                Difference::Diverged { segment: i + 1, message: message.clone() }
            }
            _ => Difference::Ended { segment: i + 1 },
        };
        let info = trace.threads.get(segment.thread).ok_or_else(failed)?;
        let runnable = names(trace, trace.runnable_at(Step::new(step)));
        let begin = step;
        while events.get(step).is_some_and(|e| e.id.thread == segment.thread && e.id.position < segment.until) {
            digester.add(&events[step]);
            step += 1;
        }
        let reached = events[begin..step].last().is_some_and(|e| e.id.position + 1 == segment.until);
        let empty = begin == step && position_of(events, begin, segment.thread) == segment.until;
        if !reached && !empty {
            return Err(failed());
        }
        segments.push(RecordedSegment {
            thread: info.path.clone(),
            until: segment.until,
            runnable,
            events: (step - begin) as u32,
            digest: digester.finish(),
        });
    }
    let threads = trace.threads.iter().filter(|t| t.created.is_none_or(|s| s.index() < step)).count();
    Ok(Observed { segments, threads })
}

/// The position of `thread`'s next event after the first `step` events.
fn position_of(events: &[model::Event], step: usize, thread: model::ThreadId) -> u32 {
    events[..step].iter().rev().find(|e| e.id.thread == thread).map_or(0, |e| e.id.position + 1)
}

fn names(trace: &Trace, set: &ThreadSet) -> Vec<ThreadPath> {
    set.iter().filter_map(|t| trace.threads.get(t)).map(|info| info.path.clone()).collect()
}

fn list(paths: &[ThreadPath]) -> String {
    match paths {
        [] => "none".to_owned(),
        _ => paths.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// Digests events so that equal runs give equal digests on any machine: an address counts by the order in which
/// it first appears.
#[derive(Default)]
struct Digester {
    hasher: Sha256,
    seen: FxHashMap<Addr, u64>,
}

impl Digester {
    fn add(&mut self, event: &model::Event) {
        let mut event = event.clone();
        self.rename(&mut event.op);
        let bytes = postcard::to_stdvec(&event).expect("raceproof bug: an event that cannot be serialised");
        self.hasher.update(bytes);
    }

    /// The digest of the events added since the last call.
    fn finish(&mut self) -> String {
        crate::hex(&std::mem::take(&mut self.hasher).finalize()[..8])
    }

    fn number(&mut self, addr: &mut Addr) {
        let next = self.seen.len() as u64;
        addr.0 = *self.seen.entry(*addr).or_insert(next);
    }

    fn rename(&mut self, op: &mut model::Op) {
        use model::Op::*;
        match op {
            Access(access) => self.number(&mut access.cell.start),
            Accesses(accesses) | Section { accesses, .. } => {
                accesses.iter_mut().for_each(|a| self.number(&mut a.cell.start));
            }
            Critical(critical) => {
                self.number(&mut critical.lock);
                critical.accesses.iter_mut().for_each(|a| self.number(&mut a.cell.start));
            }
            Await { cells } => cells.iter_mut().for_each(|cell| self.number(&mut cell.start)),
            Acquire { lock: a, .. }
            | TryAcquire { lock: a, .. }
            | Release { lock: a, .. }
            | Init(a)
            | Destroy(a)
            | WaitEnd { cond: a, .. }
            | Signal { cond: a }
            | Broadcast { cond: a }
            | BarrierArrive { barrier: a }
            | BarrierLeave { barrier: a }
            | Meet { barrier: a }
            | SemPost { sem: a }
            | SemWait { sem: a }
            | SemTryWait { sem: a, .. }
            | SemGet { sem: a }
            | OnceBegin { once: a, .. }
            | OnceEnd { once: a } => self.number(a),
            WaitBegin { cond, lock } => {
                self.number(cond);
                self.number(lock);
            }
            Fence(_)
            | Choose(_)
            | Create { .. }
            | Start
            | Exit
            | Join { .. }
            | TryJoin { .. }
            | Detach { .. }
            | Cancel { .. }
            | Cancelled
            | Yield => {}
        }
    }
}
