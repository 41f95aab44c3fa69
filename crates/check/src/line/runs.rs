//! The engines that run the program, in the line.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use ::explore::Check;
use files::TraceFile;
use model::{Budget, Engine, Pair, Surprise};
use report::{Code, Command};

use super::proofs::PROOFS_SHARE;
use super::{Line, Watcher};
use crate::describe::{Describer, ObjectNames};
use crate::engine::explore::{FOR_OTHER_ERRORS, Known, SearchOptions};
use crate::engine::predict::Work;
use crate::engine::reach::Reach;
use crate::engine::{self, Answer};
use crate::request::{Effort, Recording};
use crate::run::Limits;
use crate::{Error, document, outside, record};

/// How long a search may keep waiting the proofs that take longer.
const FIRST_SEARCH: Duration = Duration::from_secs(3);

/// The part of the remaining time that a search may take: the races it finds have to be shown.
const SEARCH_SHARE: f64 = 0.9;

impl Line<'_> {
    /// Shows the races that one run and reorderings of it have.
    pub(super) fn predict(&mut self, watcher: &mut dyn Watcher) -> Result<(), Error> {
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
    pub(super) fn enter(&mut self, work: &Work<'_>, watcher: &mut dyn Watcher) {
        for settled in work.so_far() {
            self.ledger.settle(Engine::Predict, settled);
        }
        watcher.so_far(document::so_far(self));
    }

    /// The run that prediction reorders; `None` when the program cannot run.
    pub(super) fn recording(&mut self) -> Result<Option<Arc<TraceFile>>, Error> {
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
    pub(super) fn explore(&mut self, watcher: &mut dyn Watcher) -> Result<(), Error> {
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
    pub(super) fn explore_within(&mut self, brief: Option<&Budget>, watcher: &mut dyn Watcher) -> Result<bool, Error> {
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

    pub(super) fn search(
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
    pub(super) fn limits(&self) -> Limits {
        Limits { team_size: self.team_size, ..self.request.limits }
    }

    /// When what a search of this input covers is not the whole answer.
    pub(super) fn reach(&self) -> Option<Reach> {
        let request = self.request;
        let sources = outside::sources(self.subject.program());
        let is_asked = !request.reached_only && !request.confirms_only() && !sources.is_empty();
        let of_text = request.command == Command::Check;
        is_asked.then_some(Reach { sources, lists_all: self.listed_all, of_text })
    }
}
