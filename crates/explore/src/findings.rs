//! What the executions of a search have shown so far.

use std::collections::{BTreeMap, BTreeSet};

use model::race::{Analyser, News};
use model::{Access, End, Order, Pair, Race, Schedule, SiteId, Step, ThreadId, Trace, Unmodelled};
use serde::{Deserialize, Serialize};

use crate::causality::Causality;
use crate::last_run::LastRun;
use crate::outcome::{Failure, FailureKind, Involved, StopReason};
use crate::outlook::{Check, Settled};
use crate::witness::{Approach, Witness};

/// A race in which an access has no site.
pub(crate) struct RaceWithoutSite {
    pub(crate) step: Step,
    pub(crate) other: Option<SiteId>,
}

/// What identifies a failure: its kind, its sites and, for misuses, the message.
type FailureKey = (FailureKind, Vec<Option<SiteId>>, String);

/// A racing pair.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct KnownRace {
    /// The best witness built so far.
    pub(crate) witness: Witness,
    /// The fewest thread switches of a trace from which a witness was built.
    simplest: usize,
}

/// What the executions of a search have shown so far.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Findings {
    pub(crate) races: BTreeMap<Pair, KnownRace>,
    pub(crate) conflicts: BTreeSet<Pair>,
    failures: BTreeMap<FailureKey, Failure>,
    pub(crate) unmodelled: Vec<Unmodelled>,
    pub(crate) weak_atomics: bool,
    /// Whether an execution reached its end without being cut by a limit or a failed assumption.
    pub(crate) completed: bool,
}

/// Finds races in a sequence of runs without examining again what a run shares with the one before.
#[derive(Default)]
pub(crate) struct Examiner {
    analyser: Analyser,
    last: LastRun,
}

impl Examiner {
    /// What a run shows beyond the run examined before, and how many first events the two share. `schedule` is the
    /// run's schedule, if it had one.
    pub(crate) fn examine(&mut self, schedule: Option<&Schedule>, trace: &Trace) -> (Step, News<'_>) {
        let from = self.last.follow(schedule.is_some(), trace);
        (from, self.analyser.analyse(trace, from))
    }
}

impl Findings {
    /// Adds what a run shows. Its events before `from` are those of the run added before. Returns whether anything was
    /// new.
    pub(crate) fn add(&mut self, trace: &Trace, from: Step, news: News<'_>) -> Result<bool, RaceWithoutSite> {
        let News { races, conflicts } = news;
        let known = (self.conflicts.len(), self.failures.len(), self.unmodelled.len());
        let flags = (self.completed, self.weak_atomics);
        self.conflicts.extend(conflicts.iter().filter_map(|(one, other)| Some(Pair::new((*one)?, (*other)?))));
        let raced = add_races(&mut self.races, trace, races)?;
        self.add_failures(trace);
        for unmodelled in &trace.unmodelled {
            if !self.unmodelled.contains(unmodelled) {
                self.unmodelled.push(unmodelled.clone());
            }
        }
        self.completed = self.completed || !matches!(trace.end, End::StepLimit | End::TimeLimit | End::Assumed { .. });
        self.weak_atomics = self.weak_atomics
            || trace.events.iter().skip(from.0 as usize).any(|event| event.op.accesses().iter().any(is_weak));
        let same = known == (self.conflicts.len(), self.failures.len(), self.unmodelled.len());
        Ok(raced || !same || flags != (self.completed, self.weak_atomics))
    }

    /// Number of failures found.
    pub(crate) fn failure_count(&self) -> usize {
        self.failures.len()
    }

    /// Number of races and failures found.
    pub(crate) fn count(&self) -> usize {
        self.races.len() + self.failures.len()
    }

    /// The findings that need not be searched for any more.
    pub(crate) fn settled(&self, checks: &BTreeSet<Check>) -> Settled {
        let failed = self.failures.keys().filter(|(kind, ..)| *kind == FailureKind::Assertion);
        Settled {
            checks: checks.clone(),
            races: self.races.keys().copied().collect(),
            assertions: failed.flat_map(|(_, sites, _)| sites.iter().flatten().copied()).collect(),
        }
    }

    /// Whether a run shows the failure.
    pub(crate) fn is_shown_by(failure: &Failure, trace: &Trace) -> bool {
        let mut shown = Self::default();
        shown.add_failures(trace);
        let sites = |f: &Failure| f.involved.iter().map(|i| i.site).collect::<Vec<_>>();
        let same = |f: &Failure| {
            (f.kind, sites(f)) == (failure.kind, sites(failure))
                && (!f.kind.is_remark() || f.message == failure.message)
        };
        shown.failures.values().any(same)
    }

    /// Whether there is a finding.
    pub(crate) fn any(&self) -> bool {
        !self.races.is_empty() || !self.failures.is_empty()
    }

    /// The failures of the requested kinds, in order.
    pub(crate) fn into_failures(self, checks: &BTreeSet<Check>) -> Vec<Failure> {
        let asked = |failure: &Failure| failure.kind.check().is_none_or(|check| checks.contains(&check));
        self.failures.into_values().filter(asked).collect()
    }

    fn add_failures(&mut self, trace: &Trace) {
        let involved = |thread: ThreadId, site| Involved { site, thread: trace.threads[thread].path.clone() };
        for misuse in &trace.misuses {
            let is_lane = model::lane_site(&misuse.what).is_some();
            let kind = if is_lane { FailureKind::Lanes } else { FailureKind::Misuse };
            let key = (kind, vec![misuse.site], misuse.what.clone());
            self.add_failure(key, || (vec![involved(misuse.thread, misuse.site)], misuse.what.clone(), trace));
        }
        match &trace.end {
            End::Deadlock => {
                let mut blocked: Vec<Involved> =
                    trace.pending.iter().map(|p| involved(p.event.id.thread, p.event.site)).collect();
                blocked.sort();
                let key = (FailureKind::Deadlock, blocked.iter().map(|b| b.site).collect(), String::new());
                self.add_failure(key, || (blocked, String::new(), trace));
            }
            End::Assertion { thread, site, message } => {
                let key = (FailureKind::Assertion, vec![*site], String::new());
                self.add_failure(key, || (vec![involved(*thread, *site)], message.clone(), trace));
            }
            End::Crash { thread, site, message } => {
                let key = (FailureKind::Crash, vec![*site], String::new());
                self.add_failure(key, || (vec![involved(*thread, *site)], message.clone(), trace));
            }
            End::StepLimit | End::TimeLimit => {
                let message = match trace.end {
                    End::StepLimit => StopReason::StepLimit,
                    _ => StopReason::TimeLimit,
                };
                let looping: Vec<_> = looping(trace).into_iter().collect();
                let key = (FailureKind::Endless, looping.iter().map(|(_, site)| *site).collect(), message.to_string());
                let involved = looping.into_iter().map(|(thread, site)| involved(thread, site)).collect();
                self.add_failure(key, || (involved, message.to_string(), trace));
            }
            End::Exit { .. } | End::Assumed { .. } | End::Diverged { .. } => {}
        }
    }

    fn add_failure<'a>(&mut self, key: FailureKey, parts: impl FnOnce() -> (Vec<Involved>, String, &'a Trace)) {
        let kind = key.0;
        self.failures.entry(key).or_insert_with(|| {
            let (involved, message, trace) = parts();
            let schedule: Schedule = trace.schedule_to(trace.events.next_id());
            Failure { kind, involved, message, schedule }
        });
    }
}

/// Whether an access is atomic and weaker than sequentially consistent.
fn is_weak(access: &Access) -> bool {
    access.atomic.is_some_and(|order| order != Order::SeqCst) && !access.cell.start.is_outside_memory()
}

/// Adds the races of a run. Returns whether one is new or has a simpler trace than before.
fn add_races(
    known_races: &mut BTreeMap<Pair, KnownRace>,
    trace: &Trace,
    races: &[Race],
) -> Result<bool, RaceWithoutSite> {
    let (mut causality, mut news) = (None, false);
    for race in races {
        let first = trace.events[race.first].site_of(race.first_access);
        let second = trace.events[race.second].site_of(race.second_access);
        let (Some(first), Some(second)) = (first, second) else {
            let (step, other) = if first.is_none() { (race.first, second) } else { (race.second, first) };
            return Err(RaceWithoutSite { step, other });
        };
        let pair = Pair::new(first, second);
        // Building a witness is expensive, so only traces simpler than all earlier ones are used.
        let switches = switches_before(trace, race.second);
        let known = known_races.get(&pair);
        let simpler = known.is_none_or(|k| switches < k.simplest);
        if !simpler && known.is_some_and(|k| k.witness.adjacent) {
            continue;
        }
        let causality = causality.get_or_insert_with(|| Causality::of(trace));
        let approach = Approach::new(trace, causality, race);
        if simpler || approach.adjacent() {
            news = true;
            let witness = approach.witness(trace, causality);
            let known =
                known_races.entry(pair).or_insert_with(|| KnownRace { witness: witness.clone(), simplest: switches });
            known.simplest = known.simplest.min(switches);
            if witness.cost() < known.witness.cost() {
                known.witness = witness;
            }
        }
    }
    Ok(news)
}

/// Number of thread switches up to and including the event.
fn switches_before(trace: &Trace, step: Step) -> usize {
    let events = &trace.events.as_slice()[..=step.0 as usize];
    events.windows(2).filter(|pair| pair[0].id.thread != pair[1].id.thread).count()
}

/// For a run that hit a limit: the thread with most of the last events, and where it seems to loop. Of the sites of
/// these events it takes the first in the program, so that the answer does not depend on where the run was cut.
pub fn looping(trace: &Trace) -> Option<(ThreadId, Option<SiteId>)> {
    let last = &trace.events.as_slice()[trace.events.len() / 2..];
    let events_of = |thread| last.iter().filter(move |e| e.id.thread == thread);
    let thread = trace.threads.ids().rev().max_by_key(|thread| events_of(*thread).count())?;
    Some((thread, events_of(thread).filter_map(|e| e.site).min()))
}
