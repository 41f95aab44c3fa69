//! Accesses and failures as the report shows them, taken from runs that show them.

use std::collections::{BTreeMap, BTreeSet};

use explore::{Failure, FailureKind};
use files::{RecordedAccess, RecordedEvent};
use model::index::Idx;
use model::race::could_race;
use model::{Access, Addr, Cell, Event, EventId, Op, SiteId, Step, ThreadId, ThreadPath, Trace};
use program::{Program, openmp};
use report::{ErrorKind, Finding, Waiting};
use serde::{Deserialize, Serialize};

use super::words::Words;
use super::{Moment, ObjectNames, Position, story};

/// One access of a run, with all that a report says about it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct SeenAccess {
    /// The event.
    pub(crate) event: EventId,
    /// Its thread.
    pub(crate) thread: ThreadPath,
    /// As in the trace.
    pub(crate) raw: Access,
    /// What both accesses of the pair touch, or what this one touches when looked at alone.
    pub(crate) variable: String,
    /// For the report.
    pub(crate) access: report::Access,
}

impl SeenAccess {
    /// For a witness file.
    pub(crate) fn record(&self) -> RecordedAccess {
        let report::Access { kind, atomic, file, line, column, function, .. } = self.access.clone();
        let event = RecordedEvent { thread: self.thread.clone(), position: self.event.position };
        RecordedAccess { event, kind: kind.to_string(), atomic, function, file, line, column }
    }
}

/// Describes what happened in runs of one program.
pub(crate) struct Describer<'a> {
    pub(crate) program: &'a Program,
    pub(crate) names: &'a ObjectNames<'a>,
}

impl Describer<'_> {
    /// The access at `step`, made at `site`, with the bytes `cell` of it. The moment moves there.
    pub(crate) fn access(
        &self,
        moment: &mut Moment<'_>,
        step: Step,
        access: &Access,
        site: Option<SiteId>,
        cell: Cell,
    ) -> SeenAccess {
        let trace = moment.trace();
        moment.advance(step);
        let event = &trace.events[step];
        let Position { function, inside, file, line, column } = Position::of(self.program, site);
        let words = Words { trace, names: self.names };
        let thread = event.id.thread;
        SeenAccess {
            event: event.id,
            thread: trace.threads[thread].path.clone(),
            raw: *access,
            variable: self.names.cell(moment.object(cell.start), cell, site),
            access: report::Access {
                kind: access.kind,
                atomic: access.atomic.is_some(),
                file,
                line,
                column,
                function,
                inside,
                thread: words.thread(thread),
                locks: self.locks(moment, thread),
                created: story::created(self.program, trace, thread),
                stack: Vec::new(),
            },
        }
    }

    /// Both accesses of a race between two events of a run: of the conflicting ones of which one is plain the first that
    /// is `wanted` by its sites, else the first. `None` when the run does not have both events or they do not conflict.
    pub(crate) fn race(
        &self,
        trace: &Trace,
        first: EventId,
        second: EventId,
        wanted: impl Fn([Option<SiteId>; 2]) -> bool,
    ) -> Option<[(Step, SeenAccess); 2]> {
        self.races(trace, &[[first, second]], |_, sites| wanted(sites)).pop().flatten()
    }

    /// The same for many pairs of events in one pass over the run; `wanted` is given the index of the pair.
    pub(crate) fn races(
        &self,
        trace: &Trace,
        pairs: &[[EventId; 2]],
        wanted: impl Fn(usize, [Option<SiteId>; 2]) -> bool,
    ) -> Vec<Option<[(Step, SeenAccess); 2]>> {
        let ids: BTreeSet<EventId> = pairs.iter().flatten().copied().collect();
        let steps: BTreeMap<EventId, Step> = trace
            .events
            .iter_enumerated()
            .filter_map(|(step, event)| ids.get(&event.id).map(|id| (*id, step)))
            .collect();
        let mut parts = Vec::new();
        for (index, pair) in pairs.iter().enumerate() {
            let [Some(first), Some(second)] = pair.map(|id| steps.get(&id).copied()) else { continue };
            let wanted = |sites| wanted(index, sites);
            let racing = conflicts(&trace.events[first], &trace.events[second]);
            let Some((sites, accesses)) = racing.iter().find(|(sites, _)| wanted(*sites)).or(racing.first()) else {
                continue;
            };
            let [a, b] = accesses;
            let start = a.cell.start.max(b.cell.start);
            let cell = Cell { start, len: (a.cell.end().min(b.cell.end()) - start.0) as u32 };
            parts.push((first, index, 0, sites[0], *a, cell));
            parts.push((second, index, 1, sites[1], *b, cell));
        }
        parts.sort_by_key(|part| (part.0, part.1, part.2));
        let mut moment = Moment::first(trace);
        let mut seen: Vec<[Option<(Step, SeenAccess)>; 2]> = vec![[None, None]; pairs.len()];
        for (step, index, which, site, access, cell) in parts {
            seen[index][which] = Some((step, self.access(&mut moment, step, &access, site, cell)));
        }
        seen.into_iter().map(|[one, other]| Some([one?, other?])).collect()
    }

    /// Names of the locks that a thread holds, but for those of our library for OpenMP, which the program does not know.
    fn locks(&self, moment: &Moment<'_>, thread: ThreadId) -> Vec<String> {
        let name = |lock: Addr| self.names.cell(moment.object(lock), Cell { start: lock, len: 1 }, None);
        moment.locks(thread).map(name).filter(|name| !openmp::is_own_object(name)).collect()
    }

    /// A failure, as shown by a run. A deadlock's place is that of the first thread that waits.
    /// `None` for a run that was only cut.
    pub(crate) fn failure(&self, trace: &Trace, failure: &Failure) -> Option<Finding> {
        let involved = failure.involved.first();
        let thread = involved.map(|i| i.thread.to_string());
        let (kind, message) = match failure.kind {
            FailureKind::Deadlock => {
                let n = failure.involved.len();
                let who = if n == 1 { "a thread is".to_owned() } else { format!("{n} threads are") };
                (ErrorKind::Deadlock, format!("deadlock: {who} blocked for ever"))
            }
            FailureKind::Assertion => (ErrorKind::Assertion, failure.message.clone()),
            FailureKind::Crash => (ErrorKind::Crash, failure.message.clone()),
            FailureKind::Misuse if failure.message == model::UNWRITTEN => {
                (ErrorKind::Uninitialised, failure.message.clone())
            }
            FailureKind::Misuse => {
                let access = model::interrupted_site(&failure.message).map(|site| self.interrupted(site));
                let call = || model::interrupted_call(&failure.message).map(|site| self.interrupted_call(site));
                match access.or_else(call) {
                    Some(message) => (ErrorKind::Signal, message),
                    None => (ErrorKind::Misuse, failure.message.clone()),
                }
            }
            FailureKind::Lanes => {
                let site = involved.and_then(|i| i.site);
                (ErrorKind::Lanes, self.lanes(site, model::lane_site(&failure.message)))
            }
            FailureKind::Endless => return None,
        };
        let waiting = if kind == ErrorKind::Deadlock { self.waiting(trace) } else { Vec::new() };
        let (thread, place) = match waiting.first() {
            Some(Waiting { function, file, line, column, .. }) => {
                let (function, file) = (function.clone(), file.clone());
                (None, Position { function, inside: None, file, line: *line, column: *column })
            }
            None => (thread, Position::of(self.program, involved.and_then(|i| i.site))),
        };
        let Position { function, file, line, column, .. } = place;
        let (code, witness, run, suppressed) = (kind.code(), None, None, None);
        let tests = Vec::new();
        Some(Finding {
            kind,
            message,
            code,
            file,
            line,
            column,
            function,
            thread,
            waiting,
            witness,
            run,
            suppressed,
            tests,
        })
    }

    /// What a handler does that touches what the code at this site was using.
    fn interrupted(&self, site: SiteId) -> String {
        let place = self.place_inside(site);
        format!("signal handler races with the code that it interrupts: it may run in the middle of {place}")
    }

    /// What a handler does that makes a call which must not come in the middle of the one at this site.
    fn interrupted_call(&self, site: SiteId) -> String {
        let place = self.place_inside(site);
        format!(
            "signal handler calls a function that is not async-signal-safe: it may interrupt such a call at {place}"
        )
    }

    /// The place of a site, with its function.
    fn place_inside(&self, site: SiteId) -> String {
        let place = Position::of(self.program, Some(site));
        let inside = if place.function.is_empty() { String::new() } else { format!(", in `{}`", place.function) };
        format!("{place}{inside}")
    }

    /// What an iteration of a `simd` loop does at a site that touches what another one touches at the other site.
    fn lanes(&self, site: Option<SiteId>, other: Option<SiteId>) -> String {
        let place = Position::of(self.program, other);
        let variable = site.and_then(|site| self.program.sites.get(site)?.expression.clone());
        let variable = variable.map_or_else(String::new, |variable| format!(" on `{variable}`"));
        format!("data race{variable} between iterations of a `simd` loop; the other access is at {place}")
    }

    /// Who waits at the end of a run, and for what. Those that wait for another thread's end come last: they are not
    /// the cause.
    fn waiting(&self, trace: &Trace) -> Vec<Waiting> {
        let mut blocked: Vec<_> = trace.pending.iter().filter(|pending| !pending.enabled).collect();
        blocked.sort_by_key(|pending| (matches!(pending.event.op, Op::Join { .. }), pending.event.id.thread));
        let mut last = Moment::first(trace);
        last.advance(trace.events.next_id());
        blocked
            .into_iter()
            .map(|pending| {
                let words = Words { trace, names: self.names };
                let Position { function, file, line, column, .. } = Position::of(self.program, pending.event.site);
                Waiting {
                    thread: words.thread(pending.event.id.thread),
                    waits: words.waits(&pending.event),
                    locks: self.locks(&last, pending.event.id.thread),
                    function,
                    file,
                    line,
                    column,
                }
            })
            .collect()
    }
}

/// The accesses of two events that race if nothing orders them, with their sites.
fn conflicts(one: &Event, other: &Event) -> Vec<([Option<SiteId>; 2], [Access; 2])> {
    let mut found = Vec::new();
    for (i, a) in one.op.accesses().iter().enumerate() {
        for (j, b) in other.op.accesses().iter().enumerate().filter(|(_, b)| could_race(a, b)) {
            found.push(([one.site_of(i), other.site_of(j)], [*a, *b]));
        }
    }
    found
}

/// The step of an event, if the run has it.
pub(crate) fn step_of(trace: &Trace, id: EventId) -> Option<Step> {
    trace.events.iter().position(|event| event.id == id).map(Idx::new)
}
