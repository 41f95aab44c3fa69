//! Prediction's part of the line: reorder a recorded run, replay every race predicted, settle what a replay confirms.
//!
//! A prediction is never a race by itself. Its order of synchronisation is replayed under the controlled scheduler; what
//! happens-before then finds is a race with a witness like any other. What does not come about again stays `unknown`: a
//! counterexample to the prediction, counted apart. One run proves no absence, so this engine never answers `absent`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ::explore::{Observer, Progress};
use ::predict::{Aim, Method, Open, PredictedRace, Prediction, Unsettled};
use coarse::{Diverged, Order};
use files::TraceFile;
use model::verdict::{Inputs, Memory, Scope, Threads};
use model::{Engine, Executor, Pair, Schedule, Trace};
use report::document::SCHEMA;
use report::{Code, Details, PairVerdict, Report, Unknown};

use crate::build::Built;
use crate::examples::Examples;
use crate::finding::{Looker, SeenAccess};
use crate::listing::Listing;
use crate::names::Names;
use crate::place::Place;
use crate::run::{Limits, launch};
use crate::witnesses::Witnesses;
use crate::{Error, assumptions, settle};

/// How to predict, and how to replay what is predicted.
#[derive(Clone, Debug)]
pub struct PredictOptions {
    /// How long each replay may be.
    pub limits: Limits,
    /// Let plain reads read from other writes than they did.
    pub relaxed: bool,
    /// Events that the exact search looks at together.
    pub window: usize,
    /// Events that the exact search may perform per pair.
    pub budget: u64,
    /// Where witness files go; created when there is something to write.
    pub witness_dir: PathBuf,
}

impl Default for PredictOptions {
    fn default() -> Self {
        let ::predict::Options { relaxed, window, budget } = ::predict::Options::default();
        Self { limits: Limits::default(), relaxed, window, budget, witness_dir: PathBuf::from("raceproof-witnesses") }
    }
}

impl PredictOptions {
    pub(crate) fn search(&self) -> ::predict::Options {
        ::predict::Options { relaxed: self.relaxed, window: self.window, budget: self.budget }
    }
}

/// Nobody watches.
struct Silent;

impl Observer for Silent {
    fn progress(&mut self, _: &Progress) {}
    fn trace(&mut self, _: &Trace, _: model::Step) {}
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
}

/// Predicts races from a recorded run of the program and replays them.
pub fn predict(built: &Built, recorded: &TraceFile, options: &PredictOptions) -> Result<Report, Error> {
    predict_sites(built, recorded, options, &Aim::default(), &BTreeSet::new()).map(|(report, _)| report)
}

/// The same for some pairs while there is time, with the sites of the report's pairs. Pairs whose race was `shown` before
/// are left out, and the others numbered after them.
pub(crate) fn predict_sites(
    built: &Built,
    recorded: &TraceFile,
    options: &PredictOptions,
    aim: &Aim<'_>,
    shown: &BTreeSet<Pair>,
) -> Result<(Report, Vec<Pair>), Error> {
    let start = Instant::now();
    let mut prediction = ::predict::predict_some(&recorded.trace, &options.search(), aim);
    prediction.races.retain(|race| race.pair().is_none_or(|pair| !shown.contains(&pair)));
    let (mut target, _, symbols) = launch(built, &options.limits)?;
    let mut outcomes = Vec::new();
    let mut executor = Counted { executor: &mut target, runs: 0 };
    for race in prediction.races.iter().take_while(|_| !(aim.is_over)()) {
        outcomes.push(replay(&mut executor, &recorded.trace, race)?);
    }
    let runs = executor.runs;
    let time = start.elapsed();

    let names = Names::new(&built.program, &symbols);
    let looker = Looker { program: &built.program, names: &names };
    let recorded_names = Names::new(&built.program, &recorded.symbols);
    let recorded_looker = Looker { program: &built.program, names: &recorded_names };
    let mut silent = Silent;
    let mut examples = Examples::new(&recorded_looker, &mut silent);
    examples.trace(&recorded.trace, model::Step(0));
    let mut listing = Listing {
        looker: &looker,
        target: &mut target,
        witnesses: Witnesses { folder: options.witness_dir.clone(), built, run: options.limits.record() },
    };
    let (mut pairs, mut sites) = (Vec::new(), Vec::new());
    let number = |pairs: &[report::Pair]| {
        let rank = (shown.len() + pairs.len()) as u32 + 1;
        (format!("P{rank}"), rank)
    };
    for (race, outcome) in prediction.races.iter().zip(&outcomes) {
        let (Some(pair), Ok(witness)) = (race.pair(), outcome) else { continue };
        let (id, rank) = number(&pairs);
        let (accesses, path, run) = listing.race(&id, pair, witness)?;
        sites.push(pair);
        let details = Details { run: Some(run), protection: examples.protection(&accesses), ..Details::default() };
        pairs.push(report::Pair {
            verdict: PairVerdict::Race,
            confirmed: true,
            code: Some(Code::DATA_RACE),
            reason: settle::race_reason(witness.adjacent).to_owned(),
            witness: Some(path),
            details,
            ..open_pair(id, rank, accesses)
        });
    }
    let not_reproduced = prediction.races.iter().zip(&outcomes).filter_map(|(race, o)| Some((race, o.as_ref().err()?)));
    for (race, diverged) in not_reproduced {
        let Some(pair) = race.pair() else { continue };
        let Some(seen) = recorded_looker.race(&recorded.trace, race.first, race.second, |_| true) else { continue };
        let (id, rank) = number(&pairs);
        sites.push(pair);
        pairs.push(report::Pair {
            code: Some(Code::NOT_REPRODUCED),
            reason: format!("predicted ({}), not reproduced: {}", method(race), told(built, diverged)),
            ..open_pair(id, rank, seen.map(|(_, access)| access))
        });
    }
    let left = prediction.open.iter().map(|open| (open.sites, open_reason(open)));
    let rejected = prediction.rejected.iter().map(|sites| (*sites, NO_REORDERING.to_owned()));
    for ((one, other), reason) in left.chain(rejected) {
        let Some(pair) = one.zip(other).map(|(one, other)| Pair::new(one, other)) else { continue };
        let Some(seen) = examples.of(pair) else { continue };
        let (id, rank) = number(&pairs);
        sites.push(pair);
        let code = Some(Code::SEARCH_BOUND);
        pairs.push(report::Pair { code, reason, ..open_pair(id, rank, seen.map(Clone::clone)) });
    }
    let report = Report {
        raceproof: env!("CARGO_PKG_VERSION").to_owned(),
        schema: SCHEMA,
        command: "predict".to_owned(),
        inputs: built.identity.inputs.clone(),
        args: built.identity.args.clone(),
        verdict: if pairs.iter().any(|pair| pair.confirmed) { report::Verdict::Race } else { report::Verdict::Unknown },
        scope: Scope { inputs: Inputs::This, threads: Threads::These, bounded: true, memory: Memory::Sc },
        pairs,
        unknowns: unknowns(built, recorded),
        errors: Vec::new(),
        engines: vec![engine(&prediction, &recorded.trace, runs, time)],
        assumptions: assumptions::of_recording(&built.program, !built.identity.assume_pure.is_empty()),
        time_ms: (built.time + start.elapsed()).as_millis() as u64,
    };
    Ok((report, sites))
}

/// Replays the order of synchronisation of one prediction.
fn replay<E: Executor>(
    executor: &mut Counted<'_, E>,
    recorded: &Trace,
    race: &PredictedRace,
) -> Result<Result<explore::Witness, Diverged>, E::Error> {
    let Some(order) = Order::of(recorded, &race.schedule, race.in_run) else {
        let thread = recorded.threads.iter().next().map_or_else(model::ThreadPath::main, |info| info.path.clone());
        let why = "the recording does not have all that leads to the race".to_owned();
        return Ok(Err(Diverged { turns: 0, thread, site: None, why }));
    };
    let reached = coarse::replay(executor, &order)?;
    Ok(reached.map(|reached| explore::Witness {
        schedule: reached.schedule,
        first: reached.accesses[0],
        second: reached.accesses[1],
        adjacent: reached.adjacent,
    }))
}

const NO_REORDERING: &str = "no reordering of the recorded run has this race, but other runs may";

/// A pair that nothing settled.
pub(crate) fn open_pair(id: String, rank: u32, [one, other]: [SeenAccess; 2]) -> report::Pair {
    report::Pair {
        id,
        verdict: PairVerdict::Unknown,
        confirmed: false,
        by: Engine::Predict,
        rank,
        code: None,
        variable: one.variable,
        reason: String::new(),
        accesses: [one.access, other.access],
        witness: None,
        details: Details::default(),
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

/// Where a replay went another way.
fn told(built: &Built, diverged: &Diverged) -> String {
    let Place { file, line, column, .. } = Place::of(&built.program, diverged.site);
    let place = file.map_or_else(String::new, |file| format!(" on its way to {file}:{line}:{column}"));
    let turns = if diverged.turns == 1 { "1 operation".to_owned() } else { format!("{} operations", diverged.turns) };
    format!("after {turns} in order, thread {}{place}: {}", diverged.thread, diverged.why)
}

pub(crate) fn open_reason(open: &Open) -> String {
    format!("not settled by prediction: {}", open.reason)
}

/// What keeps the answer from being better.
fn unknowns(built: &Built, recorded: &TraceFile) -> Vec<Unknown> {
    let plain = |code, reason: String, settle: &str| Unknown {
        code,
        reason,
        function: None,
        file: None,
        line: 0,
        column: 0,
        settle: settle.to_owned(),
        witness: None,
    };
    let mut unknowns =
        vec![plain(Code::SEARCH_BOUND, ONE_RUN.to_owned(), "`raceproof explore` looks at every schedule")];
    if let Some(cut) = &recorded.cut {
        unknowns.push(plain(Code::SEARCH_BOUND, cut.clone(), "record again, with more room or time"));
    }
    let in_run = recorded.trace.unmodelled.iter().map(|u| (u.site, &u.what));
    unknowns.extend(settle::unmodelled(built, in_run));
    unknowns
}

pub(crate) const ONE_RUN: &str = "prediction speaks of one recorded run and proves no absence";

pub(crate) fn engine(prediction: &Prediction, trace: &Trace, runs: u64, time: Duration) -> report::Engine {
    let window = prediction.open.iter().any(|open| open.reason != Unsettled::Rigid);
    let reason = prediction.open.first().map(|open| format!("{} not settled: {}", prediction.open.len(), open.reason));
    report::Engine {
        name: Engine::Predict,
        coverage: if window { "stopped" } else { "complete" }.to_owned(),
        reason,
        time_ms: time.as_millis() as u64,
        reduction: if prediction.candidates { "relaxed" } else { "reads-from" }.to_owned(),
        executions: runs,
        blocked: 0,
        transitions: trace.events.len() as u64,
        race_free_checks: 0,
        race_free_yes: 0,
        skipped_backtracks: 0,
        nets: None,
        outputs: None,
    }
}
