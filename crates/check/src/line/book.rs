//! What the line knows so far: the ledger, how the report speaks of each pair, and what the engines said of the whole.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use cover::Candidate;
use facts::Facts;
use facts::invocations::Obstacle;
use facts::touches::Meeting;
use model::verdict::{Inputs, Memory, Scope, Threads};
use model::{Budget, Contradiction, Engine, Entry, Ledger, Pair, Verdict};
use program::Program;
use report::document::SCHEMA;
use report::{Code, Details, ErrorKind, PairVerdict, Protection, Report, Unknown};

use super::stray::Stray;
use super::{CheckOptions, LINE};
use crate::place::Place;
use crate::{Error, assumptions, verify};

/// What is known so far.
pub(super) struct Book<'a> {
    pub(super) program: &'a Arc<Program>,
    pub(super) facts: Arc<Facts>,
    ledger: Ledger,
    /// How the report speaks of a pair; verdict and reason are the ledger's.
    told: BTreeMap<Pair, report::Pair>,
    /// Ways on which the net brings pairs side by side, for the search to try first.
    candidates: Vec<Candidate>,
    /// The races in the order in which they were found.
    races: Vec<Pair>,
    /// Why there may be pairs that are not in the ledger.
    pub(super) obstacles: Vec<Obstacle>,
    /// Whether a search covered every schedule of this input and everything in it is modelled.
    covered: bool,
    /// Whether an engine stopped at a bound while pairs were open.
    bounded: bool,
    /// An access that left its object, in a run that contradicts a proof.
    stray: Option<Stray>,
    unknowns: Vec<Unknown>,
    errors: Vec<report::Finding>,
    engines: Vec<report::Engine>,
    assumptions: Vec<String>,
}

/// What an engine adds besides verdicts.
#[derive(Default)]
pub(super) struct Work {
    pub(super) engine: Option<report::Engine>,
    /// What keeps it from settling every pair.
    pub(super) unknowns: Vec<Unknown>,
    pub(super) errors: Vec<report::Finding>,
    pub(super) assumptions: Vec<String>,
}

impl<'a> Book<'a> {
    /// Opens every pair of the program that may meet.
    pub(super) fn new(program: &'a Arc<Program>, options: &CheckOptions) -> Self {
        let mut ledger = Ledger::new();
        let mut told = BTreeMap::new();
        let assume_pure = options.build.assume_pure.clone();
        let fact_options = facts::Options { assume_pure, ..facts::Options::default() };
        let facts = Arc::new(Facts::new(Arc::clone(program), fact_options, Budget::default()));
        for meeting in facts.meetings().unwrap_or_default() {
            ledger.open(meeting.pair);
            told.insert(meeting.pair, skeleton(program, meeting));
        }
        let obstacles = facts.obstacles().map(<[Obstacle]>::to_vec).unwrap_or_default();
        Self {
            program,
            facts,
            ledger,
            told,
            candidates: Vec::new(),
            races: Vec::new(),
            obstacles,
            covered: false,
            bounded: false,
            stray: None,
            unknowns: Vec::new(),
            errors: Vec::new(),
            engines: Vec::new(),
            assumptions: Vec::new(),
        }
    }

    /// Pairs that an engine may still work on.
    pub(super) fn unsettled(&self) -> Vec<Pair> {
        self.ledger.unsettled().collect()
    }

    /// How many of them there are.
    pub(super) fn open(&self) -> usize {
        self.ledger.unsettled().count()
    }

    /// How many races were shown.
    pub(super) fn races(&self) -> usize {
        self.races.len()
    }

    /// The pairs whose race was shown.
    pub(super) fn shown(&self) -> BTreeSet<Pair> {
        self.races.iter().copied().collect()
    }

    /// The pairs that were proved absent, if nothing speaks against the proofs.
    pub(super) fn proved(&self) -> BTreeSet<Pair> {
        if !self.obstacles.is_empty() || self.is_misused() {
            return BTreeSet::new();
        }
        let is_absent = |entry: &Entry| matches!(entry.verdict, Verdict::Absent { .. });
        self.ledger.iter().filter(|(_, entry)| entry.is_some_and(is_absent)).map(|(pair, _)| pair).collect()
    }

    /// The ledger, for the bundle.
    pub(super) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Whether a pair is absent or its race was shown.
    pub(super) fn is_decided(&self, pair: Pair) -> bool {
        self.ledger.get(pair).is_some_and(|entry| {
            matches!(entry.verdict, Verdict::Absent { .. } | Verdict::Race { confirmed: true, .. })
        })
    }

    /// Enters a verdict about a pair. A race of a pair that was not even listed although everything is modelled is a
    /// contradiction too.
    pub(super) fn settle(&mut self, pair: Pair, by: Engine, verdict: Verdict) -> Result<bool, Error> {
        let race = matches!(verdict, Verdict::Race { confirmed: true, .. });
        if race && !self.ledger.lists(pair) && self.obstacles.is_empty() {
            return Err(Contradiction { pair, first: Engine::Static, second: by }.into());
        }
        let moved = self.ledger.settle(pair, by, verdict)?;
        if race && moved {
            self.races.push(pair);
        }
        Ok(moved)
    }

    /// Enters a race that was shown by a run. Where it contradicts a proof, `astray` says whether that run left what proofs
    /// assume; then the race stands, and all proofs are void.
    pub(super) fn show(
        &mut self,
        pair: Pair,
        by: Engine,
        reason: String,
        astray: impl FnOnce() -> Result<Option<Stray>, Error>,
    ) -> Result<(), Error> {
        let race = Verdict::Race { confirmed: true, reason };
        match self.settle(pair, by, race.clone()) {
            Err(Error::Contradiction(contradiction)) => {
                let Some(stray) = astray()? else { return Err(contradiction.into()) };
                self.stray.get_or_insert(stray);
                self.ledger.overturn(pair, by, race);
                self.races.push(pair);
                Ok(())
            }
            settled => settled.map(|_| ()),
        }
    }

    /// Adds a pair that only a run has shown.
    pub(super) fn list(&mut self, pair: Pair) {
        self.ledger.open(pair);
    }

    /// Leaves a pair open, with what would settle it. The newest word on a pair counts.
    pub(super) fn leave(
        &mut self,
        pair: Pair,
        by: Engine,
        reason: &str,
        code: Code,
        settle: &str,
    ) -> Result<(), Error> {
        self.ledger.settle(pair, by, Verdict::Unknown { reason: reason.to_owned() })?;
        if let Some(told) = self.told.get_mut(&pair)
            && self.ledger.get(pair).is_some_and(|entry| matches!(entry.verdict, Verdict::Unknown { .. }))
        {
            (told.by, told.reason, told.code) = (by, reason.to_owned(), Some(code));
            told.details.settle = Some(settle.to_owned());
        }
        Ok(())
    }

    /// How to speak of a pair from now on: a run has shown its accesses.
    pub(super) fn see(&mut self, pair: Pair, seen: report::Pair) {
        let told = self.told.entry(pair).or_insert_with(|| seen.clone());
        (told.variable, told.accesses, told.witness) = (seen.variable, seen.accesses, seen.witness);
        told.details.run = seen.details.run;
        told.details.protection = seen.details.protection.or(told.details.protection.take());
    }

    /// The lock that would protect a pair, as far as the text of the program says.
    pub(super) fn protect(&mut self, pair: Pair, protection: Option<Protection>) {
        if let Some(told) = self.told.get_mut(&pair) {
            told.details.protection = protection;
        }
    }

    /// Keeps the way of a candidate.
    pub(super) fn keep(&mut self, candidate: Candidate) {
        self.candidates.push(candidate);
    }

    /// The ways of the candidates that are still open.
    pub(super) fn open_candidates(&self) -> Vec<Candidate> {
        self.candidates.iter().filter(|candidate| !self.is_decided(candidate.pair)).cloned().collect()
    }

    /// How the net brings the pair's accesses side by side, if nothing more is known.
    pub(super) fn candidate(&self, pair: Pair) -> Option<&str> {
        self.told.get(&pair).filter(|told| told.code == Some(Code::CANDIDATE)).map(|told| told.reason.as_str())
    }

    /// A search covered every schedule of this input.
    pub(super) fn cover(&mut self) {
        self.covered = true;
    }

    /// An engine has finished. What stopped it counts only while something is open.
    pub(super) fn worked(&mut self, work: Work) {
        self.bounded |= work.engine.as_ref().is_some_and(|engine| !engine.is_complete()) && !self.is_settled();
        self.engines.extend(work.engine);
        self.unknowns.extend(work.unknowns);
        self.errors.extend(work.errors);
        self.assumptions = assumptions::merged(std::mem::take(&mut self.assumptions), work.assumptions);
    }

    /// Whether every pair there is has its verdict: the ledger lists them all, and none is open.
    pub(super) fn is_settled(&self) -> bool {
        self.open() == 0 && (self.covered || (self.obstacles.is_empty() && !self.is_misused()))
    }

    /// Whether a run misused the thread API or left an object: proofs assume that no run does (A10).
    fn is_misused(&self) -> bool {
        self.stray.is_some() || is_misused(&self.errors)
    }

    /// Why proofs are void, if a run left its objects.
    pub(super) fn astray(&self) -> Option<Unknown> {
        self.stray.is_some().then(|| self.misused())
    }

    /// Why proofs are void when [`is_misused`](Self::is_misused).
    fn misused(&self) -> Unknown {
        let Some(Stray { site, what }) = self.stray else {
            let reason = "the program misuses the thread API, and the proofs assume that it does not (A10)".to_owned();
            return whole(Code::MISUSE, reason, "repair the misuse first".to_owned());
        };
        let Place { file, line, column, .. } = Place::of(self.program, site);
        let reason = format!("after a race the program {what}, and the proofs assume that it does not (A10)");
        let settle = "repair the races first".to_owned();
        Unknown { code: Code::MISUSE, reason, function: None, file, line, column, settle, witness: None }
    }

    /// The report.
    pub(super) fn report(mut self, options: &CheckOptions, time: Duration) -> Report {
        if !self.is_settled() {
            self.unknowns.extend(unasked(options, &self.engines));
        }
        if self.is_misused() && !self.covered {
            self.unknowns.push(self.misused());
        }
        if options.interrupt.is_set() && !self.is_settled() {
            self.unknowns.retain(|unknown| unknown.code != Code::INTERRUPTED);
            self.unknowns.push(interrupted());
        }
        let unknowns = if self.is_settled() { Vec::new() } else { merged(std::mem::take(&mut self.unknowns)) };
        let pairs = self.pairs(unknowns.first());
        let verdict = verify::verdict(&pairs, &unknowns);
        let scope = self.scope(&pairs, verdict);
        Report {
            raceproof: env!("CARGO_PKG_VERSION").to_owned(),
            schema: SCHEMA,
            command: "check".to_owned(),
            inputs: options.build.inputs.clone(),
            args: options.build.args.clone(),
            verdict,
            scope,
            pairs,
            unknowns,
            errors: self.errors,
            engines: self.engines,
            assumptions: self.assumptions,
            time_ms: time.as_millis() as u64,
        }
    }

    /// The narrowest scope of what is absent.
    fn scope(&self, pairs: &[report::Pair], verdict: report::Verdict) -> Scope {
        let absent = pairs.iter().filter_map(|pair| pair.details.scope);
        let widest = Scope { inputs: Inputs::All, threads: Threads::Any, bounded: false, memory: Memory::Sc };
        let narrowest = absent.fold(widest, |one, other| Scope {
            inputs: one.inputs.min(other.inputs),
            threads: one.threads.min(other.threads),
            bounded: one.bounded || other.bounded,
            memory: one.memory,
        });
        // Without any pair the answer rests on the list of pairs, or on the search.
        let of_search = (!self.obstacles.is_empty() || self.is_misused()) && self.covered;
        let (inputs, threads) =
            if of_search { (Inputs::This, Threads::These) } else { (narrowest.inputs, narrowest.threads) };
        Scope { inputs, threads, bounded: verdict != report::Verdict::Safe && self.bounded, memory: Memory::Sc }
    }

    /// Races in the order in which they were found, then unknown, then absent.
    fn pairs(&self, first_unknown: Option<&Unknown>) -> Vec<report::Pair> {
        let rest = self.ledger.iter().map(|(pair, _)| pair).filter(|pair| !self.races.contains(pair));
        let mut pairs: Vec<report::Pair> =
            self.races.iter().copied().chain(rest).filter_map(|pair| self.pair(pair, first_unknown)).collect();
        pairs.sort_by_key(|pair| pair.verdict);
        for (rank, pair) in (1..).zip(&mut pairs) {
            pair.rank = rank;
            pair.id = format!("P{rank}");
        }
        pairs
    }

    fn pair(&self, pair: Pair, first_unknown: Option<&Unknown>) -> Option<report::Pair> {
        let mut told = self.told.get(&pair)?.clone();
        let Some(entry) = self.ledger.get(pair) else {
            let reason = first_unknown.map_or("no engine was asked about it", |unknown| &unknown.reason);
            (told.verdict, told.reason) = (PairVerdict::Unknown, reason.to_owned());
            told.code = Some(first_unknown.map_or(Code::NOT_ASKED, |unknown| unknown.code));
            told.details.settle = first_unknown.map(|unknown| unknown.settle.clone());
            return Some(told);
        };
        told.by = entry.by;
        match &entry.verdict {
            Verdict::Race { confirmed: true, reason } => {
                (told.verdict, told.confirmed, told.reason) = (PairVerdict::Race, true, reason.clone());
                (told.code, told.details.settle) = (Some(Code::DATA_RACE), None);
            }
            Verdict::Absent { .. } if self.is_misused() && entry.by != Engine::Explore => {
                (told.confirmed, told.witness) = (false, None);
                if self.covered {
                    (told.verdict, told.by, told.code) = (PairVerdict::Absent, Engine::Explore, None);
                    told.reason = "every schedule of this input orders the two accesses".to_owned();
                    told.details = Details { scope: Some(super::this_input()), ..Details::default() };
                } else {
                    let Unknown { code, reason, settle, .. } = self.misused();
                    (told.verdict, told.reason, told.code) = (PairVerdict::Unknown, reason, Some(code));
                    told.details.settle = Some(settle);
                }
            }
            Verdict::Absent { reason, scope } => {
                (told.verdict, told.confirmed, told.reason) = (PairVerdict::Absent, false, reason.clone());
                (told.code, told.witness) = (None, None);
                told.details = Details { scope: Some(*scope), ..Details::default() };
            }
            Verdict::Race { confirmed: false, reason } | Verdict::Unknown { reason } => {
                told.verdict = PairVerdict::Unknown;
                if told.code.is_none() {
                    (told.reason, told.code) = (reason.clone(), Some(Code::NOT_ASKED));
                }
            }
        }
        Some(told)
    }
}

/// Whether one of these errors is a misuse of the thread API.
pub(super) fn is_misused(errors: &[report::Finding]) -> bool {
    errors.iter().any(|error| error.kind == ErrorKind::Misuse)
}

/// What is known of a pair without a run.
fn skeleton(program: &Program, meeting: &Meeting) -> report::Pair {
    let [one, other] = meeting.pair.sites();
    report::Pair {
        id: String::new(),
        verdict: PairVerdict::Unknown,
        confirmed: false,
        by: Engine::Static,
        rank: 0,
        code: None,
        variable: meeting.variable.clone(),
        reason: String::new(),
        accesses: [
            verify::access(program, one, meeting.accesses[0]),
            verify::access(program, other, meeting.accesses[1]),
        ],
        witness: None,
        details: Details::default(),
    }
}

/// An unknown of the whole, without a place.
pub(super) fn whole(code: Code, reason: String, settle: String) -> Unknown {
    let Place { file, line, column, .. } = Place::default();
    Unknown { code, reason, function: None, file, line, column, settle, witness: None }
}

/// Engines that could have settled more and did not work.
fn unasked(options: &CheckOptions, worked: &[report::Engine]) -> Option<Unknown> {
    let did_work = |engine: &Engine| worked.iter().any(|report| report.name == *engine);
    let idle: Vec<Engine> = LINE.into_iter().filter(|engine| !did_work(engine)).collect();
    let (asked, left_out): (Vec<Engine>, Vec<Engine>) =
        idle.into_iter().partition(|engine| options.engines.contains(engine));
    if !left_out.is_empty() {
        let names = left_out.iter().map(Engine::to_string).collect::<Vec<_>>().join(", ");
        let reason = format!("not every engine was asked: {names} did not work");
        return Some(whole(Code::NOT_ASKED, reason, "leave out `--engines`".to_owned()));
    }
    if asked.contains(&Engine::Explore) && !options.interrupt.is_set() {
        let reason = "the sources define no `main`, so the program cannot run".to_owned();
        let settle = "give the file that defines `main` as a further input".to_owned();
        return Some(whole(Code::NOT_ASKED, reason, settle));
    }
    None
}

fn interrupted() -> Unknown {
    let reason = "the check was interrupted".to_owned();
    whole(Code::INTERRUPTED, reason, "let it run to its end; `--quick` takes a few seconds".to_owned())
}

/// The report of a check that was interrupted before there was a program.
pub(super) fn nothing_known(options: &CheckOptions, time: Duration) -> Report {
    Report {
        raceproof: env!("CARGO_PKG_VERSION").to_owned(),
        schema: SCHEMA,
        command: "check".to_owned(),
        inputs: options.build.inputs.clone(),
        args: options.build.args.clone(),
        verdict: report::Verdict::Unknown,
        scope: Scope { inputs: Inputs::This, threads: Threads::These, bounded: true, memory: Memory::Sc },
        pairs: Vec::new(),
        unknowns: vec![interrupted()],
        errors: Vec::new(),
        engines: Vec::new(),
        assumptions: Vec::new(),
        time_ms: time.as_millis() as u64,
    }
}

/// Each unknown once, in order. Of two that speak of the same, the later says more; where engines have different words for
/// one place that is not modelled, the one that knows the function to blame counts.
pub(super) fn merged(unknowns: Vec<Unknown>) -> Vec<Unknown> {
    let mut merged: Vec<Unknown> = Vec::new();
    for unknown in unknowns {
        match merged.iter_mut().find(|known| is_same(known, &unknown)) {
            Some(known) => *known = unknown,
            None => merged.push(unknown),
        }
    }
    let to_blame: BTreeSet<_> = merged.iter().filter(|unknown| unknown.function.is_some()).filter_map(place).collect();
    let is_known = |unknown: &Unknown| place(unknown).is_some_and(|place| to_blame.contains(&place));
    merged.retain(|unknown| unknown.code != Code::UNMODELLED || unknown.function.is_some() || !is_known(unknown));
    merged
}

fn place(unknown: &Unknown) -> Option<(String, u32, u32)> {
    Some((unknown.file.clone()?, unknown.line, unknown.column))
}

/// Whether both speak of the same, perhaps the earlier without saying where.
fn is_same(known: &Unknown, new: &Unknown) -> bool {
    known.code == new.code
        && known.function == new.function
        && match place(known) {
            None => true,
            known_place if known_place != place(new) => false,
            _ => known.code == Code::UNMODELLED || known.reason == new.reason,
        }
}
