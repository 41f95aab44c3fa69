//! The run that shows a finding, for the result document.

use std::collections::{BTreeMap, BTreeSet};

use model::index::Idx;
use model::{AccessKind, Event, HeldLocks, IndexVec, Op, SiteId, Step, ThreadId, Trace};
use program::{Program, openmp};
use report::{Action, Created, Run, RunEvent, RunThread};

use super::{ObjectNames, Position, Words};

/// Most events kept of a run, and of each thread that the finding is about.
const KEPT: usize = 120;
const KEPT_OF_THREAD: usize = 12;

/// Most events told where all are.
const MOST: usize = 50_000;

/// What the run leads to.
pub(crate) enum Ending<'a> {
    /// Two accesses side by side.
    Race {
        /// The earlier one.
        first: Step,
        /// The later one.
        second: Step,
    },
    /// Threads stand before operations they cannot execute.
    Waiting,
    /// A thread does something wrong after the run's last event.
    Fault {
        /// Who.
        thread: ThreadId,
        /// Where.
        site: Option<SiteId>,
        /// What.
        what: &'a str,
    },
}

/// Tells what matters of a run up to the ending.
pub(crate) fn tell(program: &Program, names: &ObjectNames<'_>, trace: &Trace, ending: &Ending<'_>) -> Run {
    Teller { program, trace, words: Words { trace, names } }.run(ending, false)
}

/// Tells all of a run, also what comes after the ending; of very long ones the end.
pub(crate) fn tell_all(program: &Program, names: &ObjectNames<'_>, trace: &Trace, ending: &Ending<'_>) -> Run {
    Teller { program, trace, words: Words { trace, names } }.run(ending, true)
}

/// Where a thread was created.
pub(crate) fn created(program: &Program, trace: &Trace, thread: ThreadId) -> Option<Created> {
    let event = trace.events.get(trace.threads[thread].created?)?;
    let Position { function, file, line, column, .. } = Position::of(program, event.site);
    let thread = trace.threads[event.id.thread].path.to_string();
    Some(Created { thread, function, file, line, column, stack: Vec::new() })
}

struct Teller<'a> {
    program: &'a Program,
    trace: &'a Trace,
    words: Words<'a>,
}

impl Teller<'_> {
    fn run(&self, ending: &Ending<'_>, all: bool) -> Run {
        let trace = self.trace;
        let (about, end) = match ending {
            Ending::Race { first, second } => {
                let of = |step: &Step| trace.events[*step].id.thread;
                (vec![of(first), of(second)], Step::new(second.index() + 1))
            }
            Ending::Waiting => {
                let blocked = trace.pending.iter().filter(|p| !p.enabled).map(|p| p.event.id.thread);
                (blocked.take(3).collect(), trace.events.next_id())
            }
            Ending::Fault { thread, .. } => {
                let other = trace.events.iter().rev().map(|e| e.id.thread).find(|t| t != thread);
                (std::iter::once(*thread).chain(other).collect(), trace.events.next_id())
            }
        };
        let first_sites = first_sites(trace);
        let threads = trace.threads.iter_enumerated().map(|(id, info)| RunThread {
            thread: info.path.to_string(),
            function: self.first_function(id, first_sites[id]),
            created: created(self.program, trace, id),
        });
        let steps = trace.events.len();
        let kept =
            if all { (steps.saturating_sub(MOST)..steps).map(Idx::new).collect() } else { kept(trace, &about, end) };
        let (mut events, held) = self.events(&kept, ending);
        self.end(&mut events, &held, end, ending, &about);
        Run { threads: threads.collect(), about: about.iter().map(|t| t.index()).collect(), events }
    }

    /// The events at these steps, and the locks that threads hold at the end of the run.
    fn events(&self, kept: &BTreeSet<Step>, ending: &Ending<'_>) -> (Vec<RunEvent>, BTreeMap<ThreadId, HeldLocks>) {
        let mut held: BTreeMap<ThreadId, HeldLocks> = BTreeMap::new();
        let mut events = Vec::new();
        let preemption = ::explore::last_preemption(self.trace);
        for (step, event) in self.trace.events.iter_enumerated() {
            let locks = held.entry(event.id.thread).or_default();
            if kept.contains(&step) {
                let locks = self.names_of(locks);
                let (marked, deciding) = match ending {
                    Ending::Race { first, second } => (step == *first || step == *second, step == *second),
                    // The search has seen that the failure does not show without it.
                    _ => (false, preemption == Some(step)),
                };
                let told = self.event(step, event, action(&event.op), self.words.did(event));
                if marked || deciding || !is_inside_openmp(&told) {
                    events.push(RunEvent { locks, marked, deciding, ..told });
                }
            }
            locks.execute(&event.op);
        }
        (events, held)
    }

    fn names_of(&self, locks: &HeldLocks) -> Vec<String> {
        let names = locks.iter().map(|(lock, _)| self.words.object(lock));
        names.filter(|lock| !openmp::is_own_object(lock)).collect()
    }

    fn event(&self, step: Step, event: &Event, action: Action, what: String) -> RunEvent {
        let Position { function, file, line, .. } = Position::of(self.program, event.site);
        let (step, thread) = (step.index(), event.id.thread.index());
        let (value, locks) = (None, Vec::new());
        RunEvent { step, thread, action, what, value, function, file, line, locks, marked: false, deciding: false }
    }

    /// What comes after the last event.
    fn end(
        &self,
        events: &mut Vec<RunEvent>,
        held: &BTreeMap<ThreadId, HeldLocks>,
        end: Step,
        ending: &Ending<'_>,
        about: &[ThreadId],
    ) {
        match ending {
            Ending::Race { .. } => {}
            Ending::Waiting => {
                for pending in self.trace.pending.iter().filter(|p| !p.enabled && about.contains(&p.event.id.thread)) {
                    let what = format!("waits {}", self.words.waits(&pending.event));
                    let told = self.event(end, &pending.event, Action::Blocked, what);
                    let locks = held.get(&pending.event.id.thread).map_or_else(Vec::new, |locks| self.names_of(locks));
                    events.push(RunEvent { marked: true, locks, ..told });
                }
            }
            Ending::Fault { thread, site, what } => {
                let Position { function, file, line, .. } = Position::of(self.program, *site);
                let locks = held.get(thread).map_or_else(Vec::new, |locks| self.names_of(locks));
                let (step, thread, what) = (end.index(), thread.index(), (*what).to_owned());
                let (action, value) = (Action::Fault, None);
                let (marked, deciding) = (true, false);
                events.push(RunEvent {
                    step,
                    thread,
                    action,
                    what,
                    value,
                    function,
                    file,
                    line,
                    locks,
                    marked,
                    deciding,
                });
            }
        }
    }

    /// Where a thread began, as far as its events tell.
    fn first_function(&self, thread: ThreadId, first_site: Option<SiteId>) -> String {
        if self.trace.threads[thread].created.is_none() {
            return "main".to_owned();
        }
        Position::of(self.program, first_site).function
    }
}

/// The first site of each thread.
fn first_sites(trace: &Trace) -> IndexVec<ThreadId, Option<SiteId>> {
    let mut first = IndexVec::filled(trace.threads.len(), None);
    for event in trace.events.iter().filter(|event| event.site.is_some()) {
        let first: &mut Option<SiteId> = &mut first[event.id.thread];
        *first = first.or(event.site);
    }
    first
}

/// The steps before `end` that are worth keeping.
fn kept(trace: &Trace, about: &[ThreadId], end: Step) -> BTreeSet<Step> {
    let mut left: BTreeMap<ThreadId, usize> = about.iter().map(|t| (*t, KEPT_OF_THREAD)).collect();
    let mut kept = BTreeSet::new();
    for (step, event) in trace.events.iter_enumerated().rev().filter(|(step, _)| *step < end) {
        let of_thread = left.get_mut(&event.id.thread).filter(|left| **left > 0);
        if kept.len() < KEPT || of_thread.is_some() {
            kept.insert(step);
        }
        if let Some(left) = left.get_mut(&event.id.thread) {
            *left = left.saturating_sub(1);
        }
    }
    kept
}

/// Whether an event is one by which our library for OpenMP keeps its own books: all but what becomes of threads.
fn is_inside_openmp(event: &RunEvent) -> bool {
    let mut quoted = event.what.split('`').skip(1).step_by(2);
    let is_own = event.file.as_deref().is_some_and(openmp::is_own_file) || quoted.any(openmp::is_own_object);
    is_own && event.action != Action::Thread
}

fn action(op: &Op) -> Action {
    match op {
        Op::Access(_) | Op::Accesses(_) => {
            let reads = op.accesses().iter().all(|access| access.kind == AccessKind::Read);
            if reads { Action::Read } else { Action::Write }
        }
        Op::Acquire { .. } | Op::TryAcquire { success: true, .. } => Action::Lock,
        Op::Release { .. } => Action::Unlock,
        Op::Create { .. } | Op::Start | Op::Exit | Op::Join { .. } | Op::TryJoin { .. } | Op::Detach { .. } => {
            Action::Thread
        }
        _ => Action::Sync,
    }
}
