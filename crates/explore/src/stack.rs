//! The states of the current execution and what is left to try in each.

use model::{Schedule, Step, ThreadId, ThreadSet, Trace};

/// A state of the current execution: the one before its event of the same number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    /// Threads that can run.
    pub(crate) runnable: ThreadSet,
    /// Threads to be run from here; a subset of the runnable ones that only grows.
    pub(crate) backtrack: ThreadSet,
    /// Those of them that have been, the current execution's included.
    pub(crate) done: ThreadSet,
}

/// The current execution, with a [`Frame`] for each event.
pub(crate) struct Stack {
    pub(crate) trace: Trace,
    pub(crate) frames: Vec<Frame>,
}

/// Where to go next: a thread to be run in a state of the current execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Branch {
    /// The state.
    pub(crate) step: Step,
    /// Who runs there.
    pub(crate) thread: ThreadId,
}

impl Stack {
    /// The states of the first execution.
    pub(crate) fn new(trace: Trace) -> Self {
        let mut stack = Self { trace, frames: Vec::new() };
        stack.fill();
        stack
    }

    /// Removes states from the end until one is left with something to try there, and says what.
    pub(crate) fn next_branch(&mut self) -> Option<Branch> {
        while let Some(frame) = self.frames.last_mut() {
            let open = frame.backtrack.iter().find(|t| !frame.done.contains(*t));
            if let Some(thread) = open {
                frame.done.insert(thread);
                return Some(Branch { step: Step(self.frames.len() as u32 - 1), thread });
            }
            self.frames.pop();
        }
        None
    }

    /// The schedule that goes to the branch's state and runs its thread for one event.
    pub(crate) fn schedule(&self, branch: Branch) -> Schedule {
        let mut schedule = self.trace.schedule_to(branch.step);
        let before = self.trace.events.iter().take(branch.step.0 as usize);
        let position = before.filter(|e| e.id.thread == branch.thread).count() as u32;
        schedule.push(branch.thread, position + 1);
        schedule
    }

    /// Takes the execution that followed a branch; its events before the branch are those of the stack.
    pub(crate) fn follow(&mut self, trace: Trace) {
        self.trace = trace;
        self.fill();
    }

    /// Adds frames for the trace's events that have none.
    fn fill(&mut self) {
        let known = self.frames.len();
        let mut entries = self.trace.runnable.partition_point(|(from, _)| from.0 as usize <= known).max(1) - 1;
        for (step, event) in self.trace.events.iter_enumerated().skip(known) {
            while self.trace.runnable.get(entries + 1).is_some_and(|(from, _)| *from <= step) {
                entries += 1;
            }
            let runnable = self.trace.runnable.get(entries).map(|(_, set)| set.clone()).unwrap_or_default();
            let chosen: ThreadSet = [event.id.thread].into_iter().collect();
            self.frames.push(Frame { runnable, backtrack: chosen.clone(), done: chosen });
        }
    }
}
