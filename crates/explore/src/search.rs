//! The search: one loop over executions, the same for every reduction.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use model::{End, Executor, Schedule, Step, Trace};

use crate::error::Error;
use crate::findings::{Findings, KnownRace};
use crate::hidden::hidden_failures;
use crate::observer::{Observer, Progress};
use crate::options::Options;
use crate::outcome::{Coverage, FoundRace, Outcome, Statistics, StopReason};
use crate::reduction;
use crate::stack::{Branch, Stack};

/// Explores the schedules of the program that `executor` runs, and reports what they show.
///
/// With [`Coverage::Complete`] every schedule is equivalent to one that was executed: the races, deadlocks and failed
/// assertions found are all there are for this input.
pub fn search<E: Executor>(
    executor: &mut E,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error<E::Error>> {
    let mut search = Search {
        executor,
        options,
        observer,
        findings: Findings::default(),
        statistics: Statistics::default(),
        uncovered: BTreeSet::new(),
        stopped: None,
    };
    search.explore()?;
    search.finish()
}

struct Search<'a, E> {
    executor: &'a mut E,
    options: &'a Options,
    observer: &'a mut dyn Observer,
    findings: Findings,
    statistics: Statistics,
    /// Schedules run to see failures that others hid.
    uncovered: BTreeSet<Schedule>,
    /// The first thing that cut the search.
    stopped: Option<StopReason>,
}

impl<E: Executor> Search<'_, E> {
    fn explore(&mut self) -> Result<(), Error<E::Error>> {
        if let Some(reason) = self.bound_reached() {
            self.stopped = Some(reason);
            return Ok(());
        }
        let mut reduction = reduction::by_name(self.options.reduction);
        let mut stack = Stack::new(self.execute(&Schedule::new())?);
        let mut from = Step(0);
        loop {
            reduction.extend(&mut stack, from);
            if let Some(reason) = self.bound_reached() {
                let more = stack.next_branch().is_some();
                self.stopped = self.stopped.or(more.then_some(reason));
                return Ok(());
            }
            let Some(branch) = stack.next_branch() else { return Ok(()) };
            let trace = self.execute(&stack.schedule(branch))?;
            check_prefix(&stack, branch, &trace)?;
            reduction.retract(&stack, branch.step);
            stack.follow(trace);
            from = branch.step;
        }
    }

    /// Runs once as part of the search.
    fn execute(&mut self, schedule: &Schedule) -> Result<Trace, Error<E::Error>> {
        let trace = run(self.executor, schedule)?;
        self.statistics.executions += 1;
        self.statistics.transitions += trace.events.len() as u64;
        match trace.end {
            End::Deadlock => self.statistics.blocked += 1,
            End::StepLimit => self.stopped = self.stopped.or(Some(StopReason::StepLimit)),
            End::TimeLimit => self.stopped = self.stopped.or(Some(StopReason::TimeLimit)),
            _ => {}
        }
        self.observer.trace(&trace);
        self.findings.examine(&trace)?;
        for schedule in hidden_failures(&trace) {
            if self.uncovered.insert(schedule.clone()) {
                let trace = run(self.executor, &schedule)?;
                self.statistics.confirmations += 1;
                self.findings.examine(&trace)?;
            }
        }
        self.observer.progress(&Progress {
            statistics: self.statistics,
            depth: trace.events.len(),
            races: self.findings.races.len(),
            failures: self.findings.failure_count(),
        });
        Ok(trace)
    }

    fn bound_reached(&self) -> Option<StopReason> {
        if self.options.stop_at_first && self.findings.any() {
            return Some(StopReason::FirstFound);
        }
        if self.options.max_executions.is_some_and(|max| self.statistics.executions >= max) {
            return Some(StopReason::Executions);
        }
        self.options.deadline.is_some_and(|deadline| Instant::now() >= deadline).then_some(StopReason::Deadline)
    }

    /// Checks every race's witness once and gathers the outcome. A witness that cannot be followed is not confirmed.
    fn finish(mut self) -> Result<Outcome, Error<E::Error>> {
        let mut races = BTreeMap::new();
        for (pair, KnownRace { witness, .. }) in std::mem::take(&mut self.findings.races) {
            let trace = self.executor.run(&witness.schedule).map_err(Error::Executor)?;
            self.statistics.confirmations += 1;
            let confirmed = witness.is_shown_by(&trace);
            races.insert(pair, FoundRace { witness, confirmed });
        }
        let conflicts = std::mem::take(&mut self.findings.conflicts);
        Ok(Outcome {
            ordered: conflicts.into_iter().filter(|pair| !races.contains_key(pair)).collect(),
            races,
            unmodelled: std::mem::take(&mut self.findings.unmodelled),
            weak_atomics: self.findings.weak_atomics,
            failures: self.findings.into_failures(),
            statistics: self.statistics,
            coverage: self.stopped.map_or(Coverage::Complete, Coverage::Stopped),
        })
    }
}

fn run<E: Executor>(executor: &mut E, schedule: &Schedule) -> Result<Trace, Error<E::Error>> {
    let trace = executor.run(schedule).map_err(Error::Executor)?;
    match trace.end {
        End::Diverged { segment, message } => Err(Error::Diverged { segment, message }),
        _ => Ok(trace),
    }
}

/// A run is a function of its schedule: the events and runnable threads before a branch are those of the stack, and
/// the branch's thread is the one that ran there.
fn check_prefix<X: std::error::Error>(stack: &Stack, branch: Branch, trace: &Trace) -> Result<(), Error<X>> {
    let differs = |step: Step, difference: String| Err(Error::Nondeterministic { step, difference });
    let mut found = trace.events.iter_enumerated();
    for (step, expected) in stack.trace.events.iter_enumerated().take(branch.step.0 as usize) {
        match found.next() {
            Some((_, event)) if event == expected => {}
            Some((_, event)) => return differs(step, format!("there was {expected:?} and then {event:?}")),
            None => return differs(step, format!("there was {expected:?} and then the run ended: {:?}", trace.end)),
        }
    }
    let until = |trace: &Trace| trace.runnable.partition_point(|(from, _)| *from <= branch.step);
    let changes = |trace: &Trace, known: usize| trace.runnable[..until(trace)].get(known).cloned();
    for known in 0..until(&stack.trace).max(until(trace)) {
        let (expected, found) = (changes(&stack.trace, known), changes(trace, known));
        if expected != found {
            let step = expected.iter().chain(&found).map(|(from, _)| *from).min().unwrap_or(branch.step);
            let (expected, found) = (stack.trace.runnable_at(step), trace.runnable_at(step));
            return differs(step, format!("{expected:?} could run and then {found:?}"));
        }
    }
    match found.next() {
        Some((_, event)) if event.id.thread == branch.thread => Ok(()),
        Some((step, event)) => differs(step, format!("{} was to run and {event:?} happened", branch.thread)),
        None => differs(branch.step, format!("{} was to run and the run ended: {:?}", branch.thread, trace.end)),
    }
}
