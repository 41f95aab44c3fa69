//! The verifier's part of the line: prove pairs absent for all inputs and any number of threads, then let the search
//! look for what is left.
//!
//! A proof of absence comes from `cover`. A candidate is never a race by itself: it stays `unknown` until a run of the
//! program shows it. The search speaks of one input and only ever adds races here; that it found none proves nothing in
//! the scope asked for.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::explore::Observer;
use cover::{Candidate, Counters, Pruning};
use facts::Facts;
use facts::invocations::Obstacle;
use facts::touches::{Meeting, MeetingAccess};
use model::verdict::{Inputs, Memory, Scope, Threads};
use model::{Budget, Contradiction, Engine, Interrupt, Ledger, Pair, SiteId, Verdict};
use program::Program;
use report::document::SCHEMA;
use report::{Code, CoverStatistics, Details, NetStatistics, PairVerdict, Report, Unknown};

use crate::build::{BuildOptions, lower};
use crate::explore::{ExploreOptions, Known, explore_knowing};
use crate::hints;
use crate::place::Place;
use crate::run::Limits;
use crate::subject::Subject;
use crate::{Error, assumptions, words};

/// What to prove, and how far to look for what cannot be proved.
#[derive(Clone, Debug)]
pub struct VerifyOptions {
    /// The program.
    pub build: BuildOptions,
    /// How to prove; the search has what is left of the time.
    pub proofs: ProofOptions,
    /// How long each run of the search may be.
    pub limits: Limits,
    /// Stop the search after this many executions.
    pub max_executions: u64,
    /// Where witness files go; created when there is something to write.
    pub witness_dir: PathBuf,
}

/// How to prove.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProofOptions {
    /// Most time for everything but building. Where a search follows, proofs take at most half of it.
    pub time: Option<Duration>,
    /// What the searches for proofs may leave out.
    pub pruning: Pruning,
    /// Whether the counters of these searches are wanted in the document.
    pub statistics: bool,
}

impl VerifyOptions {
    fn proof_options(&self) -> cover::Options {
        let budget = Budget::new(self.proofs.time.map(|time| time / 2), None, Interrupt::new());
        cover::Options { budget, pruning: self.proofs.pruning, ..cover::Options::default() }
    }
    fn facts(&self, program: Arc<Program>) -> Facts {
        let options = facts::Options { assume_pure: self.build.assume_pure.clone(), ..facts::Options::default() };
        Facts::new(program, options, Budget::default())
    }
}

impl ProofOptions {
    /// What the document says of the proofs.
    pub(crate) fn engine(
        &self,
        reason: Option<String>,
        stopped: bool,
        time_ms: u64,
        counters: &Counters,
    ) -> report::Engine {
        let nets = self.statistics.then(|| statistics(counters));
        report::Engine { reduction: self.pruning.name().to_owned(), nets, ..engine(reason, stopped, time_ms) }
    }
}

fn statistics(Counters { nets, places, transitions, sums }: &Counters) -> NetStatistics {
    let sums_of = CoverStatistics {
        places: *places,
        transitions: *transitions,
        iterations: sums.iterations,
        configurations: sums.configurations,
        subsumed: sums.subsumed,
        excluded: sums.excluded,
        invariants: sums.invariants,
    };
    NetStatistics { nets: *nets, basis: sums.basis, sums: sums_of }
}

/// What a verdict of this engine covers.
pub(crate) fn scope(bounded: bool) -> Scope {
    Scope { inputs: Inputs::All, threads: Threads::Any, bounded, memory: Memory::Sc }
}

/// Why no pair with a proof can race.
pub(crate) const ABSENT: &str = "no reachable marking of the net has a thread before each of the two accesses";

/// Settles every pair of the program that may meet.
pub fn verify(options: &VerifyOptions, observer: &mut dyn Observer) -> Result<Report, Error> {
    let whole = Instant::now();
    let (mut subject, interrupt) = (Subject::new(&options.build, &Interrupt::new())?, Interrupt::new());
    let facts = options.facts(Arc::clone(&subject.program()));
    let program = &**facts.program();
    let start = Instant::now();
    let proving = prove(&facts, &options.proof_options());
    let proof_time = start.elapsed();
    let mut ledger = proving.ledger()?;
    let mut found = Found::default();
    if ledger.unsettled().next().is_some()
        && let Some(built) = subject.built(&interrupt)?
    {
        let search = ExploreOptions {
            limits: options.limits,
            max_executions: Some(options.max_executions),
            time: options.proofs.time.map(|time| time.saturating_sub(start.elapsed())),
            witness_dir: options.witness_dir.clone(),
            ..ExploreOptions::default()
        };
        let candidates = proving.candidates();
        let hints = candidates.iter().map(|candidate| hints::hint(candidate)).collect();
        let known = Known { hints, ..Known::default() };
        let (report, sites, led) = explore_knowing(built, &search, &known, observer)?;
        found = Found::new(report, sites);
        let led = candidates.into_iter().zip(led);
        found.led = led.map(|(c, led)| (c.pair, hints::outcome(program, c, led))).collect();
        proving.confirm(&mut ledger, &found)?;
    }
    let pairs = proving.list(program, &ledger, &found);
    let mut unknowns = proving.unknowns(program);
    let place = |u: &Unknown| (u.reason.clone(), u.file.clone(), u.line, u.column);
    found.unknowns.retain(|new| unknowns.iter().all(|known| place(known) != place(new)));
    unknowns.append(&mut found.unknowns);
    let obstacle = proving.obstacles.first().map(|o| o.describe(program));
    let engine = options.proofs.engine(obstacle, proving.stopped(), proof_time.as_millis() as u64, &proving.counters);
    let proofs = assumptions::of_proofs(program, !options.build.assume_pure.is_empty());
    Ok(Report {
        raceproof: env!("CARGO_PKG_VERSION").to_owned(),
        schema: SCHEMA,
        command: "verify".to_owned(),
        inputs: options.build.inputs.clone(),
        args: options.build.args.clone(),
        verdict: verdict(&pairs, &unknowns),
        scope: scope(proving.stopped()),
        pairs,
        unknowns,
        errors: found.errors,
        engines: std::iter::once(engine).chain(found.engines).collect(),
        assumptions: assumptions::merged(proofs, found.assumptions),
        time_ms: whole.elapsed().as_millis() as u64,
    })
}

/// The net of the first pair that is not proved absent, or of the first pair, as Graphviz; `None` when there is no
/// pair or no net.
pub fn net(options: &VerifyOptions) -> Result<Option<String>, Error> {
    let (facts, proof_options) = (options.facts(Arc::new(lower(&options.build)?)), options.proof_options());
    let proving = prove(&facts, &proof_options);
    let open = proving.answers.iter().find(|(_, answer)| !matches!(answer, cover::Result::Absent(_)));
    let pair = open.or(proving.answers.first()).map(|(pair, _)| *pair);
    Ok(pair.and_then(|pair| cover::net(&facts, pair, &proof_options)).map(|net| cover::dot::dot(&net)))
}

/// What the document says of this engine.
pub(crate) fn engine(reason: Option<String>, stopped: bool, time_ms: u64) -> report::Engine {
    report::Engine {
        name: Engine::Verify,
        coverage: if stopped { "stopped" } else { "complete" }.to_owned(),
        reason,
        time_ms,
        reduction: Pruning::default().name().to_owned(),
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

/// The overall answer.
pub(crate) fn verdict(pairs: &[report::Pair], unknowns: &[Unknown]) -> report::Verdict {
    let has = |verdict| pairs.iter().any(|pair| pair.verdict == verdict);
    if has(PairVerdict::Race) {
        report::Verdict::Race
    } else if has(PairVerdict::Unknown) || !unknowns.is_empty() {
        report::Verdict::Unknown
    } else {
        report::Verdict::Safe
    }
}

/// Why proofs are missing.
pub(crate) const STOPPED: &str = "some proofs were stopped at their limits";

/// What would settle what the net does not model.
pub(crate) const UNMODELLED_HELP: &str = "give all sources of the program, or leave it out of the program under test";

/// What keeps the answer from being `safe`: something that is not modelled, or limits.
pub(crate) fn unknowns(program: &Program, obstacles: &[Obstacle], stopped: bool) -> Vec<Unknown> {
    let unknown = |code: Code, reason: String, site: Option<SiteId>, settle: &str| {
        let Place { file, line, column, .. } = Place::of(program, site);
        let (function, witness) = (None, None);
        Unknown { code, reason, function, file, line, column, settle: settle.to_owned(), witness }
    };
    let of = |o: &Obstacle| unknown(Code::UNMODELLED, o.what.clone(), o.site, UNMODELLED_HELP);
    match obstacles {
        [] if stopped => vec![unknown(Code::SEARCH_BOUND, STOPPED.to_owned(), None, "raise `--time`")],
        obstacles => obstacles.iter().map(of).collect(),
    }
}

fn prove(facts: &Facts, options: &cover::Options) -> Proving {
    let program = facts.program();
    let meetings = facts.meetings().map(<[Meeting]>::to_vec).unwrap_or_default();
    let pairs: Vec<Pair> = meetings.iter().map(|meeting| meeting.pair).collect();
    let (answers, counters) = cover::counted(facts, &pairs, options);
    let names = answers.iter().filter_map(|(pair, answer)| match answer {
        cover::Result::Candidate(candidate) => Some((*pair, way(program, candidate))),
        _ => None,
    });
    let obstacles = facts.obstacles().map(<[Obstacle]>::to_vec).unwrap_or_default();
    Proving { obstacles, ways: names.collect(), meetings, answers, counters }
}

/// What the proofs gave.
struct Proving {
    /// What keeps every pair from being settled.
    obstacles: Vec<Obstacle>,
    meetings: Vec<Meeting>,
    answers: Vec<(Pair, cover::Result)>,
    /// How candidates are reached.
    ways: BTreeMap<Pair, String>,
    /// What the searches did.
    counters: Counters,
}

impl Proving {
    fn stopped(&self) -> bool {
        !self.obstacles.is_empty() || self.answers.iter().any(|(_, answer)| matches!(answer, cover::Result::Unknown(_)))
    }

    fn candidates(&self) -> Vec<&Candidate> {
        let answers = self.answers.iter();
        answers.filter_map(|(_, a)| if let cover::Result::Candidate(c) = a { Some(c) } else { None }).collect()
    }

    fn ledger(&self) -> Result<Ledger, Error> {
        let mut ledger = Ledger::new();
        for (pair, answer) in &self.answers {
            let verdict = match answer {
                cover::Result::Absent(_) => Verdict::Absent { reason: ABSENT.to_owned(), scope: scope(false) },
                cover::Result::Candidate(_) => Verdict::Unknown { reason: self.ways[pair].clone() },
                cover::Result::Unknown(reason) => Verdict::Unknown { reason: reason.clone() },
            };
            ledger.settle(*pair, Engine::Verify, verdict)?;
        }
        Ok(ledger)
    }

    /// Enters the races of the search. A race of a pair that was proved absent, or that was not even listed although
    /// everything is modelled, is a contradiction.
    fn confirm(&self, ledger: &mut Ledger, found: &Found) -> Result<(), Error> {
        for (pair, race) in &found.races {
            if self.obstacles.is_empty() && ledger.get(*pair).is_none() {
                let (first, second) = (Engine::Verify, Engine::Explore);
                return Err(Contradiction { pair: *pair, first, second }.into());
            }
            let verdict = Verdict::Race { confirmed: true, reason: race.reason.clone() };
            ledger.settle(*pair, Engine::Explore, verdict)?;
        }
        Ok(())
    }

    /// What keeps the answer from being `safe`, apart from pairs.
    fn unknowns(&self, program: &Program) -> Vec<Unknown> {
        unknowns(program, &self.obstacles, self.stopped())
    }

    /// The ledger's pairs: races as the search lists them, then unknown, then absent.
    fn list(&self, program: &Program, ledger: &Ledger, found: &Found) -> Vec<report::Pair> {
        let mut pairs: Vec<report::Pair> = found.races.values().cloned().collect();
        let settled = |meeting: &&Meeting| !found.races.contains_key(&meeting.pair);
        let mut rest: Vec<report::Pair> = self
            .meetings
            .iter()
            .filter(settled)
            .filter_map(|meeting| self.pair(program, meeting, &ledger.get(meeting.pair)?.verdict, found))
            .collect();
        rest.sort_by_key(|pair| pair.verdict);
        pairs.extend(rest);
        for (rank, pair) in (1..).zip(&mut pairs) {
            pair.rank = rank;
            pair.id = format!("P{rank}");
        }
        pairs
    }

    fn pair(&self, program: &Program, meeting: &Meeting, settled: &Verdict, found: &Found) -> Option<report::Pair> {
        let (verdict, reason, code) = match settled {
            Verdict::Absent { reason, .. } => (PairVerdict::Absent, reason.clone(), None),
            Verdict::Unknown { reason } if self.ways.contains_key(&meeting.pair) => (
                PairVerdict::Unknown,
                format!("{reason}{}{}", found.led(meeting.pair), found.no_race()),
                Some(Code::CANDIDATE),
            ),
            Verdict::Unknown { reason } => {
                let code = if !self.obstacles.is_empty() { Code::UNMODELLED } else { Code::SEARCH_BOUND };
                (PairVerdict::Unknown, reason.clone(), Some(code))
            }
            Verdict::Race { .. } => return None,
        };
        let [one, other] = meeting.pair.sites();
        Some(report::Pair {
            id: String::new(),
            verdict,
            confirmed: false,
            by: Engine::Verify,
            rank: 0,
            code,
            variable: meeting.variable.clone(),
            reason,
            accesses: [access(program, one, meeting.accesses[0]), access(program, other, meeting.accesses[1])],
            witness: None,
            details: Details { scope: (verdict == PairVerdict::Absent).then(|| scope(false)), ..Details::default() },
        })
    }
}

/// What is known of an access without a run: no thread, no locks.
pub(crate) fn access(program: &Program, site: SiteId, access: MeetingAccess) -> report::Access {
    let Place { function, file, line, column } = Place::of(program, Some(site));
    let (kind, atomic) = (words::kind(access.kind).to_owned(), access.atomic);
    let (thread, locks, created) = (String::new(), Vec::new(), None);
    report::Access { kind, atomic, file, line, column, function, thread, locks, created, stack: Vec::new() }
}

/// Most lines told of one thread.
const LINES: usize = 12;

/// How the net brings a candidate's accesses side by side: the lines each thread goes through.
pub(crate) fn way(program: &Program, candidate: &Candidate) -> String {
    let mut threads: BTreeMap<usize, (String, Vec<(String, u32)>)> = BTreeMap::new();
    for step in candidate.steps.iter().chain(&candidate.accesses) {
        let job = program.functions[step.job].name.clone();
        let (_, lines) = threads.entry(step.thread).or_insert((job, Vec::new()));
        let Place { file: Some(file), line, .. } = Place::of(program, step.site) else { continue };
        if lines.last().is_none_or(|last| *last != (file.clone(), line)) {
            lines.push((file, line));
        }
    }
    let told = threads.iter().map(|(thread, (job, lines))| {
        let left_out = if lines.len() > LINES { "…, " } else { "" };
        let last = &lines[lines.len().saturating_sub(LINES)..];
        let mut told = Vec::new();
        for (number, (file, line)) in last.iter().enumerate() {
            let same_file = number > 0 && last[number - 1].0 == *file;
            told.push(if same_file { line.to_string() } else { format!("{file}:{line}") });
        }
        format!("thread {thread} (`{job}`) by {left_out}{}", told.join(", "))
    });
    format!("the net brings both accesses side by side: {}", told.collect::<Vec<_>>().join("; "))
}

/// What the search adds.
#[derive(Default)]
struct Found {
    /// Confirmed races, with their witnesses.
    races: BTreeMap<Pair, report::Pair>,
    unknowns: Vec<Unknown>,
    errors: Vec<report::Finding>,
    engines: Vec<report::Engine>,
    assumptions: Vec<String>,
    /// What came of leading the program to candidates.
    led: BTreeMap<Pair, String>,
}

impl Found {
    fn new(report: Report, sites: Vec<Pair>) -> Self {
        let Report { pairs, unknowns, errors, engines, assumptions, .. } = report;
        let races = sites.into_iter().zip(pairs).filter(|(_, pair)| pair.verdict == PairVerdict::Race);
        Self { races: races.collect(), unknowns, errors, engines, assumptions, led: BTreeMap::new() }
    }

    fn led(&self, pair: Pair) -> &str {
        self.led.get(&pair).map_or("", String::as_str)
    }

    /// What the search says of a candidate that it did not find to race.
    fn no_race(&self) -> &'static str {
        match self.engines.first() {
            None => "",
            Some(engine) if engine.is_complete() => "; no schedule of this input shows it",
            Some(_) => "; the schedules tried do not show it",
        }
    }
}
