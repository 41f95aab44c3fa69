//! The default: one execution for each class of equivalent schedules ([`optimal`](crate::optimal)), without those after
//! which nothing that is looked for can happen any more (paper 000, as corrected in [`pdp`](crate::pdp) and
//! [`dhtc`](crate::dhtc)).
//!
//! What is looked for are the findings still open: a pair that was seen to race is settled, and states that only led to
//! it are closed from then on, with all that was planned there. A program without a race, with one order of locks and
//! without assertions is one execution.
//!
//! *Complete* for what is looked for, by the argument of [`dhtc`](crate::dhtc), whose event `d` of the last interference is
//! that of [`optimal`](crate::optimal). What is tried because of a future has not been seen to be needed: executions may be
//! blocked, which those of `optimal` are not.

use model::{Event, Op, Step, ThreadId, Trace};

use crate::choices::ChoiceValues;
use crate::foresight::{Foresight, Remaining};
use crate::optimal::Optimal;
use crate::reversal::reversible;

/// The reduction.
pub(crate) fn new(foresight: Foresight, values: &ChoiceValues) -> Optimal {
    let mut optimal = Optimal::new(values);
    optimal.foresight = foresight;
    optimal
}

impl Optimal {
    /// Plans the reversals of an execution's first `end` events that matter, given the first closed state.
    pub(crate) fn close(&mut self, trace: &Trace, closed: Step, end: Step) {
        self.reverse_over(trace, closed, end);
        self.choose_from(trace, Step(0), closed);
        let until = self.first_safe(trace, closed, end);
        self.foresight.closed_from = Some(until);
        self.reverse_from(trace, closed, end);
        let given_up = self.trees.split_off(&until);
        self.foresight.pruned.skipped += given_up.values().map(|branches| branches.len() as u64).sum::<u64>();
    }

    /// Plans the reversals that change something before the closed state. What comes later is not reversed with events
    /// after it first, since that would change nothing.
    fn reverse_over(&mut self, trace: &Trace, closed: Step, end: Step) {
        let next = self.causality.next_events(trace, end);
        let all: Vec<&Event> = trace.events.iter().take(end.0 as usize).chain(next).collect();
        for (step, next) in (0..).map(Step).zip(all) {
            let until = step.min(closed);
            let firsts = reversible(&self.causality, &self.holding, trace, next, until);
            firsts.iter().for_each(|first| self.reverse(trace, *first, next));
        }
    }

    /// The first state from the closed one on where everything below can be left out: what may interfere there with an
    /// event executed before is explored or planned before that event.
    fn first_safe(&self, trace: &Trace, closed: Step, end: Step) -> Step {
        if self.is_safe(trace, closed, closed) {
            return closed;
        }
        let (mut unsafe_until, mut safe) = (closed.0 + 1, end.0);
        while unsafe_until < safe {
            let middle = unsafe_until + (safe - unsafe_until) / 2;
            if self.is_safe(trace, closed, Step(middle)) { safe = middle } else { unsafe_until = middle + 1 }
        }
        Step(safe)
    }

    fn is_safe(&self, trace: &Trace, closed: Step, until: Step) -> bool {
        let remaining = self.foresight.remaining(trace, until);
        let threatened = self.foresight.threatened(trace, &self.causality, &remaining, until);
        threatened
            .iter()
            .all(|(step, threats)| *step < closed && self.is_prepared(trace, *step, until, threats, &remaining))
    }

    /// Whether that which may have to come before the event at `step` is planned there, was explored or sleeps.
    fn is_prepared(
        &self,
        trace: &Trace,
        step: Step,
        until: Step,
        threats: &[Remaining],
        remaining: &[Remaining],
    ) -> bool {
        // What interferes with nothing can come first in every run.
        let idle = |op: &Op| matches!(op, Op::Start | Op::Yield | Op::Fence(_));
        if self.planned_first(step).any(|event| idle(&event.op)) {
            return true;
        }
        let thread = trace.events[step].id.thread;
        if let Some(other) = self.causality.first_beside(trace.events[step].id, step, until) {
            return self.is_planned(step, trace.events[other].id.thread);
        }
        let runnable = trace.runnable_at(step);
        let involved = self.foresight.involved(threats, remaining).into_iter();
        involved.filter(|t| *t != thread && runnable.contains(*t)).all(|t| self.is_planned(step, t))
    }

    /// Whether the thread's next event in a state of the current execution is planned there, was explored or sleeps.
    fn is_planned(&self, step: Step, thread: ThreadId) -> bool {
        let asleep = self.sleeps.get(step.0 as usize).is_some_and(|sleep| sleep.contains(thread));
        asleep || self.planned_first(step).any(|event| event.id.thread == thread)
    }

    /// The events that are planned to come first in a state of the current execution.
    fn planned_first(&self, step: Step) -> impl Iterator<Item = &Event> {
        let branches = self.trees.get(&step).into_iter().flatten();
        branches.filter_map(|branch| branch.chain.first()).map(|planned| &planned.event)
    }
}
