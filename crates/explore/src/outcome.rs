//! What a search found, and whether it finished.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::AddAssign;

use model::{Pair, Schedule, SiteId, ThreadPath, Unmodelled};
use serde::{Deserialize, Serialize};

use crate::foresight::Pruned;
use crate::hint::Led;
use crate::outlook::Check;
use crate::reduction::Taken;
use crate::witness::Witness;

/// What was executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Statistics {
    /// Executions of the search itself.
    pub executions: u64,
    /// Those of them that a sleep set cut short, because they would only have repeated another.
    pub blocked: u64,
    /// Those of them that ended in a deadlock.
    pub deadlocked: u64,
    /// Events of all runs of the search, replayed prefixes included.
    pub transitions: u64,
    /// Further runs of the search: those that had to be left for another thread, those that showed that two events cannot
    /// be reversed, and those of a reduction that turned out not to cover the program.
    pub detours: u64,
    /// Further executions, made to check a witness or to see a failure that another one hid.
    pub confirmations: u64,
    /// How often it was asked whether a backtrack point can matter.
    pub race_free_checks: u64,
    /// How often the answer was no: nothing that is looked for can happen from there on.
    pub race_free_yes: u64,
    /// Backtrack points left out for that reason.
    pub skipped_backtracks: u64,
}

impl Statistics {
    /// Counts a run of so many events.
    pub(crate) fn count(&mut self, taken: Taken, events: usize, deadlocked: bool) {
        self.transitions += events as u64;
        match taken {
            Taken::Detour => self.detours += 1,
            Taken::Restart | Taken::Unsupported => {
                self.detours += self.executions + 1;
                (self.executions, self.blocked, self.deadlocked) = (0, 0, 0);
            }
            Taken::Execution | Taken::Blocked => {
                let blocked = taken == Taken::Blocked;
                self.executions += 1;
                self.blocked += u64::from(blocked);
                self.deadlocked += u64::from(!blocked && deadlocked);
            }
        }
    }

    /// Adds what a reduction has left out.
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
        self.confirmations += other.confirmations;
        self.race_free_checks += other.race_free_checks;
        self.race_free_yes += other.race_free_yes;
        self.skipped_backtracks += other.skipped_backtracks;
    }
}

/// What cut a search short.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum StopReason {
    /// The number of executions asked for.
    Executions,
    /// The search's deadline.
    Deadline,
    /// The first finding, when only that was asked for.
    FirstFound,
    /// An execution had more events than allowed.
    StepLimit,
    /// An execution took more time than allowed.
    TimeLimit,
    /// Not every value was tried that the program leaves open.
    Choices,
    /// No execution came to its end: assumptions that do not hold kept a thread in each.
    Assumptions,
    /// Schedules with more preemptions than allowed are left out.
    Preemptions,
    /// The search was interrupted.
    Interrupted,
    /// Only some schedules were tried, chosen at random.
    Sampled,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Executions => "the limit on the number of executions was reached",
            Self::Deadline => "the time for the search was used up",
            Self::FirstFound => "the search was asked to stop at the first finding",
            Self::StepLimit => "an execution had more events than allowed",
            Self::TimeLimit => "an execution took more time than allowed",
            Self::Choices => "not every value was tried that the program leaves open",
            Self::Assumptions => "no execution came to its end, because of assumptions that do not hold",
            Self::Preemptions => "schedules with more preemptions than allowed were left out",
            Self::Interrupted => "interrupted",
            Self::Sampled => "only some schedules were tried, chosen at random",
        })
    }
}

/// Whether every schedule was covered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Coverage {
    /// Every schedule is equivalent to one that was executed.
    Complete,
    /// Not so; the first thing that cut the search.
    Stopped(StopReason),
}

/// A race of a pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundRace {
    /// The best schedule seen that shows it.
    pub witness: Witness,
    /// Whether the witness was run again and showed the race.
    pub confirmed: bool,
}

/// What went wrong other than a race.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum FailureKind {
    /// Threads are left and none can run.
    Deadlock,
    /// A failed `assert`.
    Assertion,
    /// A signal that ends the process.
    Crash,
    /// A wrong use of the thread API.
    Misuse,
    /// More events or time than allowed: perhaps a loop without end.
    Endless,
}

impl FailureKind {
    /// What it is looked for by; a run without end is always reported.
    pub fn check(self) -> Option<Check> {
        match self {
            Self::Deadlock => Some(Check::Deadlock),
            Self::Assertion => Some(Check::Assert),
            Self::Crash => Some(Check::Crash),
            Self::Misuse => Some(Check::Misuse),
            Self::Endless => None,
        }
    }
}

/// A thread's part in a failure.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Involved {
    /// Where it was: the operation it was blocked in, the assertion, the last site before the crash.
    pub site: Option<SiteId>,
    /// Who.
    pub thread: ThreadPath,
}

/// A deadlock, failed assertion, crash, misuse or run without end, once per kind, sites and message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// What kind.
    pub kind: FailureKind,
    /// The threads concerned: all that are blocked in a deadlock, else one. Ordered by site.
    pub involved: Vec<Involved>,
    /// The message; empty for a deadlock.
    pub message: String,
    /// Reproduces it.
    pub schedule: Schedule,
}

/// What a search found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// Racing pairs. To see more of a race, run its witness's schedule.
    pub races: BTreeMap<Pair, FoundRace>,
    /// Pairs whose accesses met on the same cell, by different threads and one writing, and that never raced: in
    /// every execution seen, happens-before ordered them. With complete coverage they are absent for this input.
    pub ordered: BTreeSet<Pair>,
    /// Everything else that went wrong, ordered by kind, then sites.
    pub failures: Vec<Failure>,
    /// What executions did that the model does not cover, each once, in order of appearance.
    pub unmodelled: Vec<Unmodelled>,
    /// Whether an execution had an atomic operation weaker than sequentially consistent: interleavings do not show
    /// all that it allows.
    pub weak_atomics: bool,
    /// What was executed.
    pub statistics: Statistics,
    /// Whether every schedule was covered.
    pub coverage: Coverage,
    /// How far the program went along each hint.
    pub hints: Vec<Led>,
}
