//! A helper, which explores [subtrees](crate::subtree) of a search.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use model::{End, Event, Executor, Shortcuts, SiteId, Step, ThreadPath, Trace};

use crate::choices::ChoiceValues;
use crate::digest::Digest;
use crate::events::EventNumber;
use crate::fusion;
use crate::optimal::Optimal;
use crate::options::Options;
use crate::outcome::Statistics;
use crate::reduction::{Reduction, RunKind};
use crate::subtree::{CompactSleepSets, Subtree, compact_sleep_sets, until};
use crate::wakeup::{Branch, Planned};

/// The result of exploring a subtree.
pub(crate) struct Explored {
    pub(crate) subtree: Subtree,
    pub(crate) digest: Digest,
    pub(crate) statistics: Statistics,
    /// Sequences for the wake-up trees of states above the subtree, in order.
    pub(crate) outer: Vec<(Step, Box<[Planned]>)>,
    /// The sleep sets of the states after the subtree's root, and the number of states.
    pub(crate) sleeping: (CompactSleepSets<EventNumber>, u32),
    /// What is left to explore of the subtree.
    pub(crate) trees: BTreeMap<Step, Vec<Branch>>,
    /// The last execution: its events that count, or only the way to the subtree if nothing is left of it.
    pub(crate) last: Trace,
    pub(crate) paths: Vec<ThreadPath>,
    pub(crate) exchanges: BTreeSet<SiteId>,
    /// The helper whose event numbers these are; each helper numbers events independently.
    pub(crate) helper: usize,
    /// The events the helper has numbered since its last report.
    pub(crate) numbered: Vec<Event>,
}

impl Explored {
    /// Number of events stored until the subtree is adopted.
    pub(crate) fn events(&self) -> usize {
        let notable = self.digest.notable.iter().map(|run| run.trace.events.len());
        let outer = self.outer.iter().map(|(_, sequence)| sequence.len());
        self.last.events.len() + notable.sum::<usize>() + outer.sum::<usize>()
    }
}

/// The state of a helper.
pub(crate) struct Helper {
    number: usize,
    optimal: Optimal,
    values: ChoiceValues,
    shortcuts: Shortcuts,
    /// Number of events whose numbers were reported.
    reported: usize,
}

impl Helper {
    pub(crate) fn new(number: usize, options: &Options) -> Self {
        let (values, shortcuts) = (options.choices.clone(), options.shortcuts_for(options.reduction));
        Self { number, optimal: Optimal::new(&values), values, shortcuts, reported: 0 }
    }

    /// Starts anew, without shortcuts.
    pub(crate) fn take_no_shortcuts(&mut self) {
        if !self.shortcuts.is_empty() {
            self.shortcuts = Shortcuts::default();
            (self.optimal, self.reported) = (Optimal::new(&self.values), 0);
        }
    }

    /// Explores a subtree until it is finished or `cut` is set. `None` if it met something only the whole search can
    /// handle.
    pub(crate) fn explore<E: Executor>(
        &mut self,
        executor: &mut E,
        subtree: Subtree,
        cut: &AtomicBool,
    ) -> Option<Explored> {
        let optimal = &mut self.optimal;
        let root_depth = optimal.begin(&subtree);
        let (mut digest, mut statistics) = (Digest::default(), Statistics::default());
        let mut next = Some(subtree.schedule.clone());
        while let Some(schedule) = next {
            let trace = executor.run(&schedule).ok()?;
            if matches!(trace.end, End::Diverged { .. }) {
                return None;
            }
            let (events, deadlocked) = (trace.events.len(), trace.end == End::Deadlock);
            let trace = fusion::take_shortcuts(trace, &self.shortcuts);
            if !digest.add(&schedule, &trace, &self.values, &self.shortcuts).ok()? {
                return None;
            }
            let taken = optimal.take(trace).ok()?;
            if matches!(taken, RunKind::Restart | RunKind::Unsupported)
                || optimal.causality.len() < root_depth.0 as usize
            {
                return None;
            }
            statistics.count(taken, events, deadlocked);
            let enough = cut.load(Ordering::Relaxed) && taken != RunKind::Detour;
            next = if enough { None } else { optimal.next() };
        }
        self.conclude(subtree, root_depth, digest, statistics)
    }

    fn conclude(
        &mut self,
        mut subtree: Subtree,
        root_depth: Step,
        digest: Digest,
        statistics: Statistics,
    ) -> Option<Explored> {
        let optimal = &mut self.optimal;
        let from = std::mem::replace(&mut subtree.trace, Trace::empty(End::Deadlock)).events.len();
        let numbered = optimal.events.since(self.reported);
        self.reported += numbered.len();
        let trees = std::mem::take(&mut optimal.trees);
        let counted = if trees.is_empty() { root_depth } else { Step(optimal.causality.len() as u32) };
        Some(Explored {
            digest,
            statistics,
            outer: optimal.take_outer(),
            sleeping: (compact_sleep_sets(&optimal.sleeps, from + 1), optimal.sleeps.len() as u32),
            last: until(optimal.trace.as_ref()?, counted),
            trees,
            paths: optimal.thread_numbers.paths().to_vec(),
            exchanges: optimal.exchanges.clone(),
            helper: self.number,
            numbered,
            subtree,
        })
    }
}
