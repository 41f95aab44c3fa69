//! The static engine's part of the line: what the text of the program says about every pair, for all inputs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use facts::Facts;
use lockset::{Analysis, Answer, Finding, Side, Specification};
use model::Engine;
use model::verdict::{Inputs, Memory, Scope, Threads};
use program::{Program, naming};
use report::document::{Details, Protection, SCHEMA};
use report::{Code, PairVerdict, Report, Unknown};

use crate::build::{BuildOptions, lower};
use crate::place::Place;
use crate::verify::verdict;
use crate::{Error, assumptions, words};

/// What to analyse.
#[derive(Clone, Debug, Default)]
pub struct StaticOptions {
    /// The program; needs no `main` where there are entries.
    pub build: BuildOptions,
    /// Functions that any number of threads may run at any time.
    pub entries: Vec<String>,
    /// A specification of lock functions: a preset or a file.
    pub locks: Option<String>,
}

/// Specifications of lock functions that need no file.
pub const LOCK_PRESETS: [&str; 1] = ["linux"];

/// What a verdict of this engine covers.
pub(crate) const SCOPE: Scope =
    Scope { inputs: Inputs::All, threads: Threads::Any, bounded: false, memory: Memory::Sc };

/// What the engine says, and what it took.
pub struct Inspected {
    /// The result.
    pub report: Report,
    /// How long each part took, in order.
    pub phases: Vec<(&'static str, Duration)>,
    /// How many warnings another one implies: if that one is settled, so are they.
    pub implied: usize,
    /// How many pairs of lines the others have.
    pub folded: usize,
}

/// Settles every pair of the program that may meet.
pub fn static_check(options: &StaticOptions) -> Result<Inspected, Error> {
    let whole = Instant::now();
    let program = Arc::new(prepare(options)?);
    let mut phases = vec![("compiling and lowering", whole.elapsed())];
    let start = Instant::now();
    let facts = Facts::new(Arc::clone(&program), fact_options(&program, options)?, model::Budget::default());
    let analysis = lockset::analyse(&facts).map_err(stopped)?;
    phases.extend(analysis.phases.iter().copied());
    let time_ms = start.elapsed().as_millis() as u64;
    let pairs = list(&program, &analysis);
    let unknowns = unknowns(&analysis);
    let report = Report {
        raceproof: env!("CARGO_PKG_VERSION").to_owned(),
        schema: SCHEMA,
        command: "static".to_owned(),
        inputs: options.build.inputs.clone(),
        args: Vec::new(),
        verdict: verdict(&pairs, &unknowns),
        scope: SCOPE,
        engines: vec![engine(&analysis, time_ms)],
        assumptions: assumptions::of_static(
            &program,
            !options.build.assume_pure.is_empty() || options.locks.is_some(),
            !analysis.outside.is_empty(),
        ),
        pairs,
        unknowns,
        errors: Vec::new(),
        time_ms: whole.elapsed().as_millis() as u64,
    };
    let is_left = |finding: &&Finding| matches!(finding.answer, Answer::Unknown { covered: false, .. });
    let is_implied = |finding: &&Finding| matches!(finding.answer, Answer::Unknown { covered: true, .. });
    let implied = analysis.findings.iter().filter(is_implied).count();
    let folded = folded(&program, analysis.findings.iter().filter(is_left)).len();
    Ok(Inspected { report, phases, implied, folded })
}

/// The pairs of lines that findings are about, whatever the context.
fn folded<'a>(program: &Program, findings: impl Iterator<Item = &'a Finding>) -> BTreeSet<[(Option<String>, u32); 2]> {
    let line = |side: &Side| {
        let Place { file, line, .. } = Place::of(program, Some(side.site));
        (file, line)
    };
    let lines = |finding: &Finding| {
        let mut lines = finding.sides.each_ref().map(line);
        lines.sort();
        lines
    };
    findings.map(lines).collect()
}

/// The facts that verdicts rest on, as text or for Graphviz.
pub fn static_facts(options: &StaticOptions, graph: bool) -> Result<String, Error> {
    let program = Arc::new(prepare(options)?);
    let facts = Facts::new(Arc::clone(&program), fact_options(&program, options)?, model::Budget::default());
    if graph { lockset::emit::graph(&facts) } else { lockset::emit::text(&facts) }.map_err(stopped)
}

fn stopped(spent: model::Spent) -> Error {
    Error::Unwritable { what: spent.to_string() }
}

/// The program, with lock functions of its own as lock operations.
fn prepare(options: &StaticOptions) -> Result<Program, Error> {
    let mut program = lower(&options.build)?;
    if let Some(path) = &options.locks {
        let specification = if path == "linux" {
            Specification::linux()
        } else {
            let text = std::fs::read_to_string(path).map_err(|cause| Error::NoLocks { path: path.clone(), cause })?;
            Specification::parse(&text).map_err(|cause| Error::Locks { path: path.clone(), cause })?
        };
        specification.apply(&mut program);
    }
    Ok(program)
}

fn fact_options(program: &Program, options: &StaticOptions) -> Result<facts::Options, Error> {
    let mut entries = Vec::new();
    for name in &options.entries {
        let defined = |f: &program::Function| !f.blocks.is_empty() && (f.symbol == *name || f.name == *name);
        let found = program.functions.iter_enumerated().find(|(_, f)| defined(f));
        entries.push(found.ok_or_else(|| Error::NoSuchEntry(name.clone()))?.0);
    }
    if program.main.is_none() && entries.is_empty() {
        return Err(Error::Llvm(llvm::Error::NoMain));
    }
    Ok(facts::Options { assume_pure: options.build.assume_pure.clone(), entries })
}

/// What the document says of this engine.
pub(crate) fn engine(analysis: &Analysis, time_ms: u64) -> report::Engine {
    engine_with(analysis.obstacles.first().cloned(), time_ms)
}

/// The same when nobody waited for its end.
pub(crate) fn stopped_engine(reason: String, time_ms: u64) -> report::Engine {
    engine_with(Some(reason), time_ms)
}

fn engine_with(reason: Option<String>, time_ms: u64) -> report::Engine {
    report::Engine {
        name: Engine::Static,
        coverage: if reason.is_some() { "stopped" } else { "complete" }.to_owned(),
        reason,
        time_ms,
        reduction: "acquisition histories".to_owned(),
        executions: 0,
        blocked: 0,
        transitions: 0,
        race_free_checks: 0,
        race_free_yes: 0,
        skipped_backtracks: 0,
        nets: None,
        outputs: None,
    }
}

/// What keeps the answer from being `safe`, apart from pairs.
pub(crate) fn unknowns(analysis: &Analysis) -> Vec<Unknown> {
    let unknown = |code, reason: String, function: Option<String>, settle: &str| {
        let (file, line, column, witness) = (None, 0, 0, None);
        Unknown { code, reason, function, file, line, column, settle: settle.to_owned(), witness }
    };
    let mut unknowns = Vec::new();
    for obstacle in &analysis.obstacles {
        let settle = "leave it out of the program under test; until then no pair is called absent";
        unknowns.push(unknown(Code::UNMODELLED, obstacle.clone(), None, settle));
    }
    for name in &analysis.outside {
        let reason = format!("calls `{name}`, whose body is missing: what it does to memory it is given is not known");
        let settle = "give its source, or `--assume-pure` if it touches nothing that threads share";
        unknowns.push(unknown(Code::UNMODELLED, reason, Some(name.clone()), settle));
    }
    if analysis.more_warnings > 0 {
        let reason = format!("{} further pairs are not listed one by one", analysis.more_warnings);
        unknowns.push(unknown(Code::SEARCH_BOUND, reason, None, "settle the pairs listed first"));
    }
    unknowns
}

/// The pairs, warnings first.
fn list(program: &Program, analysis: &Analysis) -> Vec<report::Pair> {
    (1..).zip(&analysis.findings).map(|(rank, finding)| pair(program, rank, finding)).collect()
}

fn pair(program: &Program, rank: u32, finding: &Finding) -> report::Pair {
    let (verdict, reason, code, details) = match &finding.answer {
        Answer::Absent(reason) => {
            let details = Details { scope: Some(SCOPE), ..Details::default() };
            (PairVerdict::Absent, reason.to_string(), None, details)
        }
        Answer::Unknown { why, usual_lock, .. } => {
            let protection = usual_lock.clone().map(protection);
            let settle = Some("`raceproof check` runs the program and looks for it".to_owned());
            (
                PairVerdict::Unknown,
                why.clone(),
                Some(Code::WARNING),
                Details { settle, protection, ..Details::default() },
            )
        }
    };
    report::Pair {
        id: format!("P{rank}"),
        verdict,
        confirmed: false,
        by: Engine::Static,
        rank,
        code,
        variable: finding.variable.clone(),
        reason,
        accesses: finding.sides.each_ref().map(|side| access(program, side)),
        witness: None,
        details,
    }
}

/// The lock that is held at so many of so many places, by the name that runs know it by.
pub(crate) fn protection((lock, held, places): (String, usize, usize)) -> Protection {
    Protection { lock: naming::without_insides(&lock).to_owned(), held, places }
}

fn access(program: &Program, side: &Side) -> report::Access {
    let Place { function, file, line, column } = Place::of(program, Some(side.site));
    let (kind, atomic) = (words::kind(side.kind).to_owned(), side.atomic);
    let (thread, locks, created) = (String::new(), side.locks.clone(), None);
    report::Access { kind, atomic, file, line, column, function, thread, locks, created, stack: Vec::new() }
}
