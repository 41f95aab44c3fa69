//! Candidates as hints: the path on which the net brings two accesses side by side, for the program to follow first.

use ::explore::{Hint, HintStep, Led};
use cover::Candidate;
use program::Program;

use crate::describe::Position;

/// The path of a candidate.
pub(crate) fn hint(candidate: &Candidate) -> Hint {
    let steps = candidate.steps.iter().filter_map(|step| {
        let cover::Step { thread, site, creates, .. } = *step;
        site.map(|site| HintStep { thread, site, creates })
    });
    let [one, other] = candidate.pair.sites();
    let [first, second] = &candidate.accesses;
    Hint { steps: steps.collect(), accesses: [(first.thread, one), (second.thread, other)] }
}

/// What happened when the program followed the path, if no race was seen.
pub(crate) fn outcome(program: &Program, candidate: &Candidate, led: Led) -> String {
    let number = match led {
        Led::There => return "; a run that follows it reaches both accesses, but they do not collide".to_owned(),
        Led::Lost(number) => number,
    };
    let access = candidate.accesses.iter().find(|step| step.thread == number);
    let Position { file, line, column, .. } = Position::of(program, access.and_then(|step| step.site));
    let place = file.map_or_else(|| "its access".to_owned(), |file| format!("{file}:{line}:{column}"));
    format!("; in a run that follows it, thread {number} does not reach {place}")
}
