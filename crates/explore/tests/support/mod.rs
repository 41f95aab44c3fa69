//! Helpers shared by the tests of the search.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use explore::Observer;
use model::dependence::{dependent, may_be_coenabled};
use model::{Event, Step, Trace};

/// A hash of what two runs share if they differ only in the order of independent events: the events, and the order of
/// dependent ones. (Events that are never co-enabled come in one order, or commute.)
pub(crate) fn class_of(trace: &Trace) -> u64 {
    let mut events: Vec<&Event> = trace.events.iter().collect();
    events.sort_by_key(|e| e.id);
    let step_of = |e: &Event| trace.events.iter().position(|other| other.id == e.id);
    let steps: Vec<_> = events.iter().map(|e| step_of(e)).collect();
    let mut hasher = DefaultHasher::new();
    for (at, event) in events.iter().enumerate() {
        event.hash(&mut hasher);
        let others = events[..at].iter().zip(&steps).filter(|(e, _)| e.id.thread != event.id.thread);
        for (_, step) in others.filter(|(e, _)| dependent(e, event) && may_be_coenabled(e, event)) {
            (*step < steps[at]).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Collects the classes of all runs of a search.
#[derive(Default)]
pub(crate) struct Classes(pub(crate) BTreeSet<u64>);

impl Observer for Classes {
    fn trace(&mut self, trace: &Trace, _from: Step) {
        self.0.insert(class_of(trace));
    }
}
