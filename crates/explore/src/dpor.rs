//! Dynamic partial-order reduction: C. Flanagan, P. Godefroid, "Dynamic partial-order reduction for model checking
//! software", POPL 2005, with accesses as visible operations.
//!
//! For every transition that a thread executes or is about to execute, the reduction finds the events it could have
//! come before, and makes sure that the state before each of them tries a thread that leads to this reversal: of the
//! threads in the paper's set E, one that is tried anyway, else the transition's own, else the smallest; if E is empty,
//! all runnable threads.
//!
//! The paper considers the next transition of every thread in every state. A thread's next transition stays the same
//! until it is executed. So it suffices to consider it once, when it is executed or when the execution ends, and to
//! look at the events since the thread's last one and at the last of those before ([`Causality::reversible`]).
//!
//! *Complete*: for every run of the program there is an explored execution that differs from it only in the order of
//! independent events and has the same races, deadlocks and failures. With sleep sets (the reduction `dpor-sleep`, as
//! in paper 003) no class of equivalent schedules is executed to its end twice, but executions may be blocked. Where
//! one is blocked, the next transitions of all threads are considered as at the end of an execution, as the paper does
//! in every state. A sleeping thread stands for the runs in which its next event can come first, and for no others. So
//! instead of the set E the *initials* of source sets count (P. Abdulla and others, "Optimal dynamic partial order
//! reduction", POPL 2014): the threads that can come first among all events since the reversed event that it does not
//! lead to. With the set E, classes would be lost. A blocking operation may be disabled after all these events, so for
//! it only initials in E count.
//! Deviation: the paper requires deterministic transitions. Here the results of try-operations are part of the events,
//! and dependence is that of the events as executed.

use model::{Event, Step, ThreadSet, Trace, work};

use crate::backtracking::Backtracks;
use crate::causality::Causality;
use crate::pruner::Pruner;
use crate::reversal::waits;
use crate::sleep::interfere;
use crate::stack::{Frame, Stack};

/// The state of the reduction: the causal order of the current execution.
pub(crate) struct Dpor {
    pub(crate) causality: Causality,
    sleeping: bool,
    /// Asked before a backtracking point is set, by the reductions that prune.
    pub(crate) pruner: Pruner,
}

impl Dpor {
    /// The reduction for a search with or without sleep sets.
    pub(crate) fn new(sleeping: bool) -> Self {
        Self::with_pruner(sleeping, Pruner::default())
    }

    /// The reduction for a search that omits irrelevant backtracking points.
    pub(crate) fn with_pruner(sleeping: bool, pruner: Pruner) -> Self {
        Self { causality: Causality::default(), sleeping, pruner }
    }
}

impl Backtracks for Dpor {
    fn extend(&mut self, stack: &mut Stack, from: Step, until: Step) {
        let Stack { trace, frames, .. } = stack;
        self.pruner.find_closed_state(trace, until);
        for step in (from.0..until.0).map(Step) {
            self.add_backtracks(trace, frames, &trace.events[step]);
            self.causality.push(trace, step);
        }
    }

    fn finish(&mut self, stack: &mut Stack, until: Step) {
        let Stack { trace, frames, .. } = stack;
        for next in self.causality.next_events(trace, until) {
            self.add_backtracks(trace, frames, next);
        }
    }

    fn restore(&mut self, stack: &Stack) {
        (0..stack.end().0).for_each(|step| self.causality.push(&stack.trace, Step(step)));
    }

    fn retract(&mut self, stack: &Stack, to: Step) {
        self.causality.truncate(&stack.trace.events, to);
    }
}

impl Dpor {
    fn add_backtracks(&mut self, trace: &Trace, frames: &mut [Frame], next: &Event) {
        let thread = next.id.thread;
        for step in self.causality.reversible(trace, next, self.sleeping) {
            let Frame { runnable, backtrack, .. } = &mut frames[step.0 as usize];
            let known = self.causality.past_of(thread);
            let known = |q| known.map_or(0, |known| known.count(q));
            let leads = |q| q == thread || known(q) > self.causality.count_before(q, Step(step.0 + 1));
            let initials = self.sleeping.then(|| self.initials(trace, step, next));
            let candidates: ThreadSet = match &initials {
                None => runnable.iter().filter(|q| leads(*q)).collect(),
                Some(initials) => {
                    let certain = !waits(&next.op);
                    runnable.iter().filter(|q| initials.contains(*q) && (certain || leads(*q))).collect()
                }
            };
            if candidates.iter().any(|q| backtrack.contains(q)) || self.pruner.omits(step) {
                continue;
            }
            match candidates.iter().next() {
                Some(_) if candidates.contains(thread) => drop(backtrack.insert(thread)),
                Some(first) => drop(backtrack.insert(first)),
                None => backtrack.clone_from(runnable),
            }
        }
    }

    /// The threads that can come first among the events from the state before `step` on that the event there does not lead
    /// to, followed by `next`.
    fn initials(&self, trace: &Trace, step: Step, next: &Event) -> ThreadSet {
        let (mut met, mut initials) = (ThreadSet::new(), ThreadSet::new());
        let first = trace.events[step].id;
        let mut interferes = false;
        for at in (step.0 + 1..self.causality.len() as u32).map(Step) {
            work::count(1);
            let (event, past) = (&trace.events[at], self.causality.clock(at));
            if past.contains(first) {
                continue;
            }
            let thread = event.id.thread;
            let news = |t| t != thread && past.count(t) > self.causality.count_before(t, step);
            if met.insert(thread) && !self.causality.threads().any(news) {
                initials.insert(thread);
            }
            interferes = interferes || interfere(event, next);
        }
        if !interferes && !met.contains(next.id.thread) {
            initials.insert(next.id.thread);
        }
        initials
    }
}
