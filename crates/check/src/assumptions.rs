//! Which numbered assumptions (`docs/assumptions.md`) a verdict rests on.

use explore::Outcome;
use model::Order;
use program::{Program, Stmt};

/// Interleavings only: atomics weaker than sequentially consistent allow more.
const WEAK_ATOMICS: &str = "A1";
/// Library functions behave as their table rows say.
const LIBRARY: &str = "A2";
/// Some external functions were declared to touch no shared memory.
const ASSUMED_PURE: &str = "A3";

/// Synchronisation objects and memory are used as the standards allow.
const USED_AS_ALLOWED: &str = "A10";

/// Functions without a body touch only what they are given.
const GIVEN_ONLY: &str = "A11";

/// The assumptions of the static engine.
pub(crate) fn of_static(program: &Program, assume_pure: bool, outside: bool) -> Vec<String> {
    let mut held = of_proofs(program, assume_pure);
    held.extend(outside.then(|| GIVEN_ONLY.to_owned()));
    held
}

/// The assumptions of proofs for any number of threads.
pub(crate) fn of_proofs(program: &Program, assume_pure: bool) -> Vec<String> {
    let statements = || program.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.statements);
    let weak = statements().any(|statement| is_weak(&statement.stmt));
    let library = program.functions.iter().any(|f| f.blocks.is_empty())
        || statements().any(|statement| matches!(statement.stmt, Stmt::Library { .. }));
    let held = [(weak, WEAK_ATOMICS), (library, LIBRARY), (assume_pure, ASSUMED_PURE), (true, USED_AS_ALLOWED)];
    held.into_iter().filter(|(holds, _)| *holds).map(|(_, id)| id.to_owned()).collect()
}

/// The assumptions of what is predicted from a recorded run.
pub(crate) fn of_recording(program: &Program, assume_pure: bool) -> Vec<String> {
    of_proofs(program, assume_pure).into_iter().filter(|id| id != USED_AS_ALLOWED).collect()
}

/// Whether a statement is an atomic operation weaker than sequentially consistent.
fn is_weak(stmt: &Stmt) -> bool {
    let order = match stmt {
        Stmt::Load { atomic, .. } | Stmt::Store { atomic, .. } => *atomic,
        Stmt::Rmw { order, .. } | Stmt::CompareExchange { order, .. } | Stmt::Fence(order) => Some(*order),
        _ => None,
    };
    order.is_some_and(|order| order != Order::SeqCst)
}

/// Both lists as one, by number.
pub(crate) fn merged(mut one: Vec<String>, other: Vec<String>) -> Vec<String> {
    one.extend(other);
    one.sort_by_key(|id| (id.len(), id.clone()));
    one.dedup();
    one
}

/// The assumptions of a search's verdict.
pub(crate) fn of_search(program: &Program, outcome: &Outcome, assume_pure: bool) -> Vec<String> {
    let library = program.functions.iter().any(|f| f.blocks.is_empty());
    let held = [(outcome.weak_atomics, WEAK_ATOMICS), (library, LIBRARY), (assume_pure, ASSUMED_PURE)];
    held.into_iter().filter(|(holds, _)| *holds).map(|(_, id)| id.to_owned()).collect()
}
