//! A helper, which explores [subtrees](crate::subtree) of a search.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use model::{End, Event, Executor, SiteId, Step, ThreadPath, Trace};

use crate::choices::ChoiceValues;
use crate::digest::Digest;
use crate::events::EventNumber;
use crate::optimal::Optimal;
use crate::outcome::Statistics;
use crate::parts::{Part, Sleeping, sleeping_from, until};
use crate::reduction::{Reduction, Taken};
use crate::wakeup::{Branch, Planned};

/// The result of exploring a subtree.
pub(crate) struct Explored {
    pub(crate) part: Part,
    pub(crate) digest: Digest,
    pub(crate) statistics: Statistics,
    /// Sequences for the wake-up trees of states above the subtree, in order.
    pub(crate) above: Vec<(Step, Box<[Planned]>)>,
    /// The sleep sets of the states after the subtree's root, and the number of states.
    pub(crate) sleeping: (Sleeping<EventNumber>, u32),
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
        let above = self.above.iter().map(|(_, sequence)| sequence.len());
        self.last.events.len() + notable.sum::<usize>() + above.sum::<usize>()
    }
}

/// The state of a helper.
pub(crate) struct Helper {
    number: usize,
    optimal: Optimal,
    values: ChoiceValues,
    /// Number of events whose numbers were reported.
    told: usize,
}

impl Helper {
    pub(crate) fn new(number: usize, values: &ChoiceValues) -> Self {
        Self { number, optimal: Optimal::new(values), values: values.clone(), told: 0 }
    }

    /// Explores a subtree until it is finished or `cut` is set. `None` if it met something only the whole search can
    /// handle.
    pub(crate) fn explore<E: Executor>(&mut self, executor: &mut E, part: Part, cut: &AtomicBool) -> Option<Explored> {
        let optimal = &mut self.optimal;
        let floor = optimal.begin(&part);
        let (mut digest, mut statistics) = (Digest::default(), Statistics::default());
        let mut next = Some(part.schedule.clone());
        while let Some(schedule) = next {
            let trace = executor.run(&schedule).ok()?;
            if matches!(trace.end, End::Diverged { .. }) {
                return None;
            }
            digest.add(&schedule, &trace, &self.values).ok()?;
            let (events, deadlocked) = (trace.events.len(), trace.end == End::Deadlock);
            let taken = optimal.take(trace).ok()?;
            if matches!(taken, Taken::Restart | Taken::Unsupported) || optimal.causality.len() < floor.0 as usize {
                return None;
            }
            statistics.count(taken, events, deadlocked);
            let enough = cut.load(Ordering::Relaxed) && taken != Taken::Detour;
            next = if enough { None } else { optimal.next() };
        }
        self.conclude(part, floor, digest, statistics)
    }

    fn conclude(&mut self, mut part: Part, floor: Step, digest: Digest, statistics: Statistics) -> Option<Explored> {
        let optimal = &mut self.optimal;
        let from = std::mem::replace(&mut part.trace, Trace::empty(End::Deadlock)).events.len();
        let numbered = optimal.events.since(self.told);
        self.told += numbered.len();
        let trees = std::mem::take(&mut optimal.trees);
        let counted = if trees.is_empty() { floor } else { Step(optimal.causality.len() as u32) };
        Some(Explored {
            digest,
            statistics,
            above: optimal.take_above(),
            sleeping: (sleeping_from(&optimal.sleeps, from + 1), optimal.sleeps.len() as u32),
            last: until(optimal.trace.as_ref()?, counted),
            trees,
            paths: optimal.names.paths().to_vec(),
            exchanges: optimal.exchanges.clone(),
            helper: self.number,
            numbered,
            part,
        })
    }
}
