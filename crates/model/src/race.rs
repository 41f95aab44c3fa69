//! The data race, defined once.
//!
//! Two accesses race when they touch overlapping cells, are made by different threads, at least one writes, at least
//! one is plain, and neither is ordered before the other by happens-before ([`HappensBefore`]). Freeing is a plain
//! write of the whole object.
//!
//! [`analyse`] finds them in one pass over a trace. *Complete for pairs of sites*: when any two accesses of the trace
//! race, a race between two accesses of the same two sites is reported. For, per byte, the last access of each
//! (thread, site, kind) is kept; if the access `i` races with a later `j` and `i'` is the access kept in `i`'s place
//! when `j` is reached, then `i` comes before `i'` in their thread, so `i'` is not ordered before `j` either.
//! *Never wrong*: every race reported is one by the definition above.

use rustc_hash::FxHashSet;

use crate::happens_before::HappensBefore;
use crate::shadow::Shadow;
use crate::{Access, SiteId, Step, Trace};

/// Two racing accesses of one trace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Race {
    /// The event of the access that came first.
    pub first: Step,
    /// The event of the other one.
    pub second: Step,
    /// Which of the first event's accesses.
    pub first_access: usize,
    /// Which of the second event's accesses.
    pub second_access: usize,
}

/// What [`analyse`] finds in a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Analysis {
    /// One race for each racing pair of sites, in the order in which they were met.
    pub races: Vec<Race>,
    /// Pairs of sites, the smaller first, with accesses by different threads that [could race](could_race), whether or
    /// not happens-before orders them. Each once, in the order in which they were met.
    pub conflicts: Vec<SitePair>,
}

/// Two sites as events carry them, the smaller first.
pub type SitePair = (Option<SiteId>, Option<SiteId>);

/// Whether two accesses by different threads race if nothing orders them.
pub fn could_race(one: &Access, other: &Access) -> bool {
    one.conflicts_with(other) && (one.atomic.is_none() || other.atomic.is_none())
}

/// The races of a trace: at least one for each racing pair of sites.
pub fn races(trace: &Trace) -> Vec<Race> {
    analyse(trace).races
}

/// Whether any accesses of these two events of a trace race.
pub fn is_race(trace: &Trace, first: Step, second: Step) -> bool {
    let (first, second) = (first.min(second), first.max(second));
    let (one, other) = (&trace.events[first], &trace.events[second]);
    let meet = |a: &Access| other.op.accesses().iter().any(|b| could_race(a, b));
    if one.id.thread == other.id.thread || !one.op.accesses().iter().any(meet) {
        return false;
    }
    let mut order = HappensBefore::new();
    for step in (0..second.0).map(Step) {
        order.step(trace, step);
    }
    !order.step(trace, second).contains(one.id)
}

/// How a site uses bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SiteUse {
    site: Option<SiteId>,
    writes: bool,
    plain: bool,
}

/// The last access of a lane.
#[derive(Clone, Copy, Default)]
struct Latest {
    position: u32,
    step: u32,
    access: u32,
}

/// The races and conflicts of a trace.
pub fn analyse(trace: &Trace) -> Analysis {
    let mut analysis = Analysis::default();
    let (mut conflicting, mut reported) = (FxHashSet::<SitePair>::default(), FxHashSet::<SitePair>::default());
    let mut order = HappensBefore::new();
    let mut shadow = Shadow::<SiteUse, Latest>::default();
    for (step, event) in trace.events.iter_enumerated() {
        let clock = order.step(trace, step);
        let thread = event.id.thread;
        for (index, access) in event.op.accesses().iter().enumerate() {
            let mine = SiteUse { site: event.site, writes: access.kind.writes(), plain: access.atomic.is_none() };
            let latest = Latest { position: event.id.position, step: step.0, access: index as u32 };
            let new = shadow.update(access.cell, thread, mine, |lane| *lane = latest);
            shadow.visit(access.cell, |other, theirs, lane| {
                let could_race = (theirs.writes || mine.writes) && (theirs.plain || mine.plain);
                if other == thread || !could_race {
                    return;
                }
                let pair = (theirs.site.min(mine.site), theirs.site.max(mine.site));
                if new && conflicting.insert(pair) {
                    analysis.conflicts.push(pair);
                }
                if clock.count(other) <= lane.position && reported.insert(pair) {
                    analysis.races.push(Race {
                        first: Step(lane.step),
                        second: step,
                        first_access: lane.access as usize,
                        second_access: index,
                    });
                }
            });
        }
    }
    analysis
}
