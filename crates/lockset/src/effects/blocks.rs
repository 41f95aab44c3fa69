//! Following one block: what is known when it is left, for those to whom a call returns and for handlers.

use program::{BlockId, Stmt, Terminator};

use super::{Analysis, LocksetState};

/// What is known when a block is left.
pub(super) struct Left {
    /// After its statements; `None` if its end is never reached.
    pub(super) end: Option<LocksetState>,
    /// When its invoking statement was left by an exception or a jump.
    pub(super) unwound: Option<LocksetState>,
}

impl Analysis<'_, '_> {
    /// Where a block goes, with what is known there.
    pub(super) fn targets(&self, block: BlockId, left: &Left) -> Vec<(BlockId, LocksetState)> {
        let terminator = &self.facts.program.functions[self.function].blocks[block].terminator;
        if let Terminator::Invoke { then, handler } = terminator {
            let ways = [(*then, &left.end), (*handler, &left.unwound)];
            return ways.into_iter().filter_map(|(to, state)| Some((to, state.clone()?))).collect();
        }
        let Some(end) = &left.end else { return Vec::new() };
        terminator.targets().into_iter().map(|target| (target, self.across(end, terminator, target))).collect()
    }

    /// Follows the statements of a block.
    pub(super) fn through(
        &self,
        block: BlockId,
        mut state: LocksetState,
        mut list: Option<&mut Vec<(usize, LocksetState)>>,
    ) -> Left {
        let code = &self.facts.program.functions[self.function].blocks[block];
        let invokes = matches!(code.terminator, Terminator::Invoke { .. });
        let invoking = code.invoking().filter(|_| invokes);
        let mut unwound = None;
        for (index, statement) in code.statements.iter().enumerate() {
            let concerns = match &statement.stmt {
                Stmt::Sync { .. } | Stmt::Call { .. } | Stmt::Library { .. } | Stmt::Exit { .. } => true,
                stmt => state != LocksetState::default() && !stmt.assigns().is_empty(),
            };
            if !concerns {
                continue;
            }
            let place = (self.function, block, index);
            if invoking == Some(index) {
                unwound = self.unwound(&state, place, &statement.stmt);
            }
            if !self.statement(&mut state, place, &statement.stmt) {
                return Left { end: None, unwound };
            }
            if let Some(list) = &mut list
                && list.last().is_none_or(|(_, last)| *last != state)
            {
                list.push((index + 1, state.clone()));
            }
        }
        Left { end: Some(state), unwound }
    }
}

/// Adds what is known on another way.
pub(super) fn also(known: &mut Option<LocksetState>, other: Option<LocksetState>) {
    match (known, other) {
        (Some(known), Some(other)) => drop(known.join(&other)),
        (known @ None, other) => *known = other,
        (_, None) => {}
    }
}
