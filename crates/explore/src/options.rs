//! What to search and how far.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::choices::ChoiceValues;
use crate::hint::Hint;
use crate::outlook::{Check, Outlook};

/// The reductions by name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub enum ReductionName {
    /// Every interleaving of visible operations.
    None,
    /// Dynamic partial-order reduction (Flanagan and Godefroid, POPL 2005), accesses visible.
    Dpor,
    /// The same with sleep sets (Godefroid, 1996): no class of equivalent schedules is executed twice to its end, but
    /// executions may be blocked.
    DporSleep,
    /// `dpor` that leaves out backtrack points after which nothing that is looked for can happen (paper 000).
    Pdp,
    /// `dpor-sleep` that does so, with thread states (paper 003).
    Dhtc,
    /// One execution for each class of equivalent schedules, by wake-up trees (Abdulla and others, POPL 2014).
    Optimal,
    /// `optimal` that leaves out reversals after which nothing that is looked for can happen.
    #[default]
    Best,
}

impl ReductionName {
    /// All of them, in the order in which they are listed to people.
    pub const ALL: [Self; 7] =
        [Self::None, Self::Dpor, Self::DporSleep, Self::Pdp, Self::Dhtc, Self::Optimal, Self::Best];

    /// The name as written on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Dpor => "dpor",
            Self::DporSleep => "dpor-sleep",
            Self::Pdp => "pdp",
            Self::Dhtc => "dhtc",
            Self::Optimal => "optimal",
            Self::Best => "best",
        }
    }
}

impl fmt::Display for ReductionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// There is no reduction with this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a reduction; the reductions are {all}", all = ReductionName::ALL.map(ReductionName::as_str).join(", "))]
pub struct UnknownReduction(String);

impl FromStr for ReductionName {
    type Err = UnknownReduction;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|name| name.as_str() == text).ok_or_else(|| UnknownReduction(text.to_owned()))
    }
}

/// What to search and how far. The default looks for everything and has no bounds.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which schedules may be left out.
    pub reduction: ReductionName,
    /// What is looked for. The rest is reported where it is met, and not searched for by the reductions that ask what can
    /// still happen.
    pub checks: BTreeSet<Check>,
    /// What can still happen; without it these reductions leave out nothing.
    pub outlook: Option<Arc<dyn Outlook>>,
    /// Stop after this many executions.
    pub max_executions: Option<u64>,
    /// Stop at this time.
    pub deadline: Option<Instant>,
    /// Stop after the first execution with a finding: a race, a deadlock, a failure or a misuse.
    pub stop_at_first: bool,
    /// Which values are tried where the program leaves one open.
    pub choices: ChoiceValues,
    /// Run only schedules with at most so many preemptions, those with fewer first, whatever the reduction.
    pub max_preemptions: Option<u32>,
    /// Stop when this becomes true.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Ways to try before the search itself.
    pub hints: Vec<Hint>,
    /// Parts that take less, as far as one can tell, are not worth giving to a helper.
    pub smallest_part: Duration,
}

impl Options {
    /// Whether helpers can explore parts of the search. What `optimal` explores below a planned execution follows from that
    /// alone; where threads to be run are kept for each state, or what was found decides what is left out, it depends on
    /// all that was explored before.
    pub fn can_be_split(&self) -> bool {
        self.reduction == ReductionName::Optimal && self.max_preemptions.is_none()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            reduction: ReductionName::default(),
            checks: Check::ALL.into(),
            outlook: None,
            max_executions: None,
            deadline: None,
            stop_at_first: false,
            choices: ChoiceValues::default(),
            max_preemptions: None,
            interrupt: None,
            hints: Vec::new(),
            smallest_part: Duration::from_millis(10),
        }
    }
}
