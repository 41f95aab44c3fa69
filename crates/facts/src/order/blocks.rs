//! Following one block: what is known when it is left, for those to whom a call returns and for handlers.

use program::{BlockId, FunctionId, Terminator};

use super::walk::Tree;
use super::{ContextId, Moment};
use crate::invocations::ProgramPoint;

/// What is known when a block is left.
pub(super) struct Left {
    /// After its statements; `None` if its end is not known to be reached.
    pub(super) end: Option<Moment>,
    /// When its invoking statement was left by an exception or a jump.
    unwound: Option<Moment>,
}

/// Adds what is known on another way.
pub(super) fn also(known: &mut Option<Moment>, other: Option<&Moment>) {
    match (known, other) {
        (Some(known), Some(other)) => drop(known.join(other)),
        (known @ None, Some(other)) => *known = Some(other.clone()),
        (_, None) => {}
    }
}

impl Tree<'_> {
    /// Follows the statements of a block, and notes where what is known changes.
    pub(super) fn through(
        &mut self,
        context: ContextId,
        block: BlockId,
        start: Moment,
        mut note: impl FnMut(usize, &Moment),
    ) -> Left {
        let function = self.contexts[context].function;
        let code = &self.program.functions[function].blocks[block];
        let invokes = matches!(code.terminator, Terminator::Invoke { .. });
        let invoking = code.invoking().filter(|_| invokes);
        let relevant = self.relevant(function);
        let mut left = Left { end: Some(start.clone()), unwound: invoking.is_none().then_some(start) };
        for (index, statement) in code.statements.iter().enumerate() {
            let is_relevant = relevant.get(&block).is_some_and(|list| list.binary_search(&index).is_ok());
            if !is_relevant && invoking != Some(index) {
                continue;
            }
            let Some(now) = left.end.take() else { break };
            let place = (function, block, index);
            left.end = if is_relevant {
                self.statement(context, place, &statement.stmt, now.clone())
            } else {
                Some(now.clone())
            };
            if let Some(after) = left.end.as_ref().filter(|after| **after != now) {
                note(index + 1, after);
            }
            if invoking == Some(index) {
                left.unwound = self.unwound(context, place, &now);
            }
        }
        left
    }

    /// What is known when a statement is left by an exception or a jump; `None` if it is not known to be.
    fn unwound(&self, context: ContextId, place: ProgramPoint, moment: &Moment) -> Option<Moment> {
        let Some(invoke) = self.points_to.invoke(place) else { return Some(moment.clone()) };
        let unwinds = |f: &FunctionId| !self.concerned.contains(f) && self.invocations.unwinds(*f);
        let by_others = invoke.outside || invoke.callees.is_empty() || invoke.callees.iter().any(unwinds);
        let mut unwound = by_others.then(|| moment.clone());
        for entered in self.contexts[context].calls.get(&place).into_iter().flatten() {
            also(&mut unwound, self.contexts[*entered].unwound.as_ref());
        }
        unwound
    }

    /// Where a block goes, with what is known there.
    pub(super) fn targets(&self, context: ContextId, block: BlockId, left: &Left) -> Vec<(BlockId, Moment)> {
        let function = self.contexts[context].function;
        let terminator = &self.program.functions[function].blocks[block].terminator;
        let mut out = Vec::new();
        for target in terminator.targets() {
            let handles = matches!(terminator, Terminator::Invoke { handler, .. } if *handler == target);
            let returns = !matches!(terminator, Terminator::Invoke { then, .. } if *then != target);
            let ways = [(returns, &left.end), (handles, &left.unwound)];
            for moment in ways.into_iter().filter(|(goes, _)| *goes).filter_map(|(_, moment)| moment.as_ref()) {
                out.push((target, self.across(context, block, target, moment)));
            }
        }
        out
    }
}
