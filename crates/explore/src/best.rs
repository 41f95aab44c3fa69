//! The default reduction: one execution for each class of equivalent schedules ([`optimal`](crate::optimal)), without
//! those classes after which no requested finding can occur (paper 000, as corrected in [`pdp`](crate::pdp) and
//! [`dhtc`](crate::dhtc)).
//!
//! Only findings that are still open count: once a pair has raced it is settled, and states that could only lead to it
//! are closed from then on, together with everything planned there. A program without a race, with one lock order and
//! without assertions takes one execution.
//!
//! *Complete* for the requested findings, by the argument of [`dhtc`](crate::dhtc), whose event `d` of the last
//! interference is that of [`optimal`](crate::optimal), with one difference. Where the search pruned something after
//! `d` that may interfere with `d`, it has not seen everything that may have to come before `d`. So while `d` sleeps,
//! it does not excuse a plan it is independent of ([`SleepSet::incomplete`](crate::sleep::SleepSet::incomplete)), and
//! it is not among the events of which the last is taken.
//!
//! Plans made because of a possible future, or in spite of a sleeping thread, may turn out to be unnecessary. So
//! executions can be blocked here, which never happens in `optimal`.

use model::{Event, Op, Step, ThreadId, Trace, work};

use crate::choices::ChoiceValues;
use crate::optimal::Optimal;
use crate::pruner::{Pruner, Remaining};
use crate::reversal::reversible;
use crate::thrift::Thrift;
use crate::wakeup::{Branch, Planned};

/// Creates the reduction.
pub(crate) fn new(pruner: Pruner, thrift: Thrift, values: &ChoiceValues) -> Optimal {
    let mut optimal = Optimal::new(values);
    (optimal.pruner, optimal.thrift) = (pruner, thrift);
    optimal
}

impl Optimal {
    /// Whether findings decide what is explored: then helpers, who do not know them, would explore what is pruned here.
    /// What they explore instead of a search that asks seldom is at most what `optimal` explores.
    pub(crate) fn prunes(&mut self) -> bool {
        self.pruner.has_outlook() && self.thrift.pays()
    }

    /// Plans what an execution's first `end` events, and the operations pending then, make necessary.
    pub(crate) fn plan(&mut self, trace: &Trace, end: Step) {
        if !self.pruner.has_outlook() || !self.thrift.asks() {
            self.pruner.take_all_for_open();
            return self.plan_reversals(trace, Step(0), end);
        }
        let skipped = self.pruner.pruned.skipped;
        match self.pruner.find_closed_state(trace, end) {
            None => self.plan_reversals(trace, Step(0), end),
            Some(closed) => self.plan_with_pruning(trace, closed, end),
        }
        self.thrift.asked(self.pruner.pruned.skipped - skipped, self.thread_numbers.paths().len());
    }

    /// Plans the necessary reversals of an execution's first `end` events, given its first closed state.
    ///
    /// Events that may have to run first in an open state, because of a possible future, and are not planned there can
    /// either be planned now or be found by searching below the closed state. This plans them now unless that would
    /// mean more work.
    pub(crate) fn plan_with_pruning(&mut self, trace: &Trace, closed: Step, end: Step) {
        let skipped = self.pruner.pruned.skipped;
        self.plan_reversals_before(trace, closed, end);
        self.plan_choices(trace, Step(0), closed);
        let until = match self.untried(trace, closed) {
            Some(untried) if untried.is_empty() => {
                self.pruner.closed_from = Some(closed);
                self.plan_reversals(trace, closed, end);
                closed
            }
            untried => {
                self.pruner.closed_from = None;
                self.plan_reversals(trace, closed, end);
                let until = self.first_safe(trace, closed, end);
                let below: usize = self.trees.range(closed..until).map(|(_, branches)| branches.len()).sum();
                match untried.filter(|untried| untried.len() <= below) {
                    Some(untried) => {
                        self.drop_plans_from(closed);
                        untried.into_iter().for_each(|(step, event)| self.plan_first(step, event));
                        closed
                    }
                    None => until,
                }
            }
        };
        self.drop_plans_from(until);
        if self.pruner.pruned.skipped > skipped {
            let remaining = self.pruner.remaining(trace, until);
            let threatened = self.pruner.threatened(trace, &self.causality, &remaining, until);
            self.threatened.extend(threatened.into_iter().map(|(step, _)| step));
        }
    }

    /// Drops everything planned from a state on.
    fn drop_plans_from(&mut self, closed: Step) {
        let given_up = self.trees.split_off(&closed);
        self.pruner.count_omitted(given_up.values().map(Vec::len).sum());
    }

    /// Plans to run the event first in a state.
    fn plan_first(&mut self, step: Step, event: Event) {
        let chain = [Planned::new(self.events.number(&event), false)].into();
        self.trees.entry(step).or_default().push(Branch { chain, next: Vec::new() });
    }

    /// Plans the reversals that change something before the closed state. Reversing two events that both come later
    /// would change nothing. Those of two events before it that an earlier execution had, too, were planned then: a state
    /// that is open now was open then.
    fn plan_reversals_before(&mut self, trace: &Trace, closed: Step, end: Step) {
        let next = self.causality.next_events(trace, end);
        let all: Vec<&Event> = trace.events.iter().take(end.0 as usize).chain(next).collect();
        let known = self.reversed.min(closed.0 as usize);
        for (step, next) in (0..).map(Step).zip(all).skip(known) {
            if self.deadline.passes() {
                break;
            }
            let until = step.min(closed);
            let firsts = reversible(&self.causality, &self.locks, trace, next, until);
            firsts.iter().for_each(|first| self.plan_reversal(trace, *first, next));
        }
    }

    /// The first state at or after the closed one below which everything can be pruned: whatever may interfere there
    /// with an earlier event is explored or planned before that event.
    fn first_safe(&self, trace: &Trace, closed: Step, end: Step) -> Step {
        let (mut unsafe_until, mut safe) = (closed.0 + 1, end.0);
        while unsafe_until < safe {
            let middle = unsafe_until + (safe - unsafe_until) / 2;
            if self.is_safe(trace, closed, Step(middle)) { safe = middle } else { unsafe_until = middle + 1 }
        }
        Step(safe)
    }

    fn is_safe(&self, trace: &Trace, closed: Step, until: Step) -> bool {
        let remaining = self.pruner.remaining(trace, until);
        let threatened = self.pruner.threatened(trace, &self.causality, &remaining, until);
        threatened.iter().all(|(step, threats)| {
            *step < closed && self.unplanned(trace, *step, until, threats, &remaining).is_empty()
        })
    }

    /// Events that may have to come before events executed in open states and are neither planned nor explored there.
    /// `None` if one of them is not known exactly.
    fn untried(&self, trace: &Trace, closed: Step) -> Option<Vec<(Step, Event)>> {
        let remaining = self.pruner.remaining(trace, closed);
        let mut untried = Vec::new();
        for (step, threats) in self.pruner.threatened(trace, &self.causality, &remaining, closed) {
            let unplanned = self.unplanned(trace, step, closed, &threats, &remaining);
            let later = || trace.events.iter().skip(step.0 as usize).chain(trace.pending.iter().map(|p| &p.event));
            let later = || later().inspect(|_| work::count(1));
            let next = unplanned.into_iter().map(|thread| later().find(|e| e.id.thread == thread));
            let mut next: Vec<&Event> =
                next.map(|e| e.filter(|e| self.has_fixed_footprint(e))).collect::<Option<_>>()?;
            if let Some(idle) = next.iter().copied().find(|e| is_independent(e)) {
                next = vec![idle];
            }
            untried.extend(next.into_iter().map(|event| (step, event.clone())));
        }
        Some(untried)
    }

    /// Whether the event has the same footprint in every state where its thread reaches it.
    fn has_fixed_footprint(&self, event: &Event) -> bool {
        match &event.op {
            Op::Access(access) => {
                access.atomic.is_none() || !event.site.is_some_and(|site| self.exchanges.contains(&site))
            }
            Op::Accesses(_) | Op::Section { .. } | Op::Choose(_) | Op::WaitEnd { .. } | Op::OnceBegin { .. } => false,
            Op::TryAcquire { .. } | Op::SemTryWait { .. } | Op::TryJoin { .. } => false,
            _ => true,
        }
    }

    /// The threads that may have to run before the event at `step` and are not planned, explored or asleep there.
    fn unplanned(
        &self,
        trace: &Trace,
        step: Step,
        until: Step,
        threats: &[Remaining],
        remaining: &[Remaining],
    ) -> Vec<ThreadId> {
        if self.planned_first(step).any(is_independent) {
            return Vec::new();
        }
        let thread = trace.events[step].id.thread;
        let mut needed = match self.causality.first_unrelated(trace.events[step].id, step, until) {
            Some(other) => vec![trace.events[other].id.thread],
            None => {
                let (mut involved, runnable) = (self.pruner.involved(threats, remaining), trace.runnable_at(step));
                involved.retain(|t| *t != thread && runnable.contains(*t));
                involved
            }
        };
        needed.retain(|t| !self.is_planned(step, *t));
        needed
    }

    /// Whether the thread's next event in a state of the current execution is planned there, explored or asleep.
    fn is_planned(&self, step: Step, thread: ThreadId) -> bool {
        let asleep = self.sleeps.get(step.0 as usize).is_some_and(|sleep| sleep.contains(&self.events, thread));
        asleep || self.planned_first(step).any(|event| event.id.thread == thread)
    }

    /// The events planned to run first in a state of the current execution.
    fn planned_first(&self, step: Step) -> impl Iterator<Item = &Event> {
        let branches = self.trees.get(&step).into_iter().flatten();
        branches.filter_map(|branch| branch.chain.first()).map(|planned| self.events.get(planned.event()))
    }
}

/// Whether the event interferes with nothing, so that it can come first in every run from a state where it is enabled.
fn is_independent(event: &Event) -> bool {
    matches!(event.op, Op::Start | Op::Yield | Op::Fence(_))
}
