//! What a call does to locks, by the summaries of what it may run.

use std::collections::BTreeSet;

use facts::address::{Address, Base};
use facts::invocations::{How, ProgramPoint};
use facts::spot::Spot;
use program::{FunctionId, LocalId, Operand, Stmt};

use super::blocks::also;
use super::{Analysis, Depends, LocksetState, Summary};
use crate::lock::{Lock, Locks, from_callee, name};
use crate::released::Released;

impl Analysis<'_, '_> {
    /// Follows a statement that makes functions run; `false` if none of them returns.
    pub(super) fn invoke(&self, state: &mut LocksetState, place: ProgramPoint, stmt: &Stmt) -> bool {
        let Some(invoke) = self.facts.points_to.invoke(place) else { return true };
        let (dst, args): (Option<LocalId>, &[Operand]) = match stmt {
            Stmt::Call { dst, args, .. } => (*dst, args),
            _ => (None, &[]),
        };
        let addresses: Vec<Address> =
            args.iter().map(|a| self.facts.points_to.addresses.of(self.function, a)).collect();
        let mut after: Option<LocksetState> = None;
        let perhaps_not = invoke.how != How::Call;
        if perhaps_not || invoke.callees.is_empty() {
            after = Some(state.clone());
        }
        for callee in &invoke.callees {
            if self.facts.program.functions[*callee].blocks.is_empty() {
                continue;
            }
            let Some(summary) = &self.effects.summaries[*callee] else { continue };
            let mut way = state.clone();
            self.apply(&mut way, *callee, summary, dst, &addresses);
            also(&mut after, Some(way));
        }
        if invoke.outside {
            let mut way = state.clone();
            self.leave(&mut way);
            also(&mut after, Some(way));
        }
        match after {
            Some(after) => {
                *state = after;
                true
            }
            None => false,
        }
    }

    /// What is known when a statement is left by an exception or a jump; `None` if it never is.
    pub(super) fn unwound(&self, state: &LocksetState, place: ProgramPoint, stmt: &Stmt) -> Option<LocksetState> {
        let mut before = state.clone();
        stmt.assigns().into_iter().for_each(|local| self.assigned(&mut before, local));
        let Some(invoke) = self.facts.points_to.invoke(place) else { return Some(before) };
        let args = if let Stmt::Call { args, .. } = stmt { &args[..] } else { &[] };
        let addresses: Vec<Address> =
            args.iter().map(|a| self.facts.points_to.addresses.of(self.function, a)).collect();
        // What a library function calls back may have returned before.
        let mut starts = vec![before.clone()];
        if invoke.how == How::Callback {
            let mut returned = before.clone();
            if self.invoke(&mut returned, place, stmt) {
                starts.push(returned);
            }
        }
        let mut unwound = invoke.callees.is_empty().then(|| before.clone());
        for callee in &invoke.callees {
            let Some(summary) = &self.effects.unwound[*callee] else { continue };
            for start in &starts {
                let mut way = start.clone();
                self.apply(&mut way, *callee, summary, None, &addresses);
                also(&mut unwound, Some(way));
            }
        }
        if invoke.outside {
            let mut way = before;
            self.leave(&mut way);
            also(&mut unwound, Some(way));
        }
        unwound
    }

    /// Code without a body may release what it may know.
    fn leave(&self, state: &mut LocksetState) {
        let known = |spot: &Spot| self.facts.points_to.is_known_outside(spot.object);
        let reachable = |lock: &Lock| match lock {
            Lock::At(spot) => known(spot),
            Lock::Symbol(address) => {
                let spots = self.facts.points_to.spots(self.function, address);
                spots.is_empty() || spots.iter().any(known)
            }
            _ => false,
        };
        state.held.retain(|lock, _| !reachable(lock));
        state.histories.retain(|lock, _| state.held.contains_key(lock));
        state.released.insert(Released::Outside);
        state.pending.clear();
    }

    fn apply(
        &self,
        state: &mut LocksetState,
        callee: FunctionId,
        summary: &Summary,
        dst: Option<LocalId>,
        arguments: &[Address],
    ) {
        let params = self.facts.program.functions[callee].params;
        let argument = |local: LocalId| -> Option<Address> {
            if local.0 < params {
                return arguments.get(local.0 as usize).copied();
            }
            // What the callee returned is known to the caller by its result.
            let returned = summary.returned.filter(|r| r.base == Base::Local(local) && r.index.is_none())?;
            Address::of_local(dst?).plus(returned.offset.checked_neg()?)
        };
        let translated = |lock: &Lock| {
            let lock = from_callee(lock, argument)?;
            Some(match lock {
                Lock::Symbol(address) => name(self.facts, self.function, address),
                other => other,
            })
        };
        for released in summary.state.released.iter() {
            match &released {
                Released::Named(lock) => match translated(lock) {
                    Some(lock) => self.release(state, lock),
                    None => {
                        let there = Analysis { function: callee, ..*self };
                        self.release_among(state, &there.among(lock));
                    }
                },
                other => self.release_among(state, other),
            }
        }
        for interrupted in summary.state.interrupted.iter() {
            let there = Analysis { function: callee, ..*self };
            let known = match &interrupted {
                Released::Named(lock) => translated(lock).map_or_else(|| there.among(lock), Released::Named),
                other => other.clone(),
            };
            // Nothing is known any more of what was taken since.
            state.histories.values_mut().for_each(BTreeSet::clear);
            state.interrupted.insert(known);
        }
        for (lock, held) in &summary.state.held {
            if let Some(lock) = translated(lock) {
                (0..held.depth).for_each(|_| self.acquire(state, lock, held.mode));
            }
        }
        let taken: Vec<Lock> = summary.state.taken.iter().filter_map(translated).collect();
        for history in state.histories.values_mut() {
            history.extend(taken.iter().copied());
        }
        for (lock, history) in &summary.state.histories {
            if let Some(lock) = translated(lock).filter(|lock| state.held.contains_key(lock)) {
                state.histories.insert(lock, history.iter().filter_map(translated).collect());
            }
        }
        state.taken.extend(taken);
        let translate = |locks: &Locks| -> Locks {
            locks.iter().filter_map(|(lock, held)| Some((translated(lock)?, *held))).collect()
        };
        let depends = Depends { zero: translate(&summary.depends.zero), other: translate(&summary.depends.other) };
        if let Some(dst) = dst.filter(|_| !depends.zero.is_empty() || !depends.other.is_empty()) {
            state.pending.insert(dst, depends);
        }
    }
    fn release_among(&self, state: &mut LocksetState, released: &Released) {
        match released {
            Released::Named(lock) => self.release(state, *lock),
            Released::Outside => self.leave(state),
            Released::Anything => {
                state.held.clear();
                state.histories.clear();
                state.pending.clear();
                state.released.insert(Released::Anything);
            }
            Released::Among(spots) => {
                let hit = |lock: &Lock| {
                    let own = match lock {
                        Lock::At(spot) => vec![*spot],
                        Lock::Symbol(address) => self.facts.points_to.spots(self.function, address),
                        _ => return false,
                    };
                    own.is_empty() || self.facts.points_to.meet(&own, spots)
                };
                state.held.retain(|lock, _| !hit(lock));
                state.histories.retain(|lock, _| state.held.contains_key(lock));
                state.released.insert(released.clone());
                state.pending.clear();
            }
        }
    }
}
