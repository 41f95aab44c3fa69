//! Searches that keep, for each state of the current execution, the set of threads still to run from it.
//!
//! Depth first: the search continues from the last state that has a thread left. With [sleep sets](crate::sleep) it
//! skips a thread whose continuations it has already explored. An execution in which only such threads can run is
//! *blocked*: from there on it would repeat another one. The executor's policy does not know sleep sets. When it runs a
//! sleeping thread although another is awake, the run is a *detour*: the search returns to that state and runs the
//! other thread.

use model::{Event, Schedule, Step, ThreadSet, Trace};

use crate::checkpoint::{ReductionState, SavedFrame, SavedReduction};
use crate::choices::ChoiceValues;
use crate::outlook::Settled;
use crate::pruner::{Pruned, Pruner};
use crate::reduction::{Reduction, RunKind, remaining};
use crate::repetition::Difference;
use crate::sleep::SleepSet;
use crate::stack::{BacktrackPoint, Cut, Frame, Stack};

/// Decides which threads belong to each state's backtrack set.
pub(crate) trait Backtracks {
    /// Called after each run. The stack's frames from `from` on are new; the frame `from` itself is known unless it is
    /// the first (another thread ran there before). Only events before `until` count. Adds threads to backtrack sets
    /// anywhere in the stack.
    fn extend(&mut self, stack: &mut Stack, from: Step, until: Step);

    /// Called after `until` events, when the execution ends or starts to repeat another one.
    fn finish(&mut self, stack: &mut Stack, until: Step) {
        let _ = (stack, until);
    }

    /// The `skip`-th branch that a run will add from the state `from` on, as far as that is plain.
    fn expected(&self, trace: &Trace, from: Step, skip: usize) -> Option<BacktrackPoint> {
        let _ = (trace, from, skip);
        None
    }

    /// Called instead of `extend` when a search resumes from a checkpoint, whose frames already have their backtrack
    /// sets.
    fn restore(&mut self, stack: &Stack) {
        let _ = stack;
    }

    /// Called before the stack's events from `to` on are replaced by another run's.
    fn retract(&mut self, stack: &Stack, to: Step) {
        let _ = (stack, to);
    }

    /// The pruner it asks, if it has one.
    fn pruner(&mut self) -> Option<&mut Pruner> {
        None
    }
}

/// A search with backtrack sets.
pub(crate) struct Backtracking<B> {
    backtracks: B,
    sleeping: bool,
    stack: Option<Stack>,
    /// How the current run, or the next one, differs from the stack.
    branch: Option<BacktrackPoint>,
    detour: bool,
    values: ChoiceValues,
}

impl<B> Backtracking<B> {
    /// A search without sleep sets.
    pub(crate) fn new(backtracks: B, values: &ChoiceValues) -> Self {
        Self { backtracks, sleeping: false, stack: None, branch: None, detour: false, values: values.clone() }
    }
    /// A search with sleep sets.
    pub(crate) fn with_sleep(backtracks: B, values: &ChoiceValues) -> Self {
        Self { sleeping: true, ..Self::new(backtracks, values) }
    }
}

impl<B: Backtracks> Reduction for Backtracking<B> {
    fn take(&mut self, trace: Trace) -> Result<RunKind, Difference> {
        let (stack, from) = match (&mut self.stack, &self.branch) {
            (Some(stack), Some(branch)) => {
                check_prefix(stack, branch, &trace)?;
                self.backtracks.retract(stack, branch.step);
                stack.follow(trace);
                (stack, branch.step)
            }
            (stack, _) => (stack.insert(Stack::new(trace, self.sleeping)), Step(0)),
        };
        let cut = if self.sleeping { stack.cut(from) } else { Cut::Nowhere };
        if let Cut::Detour(branch) = cut {
            self.backtracks.extend(stack, from, branch.step);
            (self.branch, self.detour) = (Some(branch), true);
            return Ok(RunKind::Detour);
        }
        let end = stack.end();
        self.backtracks.extend(stack, from, end);
        self.backtracks.finish(stack, end);
        Ok(if matches!(cut, Cut::Blocked) { RunKind::Blocked } else { RunKind::Execution })
    }

    fn next(&mut self) -> Option<Schedule> {
        let stack = self.stack.as_mut()?;
        if !std::mem::take(&mut self.detour) {
            self.branch = Some(stack.next_branch(&self.values)?);
        }
        Some(self.branch.as_ref()?.schedule(&stack.trace))
    }

    fn upcoming(&self, trace: &Trace, skip: usize) -> Option<Schedule> {
        let stack = self.stack.as_ref()?;
        let from = self.branch.as_ref().map_or(Step(0), |branch| branch.step);
        if let Some(found) = self.backtracks.expected(trace, from, skip) {
            return Some(found.schedule(trace));
        }
        let known = stack.frames.get(..=from.0 as usize)?.iter().enumerate().rev();
        let open = known.flat_map(|(step, frame)| frame.open().map(move |thread| (Step(step as u32), thread)));
        let (step, thread) = open.take(skip + 1).last()?;
        Some(BacktrackPoint { step, thread, choices: Vec::new() }.schedule(&stack.trace))
    }

    fn remaining(&self) -> Option<f64> {
        let frames = &self.stack.as_ref()?.frames;
        Some(remaining(frames.iter().map(|frame| (frame.done.len(), frame.open().count()))))
    }

    fn save(&self) -> Option<SavedReduction> {
        let stack = self.stack.as_ref().filter(|_| !self.detour)?;
        let schedule = stack.trace.schedule_to(stack.trace.events.next_id());
        let frame = |f: &Frame| SavedFrame {
            backtrack: f.backtrack.clone(),
            done: f.done.clone(),
            asleep: f.sleep.events().to_vec(),
            variants: f.variants.clone(),
        };
        Some(SavedReduction { schedule, rest: ReductionState::Backtracking(stack.frames.iter().map(frame).collect()) })
    }

    fn restore(&mut self, rest: ReductionState, trace: Trace) -> bool {
        let ReductionState::Backtracking(frames) = rest else { return false };
        let mut stack = Stack::new(trace, self.sleeping);
        if frames.len() > stack.frames.len() {
            return false;
        }
        stack.frames.truncate(frames.len());
        for (frame, SavedFrame { backtrack, done, asleep, variants }) in stack.frames.iter_mut().zip(frames) {
            (frame.backtrack, frame.done, frame.sleep) = (backtrack, done, SleepSet::from((asleep, ThreadSet::new())));
            frame.variants = variants;
        }
        self.backtracks.restore(&stack);
        self.stack = Some(stack);
        true
    }

    fn settle(&mut self, settled: &Settled) {
        if let Some(pruner) = self.backtracks.pruner() {
            pruner.settle(settled);
        }
    }

    fn pruned(&mut self) -> Pruned {
        self.backtracks.pruner().map(|pruner| std::mem::take(&mut pruner.pruned)).unwrap_or_default()
    }
}

/// Checks that the run repeats the stack's events and runnable threads before the branch, and runs the branch's thread
/// there. A run is a function of its schedule, so anything else is an error.
fn check_prefix(stack: &Stack, branch: &BacktrackPoint, trace: &Trace) -> Result<(), Difference> {
    for (step, expected) in stack.trace.events.iter_enumerated().take(branch.step.0 as usize) {
        if trace.events.get(step) != Some(expected) {
            return Err(Difference::event(expected, trace, step));
        }
    }
    check_runnable(&stack.trace, trace, branch.step)?;
    let follows = |event: &Event| event.id.thread == branch.thread && event.op.choices().starts_with(&branch.choices);
    if trace.events.get(branch.step).is_some_and(follows) {
        return Ok(());
    }
    Err(Difference::at(trace, branch.step, format!("thread {} should have run and did not", branch.thread)))
}

/// Checks that two runs had the same runnable threads in all states up to `last`.
pub(crate) fn check_runnable(before: &Trace, now: &Trace, last: Step) -> Result<(), Difference> {
    let until = |trace: &Trace| trace.runnable.partition_point(|(from, _)| *from <= last);
    let (expected, found) = (&before.runnable[..until(before)], &now.runnable[..until(now)]);
    if expected == found {
        return Ok(());
    }
    let same = expected.iter().zip(found).take_while(|(one, other)| one == other).count();
    let step = expected.get(same).into_iter().chain(found.get(same)).map(|(from, _)| *from).min().unwrap_or(last);
    let (expected, found) = (before.runnable_at(step), now.runnable_at(step));
    Err(Difference::at(
        now,
        step,
        format!("the threads that could run were {expected:?} in one run and {found:?} in another"),
    ))
}
