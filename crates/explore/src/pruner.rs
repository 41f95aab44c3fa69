//! Finds the states of an execution from which on no requested finding can occur.
//!
//! If a finding cannot occur from a state on, it cannot occur later either. So the states of an execution are first
//! *open*, then *closed*. Everything below a closed state may be pruned, with one reservation that the papers miss. A
//! search learns which events to reverse by executing both. The pruned part may hold the only event that interferes
//! with one executed in an earlier open state, and reversing these two may lead to a finding. So where a subspace is
//! pruned, the earlier events are compared with the *futures* of the threads there ([`Pruner::threatened`]): a possible
//! interference counts as if it had been executed. `docs/decisions/0009` has the argument.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::dependence::{Resource, Use, footprint};
use model::happens_before::HappensBefore;
use model::{Addr, Clock, End, Event, Op, SiteId, Step, ThreadId, Trace, work};

use crate::causality::{Causality, Past};
use crate::outlook::{FutureId, Later, Next, Origin, Outlook, Settled, Standing, Threats};
use crate::stack::Stack;

/// How often a backtracking point was checked, and with what result (the papers' statistics).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Pruned {
    /// Number of checks.
    pub(crate) checks: u64,
    /// Number of checks that found the state closed.
    pub(crate) yes: u64,
    /// Number of backtracking points omitted.
    pub(crate) skipped: u64,
}

/// Decides which states of the current execution are closed.
#[derive(Default)]
pub(crate) struct Pruner {
    outlook: Option<Arc<dyn Outlook>>,
    later: Option<Later>,
    settled: Settled,
    /// The first closed state of the current execution.
    pub(crate) closed_from: Option<Step>,
    /// Whether the current execution was examined.
    asked: bool,
    pub(crate) pruned: Pruned,
}

/// A thread that still exists in the first closed state.
#[derive(Clone, Copy)]
pub(crate) struct Remaining {
    pub(crate) thread: ThreadId,
    /// The event that created the thread.
    created: Option<Step>,
    pub(crate) future: FutureId,
}

impl Pruner {
    /// A pruner; until there is an outlook every state is open.
    pub(crate) fn new(outlook: Option<Arc<dyn Outlook>>, later: Option<Later>, settled: Settled) -> Self {
        Self { outlook, later, settled, ..Self::default() }
    }

    /// Whether there is an outlook. One that was in the making is used from the next execution on: what was explored
    /// without it was open.
    pub(crate) fn has_outlook(&mut self) -> bool {
        if let Some(made) = self.later.as_ref().and_then(Later::get) {
            (self.outlook, self.later) = (made, None);
        }
        self.outlook.is_some()
    }

    /// Takes all states of the next execution for open, without asking.
    pub(crate) fn take_all_for_open(&mut self) {
        (self.closed_from, self.asked) = (None, false);
    }

    /// Records what has been found.
    pub(crate) fn settle(&mut self, settled: &Settled) {
        self.settled.clone_from(settled);
    }

    /// Examines an execution of which the first `until` events count, and returns its first closed state, if there is
    /// one.
    ///
    /// An outlook relies on the rules of locks, threads and other objects. If an execution breaks them, every state is
    /// open.
    pub(crate) fn find_closed_state(&mut self, trace: &Trace, until: Step) -> Option<Step> {
        self.closed_from = None;
        self.asked = self.has_outlook();
        if !trace.misuses.is_empty() {
            return None;
        }
        let outlook = self.outlook.as_deref()?;
        let timelines = Timelines::of(outlook, trace);
        let is_closed = |step: Step| outlook.is_closed(&timelines.standing(outlook, trace, step), &self.settled);
        if !is_closed(until) {
            return None;
        }
        let (mut open, mut closed) = (0, until.0);
        while open < closed {
            let middle = open + (closed - open) / 2;
            if is_closed(Step(middle)) { closed = middle } else { open = middle + 1 }
        }
        self.closed_from = Some(Step(closed));
        self.closed_from
    }

    /// Whether a backtracking point in this state of the last examined execution can be omitted.
    pub(crate) fn omits(&mut self, step: Step) -> bool {
        if !self.asked {
            return false;
        }
        let closed = self.closed_from.is_some_and(|from| from <= step);
        self.pruned.checks += 1;
        self.pruned.yes += u64::from(closed);
        self.pruned.skipped += u64::from(closed);
        closed
    }

    /// Counts backtracking points that are dropped later.
    pub(crate) fn count_omitted(&mut self, backtracks: usize) {
        self.pruned.yes += backtracks as u64;
        self.pruned.skipped += backtracks as u64;
    }

    /// Examines an execution of which the first `until` events count, drops the threads still to try in its closed
    /// states, and returns the first of these states.
    pub(crate) fn close(&mut self, stack: &mut Stack, until: Step) -> Option<Step> {
        let closed = self.find_closed_state(&stack.trace, until)?;
        for frame in stack.frames.iter_mut().skip(closed.0 as usize) {
            let given_up = frame.backtrack.iter().filter(|t| !frame.done.contains(*t)).count();
            self.pruned.skipped += given_up as u64;
            frame.backtrack.clone_from(&frame.done);
        }
        Some(closed)
    }

    /// The threads that still exist in a state of the execution.
    pub(crate) fn remaining(&self, trace: &Trace, step: Step) -> Vec<Remaining> {
        let Some(outlook) = self.outlook.as_deref() else { return Vec::new() };
        let timelines = Timelines::of(outlook, trace);
        let standing = timelines.standing(outlook, trace, step);
        let threads = timelines.threads_at(step).zip(standing);
        threads
            .map(|((thread, timeline), s)| Remaining { thread, created: timeline.created, future: s.future })
            .collect()
    }

    /// For each event before a state: the threads in that state that may still execute something that interferes with
    /// the event and could have come before it. Descending by event.
    ///
    /// As in [`dpor`](crate::dpor), the last such event suffices: whatever interferes with a later event that follows
    /// from it is found through the earlier one, where it was tried before the later.
    pub(crate) fn threatened(
        &self,
        trace: &Trace,
        causality: &Causality,
        remaining: &[Remaining],
        state: Step,
    ) -> Vec<(Step, Vec<Remaining>)> {
        let Some(outlook) = self.outlook.as_deref() else { return Vec::new() };
        let last = |r: &Remaining| causality.last_before(r.thread, state).or(r.created);
        let known: Vec<Option<Past<'_>>> =
            remaining.iter().map(|r| last(r).map(|last| causality.clock(last))).collect();
        let mut later: BTreeMap<(Addr, u32), Vec<(Use, Step)>> = BTreeMap::new();
        let mut found = Vec::new();
        for step in (0..state.0).rev().map(Step) {
            work::count(1);
            let event = &trace.events[step];
            let objects = footprint(event).filter_map(|(resource, how)| match resource {
                Resource::Bytes(cell) => Some(((cell.start, cell.len), how)),
                Resource::Thread(_) => None,
            });
            let objects: Vec<((Addr, u32), Use)> = objects.collect();
            let since = match objects[..] {
                [(object, _)] => later.get(&object).map_or(&[][..], Vec::as_slice),
                _ => &[],
            };
            let follows = |other: Step| causality.clock(other).contains(event.id);
            let threatens = |r: &Remaining| match outlook.threats(event, r.future) {
                Threats::Any => true,
                Threats::By(ways) => ways.iter().any(|how| {
                    !since.iter().any(|(theirs, other)| {
                        let interferes = !how.commutes_with(*theirs) && how.coenabled_with(*theirs);
                        interferes && follows(*other) && outlook.threats(&trace.events[*other], r.future).include(*how)
                    })
                }),
            };
            let others = remaining.iter().zip(&known).filter(|(r, known)| {
                r.thread != event.id.thread && known.is_none_or(|known| !known.contains(event.id))
            });
            let threats: Vec<Remaining> = others.map(|(r, _)| *r).filter(threatens).collect();
            if !threats.is_empty() {
                found.push((step, threats));
            }
            for (object, how) in objects {
                let since = later.entry(object).or_default();
                since.retain(|(theirs, other)| *theirs != how || trace.events[*other].id.thread != event.id.thread);
                since.push((how, step));
            }
        }
        found
    }

    /// All threads that may interact with `these`, including them.
    pub(crate) fn involved(&self, these: &[Remaining], remaining: &[Remaining]) -> Vec<ThreadId> {
        let Some(outlook) = self.outlook.as_deref() else { return Vec::new() };
        let mut found: Vec<Remaining> = these.to_vec();
        let mut at = 0;
        while let Some(one) = found.get(at).copied() {
            let known: Vec<ThreadId> = found.iter().map(|r| r.thread).collect();
            let more = remaining.iter().filter(|r| !known.contains(&r.thread));
            let more: Vec<Remaining> = more.filter(|r| outlook.may_meet(one.future, r.future)).copied().collect();
            found.extend(more);
            at += 1;
        }
        found.into_iter().map(|r| r.thread).collect()
    }
}

/// The events of each thread of a trace, and its next event at the end.
struct Timelines {
    threads: BTreeMap<ThreadId, Timeline>,
    /// The happens-before past of each event, itself included; empty if no access may race.
    order: Vec<Clock>,
}

/// The timeline of one thread.
#[derive(Default)]
struct Timeline {
    /// The event that created the thread.
    created: Option<Step>,
    events: Vec<Step>,
    /// Its accesses that may race.
    racy: Vec<(Step, SiteId)>,
}

impl Timelines {
    fn of(outlook: &dyn Outlook, trace: &Trace) -> Self {
        let mut threads: BTreeMap<ThreadId, Timeline> = BTreeMap::from([(ThreadId::MAIN, Timeline::default())]);
        work::count(trace.events.len());
        for (step, event) in trace.events.iter_enumerated() {
            let timeline = threads.entry(event.id.thread).or_default();
            timeline.events.push(step);
            let own = std::slice::from_ref(&event.site);
            let sites = match &event.op {
                Op::Section { sites, .. } => &**sites,
                Op::Critical(critical) => &*critical.sites,
                Op::Access(_) | Op::Accesses(_) => own,
                _ => &[],
            };
            timeline
                .racy
                .extend(sites.iter().flatten().filter(|site| outlook.may_race(**site)).map(|site| (step, *site)));
            if let Op::Create { child } = event.op {
                threads.entry(child).or_default().created = Some(step);
            }
        }
        let mut order = Vec::new();
        if threads.values().any(|timeline| !timeline.racy.is_empty()) {
            let mut happens_before = HappensBefore::new();
            order.extend(trace.events.ids().map(|step| happens_before.step(trace, step).clone()));
        }
        Self { threads, order }
    }

    /// The accesses of other threads before a state that nothing orders before this thread's next event.
    fn unknown(&self, threads: &[(ThreadId, &Timeline)], timeline: &Timeline, step: Step) -> BTreeSet<(usize, SiteId)> {
        let last = timeline.events[..timeline.events.partition_point(|s| *s < step)].last().copied();
        let known = last.or(timeline.created).and_then(|step| self.order.get(step.0 as usize));
        let mut unknown = BTreeSet::new();
        for (at, (thread, other)) in
            threads.iter().enumerate().filter(|(_, (_, other))| !std::ptr::eq(*other, timeline))
        {
            let knows = known.map_or(0, |clock| clock.count(*thread)) as usize;
            let since = other.events.get(knows).copied().filter(|since| *since < step);
            let Some(since) = since else { continue };
            let later = &other.racy[other.racy.partition_point(|(s, _)| *s < since)..];
            let before = later.iter().inspect(|_| work::count(1)).take_while(|(s, _)| *s < step);
            unknown.extend(before.map(|(_, site)| (at, *site)));
        }
        unknown
    }

    /// The threads that exist in a state.
    fn threads_at(&self, step: Step) -> impl Iterator<Item = (ThreadId, &Timeline)> {
        let exists = move |timeline: &Timeline| timeline.created.is_none_or(|created| created < step);
        self.threads.iter().filter(move |(_, timeline)| exists(timeline)).map(|(thread, timeline)| (*thread, timeline))
    }

    fn standing(&self, outlook: &dyn Outlook, trace: &Trace, step: Step) -> Vec<Standing> {
        let threads: Vec<(ThreadId, &Timeline)> = self.threads_at(step).collect();
        let standing = |(thread, timeline): &(ThreadId, &Timeline)| {
            let origin = timeline.created.map_or(Origin::Main, |step| Origin::Created(trace.events[step].site));
            let event = timeline.next(trace, *thread, step);
            let joins = event.and_then(|event| match event.op {
                Op::Join { child } => threads.iter().position(|(t, _)| *t == child),
                _ => None,
            });
            let unknown = if self.order.is_empty() { BTreeSet::new() } else { self.unknown(&threads, timeline, step) };
            Standing { future: outlook.future(origin, timeline.what_next(trace, event)), joins, unknown }
        };
        threads.iter().map(standing).collect()
    }
}

impl Timeline {
    /// The thread's next event from a state on, or its pending event at the end.
    fn next<'a>(&self, trace: &'a Trace, thread: ThreadId, step: Step) -> Option<&'a Event> {
        match self.events.get(self.events.partition_point(|s| *s < step)) {
            Some(next) => Some(&trace.events[*next]),
            None => trace.pending.iter().map(|p| &p.event).find(|e| e.id.thread == thread),
        }
    }

    fn what_next(&self, trace: &Trace, event: Option<&Event>) -> Next {
        match event {
            Some(event) => match (&event.op, event.site) {
                (Op::Start, _) => Next::Start,
                (Op::Exit, None) => Next::End,
                (_, Some(site)) => Next::At(site),
                (_, None) => Next::Somewhere,
            },
            // A thread that was still computing when the run was cut may do anything next.
            None => match self.events.last() {
                None => Next::Start,
                Some(last) if trace.events[*last].op == Op::Exit => Next::End,
                Some(_) if matches!(trace.end, End::StepLimit | End::TimeLimit) => Next::Somewhere,
                Some(_) => Next::End,
            },
        }
    }
}
