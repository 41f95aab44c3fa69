//! The order in which functions are summarised.

use facts::Facts;
use facts::invocations::How;
use model::index::IndexVec;
use program::FunctionId;

/// Groups of functions that call each other, callees first (Tarjan's algorithm without recursion).
pub(crate) fn bottom_up(facts: &Facts<'_>) -> Vec<Vec<FunctionId>> {
    let program = facts.program;
    let mut callees: IndexVec<FunctionId, Vec<FunctionId>> = IndexVec::filled(program.functions.len(), Vec::new());
    for (id, function) in program.functions.iter_enumerated() {
        for (block_id, block) in function.blocks.iter_enumerated() {
            for index in 0..block.statements.len() {
                if let Some(invoke) = facts.points_to.invoke((id, block_id, index))
                    && invoke.how != How::Create
                {
                    callees[id].extend(invoke.callees.iter().copied());
                }
            }
        }
        callees[id].sort_unstable();
        callees[id].dedup();
    }
    let count = program.functions.len();
    let mut index: IndexVec<FunctionId, Option<u32>> = IndexVec::filled(count, None);
    let mut low: IndexVec<FunctionId, u32> = IndexVec::filled(count, 0);
    let mut on_stack: IndexVec<FunctionId, bool> = IndexVec::filled(count, false);
    let (mut groups, mut stack, mut next) = (Vec::new(), Vec::new(), 0u32);
    for root in program.functions.ids() {
        if index[root].is_some() {
            continue;
        }
        let mut calls = vec![(root, 0usize)];
        while let Some((function, at)) = calls.pop() {
            if at == 0 {
                index[function] = Some(next);
                low[function] = next;
                next += 1;
                stack.push(function);
                on_stack[function] = true;
            }
            let mut descended = false;
            for (number, callee) in callees[function].iter().enumerate().skip(at) {
                match index[*callee] {
                    None => {
                        calls.push((function, number + 1));
                        calls.push((*callee, 0));
                        descended = true;
                        break;
                    }
                    Some(rank) if on_stack[*callee] => low[function] = low[function].min(rank),
                    Some(_) => {}
                }
            }
            if descended {
                continue;
            }
            if Some(low[function]) == index[function] {
                let from = stack.iter().rposition(|f| *f == function).unwrap_or(0);
                let group: Vec<FunctionId> = stack.drain(from..).collect();
                group.iter().for_each(|f| on_stack[*f] = false);
                groups.push(group);
            }
            if let Some((caller, _)) = calls.last() {
                low[*caller] = low[*caller].min(low[function]);
            }
        }
    }
    groups
}
