//! What takes an answer back, in the line: contradictions, runs that left something behind, misuse.

use ::explore::{Failure, FailureKind};
use report::Code;

use super::Line;
use crate::doubt::Doubt;
use crate::engine::Answer;
use crate::gap::Gap;
use crate::ledger::Contradiction;
use crate::{Error, bundle, stray};

impl Line<'_> {
    /// Why a run contradicts a proof: it left its objects before, or the proof is wrong.
    pub(super) fn doubt(&mut self, contradiction: Contradiction) -> Result<(), Error> {
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
    pub(super) fn note_leaks(&mut self, answer: &Answer) {
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
    pub(super) fn note_misuse(&mut self, answer: &Answer) {
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
