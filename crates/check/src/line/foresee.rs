//! Prediction's turn: one run, reordered for what is left.
//!
//! The run is recorded under the controlled scheduler, never on real threads: it is the same one every time, so what the
//! line prints does not depend on luck, and it has every access, so what is predicted can be replayed.

use std::time::Instant;

use ::predict::Aim;
use files::TraceFile;
use model::race::SitePair;
use model::{Engine, Pair};
use report::{Code, PairVerdict};

use super::book::{Book, Work};
use super::{CheckOptions, Effort, stray};
use crate::Error;
use crate::build::Built;
use crate::predict::{PredictOptions, predict_sites};
use crate::record::record_controlled;

/// What would settle a pair that no reordering of the recorded run lets race.
const OTHER_RUNS: &str = "let `explore` look at every schedule";

/// Shows the races that reorderings of one run have.
///
/// At first every read keeps its value. For what that leaves, plain reads may read something else: a thread that only
/// counts goes the same way whatever it reads, and where it does not, the replay tells.
pub(super) fn foresee(book: &mut Book<'_>, built: &Built, options: &CheckOptions, start: Instant) -> Result<(), Error> {
    if book.is_settled() {
        return Ok(());
    }
    let recorded = record_controlled(built, &options.limits)?;
    let run = Run { built, recorded: &recorded, options, start };
    let report::Report { mut unknowns, mut engines, assumptions, .. } = run.reorder(book, false)?;
    if book.open() > 0 {
        let more = run.reorder(book, true)?.engines;
        engines.iter_mut().zip(more).for_each(|(engine, more)| add(engine, &more));
    }
    if options.engines.contains(&Engine::Explore) {
        // That one run is not all: the search will tell what is left.
        unknowns.retain(|unknown| unknown.code != Code::SEARCH_BOUND);
    }
    book.worked(Work { engine: engines.into_iter().next(), unknowns, assumptions, ..Work::default() });
    Ok(())
}

/// Adds a second pass over the same run. What it leaves open the first has left open too, so coverage stays the first's.
fn add(engine: &mut report::Engine, second: &report::Engine) {
    engine.reduction = format!("{}, {}", engine.reduction, second.reduction);
    engine.executions += second.executions;
    engine.time_ms += second.time_ms;
}

/// The run, and how to reorder it.
struct Run<'a> {
    built: &'a Built,
    recorded: &'a TraceFile,
    options: &'a CheckOptions,
    start: Instant,
}

impl Run<'_> {
    /// Enters what reorderings show about the pairs that are open; the pairs are left out of what is returned.
    fn reorder(&self, book: &mut Book<'_>, relaxed: bool) -> Result<report::Report, Error> {
        let Self { built, recorded, options, start } = *self;
        let share = if options.effort == Effort::Quick { 0.75 } else { 0.5 };
        let deadline = start + options.time.mul_f64(share);
        let is_over = || options.interrupt.is_set() || Instant::now() > deadline;
        let pair_of = |(one, other): SitePair| Some(Pair::new(one?, other?));
        let wanted = |sites| pair_of(sites).is_some_and(|pair| !book.is_decided(pair));
        let how = PredictOptions {
            limits: options.limits,
            relaxed,
            witness_dir: options.witness_dir.clone(),
            ..PredictOptions::default()
        };
        let aim = Aim { wanted: &wanted, is_over: &is_over };
        let (mut report, sites) = predict_sites(built, recorded, &how, &aim, &book.shown())?;
        for (pair, listed) in sites.into_iter().zip(std::mem::take(&mut report.pairs)) {
            let (verdict, reason, code) = (listed.verdict, listed.reason.clone(), listed.code);
            if verdict == PairVerdict::Race {
                let witness = listed.witness.clone();
                book.show(pair, Engine::Predict, reason, || stray::in_witness(built, &options.limits, witness))?;
                book.see(pair, listed);
            } else if !relaxed && !book.is_decided(pair) && book.candidate(pair).is_none() {
                // A candidate's way says more than that this run does not go it.
                book.list(pair);
                book.see(pair, listed);
                book.leave(pair, Engine::Predict, &reason, code.unwrap_or(Code::SEARCH_BOUND), OTHER_RUNS)?;
            }
        }
        Ok(report)
    }
}
