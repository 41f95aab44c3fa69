//! The search in the line: every schedule of this input, along the paths of the net's candidates first.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::explore::{Check, Coverage, FailureKind, Later, Outcome, Outlook, ReductionName, Sampling, StopReason};
use cover::Candidate;
use facts::Facts;
use facts::shortcuts::shortcuts;
use model::verdict::{Inputs, Memory, Scope, TeamSizes, Threads};
use model::{Budget, End, Engine, Pair, SiteId};
use outlook::Summary;
use program::Program;
use program::library::{self, threads};
use report::Code;

use super::checkpoint::Keeper;
use super::outputs::{Outputs, Watched};
use super::reach::Reach;
use super::{Answer, Figures, Open, Settled, Verdict, hints};
use crate::assumptions;
use crate::describe::sightings::Watch;
use crate::describe::{Describer, ObjectNames};
use crate::gap::Gap;
use crate::line::Watcher;
use crate::run::{Limits, Running};
use crate::{Built, Error};

/// What to search and how far.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Which schedules may be left out.
    pub reduction: ReductionName,
    /// What is looked for.
    pub checks: BTreeSet<Check>,
    /// Stop after this many executions.
    pub max_executions: Option<u64>,
    /// Stop at the first finding.
    pub stop_at_first: bool,
    /// Processes that run the program at once, if the search [can be split](Self::can_be_split). They change nothing but the
    /// time.
    pub jobs: usize,
    /// Run only schedules with at most so many preemptions.
    pub max_preemptions: Option<u32>,
    /// Try only some schedules, chosen at random.
    pub sampling: Option<Sampling>,
    /// Let samples take half of the time once the search has taken this long.
    pub samples_after: Option<Duration>,
    /// Write checkpoints to this file.
    pub checkpoint: Option<PathBuf>,
    /// Go on from this checkpoint.
    pub resume: Option<PathBuf>,
    /// Compare what the program writes to standard output in all runs.
    pub compare_output: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            reduction: ReductionName::default(),
            checks: Check::ALL.into(),
            max_executions: None,
            stop_at_first: false,
            jobs: 1,
            max_preemptions: None,
            sampling: None,
            samples_after: None,
            checkpoint: None,
            resume: None,
            compare_output: false,
        }
    }
}

impl SearchOptions {
    /// Whether more than one job can take part in the search.
    pub fn can_be_split(&self) -> bool {
        let Self { reduction, max_preemptions, .. } = *self;
        let search = ::explore::Options { reduction, max_preemptions, ..::explore::Options::default() };
        self.sampling.is_none() && search.can_be_split()
    }

    /// Whether the reduction asks what can still happen.
    fn asks_outlook(&self) -> bool {
        matches!(self.reduction, ReductionName::Pdp | ReductionName::Dhtc | ReductionName::Best)
    }
}

/// What the search's answers cover.
pub(crate) const SCOPE: Scope = Scope {
    inputs: Inputs::This,
    threads: Threads::These,
    bounded: false,
    memory: Memory::Sc,
    team_sizes: TeamSizes::NONE,
};

/// Why a pair that met in runs cannot race.
pub(crate) const ORDERED: &str = "every schedule of this input orders the two accesses";

/// Why a pair that no run shows cannot race.
const NEVER_MEET: &str = "no schedule of this input lets the two accesses touch the same memory unordered";

/// What would settle a race that was seen once only.
const UNCONFIRMED: &str = "please report this as a bug of raceproof, with the program if you can share it";

/// What would settle a candidate that runs do not show.
const CANDIDATE: &str = "look whether the program can go that way with another input or more threads";

/// What is said of a pair in lanes of a program with a race between lanes, and what would settle it.
const LANES_RACE: &str = "both run in lanes of a `simd` loop, and iterations of such a loop race";
const LANES: &str = "repair the races between iterations of `simd` loops first";

/// What others have found out about the program.
#[derive(Default)]
pub(crate) struct Known {
    /// Pairs that are listed and not settled.
    pub(crate) open: Vec<Pair>,
    /// Pairs that were proved absent. Nothing is searched for their sake.
    pub(crate) absent: BTreeSet<Pair>,
    /// Paths to lead the program along first, in words too.
    pub(crate) candidates: Vec<(Candidate, String)>,
    /// Whether only races count: the scope asked for is larger than this input.
    pub(crate) confirm_only: bool,
    /// When this input is not the whole answer.
    pub(crate) reach: Option<Reach>,
    /// Whether every pair of the program's text was listed, so that those that are not open are settled.
    pub(crate) is_text_listed: bool,
}

impl Known {
    /// Whether two of these sites, which several lanes of one thread may execute at the same time, may still race.
    fn may_race_in_lanes(&self, lanes: &BTreeSet<SiteId>) -> bool {
        !lanes.is_empty() && (!self.is_text_listed || self.open.iter().any(|pair| is_in_lanes(*pair, lanes)))
    }
}

fn is_in_lanes(pair: Pair, lanes: &BTreeSet<SiteId>) -> bool {
    pair.sites().iter().all(|site| lanes.contains(site))
}

/// Explores the program's schedules and answers for every pair that met in a run, and for every open one.
pub(crate) fn run(
    running: &mut Running,
    facts: &Arc<Facts>,
    limits: &Limits,
    options: &SearchOptions,
    known: &Known,
    budget: &Budget,
    watcher: &mut dyn Watcher,
) -> Result<Answer, Error> {
    let start = Instant::now();
    let Running { built, target, symbols, first_run, .. } = running;
    let program = &built.program;
    let lanes = program.lanes();
    // What handlers touch that interrupt other threads is not in the threads' futures, nor what lanes of one thread do to
    // each other.
    let asks_outlook = options.asks_outlook()
        && !limits.environment.makes_choices()
        && !assumptions::may_interrupt(program)
        && !known.may_race_in_lanes(&lanes);
    let later = if asks_outlook { outlook(facts, &known.absent) } else { None };
    let search = ::explore::Options {
        reduction: options.reduction,
        checks: options.checks.clone(),
        later,
        max_executions: options.max_executions,
        budget: budget.clone(),
        stop_at_first: options.stop_at_first,
        choices: choice_values(program),
        // A handler may run in the middle of a section, and see it.
        shortcuts: if assumptions::may_interrupt(program) { Default::default() } else { shortcuts(program) },
        max_preemptions: options.max_preemptions,
        samples_after: options.samples_after,
        unmodelled: !built.unmodelled.is_empty(),
        hints: known.candidates.iter().map(|(candidate, _)| hints::hint(candidate)).collect(),
        ..::explore::Options::default()
    };
    let names = ObjectNames::new(program, symbols);
    let describer = Describer { program, names: &names };
    let mut keeper = Keeper::new(Watch::new(&describer, watcher), built, limits, options);
    let resume = options.resume.as_deref().map(|path| keeper.resume(path)).transpose()?;
    // Each has a process beside it.
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let jobs = if options.can_be_split() { options.jobs } else { 1 };
    let crowded = jobs > 1 && 2 * jobs > processors;
    let processor = |number| crowded.then_some(exec::Processor(number));
    let config = limits.config(built, budget);
    let helper = |number| built.launch(exec::Config { processor: processor(number), ..config.clone() });
    let mut helpers = (1..jobs).map(helper).collect::<Result<Vec<_>, _>>()?;
    target.set_processor(processor(0));
    let outputs = options.compare_output.then(Outputs::default);
    let watched = |target| Watched { target, outputs: outputs.as_ref() };
    let mut helpers: Vec<_> = helpers.iter_mut().map(watched).collect();
    let mut executor = watched(target);
    let outcome = match options.sampling {
        Some(sampling) => ::explore::sample(&mut executor, sampling, &search, &mut keeper)?,
        None => ::explore::search_with(&mut executor, &mut helpers, &search, &mut keeper, resume)?,
    };
    drop(helpers);
    running.target.set_processor(None);
    let (sightings, unwritten) = keeper.finish();
    let threads = sightings.threads();

    let mut gaps = gaps(built, &outcome, options);
    let mut verdicts = verdicts(&outcome, gaps.first());
    let reach = known.reach.as_ref().filter(|_| gaps.is_empty());
    let mut missed = 0;
    for pair in &known.open {
        if let Entry::Vacant(entry) = verdicts.entry(*pair) {
            let open = reach.and_then(|reach| reach.missed(program, &sightings, *pair));
            missed += usize::from(open.is_some());
            entry.insert(open.map_or_else(|| unmet(gaps.first()), Verdict::Open));
        }
    }
    // Of the pairs that race in lanes a run reports one for each access.
    let lanes_race = outcome.failures.iter().any(|failure| failure.kind == FailureKind::Lanes);
    for (_, verdict) in verdicts.iter_mut().filter(|(pair, _)| lanes_race && is_in_lanes(**pair, &lanes)) {
        if matches!(verdict, Verdict::Absent { .. }) {
            *verdict = Verdict::Open(Open::new(Code::LANE_RACE, LANES_RACE).settled_by(LANES));
        }
    }
    if known.confirm_only {
        verdicts.retain(|_, verdict| matches!(verdict, Verdict::Race(_)));
    }
    add_paths(program, known, &outcome, gaps.is_empty(), &mut verdicts);
    let creates = assumptions::creates_threads(program);
    gaps.extend(reach.and_then(|reach| reach.gap(missed, creates, &sightings, first_run)));
    let seen = |pair| sightings.of(pair).map(|seen| Box::new(seen.map(Clone::clone)));
    let verdicts = verdicts.into_iter().map(|(pair, verdict)| Settled { pair, verdict, seen: seen(pair) });
    Ok(Answer {
        verdicts: verdicts.collect(),
        gaps,
        assumptions: assumptions::of_search(built, &outcome, limits.environment, asks_outlook.then_some(facts)),
        sightings: Some(sightings),
        warnings: unwritten.map(|error| format!("the search has no checkpoint: {error}")).into_iter().collect(),
        figures: Figures {
            outputs: outputs.map(|outputs| outputs.summary()),
            threads: Some(threads).filter(|threads| *threads > 0),
            assurance: outcome.assurance,
            ..figures(&outcome, options, start)
        },
        failures: outcome.failures,
    })
}

/// What is said of every pair that met in a run.
fn verdicts(outcome: &Outcome, gap: Option<&Gap>) -> BTreeMap<Pair, Verdict> {
    let race = |race: &::explore::FoundRace| {
        if race.confirmed {
            return Verdict::Race(race.witness.clone());
        }
        let reason = "a run had this race, but its schedule does not show it in a new process";
        Verdict::Open(Open::new(Code::UNCONFIRMED, reason).settled_by(UNCONFIRMED))
    };
    let ordered = |_: &Pair| match gap {
        None => Verdict::Absent { reason: ORDERED.to_owned(), scope: SCOPE },
        Some(gap) => open(gap, &format!("every run seen orders the two accesses, but: {}", gap.reason)),
    };
    let races = outcome.races.iter().map(|(pair, found)| (*pair, race(found)));
    races.chain(outcome.ordered.iter().map(|pair| (*pair, ordered(pair)))).collect()
}

/// What is said of an open pair that did not meet in any run.
fn unmet(gap: Option<&Gap>) -> Verdict {
    match gap {
        None => Verdict::Absent { reason: NEVER_MEET.to_owned(), scope: SCOPE },
        Some(gap) => open(gap, &format!("the schedules tried do not show it, but: {}", gap.reason)),
    }
}

fn open(gap: &Gap, reason: &str) -> Verdict {
    Verdict::Open(Open::new(gap.code, reason).settled_by(gap.settle.clone()))
}

/// Candidates that no run has shown keep their path, with what happened when the program followed it.
fn add_paths(
    program: &Program,
    known: &Known,
    outcome: &Outcome,
    covered: bool,
    verdicts: &mut BTreeMap<Pair, Verdict>,
) {
    for ((candidate, path), led) in known.candidates.iter().zip(&outcome.hints) {
        match verdicts.get(&candidate.pair) {
            Some(Verdict::Race(_) | Verdict::Absent { .. }) => continue,
            Some(Verdict::Open(open)) if open.code == Code::UNCONFIRMED => continue,
            _ => {}
        }
        let led = hints::outcome(program, candidate, *led);
        let runs = if covered { "no schedule of this input shows it" } else { "the schedules tried do not show it" };
        let open = Open::new(Code::CANDIDATE, format!("{path}{led}; {runs}")).settled_by(CANDIDATE);
        let candidate_of = Some(Box::new(candidate.clone()));
        verdicts.insert(candidate.pair, Verdict::Open(Open { candidate: candidate_of, ..open }));
    }
}

/// What keeps the answer from being `safe`: runs that were cut, races that were not looked for, bounds, and whatever is not
/// modelled.
fn gaps(built: &Built, outcome: &Outcome, options: &SearchOptions) -> Vec<Gap> {
    let cut = outcome.failures.iter().filter(|failure| failure.kind == FailureKind::Endless);
    let mut gaps: Vec<Gap> = cut.map(endless).collect();
    let any_cut = !gaps.is_empty();
    if !options.checks.contains(&Check::Race) {
        gaps.push(Gap::new(Code::SEARCH_BOUND, "races were not looked for", "search again with `--check race`"));
    }
    if let Coverage::Stopped(reason) = outcome.coverage {
        let (code, settle) = match reason {
            StopReason::Executions => (Code::SEARCH_BOUND, "raise `--max-executions`"),
            StopReason::Deadline => (Code::SEARCH_BOUND, "raise `--time`"),
            StopReason::Memory => (Code::SEARCH_BOUND, "raise `--memory`"),
            StopReason::Choices => (Code::CHOICES, "narrow the range with `raceproof_choose(lo, hi)`"),
            StopReason::Assumptions => (Code::ASSUMPTIONS, "look at what the program assumes"),
            StopReason::Interrupted => (Code::INTERRUPTED, "search again, or go on with `--resume`"),
            StopReason::Preemptions => (Code::SEARCH_BOUND, "raise `--max-preemptions`"),
            StopReason::Sampled => (Code::SEARCH_BOUND, "search without `--sample`"),
            StopReason::FirstFound => (Code::STOPPED_AT_FIRST, "search again without `--first`"),
            StopReason::StepLimit => (Code::STEP_LIMIT, "raise `--max-steps`"),
            StopReason::TimeLimit => (Code::RUN_TIME_LIMIT, "raise `--run-time`"),
            StopReason::Unrepeatable => (Code::UNREPEATABLE, "search from the start, without `--resume`"),
        };
        // Runs that were cut are listed one by one, and what could not be repeated with what differed.
        let is_listed = match reason {
            StopReason::StepLimit | StopReason::TimeLimit => any_cut,
            StopReason::Unrepeatable => outcome.unrepeatable.is_some(),
            _ => false,
        };
        if !is_listed {
            gaps.push(Gap::new(code, stop_reason(reason, options), settle));
        }
    }
    gaps.extend(outcome.unrepeatable.as_ref().map(unrepeatable));
    gaps.extend(outcome.unconfirmed.iter().map(|failure| {
        let what = match failure.kind {
            FailureKind::Deadlock => "a deadlock".to_owned(),
            FailureKind::Assertion => format!("a failed assertion ({})", failure.message),
            FailureKind::Crash => format!("a crash ({})", failure.message),
            FailureKind::Misuse | FailureKind::Lanes | FailureKind::Endless => {
                format!("an error ({})", failure.message)
            }
        };
        leak(&what).at(failure.involved.first().and_then(|involved| involved.site))
    }));
    let unconfirmed = outcome.races.iter().filter(|(_, race)| !race.confirmed);
    gaps.extend(unconfirmed.map(|(pair, _)| leak("a data race").at(Some(pair.sites()[0]))));
    let reached: BTreeSet<SiteId> = outcome.unmodelled.iter().filter(|u| is_mark(u)).filter_map(|u| u.site).collect();
    let concerns = |u: &&program::Unmodelled| !u.is_announced() || u.site.is_some_and(|site| reached.contains(&site));
    gaps.extend(unmodelled(built.unmodelled.iter().filter(concerns), outcome.unmodelled.iter()));
    gaps
}

/// Whether a remark of a run only says that it reached a call that the program lists as not followed.
fn is_mark(remark: &model::Unmodelled) -> bool {
    remark.what == wire::UNFOLLOWED
}

/// Two runs of one schedule that differ.
fn unrepeatable(::explore::Unrepeatable { thread, site, what }: &::explore::Unrepeatable) -> Gap {
    let who = thread.as_ref().map_or(String::new(), |thread| format!(" at thread {thread}"));
    Gap::unrepeatable(format!("two runs of the same schedule differ{who}: {what}")).at(*site)
}

/// A finding of the search that its schedule does not show in a new process: something outlived an earlier run.
fn leak(what: &str) -> Gap {
    let reason = format!(
        "raceproof bug: a run showed {what}, but the same schedule in a new process does not; it is no finding"
    );
    Gap::new(Code::UNCONFIRMED, reason, UNCONFIRMED)
}

/// A run that was cut.
fn endless(failure: &::explore::Failure) -> Gap {
    let involved = failure.involved.first();
    let who = involved.map_or(String::new(), |i| format!(": thread {} was still running", i.thread));
    let gap = Gap::new(
        Code::STEP_LIMIT,
        format!("{}{who}", failure.message),
        "raise `--max-steps`, or look for a loop without end",
    );
    Gap { site: involved.and_then(|i| i.site), endless: Some(failure.clone()), ..gap }
}

/// The code of a run that was cut, and what would settle it.
pub(crate) fn cut_at(end: &End) -> (Code, &'static str) {
    match end {
        End::TimeLimit => (Code::RUN_TIME_LIMIT, "raise `--run-time`, or look for a loop without end"),
        _ => (Code::STEP_LIMIT, "raise `--max-steps`, or look for a loop without end"),
    }
}

/// Why the search stopped; for sampling with what is needed to do the same again.
fn stop_reason(reason: StopReason, options: &SearchOptions) -> String {
    match (reason, &options.sampling) {
        (StopReason::Sampled, Some(Sampling { strategy, runs, seed })) => {
            format!("{reason}: {runs} runs by `{strategy}` with the seed {seed}")
        }
        _ => reason.to_string(),
    }
}

/// What would settle what runs do not follow.
const AVOID: &str = "use an input that does not reach it, or give a stand-in as a further input";

/// What would settle what a function does whose source is missing.
fn missing(symbol: &str) -> String {
    if library::lookup(symbol).is_some() || threads::lookup(symbol).is_some() {
        return format!("runs do not follow `{symbol}`: {AVOID}");
    }
    let name = llvm::source_name_of(symbol);
    let quoted = if name.contains([' ', '<', '(', '*', '&']) { format!("'{name}'") } else { name.clone() };
    let assume = format!("if it touches no memory that threads share, `--assume-pure {quoted}`");
    if name.starts_with("std::") || name.starts_with("__gnu_cxx::") {
        return format!("`{name}` is compiled into the C++ library and not known here; {assume}");
    }
    format!("give the source of `{name}` as a further input, or, {assume}")
}

/// What is not modelled, in the program and in its runs.
pub(crate) fn unmodelled<'a>(
    in_program: impl Iterator<Item = &'a program::Unmodelled>,
    in_runs: impl Iterator<Item = &'a model::Unmodelled>,
) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let in_program = in_program.map(|u| (u.site, &u.what, u.function.clone()));
    let in_runs = in_runs.filter(|u| !is_mark(u)).map(|u| (u.site, &u.what, None));
    for (site, what, function) in in_program.chain(in_runs) {
        let settle = match function.as_deref() {
            Some("syscall") => "call the function of the C library that makes this system call".to_owned(),
            Some(name) => missing(name),
            None => AVOID.to_owned(),
        };
        let gap = Gap { function, ..Gap::new(Code::UNMODELLED, what.clone(), settle).at(site) };
        if !gaps.contains(&gap) {
            gaps.push(gap);
        }
    }
    gaps
}

fn figures(outcome: &Outcome, options: &SearchOptions, start: Instant) -> Figures {
    let stopped = match outcome.coverage {
        Coverage::Complete => None,
        Coverage::Stopped(reason) => Some(stop_reason(reason, options)),
    };
    let method = match options.sampling {
        Some(sampling) => sampling.strategy.to_string(),
        None if options.max_preemptions.is_some() => ReductionName::None.to_string(),
        None => options.reduction.to_string(),
    };
    let figures = Figures::new(Engine::Explore, method, stopped, start.elapsed());
    Figures { statistics: outcome.statistics, ..figures }
}

/// Values to be tried where the program leaves one open, out of a range too large for all.
fn choice_values(program: &Program) -> ::explore::ChoiceValues {
    /// Most values that the program suggests.
    const SUGGESTED: usize = 24;
    let suggested = program::constants::compared(program, SUGGESTED);
    ::explore::ChoiceValues { suggested, ..::explore::ChoiceValues::default() }
}

/// Room for the stack on which an outlook is made.
const STACK: usize = 256 << 20;

/// How long a search waits for the outlook when it has a use for it, after its first execution. That of a small program is
/// there, and what is left out of its search does not depend on who is faster; a large program goes on without.
const FOR_OUTLOOK: Duration = Duration::from_secs(2);

/// What the program's threads may still do, from any point on, knowing which pairs are absent; if all that runs is modelled.
/// Without an outlook the reductions leave out nothing. It is made beside the search.
fn outlook(facts: &Arc<Facts>, absent: &BTreeSet<Pair>) -> Option<Later> {
    let later = Later::awaited(FOR_OUTLOOK);
    let (in_the_making, facts, absent) = (later.clone(), Arc::clone(facts), absent.clone());
    // Whoever gives up waiting leaves it alone: it ends with the budget of the facts, or with the process.
    let maker = std::thread::Builder::new().stack_size(STACK);
    let started = maker.spawn(move || {
        let summary = Summary::if_modelled(&facts, &absent).ok().flatten();
        in_the_making.set(summary.map(|summary| Arc::new(summary) as Arc<dyn Outlook>));
    });
    started.is_ok().then_some(later)
}

/// Most time to look for other errors once no pair is open.
pub(crate) const FOR_OTHER_ERRORS: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use ::explore::{FoundRace, Statistics, Witness};
    use model::{EventId, SiteId, ThreadId};

    use super::*;

    #[test]
    fn runs_that_differ_are_unknown() {
        let what = "one run made a Read access of 4 bytes in thread t1, another crashed there".to_owned();
        let differs = ::explore::Unrepeatable { thread: None, site: Some(SiteId(7)), what };
        let gap = unrepeatable(&differs);
        assert_eq!((gap.code.name(), gap.site), ("RP0112", Some(SiteId(7))));
        assert!(gap.reason.ends_with("another crashed there"), "{}", gap.reason);
    }

    /// No program of the gallery is so different from run to run and yet can be searched.
    #[test]
    fn a_race_that_is_not_shown_again_is_unknown() {
        let pair = Pair::new(SiteId(1), SiteId(2));
        let event = |thread| EventId { thread: ThreadId(thread), position: 3 };
        let witness = Witness { schedule: model::Schedule::new(), first: event(1), second: event(2), adjacent: true };
        let race = FoundRace { witness, confirmed: false };
        let outcome = Outcome {
            races: std::iter::once((pair, race)).collect(),
            ordered: BTreeSet::new(),
            failures: Vec::new(),
            unconfirmed: Vec::new(),
            unmodelled: Vec::new(),
            weak_atomics: false,
            coverage: Coverage::Complete,
            statistics: Statistics::default(),
            assurance: None,
            hints: Vec::new(),
            unrepeatable: None,
        };
        let Some(Verdict::Open(open)) = verdicts(&outcome, None).remove(&pair) else { panic!("it is not settled") };
        assert_eq!(open.code.name(), "RP0106");
    }
}
