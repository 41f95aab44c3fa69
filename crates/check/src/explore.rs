//! The search's part of the line: explore every schedule, settle every pair, keep a witness of every finding.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ::explore::{Check, Coverage, Hint, Led, Observer, Outcome, Outlook, ReductionName, Sampling, StopReason};
use model::Pair;
use model::verdict::Engine;
use outlook::Summary;
use report::document::SCHEMA;
use report::{PairVerdict, Report};

use crate::build::Built;
use crate::checkpoint::Keeper;
use crate::examples::Examples;
use crate::finding::Looker;
use crate::listing::Listing;
use crate::names::Names;
use crate::outputs::{Outputs, Watched};
use crate::run::{Limits, launch};
use crate::witnesses::Witnesses;
use crate::{Error, assumptions, settle};

/// What to search and how far.
#[derive(Clone, Debug)]
pub struct ExploreOptions {
    /// How runs are kept apart and how long each may be.
    pub limits: Limits,
    /// Which schedules may be left out.
    pub reduction: ReductionName,
    /// What is looked for.
    pub checks: BTreeSet<Check>,
    /// Stop after this many executions.
    pub max_executions: Option<u64>,
    /// Stop after this time.
    pub time: Option<Duration>,
    /// Stop at the first finding.
    pub stop_at_first: bool,
    /// Where witness files go; created when there is something to write.
    pub witness_dir: PathBuf,
    /// Processes that run the program at once, if the search [can be split](Self::can_be_split). They change nothing but the
    /// time.
    pub jobs: usize,
    /// Run only schedules with at most so many preemptions.
    pub max_preemptions: Option<u32>,
    /// Try only some schedules, chosen at random.
    pub sampling: Option<Sampling>,
    /// Stop when this becomes true.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Write checkpoints to this file.
    pub checkpoint: Option<PathBuf>,
    /// Go on from this checkpoint.
    pub resume: Option<PathBuf>,
    /// Compare what the program writes to standard output in all runs.
    pub compare_output: bool,
}

impl Default for ExploreOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            reduction: ReductionName::default(),
            checks: Check::ALL.into(),
            max_executions: None,
            time: None,
            stop_at_first: false,
            witness_dir: PathBuf::from("raceproof-witnesses"),
            jobs: 1,
            max_preemptions: None,
            sampling: None,
            interrupt: None,
            checkpoint: None,
            resume: None,
            compare_output: false,
        }
    }
}

impl ExploreOptions {
    /// Whether more than one job can take part in the search.
    pub fn can_be_split(&self) -> bool {
        let Self { reduction, max_preemptions, .. } = *self;
        let search = ::explore::Options { reduction, max_preemptions, ..::explore::Options::default() };
        self.sampling.is_none() && search.can_be_split()
    }
}

/// Explores the program's schedules and settles every pair of accesses that met.
pub fn explore(built: &Built, options: &ExploreOptions, observer: &mut dyn Observer) -> Result<Report, Error> {
    explore_knowing(built, options, &Known::default(), observer).map(|(report, ..)| report)
}

/// What others have found out about the program.
#[derive(Default)]
pub(crate) struct Known {
    /// Pairs whose race was shown. They are not listed again.
    pub(crate) shown: BTreeSet<Pair>,
    /// Pairs that were proved absent. Nothing is searched for their sake.
    pub(crate) absent: BTreeSet<Pair>,
    /// Ways to lead the program along first.
    pub(crate) hints: Vec<Hint>,
}

/// The same with what is known, with the sites of the report's pairs and how far the program went along each way.
pub(crate) fn explore_knowing(
    built: &Built,
    options: &ExploreOptions,
    known: &Known,
    observer: &mut dyn Observer,
) -> Result<(Report, Vec<Pair>, Vec<Led>), Error> {
    let start = Instant::now();
    let (mut target, _, symbols) = launch(built, &options.limits)?;
    let search = ::explore::Options {
        reduction: options.reduction,
        checks: options.checks.clone(),
        outlook: asks_outlook(options.reduction).then(|| outlook(built, &known.absent)).flatten(),
        max_executions: options.max_executions,
        deadline: options.time.map(|time| start + time),
        stop_at_first: options.stop_at_first,
        choices: choice_values(&built.program),
        max_preemptions: options.max_preemptions,
        interrupt: options.interrupt.clone(),
        hints: known.hints.clone(),
        ..::explore::Options::default()
    };
    let names = Names::new(&built.program, &symbols);
    let looker = Looker { program: &built.program, names: &names };
    let mut keeper = Keeper::new(Examples::new(&looker, observer), built, options);
    let resume = options.resume.as_deref().map(|path| keeper.resume(path)).transpose()?;
    // Each has a process beside it.
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let jobs = if options.can_be_split() { options.jobs } else { 1 };
    let crowded = jobs > 1 && 2 * jobs > processors;
    let processor = |number| crowded.then_some(exec::Processor(number));
    let config = options.limits.config(built);
    let helper = |number| built.launch(exec::Config { processor: processor(number), ..config.clone() });
    let mut helpers = (1..jobs).map(helper).collect::<Result<Vec<_>, _>>()?;
    target.set_processor(processor(0));
    let outputs = options.compare_output.then(Outputs::default);
    let watched = |target| Watched { target, outputs: outputs.as_ref() };
    let mut helpers: Vec<_> = helpers.iter_mut().map(watched).collect();
    let mut executor = watched(&mut target);
    let outcome = match options.sampling {
        Some(sampling) => ::explore::sample(&mut executor, sampling, &search, &mut keeper)?,
        None => ::explore::search_with(&mut executor, &mut helpers, &search, &mut keeper, resume)?,
    };
    drop(helpers);
    target.set_processor(None);
    let examples = keeper.finish()?;
    let time = start.elapsed();

    let mut listing = Listing {
        looker: &looker,
        target: &mut target,
        witnesses: Witnesses { folder: options.witness_dir.clone(), built, run: options.limits.record() },
    };
    let narrowed = settle::narrowed(&options.checks);
    let unknowns = [listing.endless(&outcome.failures)?, narrowed, settle::unknowns(built, &outcome, options)].concat();
    let ledger = settle::settle(&outcome, &unknowns)?;
    let (sites, pairs): (Vec<_>, Vec<_>) =
        listing.pairs(&ledger, &outcome, &unknowns, &examples, &known.shown)?.into_iter().unzip();
    let errors = listing.errors(&outcome.failures)?;
    let has = |verdict| pairs.iter().any(|pair| pair.verdict == verdict);
    let verdict = if has(PairVerdict::Race) {
        report::Verdict::Race
    } else if has(PairVerdict::Unknown) || !unknowns.is_empty() || outcome.coverage != Coverage::Complete {
        report::Verdict::Unknown
    } else {
        report::Verdict::Safe
    };
    let report = Report {
        raceproof: env!("CARGO_PKG_VERSION").to_owned(),
        schema: SCHEMA,
        command: "explore".to_owned(),
        inputs: built.identity.inputs.clone(),
        args: built.identity.args.clone(),
        verdict,
        scope: settle::scope(&outcome),
        pairs,
        unknowns,
        errors,
        engines: vec![report::Engine {
            outputs: outputs.as_ref().map(Outputs::summary),
            ..engine(&outcome, options, time)
        }],
        assumptions: assumptions::of_search(&built.program, &outcome, !built.identity.assume_pure.is_empty()),
        time_ms: (built.time + start.elapsed()).as_millis() as u64,
    };
    Ok((report, sites, outcome.hints))
}

/// Values to be tried where the program leaves one open, out of a range too large for all.
fn choice_values(program: &program::Program) -> ::explore::ChoiceValues {
    /// Most values that the program suggests.
    const SUGGESTED: usize = 24;
    let suggested = program::constants::compared(program, SUGGESTED);
    ::explore::ChoiceValues { suggested, ..::explore::ChoiceValues::default() }
}

fn engine(outcome: &Outcome, options: &ExploreOptions, time: Duration) -> report::Engine {
    let (coverage, reason) = match outcome.coverage {
        Coverage::Complete => ("complete", None),
        Coverage::Stopped(StopReason::Sampled) => ("stopped", options.sampling.map(|s| settle::sampled(&s))),
        Coverage::Stopped(reason) => ("stopped", Some(reason.to_string())),
    };
    report::Engine {
        name: Engine::Explore,
        coverage: coverage.to_owned(),
        reason,
        time_ms: time.as_millis() as u64,
        reduction: match options.sampling {
            Some(sampling) => sampling.strategy.to_string(),
            None if options.max_preemptions.is_some() => ReductionName::None.to_string(),
            None => options.reduction.to_string(),
        },
        executions: outcome.statistics.executions,
        blocked: outcome.statistics.blocked,
        transitions: outcome.statistics.transitions,
        race_free_checks: outcome.statistics.race_free_checks,
        race_free_yes: outcome.statistics.race_free_yes,
        skipped_backtracks: outcome.statistics.skipped_backtracks,
        nets: None,
        outputs: None,
    }
}

/// Whether the reduction asks what can still happen.
fn asks_outlook(reduction: ReductionName) -> bool {
    matches!(reduction, ReductionName::Pdp | ReductionName::Dhtc | ReductionName::Best)
}

/// What the program's threads may still do, from any point on, knowing which pairs are absent; if all that runs is modelled.
fn outlook(built: &Built, absent: &BTreeSet<Pair>) -> Option<Arc<dyn Outlook>> {
    let assume_pure: BTreeSet<String> = built.identity.assume_pure.iter().cloned().collect();
    let options = facts::Options { assume_pure, ..facts::Options::default() };
    let facts = Arc::new(facts::Facts::new(Arc::clone(&built.program), options, model::Budget::default()));
    let summary = Summary::if_modelled(&facts, absent).ok().flatten()?;
    Some(Arc::new(summary))
}
