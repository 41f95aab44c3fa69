//! The engines that prove, in the line.

use std::collections::BTreeSet;
use std::time::Duration;

use model::{Budget, Engine, Pair};
use report::Command;

use super::{Line, Watcher};
use crate::engine;
use crate::engine::static_::AnalysisFigures;
use crate::request::Effort;

/// The part of the remaining time that proofs may take.
pub(super) const PROOFS_SHARE: f64 = 0.25;

/// How long proofs may keep the first run waiting.
const FIRST_PROOFS: Duration = Duration::from_secs(1);

impl Line<'_> {
    /// Code without `main` and entries has no threads to speak of.
    pub(super) fn analyse(&mut self, watcher: &mut dyn Watcher) {
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
    pub(super) fn verify_first(&mut self) {
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

    pub(super) fn verify(&mut self, budget: &Budget) {
        let open: Vec<Pair> = self.ledger.open().collect();
        let (request, facts) = (self.request, self.subject.facts());
        let answer = engine::verify::run(facts, &open, &request.proofs, budget, request.declares_effects());
        self.take(answer);
    }
}
