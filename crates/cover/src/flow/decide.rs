//! Which way a branch goes, where that follows from constants, results of tries and values of flags.

use program::{BlockId, CompareOp, Expr, LocalId, Operand, Stmt, arith};

use super::state::{Context, ContextId, Phase, ThreadState};
use super::walk::Walk;
use crate::deciding::{Deciding, phis};
use facts::invocations::How;

/// What a value is known to be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Abstract {
    Number(i64),
    NotZero,
}

impl<'a> Walk<'a> {
    fn deciding(&self, context: ContextId) -> Option<&'a Deciding<'a>> {
        self.known.deciding.get(&self.contexts[context].function)
    }
    /// Whether anything depends on a local.
    pub(super) fn is_needed(&self, context: ContextId, local: LocalId) -> bool {
        self.deciding(context).is_some_and(|deciding| deciding.is_needed(local))
    }
    pub(super) fn definition(&self, context: ContextId, local: LocalId) -> Option<&'a Stmt> {
        self.deciding(context)?.definition(local)
    }

    /// What a value is known to be.
    pub(super) fn value(&self, state: &ThreadState, operand: &Operand) -> Option<Abstract> {
        self.value_in(state, state.context, operand)
    }

    /// The same of an operand of another call.
    pub(super) fn value_in(&self, state: &ThreadState, context: ContextId, operand: &Operand) -> Option<Abstract> {
        let local = match operand {
            Operand::Const(n) => return Some(Abstract::Number(*n)),
            Operand::Local(local) => *local,
            _ => return None,
        };
        if let Some(known) = state.results.get(&(context, local)) {
            return Some(*known);
        }
        if let Some((caller, argument)) = self.argument(context, local) {
            return self.value_in(state, caller, &argument);
        }
        let Stmt::Assign { expr, .. } = self.definition(context, local)? else { return None };
        let value = |operand: &Operand| self.value_in(state, context, operand);
        let number = |operand: &Operand| match value(operand)? {
            Abstract::Number(n) => Some(n),
            Abstract::NotZero => None,
        };
        match expr {
            Expr::Use(of) => value(of),
            Expr::Compare { op, left, right, bits } => match (value(left)?, value(right)?) {
                (Abstract::Number(a), Abstract::Number(b)) => Some(Abstract::Number(arith::compare(*op, *bits, a, b))),
                (Abstract::NotZero, Abstract::Number(0)) | (Abstract::Number(0), Abstract::NotZero) => match op {
                    CompareOp::Eq => Some(Abstract::Number(0)),
                    CompareOp::Ne => Some(Abstract::Number(1)),
                    _ => None,
                },
                _ => None,
            },
            Expr::Truncate { value, bits, signed } => {
                Some(Abstract::Number(arith::extend(number(value)?, u32::from(*bits), *signed)))
            }
            Expr::Binary { op, left, right, bits } => {
                arith::binary(*op, *bits, number(left)?, number(right)?).map(Abstract::Number)
            }
            Expr::Select { condition, then, otherwise } => match value(condition) {
                Some(Abstract::Number(0)) => value(otherwise),
                Some(_) => value(then),
                None => value(then).filter(|known| Some(*known) == value(otherwise)),
            },
            Expr::Phi(_) | Expr::Offset { .. } => None,
        }
    }

    /// The argument that a parameter has in this call, with the context it is meant in.
    pub(super) fn argument(&self, context: ContextId, local: LocalId) -> Option<(ContextId, Operand)> {
        let Context { function, caller, how, .. } = &self.contexts[context];
        let (caller, block, index) = (*caller).filter(|_| *how == How::Call)?;
        if local.0 >= self.known.program.functions[*function].params {
            return None;
        }
        let caller_function = self.contexts[caller].function;
        let call = &self.known.program.functions[caller_function].blocks[block].statements[index];
        let Stmt::Call { args, .. } = &call.stmt else { return None };
        Some((caller, *args.get(local.0 as usize)?))
    }

    /// Goes to a block; phis get their values, and what no branch depends on any more is forgotten.
    pub(super) fn enter_block(&self, state: &ThreadState, block: BlockId) -> ThreadState {
        let context = state.context;
        let function = &self.known.program.functions[self.contexts[context].function];
        let deciding = self.deciding(context);
        let live = |local: LocalId| deciding.is_some_and(|deciding| deciding.is_live(block, local));
        let mut entered = ThreadState { block, index: 0, phase: Phase::Before, ..state.clone() };
        entered.results.retain(|(c, local), _| *c != context || live(*local));
        for (dst, sources) in phis(function, block) {
            let source = sources.iter().find(|(from, _)| *from == state.block).filter(|_| live(dst));
            match source.and_then(|(_, operand)| self.value(state, operand)) {
                Some(value) => entered.results.insert((context, dst), value),
                None => entered.results.remove(&(context, dst)),
            };
        }
        entered
    }
}
