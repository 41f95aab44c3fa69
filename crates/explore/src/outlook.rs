//! What may still happen from a state on, according to the program's code.
//!
//! Papers 000 and 003 omit a reversal when no requested finding can occur after it. Whether one can is a question about
//! the program, which the search does not know; it asks an [`Outlook`]. The answers must hold in every run that reaches
//! the state, whatever other threads do. A *future* is everything a thread may still execute, including further
//! iterations, callees, other branches and early exits, and the same for threads it may still create.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use model::dependence::Use;
use model::{Event, Pair, SiteId};

/// Where a thread was created.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Origin {
    /// It is the initial thread.
    Main,
    /// It was created at this site.
    Created(Option<SiteId>),
}

/// What a thread does next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Next {
    /// It starts.
    Start,
    /// It executes an operation at this site.
    At(SiteId),
    /// It executes an operation whose site is not known.
    Somewhere,
    /// It ends without executing anything.
    End,
}

/// A thread's future, numbered by the [`Outlook`] that returned it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FutureId(pub u32);

/// A thread in a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Standing {
    /// Everything it may still execute.
    pub future: FutureId,
    /// The thread it is about to join, by its index among the threads of the state: its later events come after all
    /// events of that thread.
    pub joins: Option<usize>,
    /// Accesses that other threads, by index, have executed at sites that [may race](Outlook::may_race) and that
    /// nothing orders before this thread's next event.
    pub unknown: BTreeSet<(usize, SiteId)>,
}

/// A kind of finding to search for.
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

    /// The name on the command line.
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

/// No check has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a check; the checks are {all}", all = Check::ALL.map(Check::as_str).join(", "))]
pub struct UnknownCheck(String);

impl FromStr for Check {
    type Err = UnknownCheck;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|check| check.as_str() == text).ok_or_else(|| UnknownCheck(text.to_owned()))
    }
}

/// What need not be searched for: kinds that were not requested, and findings already made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settled {
    /// The requested kinds.
    pub checks: BTreeSet<Check>,
    /// Pairs that have raced.
    pub races: BTreeSet<Pair>,
    /// Sites of assertions that have failed.
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
    /// By using the event's resource in one of these ways; not at all if the list is empty.
    By(Vec<Use>),
    /// In any way.
    Any,
}

impl Threats {
    /// Whether this way is included.
    pub(crate) fn include(&self, how: Use) -> bool {
        match self {
            Self::By(ways) => ways.contains(&how),
            Self::Any => true,
        }
    }
}

/// An outlook in the making. A search begins without it, and uses it when it is there.
#[derive(Clone, Debug)]
pub struct Later {
    made: Arc<(Mutex<Option<Made>>, Condvar)>,
    /// Until then the search waits for it when it has a first use for it.
    until: Instant,
}

/// What came of an outlook in the making.
type Made = Option<Arc<dyn Outlook>>;

impl Default for Later {
    fn default() -> Self {
        Self::awaited(Duration::ZERO)
    }
}

impl Later {
    /// One that a search waits for until this much time from now has passed: what is left out of a small search does not
    /// depend on who is faster.
    pub fn awaited(patience: Duration) -> Self {
        Self { made: Arc::default(), until: Instant::now() + patience }
    }

    /// It is made, or it turned out that there is none. The first word counts.
    pub fn set(&self, outlook: Option<Arc<dyn Outlook>>) {
        let (made, is_made) = &*self.made;
        made.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(outlook);
        is_made.notify_all();
    }

    /// What became of it; `None` while nothing has.
    pub(crate) fn get(&self) -> Option<Made> {
        let (made, is_made) = &*self.made;
        let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
        while made.is_none() {
            let left = self.until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            made = is_made.wait_timeout(made, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        made.clone()
    }
}

/// Answers what may still happen from a state on.
pub trait Outlook: fmt::Debug + Send + Sync {
    /// The future of a thread.
    fn future(&self, origin: Origin, next: Next) -> FutureId;

    /// Whether accesses at this site may race with others.
    fn may_race(&self, site: SiteId) -> bool;

    /// Whether no requested and unsettled finding can affect these threads, or threads they may create, in some
    /// schedules only: a race, a deadlock, a failed assertion, a crash, a misuse. (What happens to a thread in every
    /// schedule shows in the execution that led here.) The thread API has not been misused so far.
    fn is_closed(&self, threads: &[Standing], settled: &Settled) -> bool;

    /// In which ways operations of this future, by another thread, may use the event's resource, be co-enabled with it
    /// and interfere with it.
    fn threats(&self, event: &Event, future: FutureId) -> Threats;

    /// Whether operations of these futures, by different threads, may interfere.
    fn may_meet(&self, one: FutureId, other: FutureId) -> bool;
}
