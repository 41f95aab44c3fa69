//! The line: every engine in turn on what the ones before it left open, one ledger, one report.
//!
//! The engines work in the order of [`LINE`], cheap and general before dear and particular; a command with one engine is the
//! line with that engine in it. Each gets only pairs that are still open. What combines how:
//!
//! - A pair is `absent` in the scope of the engine that settled it; the report's scope is the narrowest of them.
//! - An engine that could not look at something (a call whose effect is not known, a spent budget) leaves pairs open.
//!   That is no obstacle to a later engine: a complete search settles everything that is left, for this input.
//! - What no engine settled is `unknown`, with what stopped the last one that tried.
//! - When no pair is left, the search of `check` only looks for other errors, within a small bound; that it was bounded
//!   takes nothing from the answer about races.
//! - A run that shows a race is the truth. A proof that says otherwise counts for nothing, and neither does any other of
//!   that engine; see [`crate::doubt`].

mod teams;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::explore::{Check, Failure, FailureKind, Observer, StopReason};
use files::TraceFile;
use lockset::Analysis;
use model::verdict::TeamSizes;
use model::{Budget, Engine, Pair, Surprise};
use report::{Code, Command, Report};

use crate::assumptions::Assumption;
use crate::describe::{Describer, ObjectNames, Sightings};
use crate::document::{Shown, Witnesses};
use crate::doubt::Doubt;
use crate::engine::explore::{FOR_OTHER_ERRORS, Known, SearchOptions};
use crate::engine::predict::Work;
use crate::engine::reach::Reach;
use crate::engine::static_::AnalysisFigures;
use crate::engine::{self, Answer, Figures, Verdict};
use crate::gap::Gap;
use crate::ledger::{Contradiction, Ledger};
use crate::request::{Effort, LINE, Recording, Request};
use crate::run::Limits;
use crate::subject::Subject;
use crate::{Error, bundle, document, outside, record, stray};

/// Observes how far the line has come.
pub trait Watcher: Observer {
    /// An engine starts to work on the pairs that are open.
    fn engine(&mut self, engine: Engine, open: usize) {
        let _ = (engine, open);
    }
    /// The static engine has analysed the program.
    fn analysed(&mut self, figures: &AnalysisFigures) {
        let _ = figures;
    }
    /// A run of the search shows a race: of these two places.
    fn found(&mut self, places: &str) {
        let _ = places;
    }
    /// What is known so far, as a report that says less than the one to come: its text and its races.
    fn so_far(&mut self, report: Report) {
        let _ = report;
    }
    /// Pairs were settled: so many are open, so many race.
    fn settled(&mut self, open: usize, races: usize) {
        let _ = (open, races);
    }
}

/// Observes nothing.
impl Watcher for () {}

/// What is known so far.
pub(crate) struct Line<'a> {
    pub(crate) start: Instant,
    pub(crate) request: &'a Request,
    pub(crate) subject: &'a mut Subject,
    pub(crate) ledger: Ledger,
    /// The ledger's races as their witnesses show them, in its order; new ones are yet to be shown.
    pub(crate) shown: Vec<Shown>,
    pub(crate) witnesses: Witnesses,
    /// With how many threads teams had in their runs.
    pub(crate) failures: Vec<(Option<u32>, Failure)>,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) figures: Vec<Figures>,
    pub(crate) assumptions: BTreeSet<Assumption>,
    /// Accesses that each engine's runs executed.
    pub(crate) sightings: Vec<(Engine, Sightings)>,
    /// How the static engine describes pairs.
    pub(crate) analysis: Option<Analysis>,
    /// What went wrong besides.
    pub(crate) warnings: Vec<String>,
    /// Why proofs do not count.
    pub(crate) doubts: Vec<Doubt>,
    /// What runs of a search showed and a new process did not: bugs of ours, which count whatever else is settled.
    pub(crate) leaks: Vec<Gap>,
    /// Whether a search covered every schedule of this input and everything in it is modelled.
    pub(crate) covered: bool,
    /// How many threads teams of OpenMP have in the runs that are made now.
    team_size: Option<u32>,
    /// The sizes of teams for which a search covered every schedule of this input.
    pub(crate) team_sizes: TeamSizes,
    /// Whether an engine stopped at a bound while pairs were open.
    pub(crate) bounded: bool,
    /// Whether the ledger lists every pair of the program that can race, by the text.
    listed_all: bool,
    /// Whether proofs were put off until a short search has settled what it can.
    put_off: bool,
}

/// Builds the program and settles its pairs, while the budget lasts.
pub fn run(request: &Request, watcher: &mut dyn Watcher) -> Result<Report, Error> {
    let start = Instant::now();
    // The other engines run the program: what `verify` finds is confirmed by a run.
    let subject = if request.command == Command::Static { Subject::text } else { Subject::new };
    match subject(&request.build, &request.budget) {
        // The compiler may have been stopped by the same key.
        Err(error) if !error.is_misuse() && request.budget.is_spent() => Ok(document::nothing_known(request, start)),
        Err(error) => Err(error),
        Ok(mut subject) => settle(&mut subject, request, start, watcher),
    }
}

/// Settles the pairs of a program that is there.
pub fn run_on(subject: &mut Subject, request: &Request, watcher: &mut dyn Watcher) -> Result<Report, Error> {
    settle(subject, request, Instant::now(), watcher)
}

fn settle(
    subject: &mut Subject,
    request: &Request,
    start: Instant,
    watcher: &mut dyn Watcher,
) -> Result<Report, Error> {
    let mut line = Line::new(request, subject, start);
    match line.work(watcher) {
        // The linker, or the program, may have been stopped by the same key.
        Err(_) if request.budget.interrupt().is_set() => {}
        Err(Error::Llvm(llvm::Error::Spent(spent))) => line.gaps.push(Gap::limit("the program was not built", spent)),
        worked => worked?,
    }
    document::make(line)
}

impl<'a> Line<'a> {
    /// Nothing is known yet.
    fn new(request: &'a Request, subject: &'a mut Subject, start: Instant) -> Self {
        Self {
            start,
            request,
            subject,
            ledger: Ledger::default(),
            shown: Vec::new(),
            witnesses: Witnesses::new(request),
            failures: Vec::new(),
            gaps: Vec::new(),
            figures: Vec::new(),
            assumptions: BTreeSet::new(),
            sightings: Vec::new(),
            analysis: None,
            warnings: Vec::new(),
            doubts: Vec::new(),
            leaks: Vec::new(),
            covered: false,
            team_size: request.team_sizes.first().copied(),
            team_sizes: TeamSizes::NONE,
            bounded: false,
            listed_all: false,
            put_off: false,
        }
    }

    /// Lets every engine work on what is open.
    fn work(&mut self, watcher: &mut dyn Watcher) -> Result<(), Error> {
        let request = self.request;
        if request.command == Command::Static && self.has_no_start() {
            return Err(Error::Llvm(llvm::Error::NoMain));
        }
        if request.command == Command::Explore {
            self.subject.must_run()?;
        }
        if request.command == Command::Predict && !self.subject.can_run() {
            return Err(Error::Llvm(llvm::Error::NoMain));
        }
        if request.lists_text_pairs() {
            self.list_text_pairs();
        }
        for engine in LINE.into_iter().filter(|engine| request.asks(*engine)) {
            if request.budget.is_spent() {
                break;
            }
            watcher.engine(engine, self.ledger.open().count());
            let worked = match engine {
                Engine::Static => {
                    self.analyse(watcher);
                    Ok(())
                }
                Engine::Verify => {
                    self.verify_first();
                    Ok(())
                }
                Engine::Predict => self.predict(watcher),
                Engine::Explore => self.explore(watcher),
            };
            // What the others say counts all the same.
            let unlinked = |error: &Error| error.unlinked().filter(|_| request.lists_text_pairs());
            match worked.as_ref().err().and_then(|error| error.lost_run().or_else(|| unlinked(error))) {
                Some(gap) => self.gaps.push(gap),
                None => worked?,
            }
            document::show_new(self)?;
            if engine == Engine::Predict {
                // A search says itself what it finds, when it does.
                document::told_places(self).iter().for_each(|places| watcher.found(places));
            }
            watcher.settled(self.ledger.open().count(), self.ledger.races().count());
            if engine != Engine::Explore {
                watcher.so_far(document::so_far(self));
            }
            if request.search.stop_at_first && self.ledger.races().next().is_some() {
                if engine != Engine::Explore {
                    let reason = StopReason::FirstFound.to_string();
                    self.gaps.push(Gap::new(Code::STOPPED_AT_FIRST, reason, "check again without `--first`"));
                }
                break;
            }
        }
        Ok(())
    }

    /// Lists every pair of the text.
    fn list_text_pairs(&mut self) {
        let facts = self.subject.facts();
        match (facts.meetings(), facts.obstacles()) {
            (Ok(meetings), Ok(obstacles)) => {
                self.ledger.list(meetings.iter().map(|meeting| meeting.pair));
                self.listed_all = obstacles.is_empty();
            }
            (Err(spent), _) | (_, Err(spent)) => {
                let reason = format!("the pairs of the program are not all listed: {spent}");
                self.gaps.push(Gap::new(Code::SEARCH_BOUND, reason, "raise `--time`"));
            }
        }
    }

    /// Whether all that was asked has its answer. Every pair there is has its verdict: all are listed, and none is open.
    pub(crate) fn is_settled(&self) -> bool {
        let races = self.ledger.open().next().is_none() && (self.covered || self.rests_on_text());
        races && (self.covered || !self.request.promises_other_errors)
    }

    /// Whether the answer rests on the text: every pair is listed, and the proofs count.
    pub(crate) fn rests_on_text(&self) -> bool {
        self.listed_all && self.doubts.is_empty()
    }

    /// Why what an engine proved does not count, if so.
    pub(crate) fn is_doubted(&self, engine: Engine) -> Option<&Doubt> {
        self.doubts.iter().find(|doubt| doubt.concerns(engine))
    }

    /// Adds an engine's answer. What stopped it counts only while something is open.
    fn take(&mut self, answer: Answer) {
        let Answer { verdicts, failures, gaps, figures, assumptions, sightings, warnings } = answer;
        self.warnings.extend(warnings);
        let by = figures.engine;
        for settled in verdicts {
            self.ledger.settle(by, settled);
        }
        let team_size = self.team_size;
        self.failures.extend(failures.into_iter().map(|failure| (team_size, failure)));
        self.gaps.extend(gaps);
        self.bounded |= !figures.complete && !self.is_settled();
        match self.figures.iter_mut().find(|known| known.engine == by) {
            // It worked on what was left the first time.
            Some(known) => *known = Figures { time: known.time + figures.time, ..figures },
            None => self.figures.push(figures),
        }
        self.assumptions.extend(assumptions);
        self.sightings.extend(sightings.map(|sightings| (by, sightings)));
    }

    /// Whether there is neither `main` nor an entry.
    fn has_no_start(&self) -> bool {
        self.subject.program().main.is_none() && self.request.build.entries.is_empty()
    }

    /// Code without `main` and entries has no threads to speak of.
    fn analyse(&mut self, watcher: &mut dyn Watcher) {
        if self.has_no_start() {
            return;
        }
        let open: Option<BTreeSet<Pair>> = self.request.lists_text_pairs().then(|| self.ledger.open().collect());
        let (answer, analysis) =
            engine::static_::run(self.subject.facts(), open.as_ref(), self.request.declares_effects());
        if !self.request.lists_text_pairs() {
            // It lists the pairs itself: without gaps these are all.
            self.listed_all = answer.gaps.is_empty() && analysis.is_some();
        }
        if let Some(analysis) = &analysis {
            watcher.analysed(&AnalysisFigures::of(self.subject.program(), analysis));
        }
        self.analysis = analysis;
        self.take(answer);
    }

    /// Proves what takes a moment. In `check`, what takes longer is put off: a run often shows a race, or a search settles
    /// the rest, in less time than the proofs would take.
    fn verify_first(&mut self) {
        let request = self.request;
        let share =
            if request.command == Command::Verify || request.effort == Effort::Quick { 0.5 } else { PROOFS_SHARE };
        let whole = request.budget.share(share);
        let may_put_off = request.command == Command::Check && request.asks(Engine::Explore) && self.subject.can_run();
        if !may_put_off {
            return self.verify(&whole);
        }
        let moment = whole.at_most(FIRST_PROOFS);
        self.verify(&moment);
        // What a net shows of teams, the rules for regions show before (`facts::teams`).
        let has_regions = self.subject.program().functions.iter().any(|f| f.symbol.ends_with(program::openmp::ADAPTER));
        self.put_off = moment.is_spent() && !whole.is_spent() && !has_regions;
    }

    fn verify(&mut self, budget: &Budget) {
        let open: Vec<Pair> = self.ledger.open().collect();
        let (request, facts) = (self.request, self.subject.facts());
        let answer = engine::verify::run(facts, &open, &request.proofs, budget, request.declares_effects());
        self.take(answer);
    }

    /// Shows the races that one run and reorderings of it have.
    fn predict(&mut self, watcher: &mut dyn Watcher) -> Result<(), Error> {
        let request = self.request;
        if self.is_settled() {
            return Ok(());
        }
        // Recorded under control, the run is the same one every time, so what is printed does not depend on luck; and
        // what is left may be predicted a second time, with less certainty: plain reads may then read something else,
        // since a thread that only counts goes the same way whatever it reads.
        let controlled = matches!(request.recording, Recording::Controlled);
        let strict = request.prediction;
        let relaxed = ::predict::Options { relaxed: true, ..strict };
        let passes = if controlled { vec![strict, relaxed] } else { vec![strict] };
        let share = if !controlled {
            1.0
        } else if request.effort == Effort::Quick {
            0.75
        } else {
            0.5
        };
        let budget = request.budget.share(share);
        let Some(mut recording) = self.recording()? else { return Ok(()) };
        if request.limits.environment.has(Surprise::Unordered) {
            decode::forget_handover(&mut Arc::make_mut(&mut recording).trace);
        }
        // Clients that were outside when the run was recorded are peers now.
        let has_peers = self.subject.identity().is_some_and(|program| program.peers.is_some());
        let plays_clients = has_peers && recording.program.peers.is_none();
        let most_steps = if plays_clients { engine::clients::MOST_STEPS } else { u64::MAX };
        let limits = Limits { max_steps: request.limits.max_steps.min(most_steps), ..self.limits() };
        let program = Arc::clone(self.subject.program());
        let names = ObjectNames::new(&program, &recording.symbols);
        let describer = Describer { program: &program, names: &names };
        let mut work = Work::new(&recording, &describer, !controlled);
        for (pass, options) in passes.iter().enumerate() {
            if pass > 0 && self.ledger.open().all(|pair| work.has_shown(pair)) {
                break;
            }
            let observation = work.observe(&budget);
            if !controlled {
                self.enter(&work, watcher);
            }
            let prediction = work.predict(observation, options, &self.ledger, &budget);
            if !controlled {
                self.enter(&work, watcher);
            }
            match self.subject.running(&limits)? {
                Some(running) if plays_clients => work.run_with_clients(&mut running.target, &prediction, &budget)?,
                Some(running) => work.replay(&mut running.target, &prediction, &budget)?,
                None => {}
            }
        }
        let mut answer = work.finish(self.subject, request.limits.environment);
        if request.asks(Engine::Explore) {
            // That one run is not all: the search will tell what is left.
            answer.gaps.retain(|gap| gap.code != Code::SEARCH_BOUND);
        }
        self.show_races(&mut answer)?;
        self.take(answer);
        Ok(())
    }

    /// Enters what a recording says, which counts whatever becomes of replays.
    fn enter(&mut self, work: &Work<'_>, watcher: &mut dyn Watcher) {
        for settled in work.so_far() {
            self.ledger.settle(Engine::Predict, settled);
        }
        watcher.so_far(document::so_far(self));
    }

    /// The run that prediction reorders; `None` when the program cannot run.
    fn recording(&mut self) -> Result<Option<Arc<TraceFile>>, Error> {
        let request = self.request;
        Ok(match &request.recording {
            Recording::Controlled => {
                let limits = self.limits();
                let running = self.subject.running(&limits)?;
                running.map(|running| Arc::new(record::controlled(running)))
            }
            Recording::New(options) => Some(Arc::new(record::record_anew(self.subject, options)?)),
            Recording::Given(recording) => Some(Arc::clone(recording)),
        })
    }

    /// Explores the program's schedules; before the proofs that were put off, for a moment.
    fn explore(&mut self, watcher: &mut dyn Watcher) -> Result<(), Error> {
        let request = self.request;
        if self.put_off && !self.is_settled() {
            let brief = request.budget.at_most(FIRST_SEARCH);
            if self.explore_within(Some(&brief), watcher)? {
                return Ok(());
            }
            document::show_new(self)?;
            watcher.so_far(document::so_far(self));
            watcher.engine(Engine::Verify, self.ledger.open().count());
            self.verify(&request.budget.share(PROOFS_SHARE));
            watcher.engine(Engine::Explore, self.ledger.open().count());
        }
        self.explore_within(None, watcher).map(drop)
    }

    /// One search. A search that relied on proofs which do not count is made again without them. One that is only `brief`,
    /// and does not finish in that time, leaves nothing behind but the races it shows; whether it counts.
    fn explore_within(&mut self, brief: Option<&Budget>, watcher: &mut dyn Watcher) -> Result<bool, Error> {
        let request = self.request;
        let settled_before = self.is_settled();
        let (max_executions, budget) = match (settled_before, request.command) {
            (true, Command::Verify) => return Ok(true),
            (true, Command::Check) if request.search.checks.iter().all(|check| *check == Check::Race) => {
                return Ok(true);
            }
            (true, Command::Check) => {
                let Some(executions) = request.effort.executions_for_other_errors() else { return Ok(true) };
                (Some(executions), request.budget.at_most(FOR_OTHER_ERRORS))
            }
            _ => (request.search.max_executions, request.budget.share(SEARCH_SHARE)),
        };
        // A brief search leaves samples to the one that has time.
        let samples = request.command == Command::Check && brief.is_none();
        let samples_after = request.effort.samples_after().filter(|_| samples);
        let budget = brief.cloned().unwrap_or(budget);
        let options = SearchOptions { max_executions, samples_after, ..request.search.clone() };
        let absent =
            if self.rests_on_text() { self.ledger.absent().map(|(pair, _)| pair).collect() } else { BTreeSet::new() };
        let Some(mut answer) = self.search(&options, absent.clone(), &budget, watcher)? else { return Ok(true) };
        self.show_races(&mut answer)?;
        if brief.is_some_and(Budget::is_spent) && !request.budget.is_spent() && !request.search.stop_at_first {
            return Ok(false);
        }
        self.note_misuse(&answer);
        // What was resumed relies on proofs too.
        if (!absent.is_empty() || options.resume.is_some()) && !self.doubts.is_empty() {
            let options = SearchOptions { resume: None, ..options.clone() };
            let Some(again) = self.search(&options, BTreeSet::new(), &request.budget.share(SEARCH_SHARE), watcher)?
            else {
                return Ok(true);
            };
            answer = again;
            self.show_races(&mut answer)?;
            self.note_misuse(&answer);
        }
        self.note_leaks(&answer);
        // Where the scope asked for is larger than this input, the search settles nothing but races.
        self.covered = answer.gaps.is_empty() && !request.confirms_only();
        if settled_before && !self.covered && self.doubts.is_empty() {
            // No pair was left: bounds of the search for other errors take nothing from the answer about races.
            answer.gaps.clear();
        }
        if !settled_before {
            let relied_on = if self.doubts.is_empty() { absent } else { BTreeSet::new() };
            self.search_other_teams(&mut answer, &options, &relied_on, watcher)?;
        }
        self.take(answer);
        Ok(true)
    }

    fn search(
        &mut self,
        options: &SearchOptions,
        absent: BTreeSet<Pair>,
        budget: &Budget,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<Answer>, Error> {
        let request = self.request;
        let known = Known {
            open: self.ledger.open().collect(),
            absent,
            candidates: self.ledger.candidates(),
            confirm_only: request.confirms_only(),
            reach: self.reach(),
            is_text_listed: request.lists_text_pairs(),
        };
        let facts = std::sync::Arc::clone(self.subject.facts());
        let limits = self.limits();
        let Some(running) = self.subject.running(&limits)? else { return Ok(None) };
        engine::explore::run(running, &facts, &limits, options, &known, budget, watcher).map(Some)
    }

    /// How runs are made now.
    fn limits(&self) -> Limits {
        Limits { team_size: self.team_size, ..self.request.limits }
    }

    /// When what a search of this input covers is not the whole answer.
    fn reach(&self) -> Option<Reach> {
        let request = self.request;
        let sources = outside::sources(self.subject.program());
        let is_asked = !request.reached_only && !request.confirms_only() && !sources.is_empty();
        let of_text = request.command == Command::Check;
        is_asked.then_some(Reach { sources, lists_all: self.listed_all, of_text })
    }

    /// Enters the races that runs have shown, and finds out why, where one contradicts a proof. A race of a pair that is
    /// not even listed although every pair is contradicts the list.
    fn show_races(&mut self, answer: &mut Answer) -> Result<(), Error> {
        let by = answer.figures.engine;
        let (races, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut answer.verdicts)
            .into_iter()
            .partition(|s| matches!(s.verdict, Verdict::Race(_) | Verdict::Observed { .. }));
        answer.verdicts = rest;
        for race in races {
            let pair = race.pair;
            let unlisted = self.listed_all && !self.ledger.lists(pair);
            let contradicts = self.ledger.settle(by, race);
            let unlisted = unlisted.then_some(Contradiction { pair, proved: Engine::Static, shown: by });
            if let Some(contradiction) = contradicts.or(unlisted) {
                self.doubt(contradiction)?;
            }
        }
        Ok(())
    }

    /// Why a run contradicts a proof: it left its objects before, or the proof is wrong.
    fn doubt(&mut self, contradiction: Contradiction) -> Result<(), Error> {
        if self.is_doubted(contradiction.proved).is_some() {
            return Ok(());
        }
        let Some((.., witness)) = self.ledger.races().find(|(pair, ..)| *pair == contradiction.pair) else {
            return Ok(());
        };
        let stray = match self.subject.launched() {
            Some(running) => stray::in_run(running, witness)?,
            None => None,
        };
        let doubt = match stray {
            Some(stray) => Doubt::Stray(stray),
            None => {
                let program = self.subject.program();
                let bug = bundle::of_contradiction(program, &contradiction);
                let bundle = bundle::write(self.request, program, &self.ledger, &bug);
                Doubt::Bug { contradiction, bundle: bundle.map_err(|error| error.to_string()) }
            }
        };
        self.doubts.push(doubt);
        Ok(())
    }

    /// Something outlived a run: what the search showed only then is no finding, and we want to know of it.
    fn note_leaks(&mut self, answer: &Answer) {
        let leaks: Vec<&Gap> = answer.gaps.iter().filter(|gap| gap.code == Code::UNCONFIRMED).collect();
        if leaks.is_empty() {
            return;
        }
        let bug = leaks.iter().map(|gap| gap.reason.as_str()).collect::<Vec<_>>().join("\n");
        let bundle = bundle::write(self.request, self.subject.program(), &self.ledger, &bug);
        let settle = bundle::settle(&bundle.map_err(|error| error.to_string()));
        self.leaks.extend(leaks.into_iter().map(|gap| Gap { settle: settle.clone(), ..gap.clone() }));
    }

    /// A run that misuses the thread API voids proofs.
    fn note_misuse(&mut self, answer: &Answer) {
        let keeps_rules = |message: &str| {
            let of_handler = model::interrupted_site(message).or_else(|| model::interrupted_call(message));
            message == model::UNWRITTEN || of_handler.is_some()
        };
        let voids = |failure: &Failure| failure.kind == FailureKind::Misuse && !keeps_rules(&failure.message);
        let misused = answer.failures.iter().any(voids);
        if misused && !self.doubts.contains(&Doubt::Misuse) {
            self.doubts.push(Doubt::Misuse);
        }
    }
}

/// The part of the remaining time that proofs may take.
const PROOFS_SHARE: f64 = 0.25;

/// How long proofs may keep the first run waiting.
const FIRST_PROOFS: Duration = Duration::from_secs(1);

/// How long a search may keep waiting the proofs that take longer.
const FIRST_SEARCH: Duration = Duration::from_secs(3);

/// The part of the remaining time that a search may take: the races it finds have to be shown.
const SEARCH_SHARE: f64 = 0.9;

#[cfg(test)]
mod tests;
