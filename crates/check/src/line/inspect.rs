//! The static engine's turn: what the text of the program says, for all inputs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use ::explore::StopReason;
use lockset::Answer;
use model::{Engine, Pair, Verdict};
use report::Code;

use super::CheckOptions;
use super::book::{Book, Work, whole};
use crate::patience::wait_for;
use crate::static_engine::{SCOPE, engine, protection, stopped_engine, unknowns};
use crate::{Error, assumptions};

/// Why a pair that the points-to analysis does not list cannot race.
const NEVER_MEET: &str = "the two never touch the same memory from different threads";

/// What would settle a warning.
const WARNING: &str = "let the other engines work on it";

/// Proves what it can of the open pairs, all at once or, when there is no time, nothing. Code without `main` has no
/// threads to speak of.
pub(super) fn inspect(book: &mut Book<'_>, options: &CheckOptions, start: Instant) -> Result<(), Error> {
    if book.program.main.is_none() {
        return Ok(());
    }
    let began = Instant::now();
    let open: BTreeSet<Pair> = book.unsettled().into_iter().collect();
    let facts = Arc::clone(&book.facts);
    let work = move || lockset::analyse(&facts);
    let Some(Ok(analysis)) = wait_for(&options.interrupt, options.deadline(start), work) else {
        let reason = if options.interrupt.is_set() { StopReason::Interrupted } else { StopReason::Deadline };
        let engine = stopped_engine(reason.to_string(), began.elapsed().as_millis() as u64);
        let unknowns = vec![whole(Code::SEARCH_BOUND, reason.to_string(), "raise `--time`".to_owned())];
        book.worked(Work { engine: Some(engine), unknowns, ..Work::default() });
        return Ok(());
    };
    let mut listed = BTreeSet::new();
    for finding in analysis.findings.iter().filter(|finding| open.contains(&finding.pair)) {
        let pair = finding.pair;
        listed.insert(pair);
        match &finding.answer {
            Answer::Absent(reason) => {
                let absent = Verdict::Absent { reason: reason.to_string(), scope: SCOPE };
                book.settle(pair, Engine::Static, absent)?;
            }
            Answer::Unknown { why, usual_lock, .. } => {
                book.leave(pair, Engine::Static, why, Code::WARNING, WARNING)?;
                book.protect(pair, usual_lock.clone().map(protection));
            }
        }
    }
    // Only a list without gaps says something by what is not on it.
    let complete = analysis.obstacles.is_empty() && analysis.outside.is_empty();
    if complete && analysis.more_absent == 0 && analysis.more_warnings == 0 {
        for pair in open.difference(&listed) {
            let absent = Verdict::Absent { reason: NEVER_MEET.to_owned(), scope: SCOPE };
            book.settle(*pair, Engine::Static, absent)?;
        }
    }
    let time_ms = began.elapsed().as_millis() as u64;
    let outside = !analysis.outside.is_empty();
    book.worked(Work {
        engine: Some(engine(&analysis, time_ms)),
        unknowns: unknowns(&analysis),
        assumptions: assumptions::of_static(book.program, !options.build.assume_pure.is_empty(), outside),
        ..Work::default()
    });
    Ok(())
}
