//! Arrivals at barriers in any order.
//!
//! [`join`] says of each arrival whose result nobody uses that its order does not matter ([`model::shortcuts`]). Two such
//! arrivals of one generation commute. Two of different generations do not, but are ordered by the departure in between if
//! every thread that uses the barrier takes part in every generation. If a barrier has more users, who meets whom depends
//! on the order of arrival, and the search starts again with the arrivals as they are: [`is_enough`].

use std::collections::BTreeSet;

use model::{Addr, Event, Op, SiteId, Step, ThreadId, Trace};
use rustc_hash::FxHashMap;

/// Replaces arrivals at these sites.
pub(crate) fn join(trace: &mut Trace, sites: &BTreeSet<SiteId>) {
    if sites.is_empty() {
        return;
    }
    let events = trace.events.iter_mut();
    for event in events.chain(trace.pending.iter_mut().map(|pending| &mut pending.event)) {
        if let Op::BarrierArrive { barrier } = event.op
            && event.site.is_some_and(|site| sites.contains(&site))
        {
            event.op = Op::Meet { barrier };
        }
    }
}

/// Who uses a barrier.
#[derive(Default)]
struct Users {
    all: BTreeSet<ThreadId>,
    /// How many have arrived since the last generation was complete.
    waiting: usize,
    /// The size of the smallest complete generation.
    least: Option<usize>,
}

/// Whether every thread that arrives at a barrier at these sites takes part in every generation.
pub(crate) fn is_enough(trace: &Trace, sites: &BTreeSet<SiteId>) -> bool {
    if sites.is_empty() {
        return true;
    }
    let mut users: FxHashMap<Addr, Users> = FxHashMap::default();
    let mut in_any_order = false;
    let mut barrier_of = |event: &Event| match event.op {
        Op::Meet { barrier } => {
            in_any_order = true;
            Some(barrier)
        }
        Op::BarrierArrive { barrier } => Some(barrier),
        _ => None,
    };
    for (step, event) in trace.events.iter_enumerated() {
        let Some(barrier) = barrier_of(event) else { continue };
        let users = users.entry(barrier).or_default();
        users.all.insert(event.id.thread);
        users.waiting += 1;
        // Its next event is its departure.
        if trace.runnable_at(Step(step.0 + 1)).contains(event.id.thread) {
            users.least = Some(users.least.map_or(users.waiting, |least| least.min(users.waiting)));
            users.waiting = 0;
        }
    }
    for pending in &trace.pending {
        if let Some(barrier) = barrier_of(&pending.event) {
            users.entry(barrier).or_default().all.insert(pending.event.id.thread);
        }
    }
    !in_any_order || users.values().all(|users| users.least.is_none_or(|least| users.all.len() <= least))
}
