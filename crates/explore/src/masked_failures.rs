//! Failures masked by another failure.
//!
//! A run ends with its first failure and reports no other. When two threads fail, which failure comes first depends on
//! the order of otherwise independent events, so a reduction need not try both orders.

use model::{End, Op, Schedule, ThreadId, Trace};

use crate::causality::Causality;

/// For a trace that ended with a failure: one schedule for each other thread that stopped for good and may have failed
/// too. The schedule runs only what leads to the thread's last event, so that its failure comes first.
pub(crate) fn masked_failures(trace: &Trace) -> Vec<Schedule> {
    let (End::Assertion { thread: shown, .. } | End::Crash { thread: shown, .. }) = trace.end else {
        return Vec::new();
    };
    let parked: Vec<ThreadId> = trace.threads.ids().filter(|t| *t != shown && is_parked(trace, *t)).collect();
    if parked.is_empty() {
        return Vec::new();
    }
    let causality = Causality::of(trace);
    let last_of = |thread| causality.last_of(thread).map(|step| (causality.clock(step), trace.events[step].id));
    let shown = last_of(shown).map(|(_, id)| id);
    let first_instead = |thread: &ThreadId| {
        let (past, _) = last_of(*thread)?;
        (!shown.is_some_and(|shown| past.contains(shown))).then(|| causality.linearise(trace, &past.into()).schedule)
    };
    parked.iter().filter_map(first_instead).collect()
}

/// Whether the thread has neither ended nor a next event: it left the process, or failed.
fn is_parked(trace: &Trace, thread: ThreadId) -> bool {
    let last = trace.events.iter().rev().find(|e| e.id.thread == thread);
    let pending = trace.pending.iter().any(|p| p.event.id.thread == thread);
    !pending && last.is_some_and(|e| e.op != Op::Exit)
}
