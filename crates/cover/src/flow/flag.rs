//! Reading and writing flags: each access is a step of its own that moves the flag's token.

use program::arith::rmw;
use program::{LocalId, Operand, RmwOp, Stmt};

use super::decide::Abstract;
use super::graph::{Arcs, Resource};
use super::state::{Move, ThreadState, step};
use super::walk::Walk;
use crate::flags::{Flag, FlagValue};

/// The change of a flag from one value to another.
fn change(flag: &Flag, old: FlagValue, new: FlagValue) -> Arcs {
    let place = |value| Resource::Flag(flag.key, value);
    if old == new {
        return Arcs::need(place(old));
    }
    Arcs { takes: vec![(place(old), 1)], needs: Vec::new(), gives: vec![(place(new), 1)] }
}

/// What a statement writes over an old value, as far as its operands are known; `None` if it only reads.
fn written(flag: &Flag, stmt: &Stmt, old: FlagValue, known: impl Fn(&Operand) -> Option<i64>) -> Option<FlagValue> {
    let number = match stmt {
        Stmt::Store { value, .. } | Stmt::Rmw { op: RmwOp::Exchange, value, .. } => known(value),
        Stmt::CompareExchange { new, .. } => known(new),
        Stmt::Rmw { op, value, .. } => {
            let operands = old.zip(known(value));
            operands.and_then(|(old, value)| rmw(*op, flag.size(), old, value))
        }
        _ => return None,
    };
    Some(flag.stored(number))
}

/// The steps of a statement of a call that is not followed: only its own constants are known, and it waits for nothing.
pub(super) fn change_flag(state: &ThreadState, flag: &Flag, stmt: &Stmt) -> Vec<Move> {
    let constant = |operand: &Operand| if let Operand::Const(n) = operand { Some(*n) } else { None };
    let changes = flag.values().filter_map(|old| Some((old, written(flag, stmt, old, constant)?)));
    changes.filter(|(old, new)| old != new).map(|(old, new)| step(change(flag, old, new), state.clone())).collect()
}

impl Walk<'_> {
    /// The steps of a statement that accesses a flag.
    pub(super) fn access_flag(&self, state: &ThreadState, flag: &Flag, stmt: &Stmt) -> Vec<Move> {
        let number = |operand: &Operand| match self.value(state, operand)? {
            Abstract::Number(n) => Some(n),
            Abstract::NotZero => None,
        };
        let mut moves = Vec::new();
        for old in flag.values() {
            let new = written(flag, stmt, old, number);
            let changed =
                |new, results: &[(LocalId, FlagValue)]| step(change(flag, old, new), self.with_results(state, results));
            match stmt {
                Stmt::Load { dst, .. } if !self.is_needed(state.context, *dst) => {
                    return vec![step(Arcs::default(), state.next())];
                }
                Stmt::Load { dst, .. } => moves.push(changed(old, &[(*dst, old)])),
                Stmt::Rmw { dst, .. } => moves.extend(new.map(|new| changed(new, &[(*dst, old)]))),
                Stmt::CompareExchange { dst, success, expected, .. } => {
                    let differs = |expected: i64| old.is_some_and(|old| old != flag.read(expected));
                    let fails = number(expected).is_some_and(differs);
                    // A weak exchange may fail for no reason.
                    moves.push(changed(old, &[(*dst, old), (*success, Some(0))]));
                    let new = new.filter(|_| !fails);
                    moves.extend(new.map(|new| changed(new, &[(*dst, old), (*success, Some(1))])));
                }
                _ => moves.extend(new.map(|new| changed(new, &[]))),
            }
        }
        moves
    }

    /// The state after a statement that assigned these values.
    fn with_results(&self, state: &ThreadState, results: &[(LocalId, FlagValue)]) -> ThreadState {
        let mut after = state.next();
        for (dst, value) in results {
            let local = (state.context, *dst);
            match value.filter(|_| self.is_needed(state.context, *dst)) {
                Some(n) => after.results.insert(local, Abstract::Number(n)),
                None => after.results.remove(&local),
            };
        }
        after
    }
}
