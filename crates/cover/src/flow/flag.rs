//! Reading and writing flags: each access is a step of its own that moves the flag's token, or notes that it writes.

use std::collections::BTreeSet;

use facts::invocations::ProgramPoint;
use model::Order;
use program::arith::rmw;
use program::{LocalId, Operand, RmwOp, Stmt};

use super::decide::Abstract;
use super::graph::{Arcs, Resource};
use super::state::{Move, ThreadState, step};
use super::walk::Walk;
use crate::flags::{Flag, FlagValue, Keeping};

/// What an access does to its flag.
#[derive(Clone, Copy)]
struct Effect {
    /// What it finds.
    old: FlagValue,
    /// What it leaves, if it writes.
    new: Option<FlagValue>,
    /// The order of its read; `None` if it does not read, or that does not matter.
    read: Option<Order>,
}

/// The change of a flag from one value to another.
fn change(flag: &Flag, Effect { old, new, .. }: Effect) -> Arcs {
    let place = |value| Resource::Flag(flag.key, value);
    let new = new.unwrap_or(old);
    if old == new {
        return Arcs::need(place(old));
    }
    Arcs { takes: vec![(place(old), 1)], needs: Vec::new(), gives: vec![(place(new), 1)] }
}

/// What an access of a flag that is kept by its writes waits for and notes, by ways; and whether a fence is to come
/// before it is known that what it found was written before.
fn note(flag: &Flag, effect: Effect) -> (Vec<Arcs>, bool) {
    let key = flag.key;
    let mut arcs = Arcs::default();
    let finds_first = effect.read.is_some() && effect.old == Some(flag.initial) && flag.has_first_value();
    let published = effect.read.filter(|_| flag.is_published(effect.old));
    let late = published.is_some_and(|order| !order.acquires());
    if published.is_some() && !late {
        arcs.needs.push(Resource::Written(key, effect.old));
    }
    let Some(new) = effect.new else {
        arcs.needs.extend(finds_first.then_some(Resource::Unwritten(key)));
        return (vec![arcs], late);
    };
    arcs.gives.push((Resource::Written(key, new), 1));
    if !flag.has_first_value() {
        return (vec![arcs], late);
    }
    let mut first = arcs.clone();
    first.takes.push((Resource::Unwritten(key), 1));
    first.gives.push((Resource::Overwritten(key), 1));
    let later = Arcs { needs: [arcs.needs, vec![Resource::Overwritten(key)]].concat(), ..arcs };
    (if finds_first { vec![first] } else { vec![first, later] }, late)
}

/// The number of an operand that is the same in every call.
pub(super) fn constant(operand: &Operand) -> Option<i64> {
    if let Operand::Const(n) = operand { Some(*n) } else { None }
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
    let changes = flag.values().filter_map(|old| Some((old, written(flag, stmt, old, constant)?)));
    match flag.keeping {
        Keeping::Value => {
            let changes = changes.filter(|(old, new)| old != new);
            let effect = |(old, new)| Effect { old, new: Some(new), read: None };
            changes.map(|c| step(change(flag, effect(c)), state.clone())).collect()
        }
        Keeping::Writes => {
            let written: BTreeSet<FlagValue> = changes.map(|(_, new)| new).collect();
            let effect = |new| Effect { old: None, new: Some(new), read: None };
            written.into_iter().flat_map(|n| note(flag, effect(n)).0).map(|arcs| step(arcs, state.clone())).collect()
        }
    }
}

impl Walk<'_> {
    fn number(&self, state: &ThreadState, operand: &Operand) -> Option<i64> {
        match self.value(state, operand)? {
            Abstract::Number(n) => Some(n),
            Abstract::NotZero => None,
        }
    }

    /// The steps of a statement that accesses a flag.
    pub(super) fn access_flag(&self, state: &ThreadState, flag: &Flag, stmt: &Stmt) -> Vec<Move> {
        let mut moves = Vec::new();
        for old in flag.values() {
            let new = written(flag, stmt, old, |operand| self.number(state, operand));
            let changed = |new: Option<FlagValue>, read: Option<Order>, results: &[(LocalId, FlagValue)]| {
                self.changed(state, flag, Effect { old, new, read }, results)
            };
            match stmt {
                Stmt::Load { dst, .. } if !self.is_needed(state.context, *dst) => {
                    return vec![step(Arcs::default(), state.next())];
                }
                Stmt::Load { dst, atomic, .. } => {
                    moves.extend(changed(None, Some(atomic.unwrap_or(Order::Relaxed)), &[(*dst, old)]));
                }
                Stmt::Rmw { dst, order, .. } => moves.extend(changed(new, Some(*order), &[(*dst, old)])),
                Stmt::CompareExchange { dst, success, expected, order, failure, .. } => {
                    let differs = |expected: i64| old.is_some_and(|old| old != flag.read(expected));
                    let fails = self.number(state, expected).is_some_and(differs);
                    // A weak exchange may fail for no reason.
                    moves.extend(changed(None, Some(*failure), &[(*dst, old), (*success, Some(0))]));
                    if !fails {
                        moves.extend(changed(new, Some(*order), &[(*dst, old), (*success, Some(1))]));
                    }
                }
                _ if flag.keeping == Keeping::Writes => return changed(new, None, &[]),
                _ => moves.extend(changed(new, None, &[])),
            }
        }
        moves
    }

    /// The steps of an access with this effect, after which these values are known.
    fn changed(&self, state: &ThreadState, flag: &Flag, effect: Effect, results: &[(LocalId, FlagValue)]) -> Vec<Move> {
        let mut after = self.with_results(state, results);
        match flag.keeping {
            Keeping::Value => vec![step(change(flag, effect), after)],
            Keeping::Writes => {
                let (ways, late) = note(flag, effect);
                after.found.extend(late.then_some((flag.key, effect.old)));
                ways.into_iter().map(|arcs| step(arcs, after.clone())).collect()
            }
        }
    }

    /// What a fence at this place publishes: the write of a flag directly behind it.
    pub(super) fn published_behind(
        &self,
        place: ProgramPoint,
        known: impl Fn(&Operand) -> Option<i64>,
    ) -> Option<Arcs> {
        let (function, block, index) = place;
        let behind = (function, block, index + 1);
        let flag = self.known.flags.at(behind).filter(|_| self.known.flags.is_fence(place))?;
        let stmt = &self.known.program.functions[function].blocks[block].statements.get(index + 1)?.stmt;
        let news: BTreeSet<FlagValue> = flag.values().filter_map(|old| written(flag, stmt, old, &known)).collect();
        let gives = news.into_iter().map(|new| (Resource::Written(flag.key, new), 1)).collect();
        Some(Arcs { gives, ..Arcs::default() })
    }

    /// A fence publishes the write directly behind it, and acquires what relaxed reads before it found.
    pub(super) fn fence(&self, state: &ThreadState, place: ProgramPoint, order: Order) -> Vec<Move> {
        let mut after = state.next();
        let mut arcs = self.published_behind(place, |operand| self.number(state, operand)).unwrap_or_default();
        if order.acquires() {
            let found = std::mem::take(&mut after.found);
            arcs.needs.extend(found.into_iter().map(|(key, value)| Resource::Written(key, value)));
        }
        vec![step(arcs, after)]
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
