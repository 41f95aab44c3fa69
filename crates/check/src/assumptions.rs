//! Which numbered assumptions (`docs/assumptions.md`) a verdict rests on.

use explore::Outcome;
use program::Program;

/// Interleavings only: atomics weaker than sequentially consistent allow more.
const WEAK_ATOMICS: &str = "A1";
/// Library functions behave as their table rows say.
const LIBRARY: &str = "A2";
/// Some external functions were declared to touch no shared memory.
const ASSUMED_PURE: &str = "A3";

/// The assumptions of a search's verdict.
pub(crate) fn of_search(program: &Program, outcome: &Outcome, assume_pure: bool) -> Vec<String> {
    let library = program.functions.iter().any(|f| f.blocks.is_empty());
    let held = [(outcome.weak_atomics, WEAK_ATOMICS), (library, LIBRARY), (assume_pure, ASSUMED_PURE)];
    held.into_iter().filter(|(holds, _)| *holds).map(|(_, id)| id.to_owned()).collect()
}
