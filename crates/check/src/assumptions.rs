//! Which numbered assumptions (`docs/assumptions.md`) a verdict rests on.

use std::collections::BTreeSet;
use std::fmt;

use explore::Outcome;
use model::Order;
use program::{Program, Stmt};

/// An assumption, by its number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Assumption {
    /// Interleavings only: atomics weaker than sequentially consistent allow more.
    WeakAtomics = 1,
    /// Library functions behave as their table rows say.
    Library = 2,
    /// Some external functions were declared to touch no shared memory.
    AssumedPure = 3,
    /// Synchronisation objects and memory are used as the standards allow.
    UsedAsAllowed = 10,
    /// Functions without a body touch only what they are given.
    GivenOnly = 11,
}

use Assumption::{AssumedPure, GivenOnly, Library, UsedAsAllowed, WeakAtomics};

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "A{}", *self as u8)
    }
}

/// The assumptions of the static engine; `outside` if functions without a body are called.
pub(crate) fn of_static(program: &Program, assume_pure: bool, outside: bool) -> BTreeSet<Assumption> {
    let mut held = of_proofs(program, assume_pure);
    held.extend(outside.then_some(GivenOnly));
    held
}

/// The assumptions of proofs for any number of threads.
pub(crate) fn of_proofs(program: &Program, assume_pure: bool) -> BTreeSet<Assumption> {
    let statements = || program.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.statements);
    let weak = statements().any(|statement| is_weak(&statement.stmt));
    let library = program.functions.iter().any(|f| f.blocks.is_empty())
        || statements().any(|statement| matches!(statement.stmt, Stmt::Library { .. }));
    chosen([(weak, WeakAtomics), (library, Library), (assume_pure, AssumedPure), (true, UsedAsAllowed)])
}

/// The assumptions of what is predicted from a recorded run.
pub(crate) fn of_recording(program: &Program, assume_pure: bool) -> BTreeSet<Assumption> {
    let mut held = of_proofs(program, assume_pure);
    held.remove(&UsedAsAllowed);
    held
}

/// The assumptions of a search's verdict.
pub(crate) fn of_search(program: &Program, outcome: &Outcome, assume_pure: bool) -> BTreeSet<Assumption> {
    let library = program.functions.iter().any(|f| f.blocks.is_empty());
    chosen([(outcome.weak_atomics, WeakAtomics), (library, Library), (assume_pure, AssumedPure)])
}

fn chosen<const N: usize>(held: [(bool, Assumption); N]) -> BTreeSet<Assumption> {
    held.into_iter().filter_map(|(holds, assumption)| holds.then_some(assumption)).collect()
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
