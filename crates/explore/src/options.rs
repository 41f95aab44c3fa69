//! What to search for, and the bounds.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use model::{Budget, Shortcuts};
use serde::{Deserialize, Serialize};

use crate::choices::ChoiceValues;
use crate::hint::Hint;
use crate::outlook::{Check, Later, Outlook};
use crate::thrift::Thrift;

/// The reductions by name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub enum ReductionName {
    /// Every interleaving of visible operations.
    None,
    /// Dynamic partial-order reduction (Flanagan and Godefroid, POPL 2005), accesses visible.
    Dpor,
    /// The same with sleep sets (Godefroid, 1996): no class of equivalent schedules is executed to its end twice, but
    /// executions may be blocked.
    DporSleep,
    /// `dpor` without backtracking points after which no requested finding can occur (paper 000).
    Pdp,
    /// The same for `dpor-sleep`, with thread states (paper 003).
    Dhtc,
    /// One execution for each class of equivalent schedules, by wake-up trees (Abdulla and others, POPL 2014).
    Optimal,
    /// `optimal` without reversals after which no requested finding can occur.
    #[default]
    Best,
}

impl ReductionName {
    /// All reductions, in the order in which the help lists them.
    pub const ALL: [Self; 7] =
        [Self::None, Self::Dpor, Self::DporSleep, Self::Pdp, Self::Dhtc, Self::Optimal, Self::Best];

    /// The name on the command line.
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

/// No reduction has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is not a reduction; the reductions are {all}", all = ReductionName::ALL.map(ReductionName::as_str).join(", "))]
pub struct UnknownReduction(String);

impl FromStr for ReductionName {
    type Err = UnknownReduction;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|name| name.as_str() == text).ok_or_else(|| UnknownReduction(text.to_owned()))
    }
}

/// What to search for, and the bounds. The default searches for everything without bounds.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which schedules may be omitted.
    pub reduction: ReductionName,
    /// The requested kinds of findings. Others are reported where an execution shows them, but the pruning reductions
    /// do not search for them.
    pub checks: BTreeSet<Check>,
    /// What can still happen from a state on. Without it the pruning reductions prune nothing.
    pub outlook: Option<Arc<dyn Outlook>>,
    /// An outlook in the making, if there is none yet.
    pub later: Option<Later>,
    /// When `best` asks the outlook.
    pub thrift: Thrift,
    /// Stop after this many executions.
    pub max_executions: Option<u64>,
    /// Stop when it is spent.
    pub budget: Budget,
    /// Stop after the first execution with a finding: a race, a deadlock, a failure or a misuse.
    pub stop_at_first: bool,
    /// Which values are tried where the program leaves one open.
    pub choices: ChoiceValues,
    /// What `optimal` and `best` may leave out.
    pub shortcuts: Shortcuts,
    /// Run only schedules with at most this many preemptions, those with fewer first, whatever the reduction.
    pub max_preemptions: Option<u32>,
    /// When the search has taken this long, samples beside it take half of the time.
    pub samples_after: Option<Duration>,
    /// Paths to try before the search.
    pub hints: Vec<Hint>,
    /// The program does what is not modelled, which may keep executions from reaching their end.
    pub unmodelled: bool,
    /// Subtrees that are expected to take less time than this are not given to helpers.
    pub smallest_subtree: Duration,
}

impl Options {
    /// The shortcuts that a search with this reduction takes.
    pub(crate) fn shortcuts_for(&self, reduction: ReductionName) -> Shortcuts {
        let covers =
            matches!(reduction, ReductionName::Optimal | ReductionName::Best) && self.max_preemptions.is_none();
        if covers { self.shortcuts.clone() } else { Shortcuts::default() }
    }

    /// Whether helpers can explore parts of the search. In `optimal`, what is explored below a planned execution
    /// depends on that plan alone; so it does in `best` while that prunes nothing. With backtrack sets, or when findings
    /// decide what is pruned, it depends on everything explored before.
    pub fn can_be_split(&self) -> bool {
        matches!(self.reduction, ReductionName::Optimal | ReductionName::Best) && self.max_preemptions.is_none()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            reduction: ReductionName::default(),
            checks: Check::ALL.into(),
            outlook: None,
            later: None,
            thrift: Thrift::default(),
            max_executions: None,
            budget: Budget::default(),
            stop_at_first: false,
            choices: ChoiceValues::default(),
            shortcuts: Shortcuts::default(),
            max_preemptions: None,
            samples_after: None,
            hints: Vec::new(),
            unmodelled: false,
            smallest_subtree: Duration::from_millis(10),
        }
    }
}
