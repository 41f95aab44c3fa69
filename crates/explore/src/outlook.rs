//! What may still happen from a state on, as far as the program's code tells.
//!
//! Papers 000 and 003 leave out a reversal when nothing that is looked for can happen after it. What can is a question
//! about the program, which the search does not know; it asks an [`Outlook`]. The answers must hold in every run that
//! reaches the state, whatever other threads do: a *future* is all that a thread may still execute, further iterations,
//! callees, other branches and early exits included, and the same for threads that it may still create.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use model::dependence::Use;
use model::{Event, Pair, SiteId};

/// How a thread came to be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Origin {
    /// It is the initial thread.
    Main,
    /// It was created there.
    Created(Option<SiteId>),
}

/// What a thread is about to do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Next {
    /// To start.
    Start,
    /// To execute an operation at this site.
    At(SiteId),
    /// To execute an operation of which the site is not known.
    Somewhere,
    /// Nothing but to end.
    End,
}

/// A thread's future, numbered by the [`Outlook`] that was asked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FutureId(pub u32);

/// A thread in a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Standing {
    /// All that it may still execute.
    pub future: FutureId,
    /// The thread that it is about to join, by its place among those of the state: what it does later comes after all
    /// that the other does.
    pub joins: Option<usize>,
    /// Accesses that other threads, by their place, have executed at sites that [may race](Outlook::may_race), and that
    /// nothing orders before what this thread does next.
    pub unknown: BTreeSet<(usize, SiteId)>,
}

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Check {
    /// Data races.
    Race,
    /// Deadlocks.
    Deadlock,
    /// Failed assertions.
    Assert,
    /// Crashes.
    Crash,
    /// Wrong uses of the thread API.
    Misuse,
}

impl Check {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Race, Self::Deadlock, Self::Assert, Self::Crash, Self::Misuse];

    /// The name as written on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Race => "race",
            Self::Deadlock => "deadlock",
            Self::Assert => "assert",
            Self::Crash => "crash",
            Self::Misuse => "misuse",
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// There is no check with this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is nothing to check; the checks are {all}", all = Check::ALL.map(Check::as_str).join(", "))]
pub struct UnknownCheck(String);

impl FromStr for Check {
    type Err = UnknownCheck;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|check| check.as_str() == text).ok_or_else(|| UnknownCheck(text.to_owned()))
    }
}

/// What need not be looked for: what nobody asked for, and what was found already.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settled {
    /// What is asked for.
    pub checks: BTreeSet<Check>,
    /// Pairs that were seen to race.
    pub races: BTreeSet<Pair>,
    /// Sites of assertions that were seen to fail.
    pub assertions: BTreeSet<SiteId>,
}

impl Default for Settled {
    fn default() -> Self {
        Self { checks: Check::ALL.into(), races: BTreeSet::new(), assertions: BTreeSet::new() }
    }
}

/// How operations may interfere with an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Threats {
    /// By using what it uses in one of these ways; in none if there are none.
    By(Vec<Use>),
    /// In any way.
    Any,
}

impl Threats {
    /// Whether this way is among them.
    pub(crate) fn include(&self, how: Use) -> bool {
        match self {
            Self::By(ways) => ways.contains(&how),
            Self::Any => true,
        }
    }
}

/// What may still happen from a state on.
pub trait Outlook: fmt::Debug + Send + Sync {
    /// The future of a thread.
    fn future(&self, origin: Origin, next: Next) -> FutureId;

    /// Whether accesses at this site may race with others.
    fn may_race(&self, site: SiteId) -> bool;

    /// Whether nothing that is looked for and not settled can happen to these threads, and those they may create, in some
    /// schedules and not in others: a race, a wait for each other for ever, a failed assertion, a crash, a misuse. (What
    /// happens to a thread in every schedule shows in the execution that led here.) The thread API was not misused so far.
    fn is_closed(&self, threads: &[Standing], settled: &Settled) -> bool;

    /// In which ways operations of this future, by another thread, may use what the event uses, be possible at the same time
    /// and interfere with it.
    fn threats(&self, event: &Event, future: FutureId) -> Threats;

    /// Whether operations of these futures, by different threads, may interfere.
    fn may_meet(&self, one: FutureId, other: FutureId) -> bool;
}
