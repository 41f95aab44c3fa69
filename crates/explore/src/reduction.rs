//! Reductions: which schedules may be left out.
//!
//! A reduction says which schedule to run next, given the executions so far; the search is the same for all. To add
//! one, write a file with a type that implements [`Reduction`], or [`Backtracks`](crate::backtracking::Backtracks) if
//! it only chooses threads per state, and give it a [`ReductionName`] and a line in [`by_name`].

use model::{Schedule, Step, Trace};

use crate::backtracking::Backtracking;
use crate::best;
use crate::checkpoint::{Rest, Saved};
use crate::dhtc::Dhtc;
use crate::dpor::Dpor;
use crate::foresight::{Foresight, Pruned};
use crate::helper::Explored;
use crate::none::Exhaustive;
use crate::optimal::Optimal;
use crate::options::{Options, ReductionName};
use crate::outlook::Settled;
use crate::parts::Part;
use crate::pdp::Pdp;

/// What a run turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Taken {
    /// An execution of its own.
    Execution,
    /// From some state on, whatever thread runs, it repeats what was explored.
    Blocked,
    /// From some state on it repeats what was explored; the next schedule leaves it there for another thread.
    Detour,
    /// It showed that the reduction went wrong: it starts again, and its executions so far do not count.
    Restart,
    /// It showed that the reduction does not cover the program; its executions so far do not count.
    Unsupported,
}

/// The same prefix gave another trace.
pub(crate) struct Difference {
    /// The first event that differs.
    pub(crate) step: Step,
    /// Both sides of the difference.
    pub(crate) difference: String,
}

/// Which schedules may be left out.
pub(crate) trait Reduction {
    /// Takes in the run of the empty schedule, or of the last one asked for.
    fn take(&mut self, trace: Trace) -> Result<Taken, Difference>;

    /// The next schedule to run; `None` when every schedule is equivalent to one that was run.
    fn next(&mut self) -> Option<Schedule>;

    /// The last schedule asked for could not be followed in this segment: what to make of it, if that was to be reckoned
    /// with.
    fn refuse(&mut self, segment: u32) -> Option<Taken> {
        let _ = segment;
        None
    }

    /// Takes note of what need not be looked for any more, before the run that showed it is taken in.
    fn settle(&mut self, settled: &Settled) {
        let _ = settled;
    }

    /// What was left out, since last asked, because nothing that is looked for can happen there.
    fn pruned(&mut self) -> Pruned {
        Pruned::default()
    }

    /// Parts that will be come to and can be explored elsewhere, the largest first, at most so many: without those that
    /// are known or seem to have fewer executions than the least.
    fn parts(&mut self, least: u32, most: usize, known: &dyn Fn(&Schedule) -> bool) -> Vec<Part> {
        let _ = (least, most, known);
        Vec::new()
    }

    /// Whether the part that was explored elsewhere is the one that the last schedule asked for begins.
    fn fits(&mut self, explored: &Explored) -> bool {
        let _ = explored;
        false
    }

    /// Goes on after a part that fits, as if it had been explored here.
    fn adopt(&mut self, explored: Explored) {
        let _ = explored;
    }

    /// Which part of the search seems to be left, if every choice in a state leads to as many executions as the others
    /// (P. Kilby and others, "Estimating search tree size", AAAI 2006: the weighted backtrack estimator).
    fn remaining(&self) -> Option<f64> {
        None
    }

    /// Whether a bound has left out a schedule.
    fn cut(&self) -> bool {
        false
    }

    /// All that is needed to go on later; `None` when the next run depends on the last one in another way.
    fn save(&self) -> Option<Saved>;

    /// Takes over what was saved, with the trace of its schedule. Whether it is this reduction's.
    fn restore(&mut self, rest: Rest, trace: Trace) -> bool;
}

/// The part of a search that is left: for each state of the current execution from the first on, how many choices there
/// are done with, the current one included, and how many are left.
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
    let foresight = || {
        let settled = Settled { checks: options.checks.clone(), ..Settled::default() };
        Foresight::new(options.outlook.clone(), settled)
    };
    match name {
        ReductionName::None => Box::new(Backtracking::new(Exhaustive, values)),
        ReductionName::Dpor => Box::new(Backtracking::new(Dpor::new(false), values)),
        ReductionName::DporSleep => Box::new(Backtracking::with_sleep(Dpor::new(true), values)),
        ReductionName::Pdp => Box::new(Backtracking::new(Pdp::new(foresight()), values)),
        ReductionName::Dhtc => Box::new(Backtracking::with_sleep(Dhtc::new(foresight()), values)),
        ReductionName::Optimal => Box::new(Optimal::new(values)),
        ReductionName::Best => Box::new(best::new(foresight(), values)),
    }
}
