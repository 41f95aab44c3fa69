//! Reductions: which schedules may be omitted.
//!
//! A reduction names the schedule to run next, given the executions so far; the search loop is the same for all. To add
//! one, write a file with a type that implements [`Reduction`], or [`Backtracks`](crate::backtracking::Backtracks) if
//! it only chooses threads per state. Give it a [`ReductionName`] and a line in [`by_name`].

use model::{Schedule, Trace};

use crate::backtracking::Backtracking;
use crate::best;
use crate::checkpoint::{ReductionState, SavedReduction};
use crate::deadline::Deadline;
use crate::dhtc::Dhtc;
use crate::dpor::Dpor;
use crate::helper::Explored;
use crate::none::Exhaustive;
use crate::optimal::Optimal;
use crate::options::{Options, ReductionName};
use crate::outlook::Settled;
use crate::pdp::Pdp;
use crate::pruner::{Pruned, Pruner};
use crate::repetition::Difference;
use crate::subtree::Subtree;

/// What a run turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RunKind {
    /// An execution of its own.
    Execution,
    /// From some state on it repeats explored executions, whatever thread runs.
    Blocked,
    /// From some state on it repeats explored executions; the next schedule runs another thread there.
    Detour,
    /// It refuted an assumption of the reduction, which restarts; its executions so far do not count.
    Restart,
    /// It showed that the reduction does not cover the program, or not with shortcuts; its
    /// executions so far do not count.
    Unsupported,
}

/// Decides which schedules may be omitted.
pub(crate) trait Reduction {
    /// Takes the run of the empty schedule, or of the last requested one.
    fn take(&mut self, trace: Trace) -> Result<RunKind, Difference>;

    /// The next schedule to run; `None` when every schedule is equivalent to an executed one.
    fn next(&mut self) -> Option<Schedule>;

    /// A schedule that will probably be asked for, the `skip`-th after the last requested one as far as that is known before
    /// its run, which is this trace, is taken.
    fn upcoming(&self, trace: &Trace, skip: usize) -> Option<Schedule> {
        let _ = (trace, skip);
        None
    }

    /// The program could not follow this segment of the last requested schedule. Returns how to count the run if the
    /// reduction expected this possibility.
    fn refuse(&mut self, segment: u32) -> Option<RunKind> {
        let _ = segment;
        None
    }

    /// Records the findings that need not be searched for any more, before the run that showed them is taken.
    fn settle(&mut self, settled: &Settled) {
        let _ = settled;
    }

    /// What was pruned since the last call.
    fn pruned(&mut self) -> Pruned {
        Pruned::default()
    }

    /// Subtrees that the search will reach and helpers can explore, the largest first and at most `most`: without those
    /// that are known or seem to have fewer executions than `least`.
    fn subtrees(&mut self, least: u32, most: usize, known: &dyn Fn(&Schedule) -> bool) -> Vec<Subtree> {
        let _ = (least, most, known);
        Vec::new()
    }

    /// Whether the subtree explored by a helper is the one that the last requested schedule enters.
    fn fits(&mut self, explored: &Explored) -> bool {
        let _ = explored;
        false
    }

    /// Adopts a matching subtree, as if it had been explored here.
    fn adopt(&mut self, explored: Explored) {
        let _ = explored;
    }

    /// The fraction of the search that seems to be left, if all choices in a state lead to equally many executions (P.
    /// Kilby and others, "Estimating search tree size", AAAI 2006: the weighted backtrack estimator).
    fn remaining(&self) -> Option<f64> {
        None
    }

    /// Whether a bound omitted a schedule.
    fn cut(&self) -> bool {
        false
    }

    /// Whether the budget was spent before everything was planned that the last run makes necessary. Then the search ends.
    fn gave_up(&self) -> bool {
        false
    }

    /// Everything needed to resume later; `None` when the next run depends on the last one in another way.
    fn save(&self) -> Option<SavedReduction>;

    /// Restores saved data, given the trace of its schedule. Returns whether the data is this reduction's.
    fn restore(&mut self, rest: ReductionState, trace: Trace) -> bool;
}

/// The fraction of a search that is left, given for each state of the current execution, from the first on, how many
/// choices are finished (including the current one) and how many are left.
pub(crate) fn remaining(choices: impl Iterator<Item = (usize, usize)>) -> f64 {
    let (mut left, mut weight) = (0.0, 1.0);
    for (done, open) in choices {
        let all = (done + open) as f64;
        left += weight * open as f64 / all;
        weight /= all;
    }
    left
}

/// The reduction with this name.
pub(crate) fn by_name(name: ReductionName, options: &Options) -> Box<dyn Reduction> {
    let values = &options.choices;
    let pruner = || {
        let settled = Settled { checks: options.checks.clone(), ..Settled::default() };
        Pruner::new(options.outlook.clone(), options.later.clone(), settled)
    };
    let deadline = || Deadline::new(options.budget.clone());
    match name {
        ReductionName::None => Box::new(Backtracking::new(Exhaustive, values)),
        ReductionName::Dpor => Box::new(Backtracking::new(Dpor::new(false), values)),
        ReductionName::DporSleep => Box::new(Backtracking::with_sleep(Dpor::new(true), values)),
        ReductionName::Pdp => Box::new(Backtracking::new(Pdp::new(pruner()), values)),
        ReductionName::Dhtc => Box::new(Backtracking::with_sleep(Dhtc::new(pruner()), values)),
        ReductionName::Optimal => Box::new(Optimal { deadline: deadline(), ..Optimal::new(values) }),
        ReductionName::Best => {
            Box::new(Optimal { deadline: deadline(), ..best::new(pruner(), options.thrift, values) })
        }
    }
}
