//! Prediction in the line: reorder a recorded run, replay every race predicted, settle what a replay confirms.
//!
//! A prediction is never a race by itself. Its order of synchronisation is replayed under the controlled scheduler; what
//! happens-before then finds is a race with a witness like any other. What a replay does not reproduce stays open: a
//! counterexample to the prediction, counted apart. One run proves no absence, so this engine never answers `absent`.

use std::collections::BTreeMap;
use std::time::Instant;

use ::explore::Witness;
use ::predict::{Aim, Method, PredictedRace, Prediction, Unsettled};
use coarse::{Diverged, Order};
use files::TraceFile;
use model::race::SitePair;
use model::{Budget, Engine, Executor, Pair, Schedule, Trace};
use program::Program;
use report::Code;

use super::explore::unmodelled;
use super::{Answer, Figures, Open, Settled, Verdict};
use crate::Error;
use crate::assumptions;
use crate::describe::{Describer, ObjectNames, Position, Sightings};
use crate::gap::Gap;
use crate::ledger::Ledger;
use crate::run::Running;

/// What would settle a pair that no reordering of the recorded run lets race.
const OTHER_RUNS: &str = "`raceproof explore` looks at every schedule";

/// Why prediction never proves absence.
pub(crate) const ONE_RUN: &str = "prediction speaks of one recorded run and proves no absence";

const NO_REORDERING: &str = "no reordering of the recorded run has this race, but other runs may";

/// Predicts races from a recorded run of the program, for pairs that the ledger has not settled, and replays them. With
/// `passes` of two options the second works on listed pairs that the first leaves: plain reads may then read something
/// else, since a thread that only counts goes the same way whatever it reads, and where it does not, the replay shows it.
pub(crate) fn run(
    running: &mut Running,
    recording: &TraceFile,
    passes: &[::predict::Options],
    ledger: &Ledger,
    budget: &Budget,
) -> Result<Answer, Error> {
    let start = Instant::now();
    let built = std::sync::Arc::clone(&running.built);
    let names = ObjectNames::new(&built.program, &recording.symbols);
    let describer = Describer { program: &built.program, names: &names };
    let sightings = Sightings::of_run(&describer, &recording.trace);
    let mut pass =
        Pass { recording, describer: &describer, sightings: &sightings, verdicts: BTreeMap::new(), races: Vec::new() };
    let mut executor = Counted { executor: &mut running.target, runs: 0 };
    let mut figures: Option<Figures> = None;
    for options in passes {
        if figures.is_some() && ledger.open().all(|pair| pass.races.contains(&pair)) {
            break;
        }
        let prediction = pass.reorder(&mut executor, options, ledger, budget)?;
        let new = self::figures(&prediction, &recording.trace, start);
        match &mut figures {
            None => figures = Some(new),
            // What the second pass leaves open the first has left open too, so coverage stays the first's.
            Some(figures) => figures.method = format!("{}, {}", figures.method, new.method),
        }
    }
    let mut figures = figures.unwrap_or_else(|| Figures::new(Engine::Predict, "", None, start.elapsed()));
    figures.statistics.executions = executor.runs;
    figures.time = start.elapsed();
    let Pass { mut verdicts, races, .. } = pass;
    // Races in the order in which they were found, then the rest in the order of pairs.
    let first = races.iter().filter_map(|pair| Some((*pair, verdicts.remove(pair)?))).collect::<Vec<_>>();
    let verdicts = first.into_iter().chain(verdicts).map(|(_, settled)| settled).collect();
    Ok(Answer {
        verdicts,
        gaps: gaps(running, recording),
        assumptions: assumptions::of_recording(&built.program, !built.identity.assume_pure.is_empty()),
        sightings: Some(sightings),
        warnings: Vec::new(),
        ..Answer::new(figures)
    })
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

/// Passes over one recorded run.
struct Pass<'a> {
    recording: &'a TraceFile,
    describer: &'a Describer<'a>,
    sightings: &'a Sightings,
    verdicts: BTreeMap<Pair, Settled>,
    /// The races in the order in which they were found.
    races: Vec<Pair>,
}

impl Pass<'_> {
    /// One pass for the pairs that are not settled.
    fn reorder<E: Executor>(
        &mut self,
        executor: &mut Counted<'_, E>,
        options: &::predict::Options,
        ledger: &Ledger,
        budget: &Budget,
    ) -> Result<Prediction, E::Error> {
        let shown = |pair: &Pair| self.races.contains(pair);
        let aimed = |sites: SitePair| pair_of(sites).is_some_and(|pair| !ledger.is_settled(pair) && !shown(&pair));
        let aim = Aim { wanted: &aimed, is_over: &|| budget.is_spent() };
        let mut prediction = ::predict::predict_some(&self.recording.trace, options, &aim);
        prediction.races.retain(|race| race.pair().is_none_or(|pair| !shown(&pair)));
        for race in &prediction.races {
            let Some(pair) = race.pair().filter(|_| !budget.is_spent()) else { continue };
            match replay(executor, &self.recording.trace, race)? {
                Ok(witness) => self.race(pair, witness),
                Err(diverged) => self.not_reproduced(pair, race, &diverged),
            }
        }
        let left =
            prediction.open.iter().map(|open| (open.sites, format!("not settled by prediction: {}", open.reason)));
        let rejected = prediction.rejected.iter().map(|sites| (*sites, NO_REORDERING.to_owned()));
        for (sites, reason) in left.chain(rejected) {
            let Some(pair) = pair_of(sites) else { continue };
            let Some(seen) = self.sightings.of(pair) else { continue };
            let seen = Some(Box::new(seen.map(Clone::clone)));
            let verdict = Verdict::Open(Open::new(Code::SEARCH_BOUND, reason).settled_by(OTHER_RUNS));
            self.verdicts.entry(pair).or_insert(Settled { pair, verdict, seen });
        }
        Ok(prediction)
    }

    fn race(&mut self, pair: Pair, witness: Witness) {
        if !self.races.contains(&pair) {
            self.races.push(pair);
            let seen = self.sightings.of(pair).map(|seen| Box::new(seen.map(Clone::clone)));
            self.verdicts.insert(pair, Settled { pair, verdict: Verdict::Race(witness), seen });
        }
    }

    fn not_reproduced(&mut self, pair: Pair, race: &PredictedRace, diverged: &Diverged) {
        let seen = self.describer.race(&self.recording.trace, race.first, race.second, |_| true);
        let seen = seen.map(|seen| Box::new(seen.map(|(_, access)| access)));
        let how = describe_divergence(self.describer.program, diverged);
        let reason = format!("predicted ({}), not reproduced: {how}", method(race));
        let verdict = Verdict::Open(Open::new(Code::NOT_REPRODUCED, reason).settled_by(OTHER_RUNS));
        self.verdicts.entry(pair).or_insert(Settled { pair, verdict, seen });
    }
}

fn pair_of((one, other): SitePair) -> Option<Pair> {
    Some(Pair::new(one?, other?))
}

/// Replays the order of synchronisation of one prediction.
fn replay<E: Executor>(
    executor: &mut Counted<'_, E>,
    recorded: &Trace,
    race: &PredictedRace,
) -> Result<Result<Witness, Diverged>, E::Error> {
    let Some(order) = Order::of(recorded, &race.schedule, race.in_run) else {
        let thread = recorded.threads.iter().next().map_or_else(model::ThreadPath::main, |info| info.path.clone());
        let why = "the recording does not have all that leads to the race".to_owned();
        return Ok(Err(Diverged { turns: 0, thread, site: None, why }));
    };
    let witness = match coarse::replay(executor, &order)? {
        Ok(reached) => Witness {
            schedule: reached.schedule,
            first: reached.accesses[0],
            second: reached.accesses[1],
            adjacent: reached.adjacent,
        },
        Err(diverged) => return Ok(Err(diverged)),
    };
    let trace = executor.run_alone(&witness.schedule)?;
    if !witness.is_shown_by(&trace) {
        let thread = trace.threads.get(witness.second.thread).map_or_else(model::ThreadPath::main, |t| t.path.clone());
        let why = "the schedule that led to the race does not in a new process".to_owned();
        return Ok(Err(Diverged { turns: order.turns(), thread, site: None, why }));
    }
    Ok(Ok(witness))
}

/// How a race was predicted.
pub(crate) fn method(race: &PredictedRace) -> &'static str {
    match race.method {
        Method::Observed => "the recorded run itself does not order the accesses",
        Method::SyncPreserving => "a part of the recorded run leads to both accesses",
        Method::Reordering => "a reordering of the recorded run leads to both accesses",
    }
}

/// Where a replay left the recorded order.
fn describe_divergence(program: &Program, diverged: &Diverged) -> String {
    let Position { file, line, column, .. } = Position::of(program, diverged.site);
    let place = file.map_or_else(String::new, |file| format!(" on its way to {file}:{line}:{column}"));
    let turns = if diverged.turns == 1 { "1 operation".to_owned() } else { format!("{} operations", diverged.turns) };
    format!("after {turns} in order, thread {}{place}: {}", diverged.thread, diverged.why)
}

/// What keeps the answer from being better.
fn gaps(running: &Running, recording: &TraceFile) -> Vec<Gap> {
    let mut gaps = vec![Gap::new(Code::SEARCH_BOUND, ONE_RUN, OTHER_RUNS)];
    if let Some(cut) = &recording.cut {
        gaps.push(Gap::new(Code::SEARCH_BOUND, cut.clone(), "record again, with more room or time"));
    }
    gaps.extend(unmodelled(&running.built, recording.trace.unmodelled.iter()));
    gaps
}

/// What the document says of a prediction from this trace.
pub(crate) fn figures(prediction: &Prediction, trace: &Trace, start: Instant) -> Figures {
    let window = prediction.open.iter().any(|open| open.reason != Unsettled::Rigid);
    let reason = prediction.open.first().map(|open| format!("{} not settled: {}", prediction.open.len(), open.reason));
    let method = if prediction.candidates { "relaxed" } else { "reads-from" };
    let mut figures = Figures { complete: !window, ..Figures::new(Engine::Predict, method, reason, start.elapsed()) };
    figures.statistics.transitions = trace.events.len() as u64;
    figures
}
