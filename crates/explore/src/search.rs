//! The search: one loop over executions, the same for every reduction.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use model::{End, Event, Executor, Schedule, Trace};

use crate::beginning::LastRun;
use crate::error::Error;
use crate::findings::{Findings, KnownRace};
use crate::hidden::hidden_failures;
use crate::observer::{Observer, Progress};
use crate::options::{Options, ReductionName};
use crate::outcome::{Coverage, FoundRace, Outcome, Statistics, StopReason};
use crate::reduction::{self, Taken};

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
        last: LastRun::default(),
        came_to_end: false,
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
    /// The run examined last.
    last: LastRun,
    /// Whether an execution was not kept from its end by an assumption.
    came_to_end: bool,
}

impl<E: Executor> Search<'_, E> {
    fn explore(&mut self) -> Result<(), Error<E::Error>> {
        if let Some(reason) = self.bound_reached() {
            self.stopped = Some(reason);
            return Ok(());
        }
        let choices = &self.options.choices;
        let mut reduction = reduction::by_name(self.options.reduction, choices);
        let mut schedule = Schedule::new();
        loop {
            let trace = self.executor.run(&schedule).map_err(Error::Executor)?;
            let (events, deadlocked) = (trace.events.len(), trace.end == End::Deadlock);
            let taken = match &trace.end {
                End::Diverged { segment, message } => {
                    let error = Error::Diverged { segment: *segment, message: message.clone() };
                    reduction.refuse(*segment).ok_or(error)?
                }
                _ => {
                    self.examine(&schedule, &trace)?;
                    reduction.take(trace)?
                }
            };
            self.count(taken, events, deadlocked);
            if taken == Taken::Unsupported {
                reduction = reduction::by_name(ReductionName::DporSleep, choices);
                schedule = Schedule::new();
                continue;
            }
            if let Some(reason) = self.bound_reached() {
                let more = reduction.next().is_some();
                self.stopped = self.stopped.or(more.then_some(reason));
                return Ok(());
            }
            match reduction.next() {
                Some(next) => schedule = next,
                None => return Ok(()),
            }
        }
    }

    /// Takes in what a run shows.
    fn examine(&mut self, schedule: &Schedule, trace: &Trace) -> Result<(), Error<E::Error>> {
        match trace.end {
            End::StepLimit => self.stopped = self.stopped.or(Some(StopReason::StepLimit)),
            End::TimeLimit => self.stopped = self.stopped.or(Some(StopReason::TimeLimit)),
            _ => {}
        }
        self.came_to_end |= !matches!(trace.end, End::Assumed { .. });
        let is_complete = |event: &Event| event.op.choices().iter().all(|c| self.options.choices.is_complete(c));
        if self.stopped.is_none() && !trace.events.iter().all(is_complete) {
            self.stopped = Some(StopReason::Choices);
        }
        let from = self.last.shared_with(schedule).min(trace.events.next_id());
        self.last.follow(trace, from);
        self.observer.trace(trace, from);
        self.findings.examine(trace, from)?;
        for schedule in hidden_failures(trace) {
            if self.uncovered.insert(schedule.clone()) {
                let trace = run(self.executor, &schedule)?;
                self.statistics.confirmations += 1;
                self.findings.examine_alone(&trace)?;
            }
        }
        Ok(())
    }

    fn count(&mut self, taken: Taken, events: usize, deadlocked: bool) {
        self.statistics.transitions += events as u64;
        let statistics = &mut self.statistics;
        match taken {
            Taken::Detour => statistics.detours += 1,
            Taken::Restart | Taken::Unsupported => {
                statistics.detours += statistics.executions + 1;
                (statistics.executions, statistics.blocked, statistics.deadlocked) = (0, 0, 0);
            }
            Taken::Execution | Taken::Blocked => {
                let blocked = taken == Taken::Blocked;
                statistics.executions += 1;
                statistics.blocked += u64::from(blocked);
                statistics.deadlocked += u64::from(!blocked && deadlocked);
            }
        }
        self.observer.progress(&Progress {
            statistics: self.statistics,
            depth: events,
            races: self.findings.races.len(),
            failures: self.findings.failure_count(),
        });
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
        if !self.came_to_end && self.statistics.executions > 0 {
            self.stopped = self.stopped.or(Some(StopReason::Assumptions));
        }
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
