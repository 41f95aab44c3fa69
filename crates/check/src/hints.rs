//! Candidates as hints: the way on which the net brings two accesses side by side, for the program to be led along.

use ::explore::{Hint, HintStep, Led};
use cover::Candidate;
use program::Program;

use crate::place::Place;

/// The way of a candidate.
pub(crate) fn hint(candidate: &Candidate) -> Hint {
    let steps = candidate.steps.iter().filter_map(|step| {
        let cover::Step { thread, site, creates, .. } = *step;
        site.map(|site| HintStep { thread, site, creates })
    });
    let [one, other] = candidate.pair.sites();
    let [first, second] = &candidate.accesses;
    Hint { steps: steps.collect(), accesses: [(first.thread, one), (second.thread, other)] }
}

/// What came of leading the program along, when no race was seen.
pub(crate) fn outcome(program: &Program, candidate: &Candidate, led: Led) -> String {
    let number = match led {
        Led::There => return "; led along there, the two accesses do not collide".to_owned(),
        Led::Lost(number) => number,
    };
    let access = candidate.accesses.iter().find(|step| step.thread == number);
    let Place { file, line, column, .. } = Place::of(program, access.and_then(|step| step.site));
    let place = file.map_or_else(|| "its access".to_owned(), |file| format!("{file}:{line}:{column}"));
    format!("; led along there, thread {number} does not come to {place}")
}
