//! The races of a trace by their definition, pair by pair.

use std::collections::BTreeSet;

use model::Trace;
use model::happens_before::HappensBefore;
use model::race::{SitePair, could_race};

/// The pairs of sites with accesses of two threads that could race and that happens-before leaves unordered. Takes time
/// that is quadratic in the length of the trace.
pub fn unordered(trace: &Trace) -> BTreeSet<SitePair> {
    let mut order = HappensBefore::new();
    let clocks: Vec<_> = trace.events.ids().map(|step| order.step(trace, step).clone()).collect();
    let mut found = BTreeSet::new();
    for (at, second) in trace.events.iter().enumerate() {
        for first in trace.events.iter().take(at).filter(|first| first.id.thread != second.id.thread) {
            let meet = |a| second.op.accesses().iter().any(|b| could_race(a, b));
            if !clocks[at].contains(first.id) && first.op.accesses().iter().any(meet) {
                found.insert((first.site.min(second.site), first.site.max(second.site)));
            }
        }
    }
    found
}
