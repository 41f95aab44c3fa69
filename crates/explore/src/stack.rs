//! The states of the current execution and what is left to try in each.

use model::{Choice, Event, EventId, Op, Schedule, Step, ThreadId, ThreadSet, Trace};
use serde::{Deserialize, Serialize};

use crate::choices::ChoiceValues;
use crate::sleep::{ByContent, SleepSet};

/// A state of the current execution: the one before its event of the same number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    /// Threads that can run.
    pub(crate) runnable: ThreadSet,
    /// Threads to run from here: a subset of the runnable ones that only grows.
    pub(crate) backtrack: ThreadSet,
    /// Those of them that have been run, including the current execution's.
    pub(crate) done: ThreadSet,
    /// Threads that need not run from here; empty in searches without sleep sets.
    pub(crate) sleep: SleepSet,
    /// The events of the thread being explored with other choices than in the current execution.
    pub(crate) variants: Vec<Event>,
}

/// The current execution, with a [`Frame`] for each event up to where it repeats explored executions.
pub(crate) struct Stack {
    pub(crate) trace: Trace,
    pub(crate) frames: Vec<Frame>,
    sleeping: bool,
}

/// A thread to run in a state of the current execution.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct BacktrackPoint {
    /// The state.
    pub(crate) step: Step,
    /// The thread to run.
    pub(crate) thread: ThreadId,
    /// The choices of its event, as far as they are fixed.
    pub(crate) choices: Vec<Choice>,
}

/// Where an execution starts to repeat explored ones.
pub(crate) enum Cut {
    /// Nowhere.
    Nowhere,
    /// All runnable threads sleep.
    Blocked,
    /// The thread that ran sleeps; another one does not.
    Detour(BacktrackPoint),
}

impl BacktrackPoint {
    /// The schedule that reaches this state in this execution and runs the thread for one event.
    pub(crate) fn schedule(&self, trace: &Trace) -> Schedule {
        let mut schedule = trace.schedule_to(self.step);
        let before = trace.events.iter().take(self.step.0 as usize);
        let position = before.filter(|e| e.id.thread == self.thread).count() as u32;
        schedule.push(self.thread, position + 1);
        schedule.choose_all(EventId { thread: self.thread, position }, &self.choices);
        schedule
    }
}

impl Frame {
    /// The threads still to be run, in order.
    pub(crate) fn open(&self) -> impl Iterator<Item = ThreadId> {
        self.backtrack.iter().filter(|t| !self.done.contains(*t) && !self.sleep.contains(&ByContent, *t))
    }
}

impl Stack {
    /// The states of the first execution; `sleeping` says whether sleep sets are kept.
    pub(crate) fn new(trace: Trace, sleeping: bool) -> Self {
        let mut stack = Self { trace, frames: Vec::new(), sleeping };
        stack.fill();
        stack
    }

    /// The first state without a frame: the number of events that count.
    pub(crate) fn end(&self) -> Step {
        Step(self.frames.len() as u32)
    }

    /// Removes states from the end until one has something left to try, and returns that: first all choices of its
    /// thread, then another thread.
    pub(crate) fn next_branch(&mut self, values: &ChoiceValues) -> Option<BacktrackPoint> {
        while let Some(last) = self.frames.len().checked_sub(1) {
            let (step, frame) = (Step(last as u32), &mut self.frames[last]);
            let event = &self.trace.events[step];
            if let Some(choices) = values.next(event.op.choices()) {
                if self.sleeping && !matches!(event.op, Op::Choose(_)) {
                    frame.variants.push(event.clone());
                }
                return Some(BacktrackPoint { step, thread: event.id.thread, choices });
            }
            let open = frame.open().next();
            if let Some(thread) = open {
                frame.done.insert(thread);
                let variants = std::mem::take(&mut frame.variants);
                if self.sleeping {
                    frame.sleep.extend(&ByContent, variants.into_iter().chain([event.clone()]));
                }
                return Some(BacktrackPoint { step, thread, choices: Vec::new() });
            }
            self.frames.pop();
        }
        None
    }

    /// Replaces the execution by one that followed a backtracking point. The events before that point are those of the
    /// stack.
    pub(crate) fn follow(&mut self, trace: Trace) {
        self.trace = trace;
        self.fill();
    }

    /// Looks from the state `from` on for the first event of a sleeping thread, and removes the states from there on,
    /// except the one in which another thread has to run instead.
    pub(crate) fn cut(&mut self, from: Step) -> Cut {
        let asleep = |(frame, event): (&Frame, &Event)| frame.sleep.contains(&ByContent, event.id.thread);
        let states = self.frames.iter().zip(&self.trace.events).skip(from.0 as usize);
        let Some(at) = states.map(asleep).position(|asleep| asleep).map(|n| n + from.0 as usize) else {
            return Cut::Nowhere;
        };
        let frame = &mut self.frames[at];
        let awake = frame.runnable.iter().find(|t| !frame.sleep.contains(&ByContent, *t));
        let chosen: ThreadSet = awake.into_iter().collect();
        (frame.backtrack, frame.done, frame.variants) = (chosen.clone(), chosen, Vec::new());
        match awake {
            Some(thread) => {
                self.frames.truncate(at + 1);
                Cut::Detour(BacktrackPoint { step: Step(at as u32), thread, choices: Vec::new() })
            }
            None => {
                self.frames.truncate(at);
                Cut::Blocked
            }
        }
    }

    /// Adds frames for events of the trace that have none.
    fn fill(&mut self) {
        let known = self.frames.len();
        let mut entries = self.trace.runnable.partition_point(|(from, _)| from.0 as usize <= known).max(1) - 1;
        for (step, event) in self.trace.events.iter_enumerated().skip(known) {
            while self.trace.runnable.get(entries + 1).is_some_and(|(from, _)| *from <= step) {
                entries += 1;
            }
            let runnable = self.trace.runnable.get(entries).map(|(_, set)| set.clone()).unwrap_or_default();
            let chosen: ThreadSet = [event.id.thread].into_iter().collect();
            let before = self.frames.last().zip(step.0.checked_sub(1));
            let sleep = before.map(|(frame, last)| frame.sleep.after(&ByContent, &self.trace.events[Step(last)]));
            let sleep = sleep.unwrap_or_default();
            self.frames.push(Frame { runnable, backtrack: chosen.clone(), done: chosen, sleep, variants: Vec::new() });
        }
    }
}
