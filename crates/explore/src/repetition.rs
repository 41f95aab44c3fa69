//! Runs that cannot be repeated: two runs of one schedule differ.
//!
//! A run is a function of its schedule, unless the program depends on something that is not controlled (time, the outside
//! world, memory that a library function writes unnoticed) or raceproof has a bug. What differs ends that part of the
//! search; everything found before stays.

use model::{End, Event, Op, SiteId, Step, ThreadId, ThreadPath, Trace};
use serde::{Deserialize, Serialize};

/// A run that did not repeat what an earlier run of the same schedule did.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Unrepeatable {
    /// The thread that did something else, if it is known.
    pub thread: Option<ThreadPath>,
    /// Where it was.
    pub site: Option<SiteId>,
    /// What differed, in words.
    pub what: String,
}

/// Two runs of the same prefix gave different traces.
pub(crate) struct Difference(pub(crate) Unrepeatable);

impl Difference {
    /// The runs differ in the state before the event `step` of `now`.
    pub(crate) fn at(now: &Trace, step: Step, what: String) -> Self {
        let event = now.events.get(step).or(now.events.iter().last());
        let thread = event.and_then(|event| path(now, event.id.thread));
        Self(Unrepeatable { thread, site: event.and_then(|event| event.site), what })
    }

    /// An event was `expected` where the run `now` has its event `step`, or has ended.
    pub(crate) fn event(expected: &Event, now: &Trace, step: Step) -> Self {
        let wanted = describe(expected);
        match now.events.get(step) {
            Some(found) => Self::at(now, step, format!("one run {wanted}, another {} there", describe(found))),
            None => {
                let what = format!("one run {wanted}, another {} there", end(&now.end));
                let thread = path(now, expected.id.thread);
                Self(Unrepeatable { thread, site: expected.site, what })
            }
        }
    }
}

impl Unrepeatable {
    /// A run left a schedule that was derived from other runs: `trace` ends with [`End::Diverged`].
    pub(crate) fn diverged(trace: &Trace, message: &str) -> Self {
        let last = trace.pending.iter().map(|pending| &pending.event).next().or(trace.events.iter().last());
        let thread = last.and_then(|event| path(trace, event.id.thread));
        Self { thread, site: last.and_then(|event| event.site), what: message.to_owned() }
    }
}

fn path(trace: &Trace, thread: ThreadId) -> Option<ThreadPath> {
    trace.threads.get(thread).map(|info| info.path.clone())
}

/// What an event does, without addresses: they mean nothing to a reader.
fn describe(event: &Event) -> String {
    let what = match &event.op {
        Op::Access(access) => format!("made a {:?} access of {} bytes", access.kind, access.cell.len),
        op => {
            let text = format!("{op:?}");
            let name = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned();
            format!("made a {name} event")
        }
    };
    format!("{what} in thread {}", event.id.thread)
}

fn end(end: &End) -> &'static str {
    match end {
        End::Exit { .. } => "ended the program",
        End::Deadlock => "had all threads blocked",
        End::Assertion { .. } => "had a failed assertion",
        End::Crash { .. } => "crashed",
        _ => "ended",
    }
}
