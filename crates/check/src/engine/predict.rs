//! Prediction in the line: what a recorded run shows itself, what other orders of it have, and what replays of either show.
//!
//! Three strengths come out of it. A race that happens-before finds in the recorded order is *observed*: a finding. One that
//! another order of the run has is *predicted*: an open pair. The order of synchronisation of either is replayed under the
//! controlled scheduler; what happens-before then finds is *confirmed*, with a witness like any other. A replay that leaves
//! the order takes nothing from an observed race, and leaves a predicted one open. One run proves no absence, so this engine
//! never answers `absent`.
//!
//! A run that the controlled scheduler made is the same in every replay, so there an unordered pair that no replay shows is
//! only predicted.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ::explore::Witness;
use ::predict::{Aim, Method, Observation, PredictedRace, Prediction, Unsettled};
use coarse::{Diverged, Order, Turn};
use exec::Target;
use files::TraceFile;
use model::race::SitePair;
use model::{Budget, Engine, Environment, Executor, Pair, Schedule, Trace};
use report::Code;

use super::explore::unmodelled;
use super::{Answer, Figures, Open, Settled, Verdict, clients};
use crate::Error;
use crate::assumptions;
use crate::describe::{Describer, Position, SeenAccess, Sightings};
use crate::gap::Gap;
use crate::ledger::Ledger;
use crate::subject::Subject;

/// What would settle a pair that no reordering of the recorded run lets race.
const OTHER_RUNS: &str = "`raceproof explore` looks at every schedule";

/// What would show an observed race again.
const REPLAY: &str =
    "record a run whose input is part of the command (arguments, `--stdin`, files), or use `raceproof check`";

/// Why prediction never proves absence.
pub(crate) const ONE_RUN: &str = "prediction speaks of one recorded run and proves no absence";

const NO_REORDERING: &str = "no reordering of the recorded run has this race, but other runs may";

/// Replays of orders with more operations than this take longer than they are worth.
const LONGEST_ORDER: usize = 1 << 20;

/// The part of the remaining time that one replay may take, so that one that hangs leaves time to others.
const REPLAY_SHARE: f64 = 0.25;

/// The part of the remaining time that each pass of prediction may take: the rest is for what follows, and for the steps of a
/// pass that do not ask.
const PREDICTION_SHARE: f64 = 0.6;

/// The work on one recorded run.
pub(crate) struct Work<'a> {
    start: Instant,
    recording: &'a TraceFile,
    describer: &'a Describer<'a>,
    /// Whether unordered accesses of the recorded run are findings.
    observes: bool,
    sightings: Sightings,
    verdicts: BTreeMap<Pair, Settled>,
    /// The races in the order in which they were found.
    races: Vec<Pair>,
    figures: Option<Figures>,
    replays: u64,
    /// Beginnings of orders that replays could not follow, each with where it left them.
    diverged: Vec<(Vec<Turn>, Diverged)>,
}

impl<'a> Work<'a> {
    /// Nothing is predicted yet.
    pub(crate) fn new(recording: &'a TraceFile, describer: &'a Describer<'a>, observes: bool) -> Self {
        Self {
            start: Instant::now(),
            recording,
            describer,
            observes,
            sightings: Sightings::of_run(describer, &recording.trace),
            verdicts: BTreeMap::new(),
            races: Vec::new(),
            figures: None,
            replays: 0,
            diverged: Vec::new(),
        }
    }

    /// Whether a replay showed the race.
    pub(crate) fn has_shown(&self, pair: Pair) -> bool {
        self.races.contains(&pair)
    }

    /// What the run itself shows.
    pub(crate) fn observe(&mut self, budget: &Budget) -> Observation<'a> {
        let budget = budget.share(PREDICTION_SHARE);
        let observation = ::predict::observe(&self.recording.trace, &|| budget.is_spent());
        if self.observes {
            self.enter_races(&observation.races());
        }
        observation
    }

    /// One pass for the pairs that are not settled. Nothing is replayed yet.
    pub(crate) fn predict(
        &mut self,
        observation: Observation<'a>,
        options: &::predict::Options,
        ledger: &Ledger,
        budget: &Budget,
    ) -> Prediction<'a> {
        let budget = budget.share(PREDICTION_SHARE);
        let aimed =
            |sites: SitePair| pair_of(sites).is_some_and(|pair| !ledger.is_settled(pair) && !self.has_shown(pair));
        let aim = Aim { wanted: &aimed, is_over: &|| budget.is_spent() };
        let mut prediction = observation.predict(options, &aim);
        prediction.races.retain(|race| race.pair().is_none_or(|pair| !self.has_shown(pair)));
        let new = figures(&prediction, &self.recording.trace, self.start);
        match &mut self.figures {
            None => self.figures = Some(new),
            // What the second pass leaves open the first has left open too, so coverage stays the first's.
            Some(figures) => figures.method = format!("{}, {}", figures.method, new.method),
        }
        self.enter(&prediction);
        prediction
    }

    /// Enters what a prediction says of pairs, before any replay.
    fn enter(&mut self, prediction: &Prediction<'_>) {
        self.enter_races(&prediction.races);
        let left =
            prediction.open.iter().map(|open| (open.sites, format!("not settled by prediction: {}", open.reason)));
        let rejected = prediction.rejected.iter().map(|sites| (*sites, NO_REORDERING.to_owned()));
        for (sites, reason) in left.chain(rejected) {
            let Some(pair) = pair_of(sites) else { continue };
            let Some(seen) = self.seen(pair) else { continue };
            let verdict = Verdict::Open(Open::new(Code::SEARCH_BOUND, reason).settled_by(OTHER_RUNS));
            self.verdicts.entry(pair).or_insert(Settled { pair, verdict, seen: Some(seen) });
        }
    }

    /// Enters races that are not entered yet.
    fn enter_races(&mut self, races: &[PredictedRace]) {
        let new = |pair: &Pair| !self.verdicts.contains_key(pair);
        let races: Vec<(Pair, &PredictedRace)> =
            races.iter().filter_map(|race| Some((race.pair().filter(new)?, race))).collect();
        let events: Vec<_> = races.iter().map(|(_, race)| [race.first, race.second]).collect();
        let is_of = |index: usize, sites: [Option<model::SiteId>; 2]| {
            sites[0].zip(sites[1]).is_some_and(|(one, other)| Pair::new(one, other) == races[index].0)
        };
        let seen = self.describer.races(&self.recording.trace, &events, is_of);
        for ((pair, race), seen) in races.iter().zip(seen) {
            let seen = seen.map(|seen| Box::new(seen.map(|(_, access)| access)));
            let verdict = self.unshown(race, "no replay was tried");
            self.verdicts.entry(*pair).or_insert(Settled { pair: *pair, verdict, seen });
        }
    }

    fn seen(&self, pair: Pair) -> Option<Box<[SeenAccess; 2]>> {
        Some(Box::new(self.sightings.of(pair)?.map(Clone::clone)))
    }

    /// The verdict for a race that no replay shows, with why.
    fn unshown(&self, race: &PredictedRace, why: &str) -> Verdict {
        if self.observes && race.method == Method::Observed {
            let reason = format!("in the recorded run nothing ordered the two accesses; not replayed: {why}");
            return Verdict::Observed { reason, settle: REPLAY.to_owned() };
        }
        let reason = format!("predicted ({}), not reproduced: {why}", method(race));
        Verdict::Open(Open::new(Code::NOT_REPRODUCED, reason).settled_by(OTHER_RUNS))
    }

    /// Replays the races of a prediction, while the budget lasts, those that the recorded run itself shows first.
    pub(crate) fn replay<E: Executor>(
        &mut self,
        executor: &mut E,
        prediction: &Prediction<'_>,
        budget: &Budget,
    ) -> Result<(), E::Error> {
        let mut executor = Counted { executor, runs: 0 };
        let mut races: Vec<&PredictedRace> = prediction.races.iter().collect();
        races.sort_by_key(|race| race.method);
        for race in races {
            let Some(pair) = race.pair().filter(|pair| !self.has_shown(*pair)) else { continue };
            let outcome = if budget.is_spent() {
                Err("the time limit was reached".to_owned())
            } else {
                self.replay_one(&mut executor, prediction, race, &budget.share(REPLAY_SHARE))?
            };
            match outcome {
                Ok(witness) => self.race(pair, witness),
                Err(why) => self.not_shown(pair, race, &why),
            }
        }
        self.replays += executor.runs;
        Ok(())
    }

    /// Runs the program with the clients of the recording. What such a run shows is confirmed, whatever the recording says.
    pub(crate) fn run_with_clients(
        &mut self,
        target: &mut Target,
        prediction: &Prediction<'_>,
        budget: &Budget,
    ) -> Result<(), Error> {
        let runs = clients::run(target, budget, |outcome| {
            for (pair, race) in outcome.races.into_iter().filter(|(_, race)| race.confirmed) {
                if !self.has_shown(pair) {
                    self.race(pair, race.witness);
                }
            }
        })?;
        self.replays += runs;
        let why =
            format!("{runs} {} with the recorded clients did not show it", if runs == 1 { "run" } else { "runs" });
        for race in &prediction.races {
            if let Some(pair) = race.pair().filter(|pair| !self.has_shown(*pair)) {
                self.not_shown(pair, race, &why);
            }
        }
        Ok(())
    }

    /// Enters why no replay shows a race. What a recording shows counts for more than what is predicted of it.
    fn not_shown(&mut self, pair: Pair, race: &PredictedRace, why: &str) {
        let verdict = self.unshown(race, why);
        if let Some(entered) = self.verdicts.get_mut(&pair)
            && !matches!(entered.verdict, Verdict::Observed { .. } if race.method != Method::Observed)
        {
            entered.verdict = verdict;
        }
    }

    /// Replays the order of synchronisation of one prediction. If there is no witness, says why.
    fn replay_one<E: Executor>(
        &mut self,
        executor: &mut Counted<'_, E>,
        prediction: &Prediction<'_>,
        race: &PredictedRace,
        budget: &Budget,
    ) -> Result<Result<Witness, String>, E::Error> {
        let planned = prediction.plan(race);
        let order = match Order::of(&self.recording.trace, &planned.schedule, planned.in_run, LONGEST_ORDER) {
            Ok(order) => order,
            Err(why) => return Ok(Err(why.to_string())),
        };
        // A replay is a function of its order: what begins alike leaves it at the same place.
        if let Some((_, diverged)) = self.diverged.iter().find(|(begin, _)| order.turns.starts_with(begin)) {
            return Ok(Err(self.describe(diverged)));
        }
        match coarse::replay(executor, &order, &|| budget.is_spent())? {
            Err(diverged) => {
                let why = self.describe(&diverged);
                if let Some(begin) = order.turns.get(..diverged.turns + 1) {
                    self.diverged.push((begin.to_vec(), diverged));
                }
                Ok(Err(why))
            }
            Ok(reached) => {
                let witness = Witness {
                    schedule: reached.schedule,
                    first: reached.accesses[0],
                    second: reached.accesses[1],
                    adjacent: reached.adjacent,
                };
                let trace = executor.run_alone(&witness.schedule)?;
                let shown = witness.is_shown_by(&trace);
                Ok(if shown { Ok(witness) } else { Err("the replay differs in a new process".to_owned()) })
            }
        }
    }

    fn race(&mut self, pair: Pair, witness: Witness) {
        self.races.push(pair);
        let entered = self.verdicts.remove(&pair).and_then(|settled| settled.seen);
        let seen = self.seen(pair).or(entered);
        self.verdicts.insert(pair, Settled { pair, verdict: Verdict::Race(witness), seen });
    }

    /// Where a replay left the recorded order.
    fn describe(&self, diverged: &Diverged) -> String {
        let Position { file, line, column, .. } = Position::of(self.describer.program, diverged.site);
        let place = file.map_or_else(String::new, |file| format!(" on its way to {file}:{line}:{column}"));
        let turns =
            if diverged.turns == 1 { "1 operation".to_owned() } else { format!("{} operations", diverged.turns) };
        format!("after {turns} in order, thread {}{place}: {}", diverged.thread, diverged.why)
    }

    /// What is known so far: races in the order in which they were found, then the rest in the order of pairs.
    pub(crate) fn so_far(&self) -> Vec<Settled> {
        let first = self.races.iter().filter_map(|pair| self.verdicts.get(pair));
        let rest = self.verdicts.iter().filter(|(pair, _)| !self.has_shown(**pair)).map(|(_, settled)| settled);
        first.chain(rest).cloned().collect()
    }

    /// All that was found out.
    pub(crate) fn finish(self, subject: &Subject, environment: Environment) -> Answer {
        let none = || Figures::new(Engine::Predict, "", None, Duration::ZERO);
        let verdicts = self.so_far();
        let mut figures = self.figures.unwrap_or_else(none);
        figures.statistics.executions = self.replays;
        figures.time = self.start.elapsed();
        Answer {
            verdicts,
            gaps: gaps(subject, self.recording),
            assumptions: assumptions::of_recording(
                subject.program(),
                !self.recording.program.assume_pure.is_empty(),
                environment,
            ),
            sightings: Some(self.sightings),
            warnings: Vec::new(),
            ..Answer::new(figures)
        }
    }
}

fn pair_of((one, other): SitePair) -> Option<Pair> {
    Some(Pair::new(one?, other?))
}

/// Counts the runs of an executor.
struct Counted<'a, E> {
    executor: &'a mut E,
    runs: u64,
}

impl<E: Executor> Executor for Counted<'_, E> {
    type Error = E::Error;
    fn run(&mut self, schedule: &Schedule) -> Result<Trace, E::Error> {
        self.runs += 1;
        self.executor.run(schedule)
    }
    fn run_alone(&mut self, schedule: &Schedule) -> Result<Trace, E::Error> {
        self.runs += 1;
        self.executor.run_alone(schedule)
    }
}

/// How a race was predicted.
pub(crate) fn method(race: &PredictedRace) -> &'static str {
    match race.method {
        Method::Observed => "the recorded run itself does not order the accesses",
        Method::SyncPreserving => "a part of the recorded run leads to both accesses",
        Method::Reordering => "a reordering of the recorded run leads to both accesses",
    }
}

/// What keeps the answer from being better.
fn gaps(subject: &Subject, recording: &TraceFile) -> Vec<Gap> {
    let mut gaps = vec![Gap::new(Code::SEARCH_BOUND, ONE_RUN, OTHER_RUNS)];
    if let Some(cut) = &recording.cut {
        gaps.push(Gap::new(Code::SEARCH_BOUND, cut.clone(), "record again, with more room or time"));
    }
    gaps.extend(unmodelled(subject.unmodelled().iter(), recording.trace.unmodelled.iter()));
    gaps
}

/// What the document says of a prediction from this trace.
pub(crate) fn figures(prediction: &Prediction<'_>, trace: &Trace, start: Instant) -> Figures {
    let window = prediction.open.iter().any(|open| open.reason != Unsettled::Rigid);
    let reason = prediction.open.first().map(|open| format!("{} not settled: {}", prediction.open.len(), open.reason));
    let method = if prediction.candidates { "relaxed" } else { "reads-from" };
    let mut figures = Figures { complete: !window, ..Figures::new(Engine::Predict, method, reason, start.elapsed()) };
    figures.statistics.transitions = trace.events.len() as u64;
    figures
}
