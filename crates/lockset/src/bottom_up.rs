//! The order in which functions are summarised.

use facts::Solved;
use facts::invocations::How;
use petgraph::algo::kosaraju_scc;
use petgraph::graphmap::DiGraphMap;
use program::FunctionId;

/// Groups of functions that call each other, callees first.
pub(crate) fn bottom_up(facts: &Solved<'_>) -> Vec<Vec<FunctionId>> {
    let mut calls: DiGraphMap<u32, ()> = DiGraphMap::new();
    for (id, function) in facts.program.functions.iter_enumerated() {
        calls.add_node(id.0);
        for (block_id, block) in function.blocks.iter_enumerated() {
            for index in 0..block.statements.len() {
                if let Some(invoke) = facts.points_to.invoke((id, block_id, index))
                    && invoke.how != How::Create
                {
                    calls.extend(invoke.callees.iter().map(|callee| (id.0, callee.0)));
                }
            }
        }
    }
    let groups = kosaraju_scc(&calls).into_iter();
    groups.map(|group| group.into_iter().map(FunctionId).collect()).collect()
}
