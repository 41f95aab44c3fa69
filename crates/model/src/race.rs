//! The data race, defined once.
//!
//! Two accesses race when they touch overlapping cells, are made by different threads, at least one writes, at least
//! one is plain, and neither is ordered before the other by happens-before ([`HappensBefore`]). Freeing is a plain
//! write of the whole object.
//!
//! [`analyse`] finds them in one pass over a trace. *Complete for pairs of sites*: if any two accesses of the trace
//! race, a race between two accesses of the same two sites is reported. The reason: for each byte, the last access of
//! each (thread, site, kind) is kept. If the access `i` races with a later `j`, and `i'` is the access kept instead of
//! `i` when `j` is reached, then `i` comes before `i'` in their thread, so `i'` is not ordered before `j` either.
//! *Never wrong*: every reported race satisfies the definition above.

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::happens_before::HappensBefore;
use crate::shadow::Shadow;
use crate::{Access, Addr, Cell, EventId, Op, SiteId, Step, ThreadId, Trace};

/// Two racing accesses of one trace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Race {
    /// The event of the access that came first.
    pub first: Step,
    /// The event of the other one.
    pub second: Step,
    /// Index among the first event's accesses.
    pub first_access: usize,
    /// Index among the second event's accesses.
    pub second_access: usize,
}

/// What [`analyse`] finds in a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Analysis {
    /// One race for each racing pair of sites, in order of appearance.
    pub races: Vec<Race>,
    /// Pairs of sites, the smaller first, with accesses by different threads that [could race](could_race), whether or
    /// not happens-before orders them. Each once, in order of appearance.
    pub conflicts: Vec<SitePair>,
}

/// Two sites of events, the smaller first.
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
    let excluded = section_lock(&one.op).is_some_and(|lock| section_lock(&other.op) == Some(lock));
    if one.id.thread == other.id.thread || excluded || !one.op.accesses().iter().any(meet) {
        return false;
    }
    let mut order = HappensBefore::new();
    for step in (0..second.0).map(Step) {
        order.step(trace, step);
    }
    !order.step(trace, second).contains(one.id)
}

/// The lock of a critical section. Sections with the same lock never race with each other, ordered or not.
fn section_lock(op: &Op) -> Option<Addr> {
    if let Op::Critical(critical) = op { Some(critical.lock) } else { None }
}

/// How a site uses bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SiteUse {
    site: Option<SiteId>,
    writes: bool,
    plain: bool,
    /// The lock of the critical section that it is in.
    lock: Option<Addr>,
}

/// An access of a lane.
#[derive(Clone, Copy)]
struct Latest {
    position: u32,
    step: Step,
    access: u32,
}

/// A lane to which an access was added.
struct Updated {
    step: Step,
    cell: Cell,
    thread: ThreadId,
    how: SiteUse,
}

/// What a trace shows that the previous one did not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct News<'a> {
    /// As in [`Analysis`].
    pub races: &'a [Race],
    /// As in [`Analysis`].
    pub conflicts: &'a [SitePair],
}

/// Finds the races of several traces in sequence, without analysing again the prefix a trace shares with the previous
/// one.
pub struct Analyser {
    order: HappensBefore,
    /// The accesses of each lane; without a history only the last one.
    shadow: Shadow<SiteUse, SmallVec<[Latest; 1]>>,
    /// The lanes of the accesses so far, if there is a history.
    history: Option<Vec<Updated>>,
    conflicting: FxHashSet<SitePair>,
    reported: FxHashSet<SitePair>,
    analysis: Analysis,
    /// Where each conflict first appeared.
    met: Vec<Step>,
    /// Accesses that may race with the current event.
    racing: Vec<Racing>,
}

/// An access that races with the current event's unless it happened before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Racing {
    pair: SitePair,
    race: Race,
    id: EventId,
}

impl Analyser {
    /// An analyser for several traces.
    pub fn new() -> Self {
        Self { order: HappensBefore::with_history(), history: Some(Vec::new()), ..Self::once() }
    }

    /// An analyser for one trace.
    fn once() -> Self {
        Self {
            order: HappensBefore::new(),
            shadow: Shadow::default(),
            history: None,
            conflicting: FxHashSet::default(),
            reported: FxHashSet::default(),
            analysis: Analysis::default(),
            met: Vec::new(),
            racing: Vec::new(),
        }
    }

    /// The races and conflicts that a trace's events from `from` on add. The events and states before are those of the
    /// previous trace.
    pub fn analyse(&mut self, trace: &Trace, from: Step) -> News<'_> {
        self.rewind(trace, from);
        let (races, conflicts) = (self.analysis.races.len(), self.analysis.conflicts.len());
        for step in (from.0..trace.events.next_id().0).map(Step) {
            self.step(trace, step);
        }
        News { races: &self.analysis.races[races..], conflicts: &self.analysis.conflicts[conflicts..] }
    }

    fn rewind(&mut self, trace: &Trace, to: Step) {
        self.order.rewind(to);
        let history = self.history.as_mut().into_iter();
        for Updated { cell, thread, how, .. } in history.flat_map(|h| h.drain(h.partition_point(|u| u.step < to)..)) {
            self.shadow.update(cell, thread, how, |lane| {
                lane.pop();
            });
        }
        let kept = self.met.partition_point(|step| *step < to);
        self.met.truncate(kept);
        for pair in self.analysis.conflicts.drain(kept..) {
            self.conflicting.remove(&pair);
        }
        let kept = self.analysis.races.partition_point(|race| race.second < to);
        if kept < self.analysis.races.len() {
            self.analysis.races.truncate(kept);
            let site = |step: Step, access| trace.events[step].site_of(access);
            let pair_of = |r: &Race| pair(site(r.first, r.first_access), site(r.second, r.second_access));
            self.reported = self.analysis.races.iter().map(pair_of).collect();
        }
    }

    fn step(&mut self, trace: &Trace, step: Step) {
        let Self { order, shadow, history, conflicting, reported, analysis, met, racing } = self;
        let event = &trace.events[step];
        let thread = event.id.thread;
        let known = analysis.conflicts.len();
        for (index, access) in event.op.accesses().iter().enumerate() {
            let (writes, plain) = (access.kind.writes(), access.atomic.is_none());
            let mine = SiteUse { site: event.site_of(index), writes, plain, lock: section_lock(&event.op) };
            let latest = Latest { position: event.id.position, step, access: index as u32 };
            let mut new = false;
            shadow.update(access.cell, thread, mine, |lane| {
                new |= lane.is_empty();
                if history.is_none() {
                    lane.clear();
                }
                lane.push(latest);
            });
            if let Some(history) = history {
                history.push(Updated { step, cell: access.cell, thread, how: mine });
            }
            shadow.visit_uses(access.cell, |theirs, users| {
                let could_race = (theirs.writes || mine.writes) && (theirs.plain || mine.plain);
                let others = || {
                    let last = |(other, lane): &(ThreadId, SmallVec<[Latest; 1]>)| Some((*other, *lane.last()?));
                    users.iter().filter(|(other, _)| *other != thread).filter_map(last)
                };
                if !could_race || others().next().is_none() {
                    return;
                }
                let pair = pair(theirs.site, mine.site);
                if new && conflicting.insert(pair) {
                    analysis.conflicts.push(pair);
                    met.push(step);
                }
                let excluded = mine.lock.is_some() && mine.lock == theirs.lock;
                if excluded || reported.contains(&pair) {
                    return;
                }
                for (other, last) in others() {
                    let (first_access, second_access) = (last.access as usize, index);
                    let race = Race { first: last.step, second: step, first_access, second_access };
                    racing.push(Racing { pair, race, id: EventId { thread: other, position: last.position } });
                }
            });
        }
        // Lanes are in the order in which traces created them; the result must not depend on earlier traces.
        analysis.conflicts[known..].sort_unstable();
        if racing.is_empty() {
            return;
        }
        // Clocks are computed only when needed: not at all where all overlapping accesses are atomic.
        let clock = order.follow(trace, step);
        racing.retain(|r| !clock.contains(r.id));
        racing.sort_unstable();
        analysis.races.extend(racing.drain(..).filter(|r| reported.insert(r.pair)).map(|r| r.race));
    }
}

impl Default for Analyser {
    fn default() -> Self {
        Self::new()
    }
}

fn pair(one: Option<SiteId>, other: Option<SiteId>) -> SitePair {
    (one.min(other), one.max(other))
}

/// The races and conflicts of a trace.
pub fn analyse(trace: &Trace) -> Analysis {
    analyse_while(trace, &|| true).0
}

/// Events between two looks at whether to go on.
const LOOK: u32 = 1 << 14;

/// The same while `goes_on`; also whether the whole trace was looked at. What a part of the trace shows, the trace shows.
pub fn analyse_while(trace: &Trace, goes_on: &dyn Fn() -> bool) -> (Analysis, bool) {
    let mut analyser = Analyser::once();
    for step in trace.events.ids() {
        if step.0 % LOOK == 0 && !goes_on() {
            return (analyser.analysis, false);
        }
        analyser.step(trace, step);
    }
    (analyser.analysis, true)
}
