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

mod doubts;
mod proofs;
mod runs;
mod teams;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Instant;

use ::explore::{Failure, Observer, StopReason};
use lockset::Analysis;
use model::Engine;
use model::verdict::TeamSizes;
use report::{Code, Command, Report, Since};

use crate::assumptions::Assumption;
use crate::describe::Sightings;
use crate::document::{Shown, Witnesses};
use crate::doubt::Doubt;
use crate::engine::static_::AnalysisFigures;
use crate::engine::{Answer, Figures, Verdict};
use crate::gap::Gap;
use crate::ledger::{Contradiction, Ledger};
use crate::request::{LINE, Request};
use crate::reuse::Answers;
use crate::subject::Subject;
use crate::{Error, document};

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
    /// The answer rests on these files, as far as that is known.
    fn rests_on(&mut self, files: &[PathBuf]) {
        let _ = files;
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
    let answers = Answers::new(request);
    if let Some(answers) = answers.as_ref().filter(|_| !request.fresh)
        && let Some((report, files)) = answers.find(start)
    {
        watcher.rests_on(&files);
        return Ok(report);
    }
    // The other engines run the program: what `verify` finds is confirmed by a run.
    let subject = if request.command == Command::Static { Subject::text } else { Subject::new };
    match subject(&request.build, &request.budget) {
        // The compiler may have been stopped by the same key.
        Err(error) if !error.is_misuse() && request.budget.is_spent() => Ok(document::ended_before(request, start)),
        Err(error) => Err(error),
        Ok(mut subject) => {
            let mut report = settle(&mut subject, request, start, watcher)?;
            if let Some(answers) = answers {
                if !request.fresh {
                    let since = answers.last().map(|last| Since::of(&report, &last, "the last run"));
                    report.since = since.filter(Since::has_changes);
                }
                watcher.rests_on(&answers.keep(request, &mut subject, &report));
            }
            Ok(report)
        }
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
        if request.command == Command::Predict
            && let Some(why) = self.subject.why_not()
        {
            return Err(why.error());
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
                self.gaps.push(Gap::limit("the pairs of the program are not all listed", spent));
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
}

#[cfg(test)]
mod tests;
