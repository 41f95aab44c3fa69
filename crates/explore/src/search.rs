//! The search: one loop over executions, the same for every reduction.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use model::race::{Analysis, News, analyse};
use model::{End, Executor, Pair, Sampler, Schedule, Shortcuts, Spent, Step, Trace};

use crate::assurance::Missed;
use crate::checkpoint::{Checkpoint, SavedReduction};
use crate::error::Error;
use crate::findings::{Examiner, Findings, KnownRace};
use crate::fusion;
use crate::helpers::{Helpers, with_helpers};
use crate::hint::{self, Led};
use crate::last_run::LastRun;
use crate::masked_failures::masked_failures;
use crate::observer::{Observer, Progress};
use crate::options::{Options, ReductionName};
use crate::outcome::{Coverage, Failure, FailureKind, FoundRace, Outcome, Statistics, StopReason};
use crate::outlook::Check;
use crate::preemptions::Preemptions;
use crate::reduction::{self, Reduction, RunKind};
use crate::repetition::{Difference, Unrepeatable};
use crate::sampling::Beside;
use crate::shortest;

/// Executions between two estimates of the size of the search.
const ESTIMATE: u64 = 256;

/// Most schedules that are looked at for one to run ahead.
const UPCOMING: usize = 4;

/// Explores the schedules of the program that `executor` runs, and reports what they show.
///
/// With [`Coverage::Complete`] every schedule is equivalent to one that was executed: the races, deadlocks and failed
/// assertions found are all there are for this input.
pub fn search<E: Executor>(
    executor: &mut E,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error<E::Error>> {
    Search::new(executor, None, options, observer).explore(None)
}

/// The same with helpers, each with an executor of its own for the same program, and optionally from a checkpoint on.
/// Neither changes what is found, nor what `optimal` executes. Where a search [cannot be split](Options::can_be_split), helpers stay
/// idle. Where it takes long, samples are made beside it if the options [say so](Options::samples_after).
pub fn search_with<E>(
    executor: &mut E,
    helpers: &mut [E],
    options: &Options,
    observer: &mut dyn Observer,
    resume: Option<Checkpoint>,
) -> Result<Outcome, Error<E::Error>>
where
    E: Sampler + Send,
{
    with_helpers(helpers, options, |helpers| {
        let beside = options.samples_after.map(Beside::new);
        Search { beside, ..Search::new(executor, helpers, options, observer) }.explore(resume)
    })
}

/// A running search.
pub(crate) struct Search<'a, E: Executor> {
    pub(crate) executor: &'a mut E,
    helpers: Option<&'a Helpers>,
    /// Executions to wait before looking for subtrees for helpers again.
    cooldown: u32,
    /// Samples to be made while it works.
    pub(crate) beside: Option<Beside<E>>,
    /// What samples made instead of it may have missed.
    pub(crate) missed: Missed,
    pub(crate) began: Instant,
    options: &'a Options,
    observer: &'a mut dyn Observer,
    /// The reduction in use: the requested one unless that does not cover the program.
    name: ReductionName,
    shortcuts: Shortcuts,
    pub(crate) found: Findings,
    /// Races that the observer knows of.
    reported: BTreeSet<Pair>,
    examiner: Examiner,
    pub(crate) statistics: Statistics,
    /// Schedules already run to expose masked failures.
    unmasked: BTreeSet<Schedule>,
    /// The first thing that stopped the search.
    pub(crate) stopped: Option<StopReason>,
    /// The last run that was examined.
    last: LastRun,
    expected: Option<u64>,
    /// How far the program followed each hint.
    hints: Vec<Led>,
    /// The first run that could not be repeated.
    unrepeatable: Option<Unrepeatable>,
}

impl<'a, E: Executor> Search<'a, E> {
    pub(crate) fn new(
        executor: &'a mut E,
        helpers: Option<&'a Helpers>,
        options: &'a Options,
        observer: &'a mut dyn Observer,
    ) -> Self {
        Self {
            executor,
            helpers,
            cooldown: 0,
            beside: None,
            missed: Missed::default(),
            began: Instant::now(),
            options,
            observer,
            name: options.reduction,
            shortcuts: Shortcuts::default(),
            found: Findings::default(),
            reported: BTreeSet::new(),
            examiner: Examiner::default(),
            statistics: Statistics::default(),
            unmasked: BTreeSet::new(),
            stopped: None,
            last: LastRun::default(),
            expected: None,
            hints: Vec::new(),
            unrepeatable: None,
        }
    }

    fn explore(mut self, resume: Option<Checkpoint>) -> Result<Outcome, Error<E::Error>> {
        let mut reduction = self.reduction();
        let first = match resume {
            None => {
                self.follow_hints()?;
                self.shortcuts = self.options.shortcuts_for(self.name);
                reduction.settle(&self.found.settled(&self.options.checks));
                Some(Schedule::new())
            }
            Some(checkpoint) => {
                reduction = self.resume(checkpoint)?;
                None
            }
        };
        let explored = self.explore_from(reduction, first);
        self.executor.forget_prefetched();
        explored?;
        if self.stopped == Some(StopReason::Executions) {
            self.sample_as_often()?;
        }
        self.finish()
    }

    fn reduction(&self) -> Box<dyn Reduction> {
        match self.options.max_preemptions {
            Some(most) => Box::new(Preemptions::new(most, &self.options.choices)),
            None => reduction::by_name(self.name, self.options),
        }
    }

    /// Resumes from a checkpoint: its current execution is run again, which does not count.
    fn resume(&mut self, checkpoint: Checkpoint) -> Result<Box<dyn Reduction>, Error<E::Error>> {
        let unfit = |what: &str| Error::Checkpoint { what: what.to_owned() };
        if checkpoint.asked != self.options.reduction || checkpoint.max_preemptions != self.options.max_preemptions {
            return Err(unfit("it was made with another reduction or another bound on preemptions"));
        }
        let Checkpoint { in_use, shortened, state, found, statistics, unmasked, stopped, .. } = checkpoint;
        if shortened {
            self.shortcuts = self.options.shortcuts_for(in_use);
        }
        let trace = self.executor.run(&state.schedule).map_err(Error::Executor)?;
        let trace = fusion::take_shortcuts(trace, &self.shortcuts);
        if let End::Diverged { message, .. } = &trace.end {
            return Err(unfit(message));
        }
        self.name = in_use;
        let mut reduction = self.reduction();
        if !reduction.restore(state.rest, trace) {
            return Err(unfit("its executions are not those of this program"));
        }
        reduction.settle(&found.settled(&self.options.checks));
        self.found = found;
        (self.statistics, self.unmasked, self.stopped) = (statistics, unmasked, stopped);
        Ok(reduction)
    }

    /// Runs the schedule, if there is one, and then everything the reduction requests.
    fn explore_from(
        &mut self,
        mut reduction: Box<dyn Reduction>,
        mut schedule: Option<Schedule>,
    ) -> Result<(), Error<E::Error>> {
        if schedule.is_some()
            && let Some(reason) = self.bound_reached()
        {
            self.stopped = Some(reason);
            return Ok(());
        }
        loop {
            if let Some(now) = schedule.take()
                && !self.adopt_from_helper(reduction.as_mut(), &now)?
            {
                // The reduction does not know where it is after a run that it did not ask for: the search ends.
                let Some(kind) = self.execute(reduction.as_mut(), &now)? else { return Ok(()) };
                if kind == RunKind::Unsupported {
                    if self.shortcuts.is_empty() {
                        self.name = match self.name {
                            ReductionName::Best => ReductionName::Dhtc,
                            _ => ReductionName::DporSleep,
                        };
                    }
                    self.take_no_shortcuts();
                    reduction = self.reduction();
                    reduction.settle(&self.found.settled(&self.options.checks));
                    schedule = Some(Schedule::new());
                    continue;
                }
            }
            if self.sample_if_due()? {
                reduction.settle(&self.found.settled(&self.options.checks));
            }
            // Between a detour and the run that leaves it nothing can be saved, so the search does not stop there.
            let stop = self.bound_reached();
            let last = stop.is_some();
            let saved = (self.observer.wants_checkpoint(last) || last).then(|| reduction.save()).flatten();
            let stop = stop.filter(|_| saved.is_some() || reduction.gave_up());
            if let Some(state) = saved {
                self.pass_checkpoint(state, last);
            }
            if stop.is_none() {
                self.assign_subtrees(reduction.as_mut());
            }
            let next = reduction.next();
            if next.is_none() || stop.is_some() {
                let cut = reduction.cut().then_some(StopReason::Preemptions);
                // A reduction that gave up has plans that it did not make.
                let is_cut = next.is_some() || reduction.gave_up();
                self.stopped = self.stopped.or(stop.filter(|_| is_cut)).or(cut);
                return Ok(());
            }
            schedule = next;
        }
    }

    /// From here on, no shortcuts are taken.
    fn take_no_shortcuts(&mut self) {
        self.shortcuts = Shortcuts::default();
        (self.last, self.examiner) = (LastRun::default(), Examiner::default());
        if let Some(helpers) = self.helpers {
            helpers.take_no_shortcuts();
        }
    }

    fn pass_checkpoint(&mut self, state: SavedReduction, last: bool) {
        if last && !self.observer.wants_checkpoint(true) {
            return;
        }
        self.observer.checkpoint(&Checkpoint {
            asked: self.options.reduction,
            in_use: self.name,
            shortened: !self.shortcuts.is_empty(),
            max_preemptions: self.options.max_preemptions,
            state,
            found: self.found.clone(),
            statistics: self.statistics,
            unmasked: self.unmasked.clone(),
            stopped: self.stopped,
        });
    }

    /// Runs a schedule and examines the run. `None` if the run is not what earlier runs lead to expect.
    fn execute(
        &mut self,
        reduction: &mut dyn Reduction,
        schedule: &Schedule,
    ) -> Result<Option<RunKind>, Error<E::Error>> {
        let trace = self.executor.run(schedule).map_err(Error::Executor)?;
        if self.helpers.is_none() {
            self.prefetch(reduction, &trace);
        }
        let (events, deadlocked) = (trace.events.len(), trace.end == End::Deadlock);
        let trace = fusion::take_shortcuts(trace, &self.shortcuts);
        let taken = match &trace.end {
            End::Diverged { segment, message } => {
                reduction.refuse(*segment).ok_or_else(|| Unrepeatable::diverged(&trace, message))
            }
            _ => {
                let known = self.found.count();
                if !self.examine(Some(schedule), &trace)? {
                    self.count(RunKind::Unsupported, events, deadlocked);
                    return Ok(Some(RunKind::Unsupported));
                }
                if self.found.count() > known {
                    reduction.settle(&self.found.settled(&self.options.checks));
                }
                reduction.take(trace).map_err(|Difference(unrepeatable)| unrepeatable)
            }
        };
        let taken = match taken {
            Ok(taken) => taken,
            Err(unrepeatable) => {
                self.note_unrepeatable(unrepeatable);
                self.count(RunKind::Execution, events, deadlocked);
                return Ok(None);
            }
        };
        self.statistics.add(reduction.pruned());
        self.count(taken, events, deadlocked);
        if self.statistics.executions.is_multiple_of(ESTIMATE) {
            let left = reduction.remaining().filter(|left| *left < 1.0);
            self.expected = left.map(|left| (self.statistics.executions as f64 / (1.0 - left)) as u64);
        }
        Ok(Some(taken))
    }

    /// Names a run that will probably be asked for after this one.
    fn prefetch(&mut self, reduction: &dyn Reduction, trace: &Trace) {
        for skip in 0..UPCOMING {
            let Some(schedule) = reduction.upcoming(trace, skip) else { break };
            if self.executor.prefetch(&schedule) {
                break;
            }
        }
    }

    /// Notes that a run could not be repeated: what follows from it is not covered.
    fn note_unrepeatable(&mut self, unrepeatable: Unrepeatable) {
        self.stop(StopReason::Unrepeatable);
        self.unrepeatable.get_or_insert(unrepeatable);
    }

    /// Gives subtrees to idle helpers. If there are none now, it waits before it looks again.
    fn assign_subtrees(&mut self, reduction: &mut dyn Reduction) {
        let Some(helpers) = self.helpers else { return };
        if self.cooldown > 0 {
            self.cooldown -= 1;
        } else if helpers.is_idle() {
            let rate = self.statistics.executions as f64 / self.began.elapsed().as_secs_f64();
            let least = (self.options.smallest_subtree.as_secs_f64() * rate) as u32;
            let found = helpers.offer(|most, known| reduction.subtrees(least, most, known));
            self.cooldown = if found { 0 } else { least / 8 };
        }
    }

    /// Adopts what a helper has explored of the subtree that the schedule enters. Returns whether there was something.
    fn adopt_from_helper(
        &mut self,
        reduction: &mut dyn Reduction,
        schedule: &Schedule,
    ) -> Result<bool, Error<E::Error>> {
        let Some(explored) = self.helpers.and_then(|helpers| helpers.claim(schedule)) else { return Ok(false) };
        let Options { max_executions, stop_at_first, .. } = self.options;
        let many = self.statistics.executions + explored.statistics.executions;
        // If the search has to stop within the subtree, it must explore the subtree itself.
        let stops =
            max_executions.is_some_and(|most| most < many) || (*stop_at_first && explored.digest.shows_something());
        if !reduction.fits(&explored) || stops {
            return Ok(false);
        }
        let known = self.found.count();
        for run in &explored.digest.notable {
            self.take_in(Some(&run.schedule), &run.trace, run.news())?;
        }
        if self.found.count() > known {
            reduction.settle(&self.found.settled(&self.options.checks));
        }
        self.statistics += explored.statistics;
        self.report_progress(explored.last.events.len());
        reduction.adopt(explored);
        Ok(true)
    }

    /// Follows the hints and examines the runs. Limits hit in these runs do not stop the search.
    fn follow_hints(&mut self) -> Result<(), Error<E::Error>> {
        let stopped = self.stopped;
        for hint in &self.options.hints {
            if self.bound_reached().is_some() {
                break;
            }
            let followed = hint::follow(|schedule| self.executor.run(schedule), hint);
            let (led, trace) = followed.map_err(Error::Executor)?;
            self.statistics.confirmations += 1;
            self.hints.push(led);
            self.examine(None, &trace)?;
        }
        self.stopped = stopped;
        self.last = LastRun::default();
        Ok(())
    }

    /// Records what stopped the search, unless something did before.
    pub(crate) fn stop(&mut self, reason: StopReason) {
        self.stopped = self.stopped.or(Some(reason));
    }

    /// Finds what a run shows and records it. `schedule` is the run's schedule, if it had one. Returns false, and records
    /// nothing, if the run must not be seen with [shortcuts](fusion).
    pub(crate) fn examine(&mut self, schedule: Option<&Schedule>, trace: &Trace) -> Result<bool, Error<E::Error>> {
        let mut examiner = std::mem::take(&mut self.examiner);
        let (_, news) = examiner.examine(schedule, trace);
        let enough = schedule.is_none() || fusion::is_enough(trace, &self.shortcuts, &news);
        if enough {
            self.take_in(schedule, trace, news)?;
        }
        self.examiner = examiner;
        Ok(enough)
    }

    /// Records what a run shows.
    fn take_in(&mut self, schedule: Option<&Schedule>, trace: &Trace, news: News<'_>) -> Result<(), Error<E::Error>> {
        let from = self.last.follow(schedule.is_some(), trace);
        match trace.end {
            End::StepLimit => self.stop(StopReason::StepLimit),
            End::TimeLimit => self.stop(StopReason::TimeLimit),
            _ => {}
        }
        if self.stopped.is_none() && !self.options.choices.cover(trace, from) {
            self.stopped = Some(StopReason::Choices);
        }
        self.observer.trace(trace, from);
        self.found.add(trace, from, news)?;
        for schedule in masked_failures(trace) {
            if self.unmasked.insert(schedule.clone()) {
                let trace = self.executor.run(&schedule).map_err(Error::Executor)?;
                if let End::Diverged { message, .. } = &trace.end {
                    self.note_unrepeatable(Unrepeatable::diverged(&trace, message));
                    continue;
                }
                self.statistics.confirmations += 1;
                let Analysis { races, conflicts } = analyse(&trace);
                self.found.add(&trace, Step(0), News { races: &races, conflicts: &conflicts })?;
            }
        }
        Ok(())
    }

    pub(crate) fn count(&mut self, taken: RunKind, events: usize, deadlocked: bool) {
        self.statistics.count(taken, events, deadlocked);
        self.report_progress(events);
    }

    pub(crate) fn report_progress(&mut self, depth: usize) {
        if self.found.races.len() > self.reported.len() {
            for pair in self.found.races.keys().filter(|pair| self.reported.insert(**pair)) {
                self.observer.race(*pair);
            }
        }
        self.observer.progress(&Progress {
            statistics: self.statistics,
            depth,
            races: self.found.races.len(),
            failures: self.found.failure_count(),
            expected: self.expected,
        });
    }

    pub(crate) fn bound_reached(&self) -> Option<StopReason> {
        let Options { stop_at_first, max_executions, budget, .. } = self.options;
        if *stop_at_first && self.found.any() {
            return Some(StopReason::FirstFound);
        }
        if max_executions.is_some_and(|max| self.statistics.executions >= max) {
            return Some(StopReason::Executions);
        }
        budget.spent().map(|spent| match spent {
            Spent::Interrupt => StopReason::Interrupted,
            Spent::Time => StopReason::Deadline,
            Spent::Memory | Spent::Pairs => StopReason::Memory,
        })
    }

    /// Confirms every finding by a run that no earlier run can have influenced, and builds the outcome. A witness that the
    /// program cannot follow is not confirmed.
    pub(crate) fn finish(mut self) -> Result<Outcome, Error<E::Error>> {
        let mut found = std::mem::take(&mut self.found);
        // Where something is not modelled, that is why no execution reached its end.
        let explained = self.options.unmodelled || !found.unmodelled.is_empty();
        if !found.completed && !explained && self.statistics.executions > 0 {
            self.stopped = self.stopped.or(Some(StopReason::Assumptions));
        }
        let mut races = BTreeMap::new();
        for (pair, KnownRace { witness, .. }) in std::mem::take(&mut found.races) {
            let trace = self.executor.run_alone(&witness.schedule).map_err(Error::Executor)?;
            self.statistics.confirmations += 1;
            let confirmed = witness.is_shown_by(&trace);
            races.insert(pair, FoundRace { witness, confirmed });
        }
        let conflicts = std::mem::take(&mut found.conflicts);
        let checks = &self.options.checks;
        let (unmodelled, weak_atomics) = (std::mem::take(&mut found.unmodelled), found.weak_atomics);
        let mut failures = found.into_failures(checks);
        let unconfirmed = self.take_unconfirmed(&mut failures)?;
        // If races are not searched for, their absence proves nothing.
        let ordered = |pair: &Pair| checks.contains(&Check::Race) && !races.contains_key(pair);
        Ok(Outcome {
            ordered: conflicts.into_iter().filter(ordered).collect(),
            races,
            unmodelled,
            weak_atomics,
            failures,
            unconfirmed,
            statistics: self.statistics,
            assurance: self.beside.map_or(self.missed, |beside| beside.missed).assurance(),
            coverage: self.stopped.map_or(Coverage::Complete, Coverage::Stopped),
            hints: self.hints,
            unrepeatable: self.unrepeatable,
        })
    }

    /// Shortens the schedules of failures, and takes out those that a run does not show which no earlier run can have
    /// influenced.
    fn take_unconfirmed(&mut self, failures: &mut Vec<Failure>) -> Result<Vec<Failure>, Error<E::Error>> {
        let mut unconfirmed = Vec::new();
        for mut failure in std::mem::take(failures) {
            self.statistics.confirmations += shorten(self.executor, &mut failure).map_err(Error::Executor)?;
            // A run that was cut is no finding, and would take as long again.
            let is_shown = failure.kind == FailureKind::Endless || {
                let trace = self.executor.run_alone(&failure.schedule).map_err(Error::Executor)?;
                self.statistics.confirmations += 1;
                // A run for which no time was left says nothing.
                trace.end == End::TimeLimit || Findings::is_shown_by(&failure, &trace)
            };
            if is_shown { &mut *failures } else { &mut unconfirmed }.push(failure);
        }
        Ok(unconfirmed)
    }
}

/// Limit on the preemptions that are dropped from a failure's schedule.
const MOST_DROPPED: usize = 16;

/// Replaces a failure's schedule by one with fewer thread switches, if such a schedule still shows it: first the same
/// events in another order, then without the last preemption, repeatedly. Returns the number of runs made.
fn shorten<E: Executor>(executor: &mut E, failure: &mut Failure) -> Result<u64, E::Error> {
    let mut trace = executor.run(&failure.schedule)?;
    let mut executed = 1;
    let mut adopt = |failure: &mut Failure, schedule: &Schedule| -> Result<Option<Trace>, E::Error> {
        let trace = executor.run(schedule)?;
        executed += 1;
        if matches!(trace.end, End::Diverged { .. }) || !Findings::is_shown_by(failure, &trace) {
            return Ok(None);
        }
        let schedule = trace.schedule_to(trace.events.next_id());
        let fewer = schedule.switches() < failure.schedule.switches();
        Ok(fewer.then(|| {
            failure.schedule = schedule;
            trace
        }))
    };
    if let Some(schedule) = shortest::of_failure(&trace, failure)
        && let Some(shorter) = adopt(failure, &schedule)?
    {
        trace = shorter;
    }
    for _ in 0..MOST_DROPPED {
        let Some(last) = shortest::last_preemption(&trace) else { break };
        let Some(shorter) = adopt(failure, &trace.schedule_to(last))? else { break };
        trace = shorter;
    }
    Ok(executed)
}
