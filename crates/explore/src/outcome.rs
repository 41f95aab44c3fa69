//! What a search found, and whether it is complete.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::AddAssign;

use model::{Pair, Schedule, SiteId, ThreadPath, Unmodelled};
use serde::{Deserialize, Serialize};

use crate::assurance::Assurance;
use crate::hint::Led;
use crate::outlook::Check;
use crate::pruner::Pruned;
use crate::reduction::RunKind;
use crate::repetition::Unrepeatable;
use crate::witness::Witness;

/// Counts of what was executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Statistics {
    /// Executions of the search itself.
    pub executions: u64,
    /// Those of them that a sleep set cut short because they would have repeated another.
    pub blocked: u64,
    /// Those of them that ended in a deadlock.
    pub deadlocked: u64,
    /// Events of all runs of the search, replayed prefixes included.
    pub transitions: u64,
    /// Further runs of the search: detours left for another thread, runs that showed that two events cannot be
    /// reversed, and runs of a reduction that turned out not to cover the program.
    pub detours: u64,
    /// Runs beside the search whose schedules were chosen at random.
    pub samples: u64,
    /// Further executions, made to check a witness or to expose a masked failure.
    pub confirmations: u64,
    /// How often the search checked whether a backtracking point can matter.
    pub race_free_checks: u64,
    /// How often the answer was no: no requested finding can occur from there on.
    pub race_free_yes: u64,
    /// Backtracking points omitted for that reason.
    pub skipped_backtracks: u64,
}

impl Statistics {
    /// Counts a run with this many events.
    pub(crate) fn count(&mut self, taken: RunKind, events: usize, deadlocked: bool) {
        self.transitions += events as u64;
        match taken {
            RunKind::Detour => self.detours += 1,
            RunKind::Restart | RunKind::Unsupported => {
                self.detours += self.executions + 1;
                (self.executions, self.blocked, self.deadlocked) = (0, 0, 0);
            }
            RunKind::Execution | RunKind::Blocked => {
                let blocked = taken == RunKind::Blocked;
                self.executions += 1;
                self.blocked += u64::from(blocked);
                self.deadlocked += u64::from(!blocked && deadlocked);
            }
        }
    }

    /// Adds a reduction's pruning counts.
    pub(crate) fn add(&mut self, pruned: Pruned) {
        self.race_free_checks += pruned.checks;
        self.race_free_yes += pruned.yes;
        self.skipped_backtracks += pruned.skipped;
    }
}

impl AddAssign for Statistics {
    fn add_assign(&mut self, other: Self) {
        self.executions += other.executions;
        self.blocked += other.blocked;
        self.deadlocked += other.deadlocked;
        self.transitions += other.transitions;
        self.detours += other.detours;
        self.samples += other.samples;
        self.confirmations += other.confirmations;
        self.race_free_checks += other.race_free_checks;
        self.race_free_yes += other.race_free_yes;
        self.skipped_backtracks += other.skipped_backtracks;
    }
}

/// What stopped a search.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum StopReason {
    /// The limit on executions.
    Executions,
    /// The search's deadline.
    Deadline,
    /// The limit on memory.
    Memory,
    /// The first finding, as requested.
    FirstFound,
    /// An execution had more events than allowed.
    StepLimit,
    /// An execution took more time than allowed.
    TimeLimit,
    /// Some values that the program leaves open were not tried.
    Choices,
    /// No execution reached its end: in each, a failed assumption stopped a thread.
    Assumptions,
    /// Schedules with more preemptions than allowed were omitted.
    Preemptions,
    /// The search was interrupted.
    Interrupted,
    /// Only some schedules were tried, chosen at random.
    Sampled,
    /// A run did not repeat what an earlier run of the same schedule did.
    Unrepeatable,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Executions => "the limit on the number of executions was reached",
            Self::Deadline => "the time limit of the search was reached",
            Self::Memory => "the memory limit was reached",
            Self::FirstFound => "the search was asked to stop at the first finding",
            Self::StepLimit => "an execution had more events than allowed",
            Self::TimeLimit => "an execution took more time than allowed",
            Self::Choices => "not every value was tried that the program leaves open",
            Self::Assumptions => "no execution came to its end, because of assumptions that do not hold",
            Self::Preemptions => "schedules with more preemptions than allowed were left out",
            Self::Interrupted => "interrupted",
            Self::Sampled => "only some schedules were tried, chosen at random",
            Self::Unrepeatable => "two runs of the same schedule differ",
        })
    }
}

/// Whether the search covered every schedule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Coverage {
    /// Every schedule is equivalent to one that was executed.
    Complete,
    /// Some schedules were not covered; this is the first thing that stopped the search.
    Stopped(StopReason),
}

/// A pair that races.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundRace {
    /// The best schedule found that shows it.
    pub witness: Witness,
    /// Whether a run of the witness that no earlier run can have influenced showed the race.
    pub confirmed: bool,
}

/// The kind of a failure other than a race.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum FailureKind {
    /// Threads remain and none of them can run.
    Deadlock,
    /// A failed `assert`.
    Assertion,
    /// A signal that ends the process.
    Crash,
    /// A wrong use of the thread API.
    Misuse,
    /// Two iterations of a `simd` loop race.
    Lanes,
    /// More events or time than allowed, possibly an endless loop.
    Endless,
}

impl FailureKind {
    /// Whether a [`Misuse`](model::Misuse) of the trace says it, with its message.
    pub fn is_remark(self) -> bool {
        matches!(self, Self::Misuse | Self::Lanes)
    }

    /// The check that searches for it; a run that hits a limit is always reported.
    pub fn check(self) -> Option<Check> {
        match self {
            Self::Deadlock => Some(Check::Deadlock),
            Self::Assertion => Some(Check::Assert),
            Self::Crash => Some(Check::Crash),
            Self::Misuse => Some(Check::Misuse),
            Self::Lanes => Some(Check::Race),
            Self::Endless => None,
        }
    }
}

/// A thread's part in a failure.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Involved {
    /// Where it was: the operation it was blocked in, the assertion, or the last site before the crash.
    pub site: Option<SiteId>,
    /// The thread.
    pub thread: ThreadPath,
}

/// A deadlock, failed assertion, crash, misuse or endless run; one per kind, sites and message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// The threads involved: all blocked ones in a deadlock, otherwise one. Ordered by site.
    pub involved: Vec<Involved>,
    /// The message; empty for a deadlock.
    pub message: String,
    /// Reproduces it.
    pub schedule: Schedule,
}

/// What a search found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Racing pairs. Run a witness's schedule to see more of its race.
    pub races: BTreeMap<Pair, FoundRace>,
    /// Pairs whose accesses touched the same cell, by different threads and one of them writing, but never raced:
    /// happens-before ordered them in every execution. If coverage is complete, they are absent for this input.
    pub ordered: BTreeSet<Pair>,
    /// All other failures, ordered by kind, then sites. Each was shown by a run that no earlier run can have influenced.
    pub failures: Vec<Failure>,
    /// Failures that such a run did not show: something outlived an earlier run, which is a bug of the executor.
    pub unconfirmed: Vec<Failure>,
    /// What executions did that the model does not cover, each once, in order of appearance.
    pub unmodelled: Vec<Unmodelled>,
    /// Whether an execution had an atomic operation weaker than sequentially consistent, whose effects interleavings do
    /// not show completely.
    pub weak_atomics: bool,
    /// Counts of what was executed.
    pub statistics: Statistics,
    /// Whether the search covered every schedule.
    pub coverage: Coverage,
    /// What the samples by priorities promise, if there were any.
    pub assurance: Option<Assurance>,
    /// How far the program followed each hint.
    pub hints: Vec<Led>,
    /// The first run that could not be repeated; the search has not covered what follows from it.
    pub unrepeatable: Option<Unrepeatable>,
}
