//! What belongs to no running thread, in loops over threads.

use std::collections::BTreeMap;

use program::{BlockId, FunctionId, Stmt, SyncOp};

use super::canonical::Canonical;
use super::walk::Tree;
use super::{ContextId, ThreadId};
use crate::accesses::{Designator, accesses};
use crate::address::Address;
use crate::flow_graph::Loop;
use crate::invocations::ProgramPoint;

impl Tree<'_> {
    /// Accesses in loops over threads that touch what belongs to no running thread: before the round's thread is made,
    /// or after it was joined. Each with how far it is from the argument of that thread.
    pub(super) fn rows(&self) -> BTreeMap<(ContextId, ProgramPoint, Address), (ThreadId, i64)> {
        let mut found = BTreeMap::new();
        for (thread, info) in self.threads.iter_enumerated() {
            let Some((context, place)) = info.made_at else { continue };
            let Stmt::Sync { op: SyncOp::Create { arg, .. }, .. } =
                &self.program.functions[place.0].blocks[place.1].statements[place.2].stmt
            else {
                continue;
            };
            let argument = self.points_to.addresses.of(place.0, arg);
            let graph = &self.graphs[place.0];
            if let Some(around) = graph.innermost(place.1) {
                let later = after_in_round(&self.program.functions[place.0], around, place);
                self.each_access(place.0, &around.body, |at, address| {
                    let earlier = later.get(&at.1).is_none_or(|from| at.2 < *from);
                    if let Some(distance) = argument.distance(&address).filter(|_| earlier) {
                        found.insert((context, at, address), (thread, distance));
                    }
                });
            }
            let argument = self.canonical(context, argument);
            // The argument has to go by the same counter as the handle.
            let creation = self.code.get(&place.0).and_then(|c| c.creations.iter().find(|c| c.place == place));
            let counter = creation.and_then(|c| c.counted).map(|c| c.counter.local);
            if counter.is_none() || argument.index.map(|(_, local, _)| local) != counter {
                continue;
            }
            for (id, walked) in self.contexts.iter_enumerated() {
                let Some(code) = self.code.get(&walked.function) else { continue };
                for row in code.join_loops.iter().filter(|row| self.joins(id, row, thread)) {
                    let graph = &self.graphs[walked.function];
                    let Some(around) = graph.loops.iter().find(|l| l.header == row.header) else { continue };
                    self.each_access(walked.function, &around.body, |at, address| {
                        let there = self.canonical(id, address);
                        let after = at.1 == row.place.1 && at.2 > row.place.2
                            || at.1 != row.place.1 && graph.dominates(row.place.1, at.1);
                        let counts = |c: &Canonical| c.index.map(|(_, _, scale)| scale);
                        let by_counter = there.index.is_some_and(|(_, local, _)| Some(local) == row.counter);
                        let same = self.same_root(&argument.root, &there.root) && counts(&argument) == counts(&there);
                        if after
                            && same
                            && by_counter
                            && let Some(distance) = there.offset.checked_sub(argument.offset)
                        {
                            found.insert((id, at, address), (thread, distance));
                        }
                    });
                }
            }
        }
        found
    }
    fn each_access(&self, function: FunctionId, blocks: &[BlockId], mut act: impl FnMut(ProgramPoint, Address)) {
        for block in blocks {
            let statements = &self.program.functions[function].blocks[*block].statements;
            for (index, statement) in statements.iter().enumerate() {
                for access in accesses(self.program, function, &statement.stmt) {
                    if let Designator::Pointer(operand) = access.designator {
                        act((function, *block, index), self.points_to.addresses.of(function, &operand));
                    }
                }
            }
        }
    }
}

/// From which statement of each block on a round of a loop may have executed the statement already.
fn after_in_round(body: &program::Function, around: &Loop, place: ProgramPoint) -> BTreeMap<BlockId, usize> {
    let mut later = BTreeMap::from([(place.1, place.2 + 1)]);
    let mut open = body.blocks[place.1].terminator.targets();
    while let Some(block) = open.pop() {
        if block == around.header || !around.contains(block) || later.get(&block) == Some(&0) {
            continue;
        }
        later.insert(block, 0);
        open.extend(body.blocks[block].terminator.targets());
    }
    later
}
