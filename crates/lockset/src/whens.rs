//! Threads and moments between which nothing distinguishes.
//!
//! One statement in many contexts makes many threads of the analysis. Two of them, each at a moment, that may run at the
//! same time as the same others, themselves included, and that a person calls the same, are one for every verdict that
//! does not rest on arguments of threads.

use std::collections::BTreeSet;

use facts::Solved;
use facts::order::{MomentId, ThreadId};
use rustc_hash::FxHashMap;

/// A thread, `None` for any, and a moment.
pub(crate) type When = (Option<ThreadId>, MomentId);

/// More of them are left as they are.
const MOST: usize = 2000;

/// For each thread and moment the first that is like it.
#[derive(Default)]
pub(crate) struct Whens {
    first: FxHashMap<When, When>,
}

impl Whens {
    /// Merges those that are alike.
    pub(crate) fn merged(facts: &Solved<'_>) -> Self {
        let mut all: BTreeSet<When> = BTreeSet::new();
        for context in &facts.order.contexts {
            all.extend(context.moments().map(|moment| (context.thread, moment)));
        }
        if all.len() > MOST {
            return Self::default();
        }
        let mut known = FxHashMap::default();
        let mut first = FxHashMap::default();
        for when in &all {
            let row: Vec<bool> = all.iter().map(|other| facts.order.parallel(*when, *other)).collect();
            let name = when.0.map(|thread| {
                let info = &facts.order.threads[thread];
                (info.functions.clone(), info.made_at.map(|(_, place)| place))
            });
            first.insert(*when, *known.entry((row, name)).or_insert(*when));
        }
        Self { first }
    }

    /// The one that stands for it.
    pub(crate) fn of(&self, when: When) -> When {
        self.first.get(&when).copied().unwrap_or(when)
    }
}
