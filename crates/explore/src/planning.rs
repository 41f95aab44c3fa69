//! What [`optimal`](crate::optimal) does after an execution: plan reversals and other values of choices, as sequences in
//! wake-up trees.

use model::{Event, Op, Step, Trace};

use crate::events::{EventNumber, Events};
use crate::fusion::notices;
use crate::optimal::Optimal;
use crate::reversal::{Reversal, reversible};
use crate::sleep::Relation;
use crate::wakeup::{self, Forks, Planned};

/// How the planned run differs from the current execution.
pub(crate) struct Plan {
    /// The first event that differs.
    pub(crate) from: Step,
    pub(crate) chain: Vec<Planned>,
    /// What is left to explore on the way.
    pub(crate) forks: Forks,
}

impl Default for Plan {
    fn default() -> Self {
        Self { from: Step(0), chain: Vec::new(), forks: Vec::new() }
    }
}

impl Optimal {
    /// Plans all reversals of an execution's first `end` events, and of the operations pending then, that change
    /// something in the state `from` or later; also the other values of choices there.
    pub(crate) fn plan_reversals(&mut self, trace: &Trace, from: Step, end: Step) {
        let executed = std::mem::take(&mut self.reversible);
        let known = std::mem::replace(&mut self.reversed, end.0 as usize);
        for (next, firsts) in trace.events.iter().zip(&executed).skip(known) {
            if self.deadline.passes() {
                break;
            }
            firsts.iter().filter(|first| **first >= from).for_each(|first| self.plan_reversal(trace, *first, next));
        }
        self.reversible = executed;
        self.plan_choices(trace, from, end);
        for next in self.causality.next_events(trace, end) {
            if self.deadline.passes() {
                break;
            }
            let firsts = reversible(&self.causality, &self.locks, trace, next, end);
            firsts.iter().filter(|first| **first >= from).for_each(|first| self.plan_reversal(trace, *first, next));
        }
    }

    /// Plans the other values of choices in the states from `from` to `until`.
    pub(crate) fn plan_choices(&mut self, trace: &Trace, from: Step, until: Step) {
        for step in (from.0..until.0).map(Step) {
            let event = &trace.events[step];
            if matches!(event.op, Op::Choose(_)) {
                let variants: Vec<Event> = self.values.variants(event).filter(|v| v != event).collect();
                variants.iter().for_each(|variant| self.plan_choice(step, variant));
            }
        }
    }

    /// Plans an execution in which the event at `step` chooses another value, unless one is planned or explored.
    fn plan_choice(&mut self, step: Step, variant: &Event) {
        self.sequence.clear();
        self.sequence.push(self.events.number(variant), false);
        if !self.was_explored(step, variant) {
            self.insert_sequence(step);
        }
    }

    /// Inserts the sequence into the wake-up tree of a state, unless a leaf there covers it.
    fn insert_sequence(&mut self, state: Step) {
        if state.0 < self.root_depth {
            self.outer.keep(&self.events, state, &mut self.sequence);
        } else {
            wakeup::insert(&self.events, self.trees.entry(state).or_default(), &mut self.sequence);
        }
    }

    /// Plans an execution in which `next` comes before the event at `first`, unless one that leads there is planned or
    /// explored.
    pub(crate) fn plan_reversal(&mut self, trace: &Trace, first: Step, next: &Event) {
        if self.pruner.omits(first) {
            return;
        }
        self.noticed |= notices(&trace.events[first], next);
        let mut reversal = Reversal::new(trace, &self.causality, &self.locks, first);
        if (next.id.position as usize) < self.causality.count(next.id.thread) {
            let executed = self.causality.step_of(next.id);
            let later = self.choices.partition_point(|step| *step <= executed);
            self.choices[later..].iter().for_each(|choice| reversal.leave_out(*choice));
        }
        let Some((expected, certain)) = reversal.expect(next, &self.exchanges) else { return };
        number_until(&mut self.events, &mut self.numbers, trace, self.causality.len());
        self.sequence.clear();
        reversal.for_each_kept(|step| self.sequence.push(self.numbers[step.0 as usize], true));
        let executed = next.id.position < self.causality.count(next.id.thread) as u32 && expected == *next;
        let number = match executed {
            true => self.numbers[self.causality.step_of(next.id).0 as usize],
            false => self.events.number(&expected),
        };
        self.sequence.push(number, certain);
        if !self.was_explored(first, next) {
            self.insert_sequence(first);
        }
    }

    /// Whether everything the sequence, built to run `next` earlier, leads to from this state was explored after the
    /// next event of a sleeping thread. If something was pruned after that event, this holds only if the event is in
    /// the sequence: otherwise other events that may have to come before it have not been seen.
    fn was_explored(&self, state: Step, next: &Event) -> bool {
        let Some(sleep) = self.sleeps.get(state.0 as usize) else { return false };
        let (events, sequence) = (&self.events, &self.sequence);
        let own = |event: &&EventNumber| events.thread(event) == next.id.thread;
        let explored = |event: &EventNumber| {
            let thread = events.thread(event);
            sequence.has_weak_initial(events, *event)
                && (!sleep.incomplete().contains(thread) || sequence.has_event_of(events, thread))
        };
        // Usually it is the thread that the sequence was built for.
        let asleep = || sleep.events().iter();
        asleep().filter(own).any(explored) || asleep().filter(|event| !own(event)).any(explored)
    }
}

/// Numbers the trace's events up to `until` that have no number yet.
pub(crate) fn number_until(events: &mut Events, numbers: &mut Vec<EventNumber>, trace: &Trace, until: usize) {
    for event in trace.events.as_slice().iter().take(until).skip(numbers.len()) {
        numbers.push(events.number(event));
    }
}
