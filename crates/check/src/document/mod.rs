//! The result document, made once, at the end of the line: the only place that constructs a report and its ids.

mod findings;
mod gaps;
mod pairs;
mod races;
mod witnesses;

use std::collections::{BTreeSet, HashSet};
use std::time::Instant;

use model::Spent;
use model::verdict::{Inputs, Memory, Scope, TeamSizes, Threads};
use report::document::SCHEMA;
use report::{Command, Coverage, Finding, Pair, PairVerdict, Report, Unknown, Verdict};

use crate::Error;
use crate::assumptions::Assumption;
use crate::engine::Figures;
use crate::gap::Gap;
use crate::line::Line;
use crate::request::Request;
use crate::run::GRACE;

pub(crate) use pairs::{race_code, race_reason};
pub(crate) use races::{Shown, show_new, told_places};
pub(crate) use witnesses::{Witnesses, is_witness_of_another};

/// What a report is made of, whatever the command.
pub(crate) struct Parts {
    pub(crate) command: Command,
    pub(crate) inputs: Vec<String>,
    pub(crate) args: Vec<String>,
    /// The pairs, without ids and ranks, races in the order in which they were found.
    pub(crate) pairs: Vec<Pair>,
    pub(crate) unknowns: Vec<Unknown>,
    pub(crate) errors: Vec<Finding>,
    pub(crate) figures: Vec<Figures>,
    pub(crate) assumptions: BTreeSet<Assumption>,
    /// What the answer covers; `bounded` is dropped when it is `safe`.
    pub(crate) scope: Scope,
    /// Whether something stays open that is neither a pair nor in `unknowns`.
    pub(crate) incomplete: bool,
    /// What went wrong besides.
    pub(crate) warnings: Vec<String>,
    pub(crate) start: Instant,
}

/// The id of the pair with a rank.
fn id(rank: u32) -> String {
    format!("P{rank}")
}

/// Makes the report: races first, then unknown, then absent, each with its id. What library code does in one pair of the
/// user's lines is listed once, with the worst verdict; of races the others are details.
pub(crate) fn assemble(parts: Parts) -> Report {
    let Parts { mut pairs, unknowns, scope, .. } = parts;
    pairs.sort_by_key(|pair| pair.verdict);
    let mut told = HashSet::new();
    pairs.retain(|pair| match pair.own_lines() {
        Some(lines) => told.insert(lines) || pair.verdict == PairVerdict::Race,
        None => true,
    });
    for (rank, pair) in (1..).zip(&mut pairs) {
        (pair.rank, pair.id) = (rank, id(rank));
    }
    let has = |verdict| pairs.iter().any(|pair| pair.verdict == verdict);
    let lanes_race = parts.errors.iter().any(|error| error.kind == report::ErrorKind::Lanes);
    let verdict = if has(PairVerdict::Race) || lanes_race {
        Verdict::Race
    } else if has(PairVerdict::Unknown) || !unknowns.is_empty() || parts.incomplete {
        Verdict::Unknown
    } else {
        Verdict::Safe
    };
    Report {
        raceproof: env!("CARGO_PKG_VERSION").to_owned(),
        schema: SCHEMA,
        command: parts.command,
        inputs: parts.inputs,
        args: parts.args,
        verdict,
        scope: Scope { bounded: scope.bounded && verdict != Verdict::Safe, ..scope },
        absent: report::listing::count_absent(&pairs),
        unlisted: report::Unlisted::default(),
        pairs,
        unknowns,
        errors: parts.errors,
        engines: parts.figures.into_iter().map(engine).collect(),
        assumptions: parts.assumptions.iter().map(Assumption::to_string).collect(),
        warnings: parts.warnings,
        reused: false,
        since: None,
        tests: Vec::new(),
        time_ms: parts.start.elapsed().as_millis() as u64,
    }
}

/// What a line knows while it is at work: nothing is run for it, so errors other than races are missing.
pub(crate) fn so_far(line: &Line<'_>) -> Report {
    let unknowns: Vec<Unknown> = gaps::of_line(line).into_iter().map(|(_, unknown)| unknown).collect();
    let pairs = pairs::of_line(line, unknowns.first());
    assemble(Parts {
        command: line.request.command,
        inputs: line.request.build.inputs.clone(),
        args: line.request.build.args.clone(),
        scope: scope(line, &pairs),
        pairs,
        unknowns,
        errors: Vec::new(),
        incomplete: true,
        warnings: line.warnings.clone(),
        figures: line.figures.clone(),
        assumptions: line.assumptions.clone(),
        start: line.start,
    })
}

/// The report of a command whose engine did not stop when its budget was spent: what was known before, if anything.
pub fn cut_short(request: &Request, known: Option<Report>, spent: Spent, start: Instant) -> Report {
    let gap = match spent {
        Spent::Interrupt => gaps::interrupted(),
        spent => Gap::limit("an engine was stopped in the middle of its work", spent),
    };
    match known {
        Some(known) => {
            let unknowns = known.unknowns.into_iter().chain([gap.without_place()]).collect();
            let verdict = if known.verdict == Verdict::Safe { Verdict::Unknown } else { known.verdict };
            let time_ms = start.elapsed().as_millis() as u64;
            Report { verdict, unknowns: gaps::merged(unknowns), time_ms, ..known }
        }
        None => nothing(request, gap, start),
    }
}

/// The report of a line.
pub(crate) fn make(mut line: Line<'_>) -> Result<Report, Error> {
    let request = line.request;
    show_new(&mut line)?;
    let mut unknowns = gaps::of_line(&line);
    let errors = findings::of_line(&mut line)?;
    gaps::add_witnesses(&mut line, &mut unknowns)?;
    let program = line.subject.program();
    unknowns.extend(line.witnesses.unrepeatable().iter().map(|gap| (gap.clone(), gap.resolve(program))));
    let mut unknowns: Vec<Unknown> = unknowns.into_iter().map(|(_, unknown)| unknown).collect();
    if line.figures.len() > 1 {
        unknowns = gaps::merged(unknowns);
    }
    let pairs = pairs::of_line(&line, unknowns.first());
    let scope = scope(&line, &pairs);
    Ok(assemble(Parts {
        command: request.command,
        inputs: request.build.inputs.clone(),
        args: request.build.args.clone(),
        pairs,
        unknowns,
        errors,
        incomplete: !line.is_settled(),
        warnings: line.warnings.into_iter().chain(line.witnesses.unwritten().to_vec()).collect(),
        figures: line.figures,
        assumptions: line.assumptions,
        scope,
        start: line.start,
    }))
}

/// A report that knows nothing of the program that a request is about.
pub fn nothing_known(request: &Request) -> Report {
    ended_before(request, Instant::now())
}

/// The report of a check that ended before there was a program.
pub(crate) fn ended_before(request: &Request, start: Instant) -> Report {
    let gap = match request.budget.spent() {
        Some(Spent::Interrupt) | None => gaps::interrupted(),
        Some(spent) => Gap::limit("the program was not built", spent),
    };
    nothing(request, gap, start)
}

/// The report of a command that has found out nothing, for this reason.
fn nothing(request: &Request, gap: Gap, start: Instant) -> Report {
    assemble(Parts {
        command: request.command,
        inputs: request.build.inputs.clone(),
        args: request.build.args.clone(),
        pairs: Vec::new(),
        unknowns: vec![gap.without_place()],
        errors: Vec::new(),
        figures: Vec::new(),
        assumptions: BTreeSet::new(),
        scope: ONE_RUN,
        incomplete: true,
        warnings: Vec::new(),
        start,
    })
}

/// What an answer from runs covers that are not all.
pub(crate) const ONE_RUN: Scope = Scope {
    inputs: Inputs::This,
    threads: Threads::These,
    bounded: true,
    memory: Memory::Sc,
    team_sizes: TeamSizes::NONE,
};

/// The narrowest scope of what is absent. Without any pair the answer rests on the list of pairs, or on the search.
fn scope(line: &Line<'_>, pairs: &[Pair]) -> Scope {
    let of_text = line.request.asks(model::Engine::Static) || line.request.asks(model::Engine::Verify);
    let of_search = line.covered && !line.rests_on_text();
    let widest = if of_text && !of_search { (Inputs::All, Threads::Any) } else { (Inputs::This, Threads::These) };
    let absent = pairs.iter().filter_map(|pair| pair.details.scope);
    let (inputs, threads) =
        absent.fold(widest, |(inputs, threads), scope| (inputs.min(scope.inputs), threads.min(scope.threads)));
    let team_sizes = if threads == Threads::Any { TeamSizes::NONE } else { line.team_sizes };
    Scope { inputs, threads, bounded: line.bounded || !(of_text || line.covered), memory: Memory::Sc, team_sizes }
}

/// What the document says of an engine.
fn engine(figures: Figures) -> report::Engine {
    let Figures { engine, complete, reason, time, method, statistics, nets, outputs, threads, assurance } = figures;
    report::Engine {
        name: engine,
        coverage: if complete { Coverage::Complete } else { Coverage::Stopped },
        reason,
        time_ms: time.as_millis() as u64,
        reduction: method,
        executions: statistics.executions,
        blocked: statistics.blocked,
        samples: Some(statistics.samples).filter(|samples| *samples > 0),
        transitions: statistics.transitions,
        race_free_checks: statistics.race_free_checks,
        race_free_yes: statistics.race_free_yes,
        skipped_backtracks: statistics.skipped_backtracks,
        threads,
        assurance: assurance.map(|promise| report::Assurance { depth: promise.depth, permille: promise.permille }),
        nets,
        outputs,
    }
}

/// Tells whether the report has to be made in a hurry.
fn is_late(line: &Line<'_>) -> impl Fn() -> bool + use<> {
    let budget = line.request.budget.with_grace(GRACE);
    // From now on, if it is spent.
    budget.is_spent();
    move || budget.is_spent()
}
