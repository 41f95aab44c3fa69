//! Functions that stand for an allocation: all they return is a block that they made, which they show to nobody.

use std::collections::BTreeSet;

use program::library::{self, LibraryFunction};
use program::{Callee, Expr, Function, FunctionId, LocalId, Operand, Program, Stmt, Terminator};

/// The functions that only allocate, fill and return a block.
pub(super) fn find(program: &Program) -> BTreeSet<FunctionId> {
    let mut wrappers = BTreeSet::new();
    // A wrapper of a wrapper is found in the next round.
    for _ in 0..4 {
        let is = |f: &Function| allocates_only(f, &wrappers);
        let found: BTreeSet<FunctionId> =
            program.functions.iter_enumerated().filter(|(_, f)| is(f)).map(|(id, _)| id).collect();
        if found == wrappers {
            break;
        }
        wrappers = found;
    }
    wrappers
}

fn allocates_only(function: &Function, wrappers: &BTreeSet<FunctionId>) -> bool {
    let statements = || function.blocks.iter().flat_map(|b| &b.statements);
    let made: BTreeSet<LocalId> = statements()
        .filter_map(|s| match &s.stmt {
            Stmt::Alloc { dst, .. } => Some(*dst),
            Stmt::Call { dst: Some(dst), callee: Callee::Direct(callee), .. } if wrappers.contains(callee) => {
                Some(*dst)
            }
            _ => None,
        })
        .collect();
    if made.is_empty() {
        return false;
    }
    // Locals that hold such a block, or null; plain assignments and joins keep it.
    let mut holds = made.clone();
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
    let at_its_start = |operand: &Operand| match operand {
        Operand::Const(0) => true,
        Operand::Local(local) => made.contains(local) || is_plain(function, &made, *local, 8),
        _ => false,
    };
    let mut returns = function.blocks.iter().filter_map(|b| match &b.terminator {
        Terminator::Return(value) => Some(*value),
        _ => None,
    });
    hidden && returns.all(|value| value.is_some_and(|v| at_its_start(&v)))
}

/// Whether a local is one of the blocks, unmoved, or null.
fn is_plain(function: &Function, made: &BTreeSet<LocalId>, local: LocalId, depth: u32) -> bool {
    if made.contains(&local) {
        return true;
    }
    let definition = function.blocks.iter().flat_map(|b| &b.statements).find_map(|s| match &s.stmt {
        Stmt::Assign { dst, expr } if *dst == local => Some(expr),
        _ => None,
    });
    let plain = |value: &Operand| match value {
        Operand::Const(0) => true,
        Operand::Local(local) => depth > 0 && is_plain(function, made, *local, depth - 1),
        _ => false,
    };
    match definition {
        Some(Expr::Use(value)) => plain(value),
        Some(Expr::Phi(sources)) => sources.iter().all(|(_, value)| plain(value)),
        Some(Expr::Select { then, otherwise, .. }) => plain(then) && plain(otherwise),
        _ => false,
    }
}
