//! A run as a story: the last events of the threads that matter, in columns.

use std::collections::BTreeMap;

use model::index::Idx;
use model::{Step, ThreadId, Trace};
use program::Program;
use report::story::{Column, Row, Story};

use crate::names::Names;
use crate::place::Place;
use crate::words::Words;

/// Events shown per thread.
const SHOWN: usize = 6;

/// What the story leads to.
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
        site: Option<model::SiteId>,
        /// What.
        what: &'a str,
    },
}

/// Tells the run's last events up to the ending.
pub(crate) fn tell(program: &Program, names: &Names<'_>, trace: &Trace, ending: &Ending<'_>) -> Story {
    let words = Words { trace, names };
    let (threads, end) = match ending {
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
    let shown = shown(trace, &threads, end);
    let column = |thread: ThreadId| threads.iter().position(|t| *t == thread).unwrap_or_default();

    let mut rows = Vec::new();
    let mut next = 0;
    for step in shown {
        if step.index() > next {
            rows.push(Row::Skipped { events: step.index() - next });
        }
        next = step.index() + 1;
        let event = &trace.events[step];
        let marked = match ending {
            Ending::Race { first, second } => {
                if step == *second {
                    rows.push(Row::DecidingSwitch);
                }
                step == *first || step == *second
            }
            _ => false,
        };
        rows.push(row(program, column(event.id.thread), event.site, words.did(event), marked));
    }
    match ending {
        Ending::Race { .. } => {}
        Ending::Waiting => {
            for pending in trace.pending.iter().filter(|p| !p.enabled && threads.contains(&p.event.id.thread)) {
                let what = format!("waits {}", words.waits(&pending.event.op));
                rows.push(row(program, column(pending.event.id.thread), pending.event.site, what, true));
            }
        }
        Ending::Fault { thread, site, what } => {
            rows.push(row(program, column(*thread), *site, (*what).to_owned(), true));
        }
    }
    let columns = threads
        .iter()
        .map(|thread| Column { thread: words.thread(*thread), function: function(program, trace, *thread, end) });
    Story { columns: columns.collect(), rows }
}

fn row(program: &Program, column: usize, site: Option<model::SiteId>, what: String, marked: bool) -> Row {
    let Place { file, line, .. } = Place::of(program, site);
    Row::Event { column, file, line, what, marked }
}

/// The last few steps before `end` of each of these threads, in order.
fn shown(trace: &Trace, threads: &[ThreadId], end: Step) -> Vec<Step> {
    let mut left: BTreeMap<ThreadId, usize> = threads.iter().map(|t| (*t, SHOWN)).collect();
    let mut steps: Vec<Step> = Vec::new();
    for (step, event) in trace.events.iter_enumerated().rev().filter(|(step, _)| *step < end) {
        if let Some(left) = left.get_mut(&event.id.thread)
            && *left > 0
        {
            *left -= 1;
            steps.push(step);
        }
    }
    steps.reverse();
    steps
}

/// The function a thread was last seen in.
fn function(program: &Program, trace: &Trace, thread: ThreadId, end: Step) -> String {
    let mut events = trace.events.iter_enumerated().rev().filter(|(step, e)| *step < end && e.id.thread == thread);
    let site = events.find_map(|(_, e)| e.site);
    Place::of(program, site).function
}
