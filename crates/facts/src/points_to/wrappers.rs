//! Functions that stand for an allocation: they return a block that they made, which they show to nobody.
//!
//! What else they may return has nothing to do with that block: the result of an allocator that the caller chose, a block
//! from a list of free ones. Each call then returns that, or a block of its own.

use std::collections::{BTreeMap, BTreeSet};

use program::library::{self, LibraryFunction};
use program::{Callee, Expr, Function, FunctionId, LocalId, Operand, Program, Stmt, Terminator};

/// Functions that allocate, with what they may return besides the new block and null: values of theirs, and of the
/// allocating functions that they call.
pub(super) type Wrappers = BTreeMap<FunctionId, Vec<(FunctionId, Operand)>>;

/// Rounds in which wrappers of wrappers are found.
const ROUNDS: usize = 16;

/// The functions that allocate, fill and return a block. Each is one as long as the functions that it calls are or are
/// not: where that does not settle, there are none.
pub(super) fn find(program: &Program) -> Wrappers {
    let mut wrappers = Wrappers::new();
    // A wrapper of a wrapper is found in the next round.
    for _ in 0..ROUNDS {
        let others = |id: FunctionId| returned_besides(id, &program.functions[id], &wrappers);
        let found: Wrappers = program.functions.ids().filter_map(|id| Some((id, others(id)?))).collect();
        if found == wrappers {
            return wrappers;
        }
        wrappers = found;
    }
    Wrappers::new()
}

/// What a function may return besides a block that it makes and null; `None` if it makes none that only its callers
/// get to know.
fn returned_besides(id: FunctionId, function: &Function, wrappers: &Wrappers) -> Option<Vec<(FunctionId, Operand)>> {
    let statements = || function.blocks.iter().flat_map(|b| &b.statements);
    let made: BTreeMap<LocalId, &[(FunctionId, Operand)]> = statements()
        .filter_map(|s| match &s.stmt {
            Stmt::Alloc { dst, .. } => Some((*dst, &[][..])),
            Stmt::Call { dst: Some(dst), callee: Callee::Direct(callee), .. } => {
                wrappers.get(callee).map(|others| (*dst, others.as_slice()))
            }
            _ => None,
        })
        .collect();
    if made.is_empty() {
        return None;
    }
    // Locals that hold such a block, or null; plain assignments and joins keep it.
    let mut holds: BTreeSet<LocalId> = made.keys().copied().collect();
    loop {
        let before = holds.len();
        for statement in statements() {
            let Stmt::Assign { dst, expr } = &statement.stmt else { continue };
            let passed = match expr {
                Expr::Use(value) | Expr::Offset { base: value, .. } => vec![*value],
                Expr::Phi(sources) => sources.iter().map(|(_, value)| *value).collect(),
                Expr::Select { then, otherwise, .. } => vec![*then, *otherwise],
                _ => continue,
            };
            if passed.iter().any(|v| matches!(v, Operand::Local(l) if holds.contains(l))) {
                holds.insert(*dst);
            }
        }
        if holds.len() == before {
            break;
        }
    }
    let held = |operand: &Operand| matches!(operand, Operand::Local(local) if holds.contains(local));
    let hidden = statements().all(|statement| match &statement.stmt {
        Stmt::Assign { expr, .. } => match expr {
            Expr::Binary { .. } | Expr::Truncate { .. } => !expr.operands().iter().any(held),
            _ => true,
        },
        Stmt::Load { .. } | Stmt::Fill { .. } | Stmt::Copy { .. } | Stmt::Free { .. } | Stmt::Assert { .. } => true,
        Stmt::Store { value, .. } => !held(value),
        Stmt::Sync { op: program::SyncOp::Create { .. }, .. } => !statement.stmt.operands().iter().any(held),
        Stmt::Sync { .. } => true,
        Stmt::Library { function: name, args, .. } => {
            let keeps = library::lookup(name).is_none_or(LibraryFunction::shows_arguments);
            !keeps || !args.iter().any(held)
        }
        stmt => !stmt.operands().iter().any(held),
    });
    if !hidden {
        return None;
    }
    let (seen, others) = (BTreeSet::new(), Vec::new());
    let mut found = Returned { id, function, made: &made, holds: &holds, seen, others, any: false };
    let mut returns = function.blocks.iter().filter_map(|b| match &b.terminator {
        Terminator::Return(value) => Some(*value),
        _ => None,
    });
    let unmoved = returns.all(|value| value.is_some_and(|value| found.follow(&value)));
    (unmoved && found.any).then_some(found.others)
}

/// The values that a function returns, as far as they are found.
struct Returned<'f> {
    id: FunctionId,
    function: &'f Function,
    /// Locals that a block is made in, with what they may hold instead.
    made: &'f BTreeMap<LocalId, &'f [(FunctionId, Operand)]>,
    /// Locals that may hold one.
    holds: &'f BTreeSet<LocalId>,
    /// Those that were followed.
    seen: BTreeSet<LocalId>,
    /// Values that are no new block.
    others: Vec<(FunctionId, Operand)>,
    /// Whether a new block is among them.
    any: bool,
}

impl Returned<'_> {
    /// Follows a value to where it comes from; whether all new blocks in it are unmoved.
    fn follow(&mut self, value: &Operand) -> bool {
        match value {
            Operand::Const(0) => true,
            Operand::Local(local) if self.made.contains_key(local) => {
                self.any = true;
                self.made[local].iter().for_each(|other| self.add(*other));
                true
            }
            Operand::Local(local) if self.holds.contains(local) => {
                if !self.seen.insert(*local) {
                    return true;
                }
                let mut statements = self.function.blocks.iter().flat_map(|block| &block.statements);
                let definition = statements.find_map(|s| match &s.stmt {
                    Stmt::Assign { dst, expr } if dst == local => Some(expr),
                    _ => None,
                });
                match definition {
                    Some(Expr::Use(value)) => self.follow(value),
                    Some(Expr::Phi(sources)) => sources.iter().all(|(_, value)| self.follow(value)),
                    Some(Expr::Select { then, otherwise, .. }) => self.follow(then) && self.follow(otherwise),
                    _ => false,
                }
            }
            other => {
                self.add((self.id, *other));
                true
            }
        }
    }
    fn add(&mut self, other: (FunctionId, Operand)) {
        if !self.others.contains(&other) {
            self.others.push(other);
        }
    }
}
