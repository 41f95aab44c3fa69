//! Dynamic partial-order reduction: C. Flanagan, P. Godefroid, "Dynamic partial-order reduction for model checking
//! software", POPL 2005, with accesses as visible operations.
//!
//! For every transition that a thread executes or is about to execute, the reduction finds the events it could have
//! come before instead, and makes sure that the state before each of them tries a thread that leads there: of the
//! threads in the paper's set E, one that is to be tried anyway, else the transition's own, else the smallest; when E
//! is empty, all runnable threads.
//!
//! The paper looks at the next transition of every thread in every state. A thread's next transition stays the same
//! until it is executed, so it is enough to look once, when it is executed or when the execution ends, at the events
//! since the thread's last one and at the last of those before ([`Causality::reversible`]).
//!
//! *Complete*: for every run of the program there is an explored execution that differs from it only in the order of
//! independent events, and that has the same races, deadlocks and failures.
//! Deviation: the paper asks that transitions be deterministic; results of tries are part of our events, and
//! dependence is that of the events as executed.

use model::{Event, Step, ThreadSet, Trace};

use crate::causality::Causality;
use crate::reduction::Reduction;
use crate::stack::{Frame, Stack};

/// The reduction's memory: the order of the current execution.
#[derive(Default)]
pub(crate) struct Dpor {
    causality: Causality,
}

impl Reduction for Dpor {
    fn extend(&mut self, stack: &mut Stack, from: Step) {
        let Stack { trace, frames } = stack;
        for event in trace.events.iter().skip(from.0 as usize) {
            self.add_backtracks(trace, frames, event);
            self.causality.push(event);
        }
        for pending in &trace.pending {
            self.add_backtracks(trace, frames, &pending.event);
        }
    }

    fn retract(&mut self, stack: &Stack, to: Step) {
        self.causality.truncate(&stack.trace.events, to);
    }
}

impl Dpor {
    fn add_backtracks(&self, trace: &Trace, frames: &mut [Frame], next: &Event) {
        let thread = next.id.thread;
        for step in self.causality.reversible(trace, next) {
            let Frame { runnable, backtrack, .. } = &mut frames[step.0 as usize];
            let known = self.causality.known_to(thread);
            let after = Step(step.0 + 1);
            let leads = |q| q == thread || known.count(q) > self.causality.count_before(q, after);
            let candidates: ThreadSet = runnable.iter().filter(|q| leads(*q)).collect();
            if candidates.iter().any(|q| backtrack.contains(q)) {
                continue;
            }
            match candidates.iter().next() {
                Some(_) if candidates.contains(thread) => drop(backtrack.insert(thread)),
                Some(first) => drop(backtrack.insert(first)),
                None => backtrack.clone_from(runnable),
            }
        }
    }
}
