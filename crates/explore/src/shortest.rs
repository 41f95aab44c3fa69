//! The same events with the fewest thread switches.
//!
//! A running thread continues as long as it can: its events only enable others, so stopping it early never saves a
//! switch. What remains to decide is the order of threads, which is searched breadth first over the progress of each
//! thread. All orders of the same events have the same length, so the first one found is also a shortest.
//!
//! The result is a minimum over the runs of these events that respect the order of dependent ones: no schedule of the
//! same class needs fewer switches. A schedule of another class may.

use model::{Clock, End, EventId, Misuse, Op, Schedule, Step, ThreadId, Trace};
use rustc_hash::FxHashSet;

use crate::causality::{Causality, Linearised};
use crate::outcome::{Failure, FailureKind};

/// Limit on the states searched; beyond it, programs with many threads get the usual order.
const MOST_STATES: usize = 2_000;

/// The progress of all threads, and how it was reached.
struct Node {
    /// Number of events of each thread.
    progress: Vec<u32>,
    /// The previous node, and the thread that ran since.
    before: Option<(usize, usize)>,
}

/// The events of a downward-closed set as a run that respects the order, with as few switches as possible; among
/// several such runs, one that ends with the thread `then`. `None` when there are too many to try.
pub(crate) fn with_fewest_switches(
    causality: &Causality,
    trace: &Trace,
    past: &Clock,
    then: ThreadId,
) -> Option<Linearised> {
    let threads: Vec<ThreadId> = causality.threads().filter(|t| past.count(*t) > 0).collect();
    let goal: Vec<u32> = threads.iter().map(|t| past.count(*t)).collect();
    let ready = |progress: &[u32], at: usize| {
        let id = EventId { thread: threads[at], position: progress[at] };
        let step = past.contains(id).then(|| causality.step_of(id))?;
        let needs = causality.clock(step);
        let mut others = threads.iter().zip(progress).enumerate();
        others.all(|(other, (t, done))| other == at || needs.count(*t) <= *done).then_some(step)
    };
    let mut nodes = vec![Node { progress: vec![0; threads.len()], before: None }];
    let mut known = FxHashSet::default();
    let mut layer = 0..1;
    let (mut at, last) = loop {
        let (next, mut found) = (nodes.len(), None);
        for node in layer.clone() {
            for (at, thread) in threads.iter().enumerate() {
                let mut progress = nodes[node].progress.clone();
                while ready(&progress, at).is_some() {
                    progress[at] += 1;
                }
                if progress == goal {
                    found = found.filter(|_| *thread != then).or(Some((node, at)));
                } else if progress != nodes[node].progress && known.insert(progress.clone()) {
                    nodes.push(Node { progress, before: Some((node, at)) });
                }
            }
        }
        if let Some(found) = found {
            break found;
        }
        if nodes.len() == next || nodes.len() > MOST_STATES {
            return None;
        }
        layer = next..nodes.len();
    };
    let mut order = vec![last];
    while let Some((before, thread)) = nodes[at].before {
        order.push(thread);
        at = before;
    }
    let mut run = Linearised::new();
    let mut progress = vec![0; threads.len()];
    for at in order.into_iter().rev() {
        while let Some(step) = ready(&progress, at) {
            let event = &trace.events[step];
            run.push(event);
            if let Op::Create { child } = event.op {
                run.created(child);
            }
            progress[at] += 1;
        }
    }
    Some(run)
}

/// The last step with a switch away from a thread that could have continued.
pub fn last_preemption(trace: &Trace) -> Option<Step> {
    let events = trace.events.as_slice();
    let preempts = |at: &usize| {
        let (before, now) = (events[at - 1].id.thread, events[*at].id.thread);
        before != now && trace.runnable_at(Step(*at as u32)).contains(before)
    };
    (1..events.len()).rev().find(preempts).map(|at| Step(at as u32))
}

/// A schedule that should show a failure of this trace again, with as few switches as the events that led to it allow.
/// After its end the executor's policy continues, so the caller has to check that the failure occurs.
pub(crate) fn of_failure(trace: &Trace, failure: &Failure) -> Option<Schedule> {
    let causality = Causality::of(trace);
    let all = || causality.threads().filter_map(|thread| causality.last_of(thread)).collect::<Vec<_>>();
    let is_shown = |misuse: &&Misuse| {
        misuse.what == failure.message && failure.involved.iter().any(|involved| involved.site == misuse.site)
    };
    let (steps, then) = match (failure.kind, &trace.end) {
        (FailureKind::Assertion, End::Assertion { thread, .. }) | (FailureKind::Crash, End::Crash { thread, .. }) => {
            (causality.last_of(*thread).into_iter().collect(), *thread)
        }
        (FailureKind::Deadlock, End::Deadlock) => (all(), ThreadId::MAIN),
        (kind, _) if kind.is_remark() => {
            let misuse = trace.misuses.iter().find(is_shown)?;
            let after = Step(misuse.before.0 + 1);
            (causality.last_before(misuse.thread, after).into_iter().collect(), misuse.thread)
        }
        _ => return None,
    };
    let mut past = Clock::new();
    steps.into_iter().for_each(|step| causality.clock(step).join_to(&mut past));
    Some(with_fewest_switches(&causality, trace, &past, then)?.schedule)
}

#[cfg(test)]
mod tests {
    use model::Executor;
    use testkit::generator::{Case, Feature};
    use testkit::{Interpreter, Limits};

    use super::*;

    /// The fewest switches of any order of the events that respects causality, by trying all; one more if `then` is not
    /// the last to run.
    fn fewest(causality: &Causality, past: &Clock, done: &Clock, last: ThreadId, then: ThreadId) -> usize {
        let threads = causality.threads().filter(|t| done.count(*t) < past.count(*t));
        let orders = threads.filter_map(|thread| {
            let id = EventId { thread, position: done.count(thread) };
            let needs = causality.clock(causality.step_of(id));
            let ready = causality.threads().all(|t| t == thread || needs.count(t) <= done.count(t));
            ready.then(|| {
                let mut more = done.clone();
                more.learn(id);
                usize::from(thread != last) + fewest(causality, past, &more, thread, then)
            })
        });
        orders.min().unwrap_or(usize::from(last != then))
    }

    /// Orders in which the events that lead to two others can come before the first of them.
    #[test]
    fn no_order_has_fewer_switches() {
        let (mut compared, mut saved) = (0, 0);
        for seed in 0..300 {
            let case = Case::generate(seed, &Feature::ALL.into(), Limits::default());
            let trace = Interpreter::new(case.program()).unwrap().run(&Schedule::new()).unwrap();
            let causality = Causality::of(&trace);
            let steps = || trace.events.ids().filter(|step| (4..14).contains(&step.0));
            for (one, other) in steps().flat_map(|one| steps().map(move |other| (one, other))) {
                let event = &trace.events[one];
                let before = |step| causality.last_before(trace.events[step].id.thread, step);
                let mut past = Clock::new();
                let lasts = [one, other].into_iter().filter_map(before);
                lasts.for_each(|step| causality.clock(step).join_to(&mut past));
                if past.contains(event.id) || past.count(event.id.thread) == 0 {
                    continue;
                }
                let then = event.id.thread;
                let mut run = with_fewest_switches(&causality, &trace, &past, then).unwrap();
                run.push(event);
                let best = fewest(&causality, &past, &Clock::new(), ThreadId::MAIN, then);
                assert_eq!(run.schedule.switches(), best, "seed {seed}, {one:?}, {other:?}");
                let mut usual = causality.linearise(&trace, &past);
                usual.push(event);
                saved += usual.schedule.switches() - best;
                compared += 1;
            }
        }
        assert!(compared > 3_000, "{compared} orders");
        assert!(saved > 0, "the usual order is not always the best");
    }
}
