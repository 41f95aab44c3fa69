//! The static engine's turn: what the text of the program says, for all inputs.

use std::collections::BTreeSet;
use std::time::Instant;

use lockset::Answer;
use model::{Engine, Pair, Verdict};
use report::{Code, Protection};

use super::CheckOptions;
use super::book::{Book, Work};
use crate::static_engine::{SCOPE, engine, unknowns};
use crate::{Error, assumptions};

/// Why a pair that the points-to analysis does not list cannot race.
const NEVER_MEET: &str = "the two never touch the same memory from different threads";

/// What would settle a warning.
const WARNING: &str = "let the other engines work on it";

/// Proves what it can of the open pairs. Code without `main` has no threads to speak of.
pub(super) fn inspect(book: &mut Book<'_>, options: &CheckOptions) -> Result<(), Error> {
    if book.program.main.is_none() {
        return Ok(());
    }
    let began = Instant::now();
    let open: BTreeSet<Pair> = book.unsettled().into_iter().collect();
    let facts = facts::Options { assume_pure: options.build.assume_pure.clone(), entries: Vec::new() };
    let analysis = lockset::analyse(book.program, &facts);
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
                let usual = usual_lock.clone();
                book.protect(pair, usual.map(|(lock, held, places)| Protection { lock, held, places }));
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
