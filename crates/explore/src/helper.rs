//! One who explores [parts](crate::parts) of a search.

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

/// What exploring a part has brought.
pub(crate) struct Explored {
    pub(crate) part: Part,
    pub(crate) digest: Digest,
    pub(crate) statistics: Statistics,
    /// Sequences for the trees of states above the part, in order.
    pub(crate) above: Vec<(Step, Box<[Planned]>)>,
    /// Who sleeps in the states after the one where the part begins, and the number of states.
    pub(crate) sleeping: (Sleeping<EventNumber>, u32),
    /// What is left of the part.
    pub(crate) trees: BTreeMap<Step, Vec<Branch>>,
    /// The last execution: its events that count, or only those that lead to the part if nothing is left of it.
    pub(crate) last: Trace,
    pub(crate) paths: Vec<ThreadPath>,
    pub(crate) exchanges: BTreeSet<SiteId>,
    /// Whose numbers these are: each helper numbers events by itself.
    pub(crate) helper: usize,
    /// The events it numbered since it last told.
    pub(crate) numbered: Vec<Event>,
}

impl Explored {
    /// Events that are kept until the part is taken over.
    pub(crate) fn events(&self) -> usize {
        let notable = self.digest.notable.iter().map(|run| run.trace.events.len());
        let above = self.above.iter().map(|(_, sequence)| sequence.len());
        self.last.events.len() + notable.sum::<usize>() + above.sum::<usize>()
    }
}

/// A helper's memory.
pub(crate) struct Helper {
    number: usize,
    optimal: Optimal,
    values: ChoiceValues,
    /// Events whose numbers it has told.
    told: usize,
}

impl Helper {
    pub(crate) fn new(number: usize, values: &ChoiceValues) -> Self {
        Self { number, optimal: Optimal::new(values), values: values.clone(), told: 0 }
    }

    /// Explores a part until it is done, or `cut`. `None` if only the whole search can deal with what it met.
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
