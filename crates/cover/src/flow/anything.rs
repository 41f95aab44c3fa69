//! Calls that are not followed: all that a recursive function may do, in any order.
//!
//! Accesses, posts, arrivals, creations, releases and changes of flags happen any number of times; nothing waits. A
//! lock taken inside is not counted as held; one released inside may be released or not.

use std::collections::BTreeSet;

use program::{Operand, Statement, Stmt, SyncOp};

use super::flag::{change_flag, constant};
use super::graph::{Arcs, Resource};
use super::state::{Move, Phase, ThreadState, step};
use super::walk::Walk;
use facts::invocations::{How, ProgramPoint};
use facts::objects::Key;
use facts::touches::touches_memory;

impl<'a> Walk<'a> {
    /// A function that may be recursive does all it can do, in any order.
    pub(super) fn anything(&mut self, state: &ThreadState) -> Vec<Move> {
        let place = (self.contexts[state.context].function, state.block, state.index);
        let mut inside = BTreeSet::new();
        let invoked: Vec<_> = self.known.invocations.at(place).copied().collect();
        for invocation in &invoked {
            inside.extend(self.known.invocations.closure(invocation.callee, false));
        }
        let how = invoked.first().map_or(How::Call, |i| i.how);
        let over = if how == How::Once { state.at(Phase::Returned) } else { state.after_call(how) };
        let mut moves = vec![step(Arcs::default(), over)];
        if invoked.iter().any(|i| self.known.invocations.unwinds(i.callee)) {
            moves.extend(self.handle(state));
        }
        for function in inside {
            for (block_id, block) in self.known.program.functions[function].blocks.iter_enumerated() {
                for (index, statement) in block.statements.iter().enumerate() {
                    moves.extend(self.any_effect(state, (function, block_id, index), statement));
                }
            }
        }
        moves
    }

    pub(super) fn any_effect(
        &mut self,
        state: &ThreadState,
        place: ProgramPoint,
        statement: &'a Statement,
    ) -> Vec<Move> {
        let here = || state.at(Phase::Anything);
        let given = |resource| step(Arcs::give(resource, 1), here());
        let Stmt::Sync { op, .. } = &statement.stmt else {
            let accessed = statement.site.is_some_and(|s| self.sites.contains(&s)) && touches_memory(&statement.stmt);
            let at = accessed.then(|| step(Arcs::default(), state.at(Phase::AnythingAt(place))));
            let flag = self.known.flags.at(place);
            let changes = flag.map(|flag| change_flag(&here(), flag, &statement.stmt)).unwrap_or_default();
            let published = self.published_behind(place, constant).map(|arcs| step(arcs, here()));
            return at.into_iter().chain(changes).chain(published).collect();
        };
        let (objects, known) = (self.known.objects, self.known.synchronisation);
        let may = |operand: &Operand, key: &Key| objects.may_name(place.0, operand, *key);
        match op {
            SyncOp::Create { .. } => self.create(&here(), here(), place),
            SyncOp::ExitThread => self.end_of_thread(state),
            SyncOp::Unlock { lock } | SyncOp::CondWait { lock, .. } => {
                let held = state.held.iter().filter(|(key, _)| may(lock, key));
                let release = held.map(|(key, held)| {
                    let mut without = here();
                    without.held.remove(key);
                    step(Arcs::give(Resource::Lock(*key), held.tokens), without)
                });
                release.collect()
            }
            SyncOp::SemPost { sem } => {
                let meant = known.semaphores.keys().filter(|key| may(sem, key));
                meant.map(|key| given(Resource::Semaphore(*key))).collect()
            }
            SyncOp::BarrierWait { barrier } => {
                let meant = known.barriers.keys().filter(|key| may(barrier, key));
                meant.map(|key| given(Resource::Arrived(*key))).collect()
            }
            SyncOp::Once { control, .. } => {
                let meant = known.onces.iter().filter(|key| may(control, key));
                meant.map(|key| given(Resource::Done(*key))).collect()
            }
            _ => Vec::new(),
        }
    }
}
