//! Accesses and failures as the report shows them, taken from runs that show them.

use explore::{Failure, FailureKind};
use files::{RecordedAccess, RecordedEvent};
use model::index::Idx;
use model::race::could_race;
use model::{Access, Cell, EventId, Op, SiteId, Step, ThreadPath, Trace, locks_held};
use program::Program;
use report::{ErrorKind, Finding, Waiting};
use serde::{Deserialize, Serialize};

use super::words::Words;
use super::{ObjectNames, Position, story};

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
    /// The access at `step`, made at `site`, with the bytes `cell` of it.
    pub(crate) fn access(
        &self,
        trace: &Trace,
        step: Step,
        access: &Access,
        site: Option<SiteId>,
        cell: Cell,
    ) -> SeenAccess {
        let event = &trace.events[step];
        let Position { function, inside, file, line, column } = Position::of(self.program, site);
        let words = Words { trace, names: self.names };
        let thread = event.id.thread;
        SeenAccess {
            event: event.id,
            thread: trace.threads[thread].path.clone(),
            raw: *access,
            variable: self.names.cell(trace, step, cell, site),
            access: report::Access {
                kind: access.kind,
                atomic: access.atomic.is_some(),
                file,
                line,
                column,
                function,
                inside,
                thread: words.thread(thread),
                locks: self.locks(trace, step),
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
        let [first, second] = [step_of(trace, first)?, step_of(trace, second)?];
        let (one, other) = (&trace.events[first], &trace.events[second]);
        let pairs = one.op.accesses().iter().enumerate().flat_map(|(i, a)| {
            let others = other.op.accesses().iter().enumerate().filter(|(_, b)| could_race(a, b));
            others.map(move |(j, b)| ([one.site_of(i), other.site_of(j)], *a, *b))
        });
        let racing: Vec<_> = pairs.collect();
        let ([at, other_at], a, b) = *racing.iter().find(|(sites, ..)| wanted(*sites)).or(racing.first())?;
        let start = a.cell.start.max(b.cell.start);
        let end = a.cell.end().min(b.cell.end());
        let cell = Cell { start, len: (end - start.0) as u32 };
        let one = self.access(trace, first, &a, at, cell);
        Some([(first, one), (second, self.access(trace, second, &b, other_at, cell))])
    }

    /// ObjectNames of the locks held by the thread of the event at `step`.
    fn locks(&self, trace: &Trace, step: Step) -> Vec<String> {
        let words = Words { trace, names: self.names };
        locks_held(trace, step).into_iter().map(|(lock, _)| words.object(lock)).collect()
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
            FailureKind::Misuse => (ErrorKind::Misuse, failure.message.clone()),
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
        Some(Finding { kind, message, code, file, line, column, function, thread, waiting, witness, run, suppressed })
    }

    /// Who waits at the end of a run, and for what. Those that wait for another thread's end come last: they are not
    /// the cause.
    fn waiting(&self, trace: &Trace) -> Vec<Waiting> {
        let mut blocked: Vec<_> = trace.pending.iter().filter(|pending| !pending.enabled).collect();
        blocked.sort_by_key(|pending| (matches!(pending.event.op, Op::Join { .. }), pending.event.id.thread));
        blocked
            .into_iter()
            .map(|pending| {
                let words = Words { trace, names: self.names };
                let mut further = trace.clone();
                let step = further.events.push(pending.event.clone());
                let Position { function, file, line, column, .. } = Position::of(self.program, pending.event.site);
                Waiting {
                    thread: words.thread(pending.event.id.thread),
                    waits: words.waits(&pending.event.op),
                    locks: self.locks(&further, step),
                    function,
                    file,
                    line,
                    column,
                }
            })
            .collect()
    }
}

/// The step of an event, if the run has it.
pub(crate) fn step_of(trace: &Trace, id: EventId) -> Option<Step> {
    trace.events.iter().position(|event| event.id == id).map(Idx::new)
}
