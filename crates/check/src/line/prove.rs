//! The verifier's turn: proofs for all inputs and any number of threads.

use std::time::Instant;

use model::{Budget, Engine, Verdict};
use report::Code;

use super::book::{Book, Work};
use super::{CheckOptions, Effort};
use crate::{Error, assumptions, verify};

/// What would settle a candidate that a search did not show.
const CANDIDATE: &str = "let `explore` look for it in runs, or look whether the program can go that way";

/// Proves what it can of the open pairs.
pub(super) fn prove(book: &mut Book<'_>, options: &CheckOptions, start: Instant) -> Result<(), Error> {
    let began = Instant::now();
    let open = book.unsettled();
    let limits = cover::Options::default();
    let share = if options.effort == Effort::Quick { 2 } else { 4 };
    let proofs = cover::Options {
        budget: Budget::unlimited(options.interrupt.clone())
            .at_most((start + options.time / share).saturating_duration_since(began)),
        nodes: if options.effort == Effort::Thorough { limits.nodes * 5 } else { limits.nodes },
        ..limits
    };
    let mut stopped = book.obstacles.first().map(|obstacle| obstacle.describe(book.program));
    let mut proved = false;
    for (pair, answer) in cover::verify(&book.facts, &open, &proofs) {
        match answer {
            cover::Result::Absent(_) => {
                let (reason, scope) = (verify::ABSENT.to_owned(), verify::scope(false));
                book.settle(pair, Engine::Verify, Verdict::Absent { reason, scope })?;
                proved = true;
            }
            cover::Result::Candidate(candidate) => {
                let way = verify::way(book.program, &candidate);
                book.leave(pair, Engine::Verify, &way, Code::CANDIDATE, CANDIDATE)?;
                book.keep(candidate);
            }
            cover::Result::Unknown(reason) if !book.obstacles.is_empty() => {
                book.leave(pair, Engine::Verify, &reason, Code::UNMODELLED, verify::UNMODELLED_HELP)?;
            }
            cover::Result::Unknown(reason) => {
                stopped.get_or_insert_with(|| verify::STOPPED.to_owned());
                book.leave(pair, Engine::Verify, &reason, Code::SEARCH_BOUND, "raise `--time`")?;
            }
        }
    }
    let (is_stopped, time_ms) = (stopped.is_some(), began.elapsed().as_millis() as u64);
    let unknowns = verify::unknowns(book.program, &book.obstacles, is_stopped);
    let engine = verify::engine(stopped, is_stopped, time_ms);
    let assumptions = assumptions::of_proofs(book.program, !options.build.assume_pure.is_empty());
    let assumptions = if proved || open.is_empty() { assumptions } else { Vec::new() };
    book.worked(Work { engine: Some(engine), unknowns, assumptions, ..Work::default() });
    Ok(())
}
