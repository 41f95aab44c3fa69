//! Which way a branch goes, where that follows from constants and from results of tries.

use std::collections::BTreeSet;

use program::{BinaryOp, BlockId, CompareOp, Expr, FunctionId, LocalId, Operand, Stmt};

use super::state::State;
use super::walk::Walk;

/// What a value is known to be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Abstract {
    Number(i64),
    NotZero,
}

impl<'a> Walk<'a> {
    pub(super) fn definition(&self, function: FunctionId, local: LocalId) -> Option<&'a Stmt> {
        let blocks = self.known.program.functions[function].blocks.iter();
        blocks.flat_map(|b| &b.statements).map(|s| &s.stmt).find(|s| s.assigns().contains(&local))
    }

    /// What a value is known to be: from constants and from results of tries.
    pub(super) fn value(&self, state: &State, operand: &Operand) -> Option<Abstract> {
        let local = match operand {
            Operand::Const(n) => return Some(Abstract::Number(*n)),
            Operand::Local(local) => *local,
            _ => return None,
        };
        if let Some(known) = state.results.get(&(state.context, local)) {
            return Some(*known);
        }
        let function = self.contexts[state.context].function;
        let Stmt::Assign { expr, .. } = self.definition(function, local)? else { return None };
        let number = |yes: bool| Some(Abstract::Number(i64::from(yes)));
        match expr {
            Expr::Use(value) => self.value(state, value),
            Expr::Compare { op, left, right, bits } => {
                let low = |n: i64| n & (-1i64 as u64 >> (64 - u32::from(*bits).clamp(1, 64))) as i64;
                let equal = match (self.value(state, left)?, self.value(state, right)?) {
                    (Abstract::Number(a), Abstract::Number(b)) => low(a) == low(b),
                    (Abstract::NotZero, Abstract::Number(0)) | (Abstract::Number(0), Abstract::NotZero) => false,
                    _ => return None,
                };
                match op {
                    CompareOp::Eq => number(equal),
                    CompareOp::Ne => number(!equal),
                    _ => None,
                }
            }
            Expr::Truncate { value, bits, .. } => match self.value(state, value)? {
                Abstract::Number(n @ 0) => Some(Abstract::Number(n)),
                Abstract::Number(1) if *bits > 1 => Some(Abstract::Number(1)),
                Abstract::Number(1) => Some(Abstract::NotZero),
                _ => None,
            },
            Expr::Binary { op: BinaryOp::Xor, left, right, bits } => {
                match (self.value(state, left)?, self.value(state, right)?) {
                    (Abstract::Number(a @ (0 | 1)), Abstract::Number(b @ (0 | 1))) if a == b => number(false),
                    (Abstract::Number(0 | 1), Abstract::Number(0 | 1)) if *bits > 1 => number(true),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether a branch or return that can be reached from the block depends on the local.
    pub(super) fn decides_from(&self, function: FunctionId, block: BlockId, local: LocalId) -> bool {
        let blocks = &self.known.program.functions[function].blocks;
        let (mut found, mut open) = (BTreeSet::from([block]), vec![block]);
        while let Some(at) = open.pop() {
            let terminator = &blocks[at].terminator;
            if terminator.operands().iter().any(|operand| self.depends(function, operand, local)) {
                return true;
            }
            open.extend(terminator.targets().into_iter().filter(|to| found.insert(*to)));
        }
        false
    }

    pub(super) fn depends(&self, function: FunctionId, operand: &Operand, local: LocalId) -> bool {
        let Operand::Local(used) = operand else { return false };
        *used == local
            || match self.definition(function, *used) {
                Some(Stmt::Assign { expr: Expr::Phi(_), .. }) => false,
                Some(Stmt::Assign { expr, .. }) => {
                    expr.operands().iter().any(|operand| self.depends(function, operand, local))
                }
                _ => false,
            }
    }
}
