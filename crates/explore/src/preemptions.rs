//! Iterative preemption bounding: M. Musuvathi, S. Qadeer, "Iterative context bounding for systematic testing of
//! multithreaded programs", PLDI 2007 (CHESS).
//!
//! A switch away from a thread that could have continued, and did not yield, is a *preemption*. All schedules without
//! one are run first, then those with one, and so on up to the bound, each once. A choice that needs more preemptions
//! than the round allows is kept for the next round.
//!
//! Every event is a scheduling point, and no two schedules count as equivalent: such a search covers exactly the
//! schedules with at most this many preemptions. *Complete* if the bound omitted none. (After a prefix, the executor's
//! policy may itself preempt a thread that runs very long; such a run exceeds the bound by one.)

use model::{Event, Op, Schedule, Step, ThreadId, Trace};
use serde::{Deserialize, Serialize};

use crate::checkpoint::{ReductionState, SavedReduction};
use crate::choices::ChoiceValues;
use crate::reduction::{Reduction, RunKind};
use crate::repetition::Difference;
use crate::stack::BacktrackPoint;

/// The schedules still to run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Open {
    /// Preemptions allowed in this round.
    round: u32,
    /// What else can be done in states of the current execution, by state.
    branches: Vec<BacktrackPoint>,
    /// Other schedules of this round.
    now: Vec<Schedule>,
    /// Schedules with one preemption more.
    later: Vec<Schedule>,
    /// Whether the bound omitted a schedule.
    cut: bool,
}

/// The state of the reduction.
pub(crate) struct Preemptions {
    most: u32,
    trace: Option<Trace>,
    /// The state in which the current run differs from the one before: another thread runs there, or chooses another
    /// value.
    branch: Option<Step>,
    open: Open,
    values: ChoiceValues,
}

impl Preemptions {
    /// A search with at most this many preemptions.
    pub(crate) fn new(most: u32, values: &ChoiceValues) -> Self {
        Self { most, trace: None, branch: None, open: Open::default(), values: values.clone() }
    }

    /// Keeps a branch that needs this many preemptions.
    fn keep(&mut self, trace: &Trace, branch: BacktrackPoint, needs: u32) {
        if needs <= self.open.round {
            self.open.branches.push(branch);
        } else if needs <= self.most {
            self.open.later.push(branch.schedule(trace));
        } else {
            self.open.cut = true;
        }
    }
}

/// Whether running the thread after the event is a preemption.
fn preempts(trace: &Trace, step: Step, before: Option<&Event>, thread: ThreadId) -> bool {
    before.is_some_and(|before| {
        let runs = before.id.thread;
        runs != thread && before.op != Op::Yield && trace.runnable_at(step).contains(runs)
    })
}

impl Reduction for Preemptions {
    fn take(&mut self, trace: Trace) -> Result<RunKind, Difference> {
        let (mut used, mut before) = (0, None);
        for (step, event) in trace.events.iter_enumerated() {
            if self.branch.is_none_or(|branch| step > branch) {
                for thread in trace.runnable_at(step).iter().filter(|t| *t != event.id.thread) {
                    let needs = used + u32::from(preempts(&trace, step, before, thread));
                    self.keep(&trace, BacktrackPoint { step, thread, choices: Vec::new() }, needs);
                }
            }
            used += u32::from(preempts(&trace, step, before, event.id.thread));
            if self.branch.is_none_or(|branch| step >= branch)
                && let Some(choices) = self.values.next(event.op.choices())
            {
                self.keep(&trace, BacktrackPoint { step, thread: event.id.thread, choices }, used);
            }
            before = Some(event);
        }
        self.trace = Some(trace);
        Ok(RunKind::Execution)
    }

    fn next(&mut self) -> Option<Schedule> {
        let trace = self.trace.as_ref()?;
        if let Some(branch) = self.open.branches.pop() {
            self.branch = Some(branch.step);
            return Some(branch.schedule(trace));
        }
        while self.open.now.is_empty() {
            if self.open.later.is_empty() {
                return None;
            }
            self.open.round += 1;
            self.open.now = std::mem::take(&mut self.open.later);
            self.open.now.reverse();
        }
        let schedule = self.open.now.pop()?;
        self.branch = Some(Step(events_of(&schedule).saturating_sub(1)));
        Some(schedule)
    }

    fn cut(&self) -> bool {
        self.open.cut
    }

    fn save(&self) -> Option<SavedReduction> {
        let trace = self.trace.as_ref()?;
        let schedule = trace.schedule_to(trace.events.next_id());
        Some(SavedReduction { schedule, rest: ReductionState::Preemptions(self.open.clone()) })
    }

    fn restore(&mut self, rest: ReductionState, trace: Trace) -> bool {
        let ReductionState::Preemptions(open) = rest else { return false };
        (self.open, self.trace) = (open, Some(trace));
        true
    }
}

/// Number of events in the schedule's segments.
fn events_of(schedule: &Schedule) -> u32 {
    let mut reached: Vec<(ThreadId, u32)> = Vec::new();
    for segment in &schedule.segments {
        match reached.iter_mut().find(|(thread, _)| *thread == segment.thread) {
            Some((_, until)) => *until = (*until).max(segment.until),
            None => reached.push((segment.thread, segment.until)),
        }
    }
    reached.iter().map(|(_, until)| until).sum()
}
