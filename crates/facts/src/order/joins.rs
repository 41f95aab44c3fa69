//! Creations and joins of a function, with the loops they are in and the memory that handles pass through.

use model::index::IndexVec;
use program::{BlockId, FunctionId, LocalId, Operand, Program, Stmt, SyncOp, TryMode};

use super::Argument;
use crate::address::{Address, Base};
use crate::flow_graph::{Counted, CountedDown, FlowGraph};
use crate::invocations::ProgramPoint;
use crate::points_to::PointsTo;

/// A statement that makes threads.
#[derive(Clone, Debug)]
pub(super) struct Creation {
    pub(super) place: ProgramPoint,
    /// The innermost loop around it, by its header.
    pub(super) around: Option<BlockId>,
    /// How that loop counts.
    pub(super) counted: Option<Counted>,
    /// The only place where the handle is stored.
    pub(super) stored_at: Option<Address>,
    /// How the arguments differ, if all threads are made by one execution of the loop.
    pub(super) argument: Argument,
}

/// A loop that joins the thread in each of a row of handles, those with the numbers from `first` on and below
/// `end + beyond`.
///
/// A loop that counts down from `s` while its counter is above `b` has rounds for `b + 1` to `s`. With every number
/// less by one these are `b` to `s - 1`, and each handle is one element further from its number: so such a loop is
/// written down as if it counted up from `b` to `s`. While the counter is not below `b`, the rounds are `b` to `s` as
/// they are.
#[derive(Clone, Debug)]
pub(super) struct JoinLoop {
    /// The edge on which all are joined.
    pub(super) header: BlockId,
    pub(super) exit: BlockId,
    /// The counter, if the loop counts up.
    pub(super) counter: Option<LocalId>,
    pub(super) first: Operand,
    pub(super) end: Operand,
    pub(super) beyond: i64,
    /// Where handles are loaded from, by their number.
    pub(super) loaded_from: Address,
    /// The handle.
    pub(super) handle: Operand,
    /// The join.
    pub(super) place: ProgramPoint,
}

/// What a function does with threads.
#[derive(Clone, Debug, Default)]
pub(super) struct ThreadCode {
    pub(super) creations: Vec<Creation>,
    pub(super) join_loops: Vec<JoinLoop>,
}

pub(super) fn thread_code(
    program: &Program,
    points_to: &PointsTo,
    graphs: &IndexVec<FunctionId, FlowGraph>,
    function: FunctionId,
) -> ThreadCode {
    let mut code = ThreadCode::default();
    let (body, graph) = (&program.functions[function], &graphs[function]);
    for (block_id, block) in body.blocks.iter_enumerated() {
        for (index, statement) in block.statements.iter().enumerate() {
            let place = (function, block_id, index);
            match &statement.stmt {
                Stmt::Sync { dst, op: SyncOp::Create { arg, .. } } => {
                    code.creations.push(creation(program, points_to, graph, place, *dst, arg));
                }
                Stmt::Sync { op: SyncOp::Join { handle, mode: TryMode::Wait }, .. } => {
                    code.join_loops.extend(join_loop(program, points_to, graph, place, handle));
                }
                _ => {}
            }
        }
    }
    code
}

fn creation(
    program: &Program,
    points_to: &PointsTo,
    graph: &FlowGraph,
    place: ProgramPoint,
    dst: Option<LocalId>,
    arg: &Operand,
) -> Creation {
    let (function, block, _) = place;
    let body = &program.functions[function];
    let around = graph.innermost(block);
    let counted = around.and_then(|l| graph.counted(body, &points_to.addresses, function, l));
    let mut stores = body.blocks.iter().flat_map(|b| &b.statements).filter_map(|s| match &s.stmt {
        Stmt::Store { address, value: Operand::Local(value), .. } if Some(*value) == dst => Some(*address),
        _ => None,
    });
    let stored = stores.next().filter(|_| stores.next().is_none());
    let stored_at = stored.map(|address| points_to.addresses.of(function, &address));
    let argument = around.map_or(Argument::Any, |around| {
        // Nothing differs between threads that are made in the same round.
        let once_a_round = !inner_repeats(body, block, around);
        let address = points_to.addresses.of(function, arg);
        let counters = graph.counters(body, &points_to.addresses, function, around);
        let step = |local: LocalId| counters.iter().find(|c| c.local == local).map(|c| c.step.unsigned_abs());
        match (address.base, address.index) {
            _ if !once_a_round => Argument::Any,
            (Base::Local(local), None) => match step(local) {
                Some(step) => Argument::Apart(step),
                None if makes_block(program, points_to, function, local, |b| around.contains(b)) => Argument::Fresh,
                None => Argument::Any,
            },
            (Base::Local(base), Some((index, scale))) => {
                let fixed = points_to.addresses.defined_at(function, base).is_none_or(|(b, _)| !around.contains(b));
                step(index).filter(|_| fixed).map_or(Argument::Any, |s| Argument::Apart(s * scale.unsigned_abs()))
            }
            (Base::Global(_), Some((index, scale))) => {
                step(index).map_or(Argument::Any, |s| Argument::Apart(s * scale.unsigned_abs()))
            }
            _ => Argument::Any,
        }
    });
    Creation { place, around: around.map(|l| l.header), counted, stored_at, argument }
}

/// Whether a block may be executed twice in one round of the loop.
fn inner_repeats(body: &program::Function, block: BlockId, around: &crate::flow_graph::Loop) -> bool {
    let mut seen = vec![around.header];
    let mut open = if block == around.header { Vec::new() } else { body.blocks[block].terminator.targets() };
    while let Some(next) = open.pop() {
        if next == block {
            return true;
        }
        if around.contains(next) && !seen.contains(&next) {
            seen.push(next);
            open.extend(body.blocks[next].terminator.targets());
        }
    }
    false
}

/// Whether a local is a new heap block, made in such a block of the function.
fn makes_block(
    program: &Program,
    points_to: &PointsTo,
    function: FunctionId,
    local: LocalId,
    inside: impl Fn(BlockId) -> bool,
) -> bool {
    let Some((block, index)) = points_to.addresses.defined_at(function, local) else { return false };
    let place = (function, block, index as usize);
    let makes = match points_to.addresses.definition(program, function, local) {
        Some(Stmt::Alloc { .. }) => true,
        Some(Stmt::Call { .. }) => points_to.is_new_block(place, local),
        _ => false,
    };
    makes && inside(block)
}

fn join_loop(
    program: &Program,
    points_to: &PointsTo,
    graph: &FlowGraph,
    place: ProgramPoint,
    handle: &Operand,
) -> Option<JoinLoop> {
    let (function, block, _) = place;
    let around = graph.innermost(block)?;
    // Every round joins.
    if !around.latches.iter().all(|latch| graph.dominates(block, *latch)) {
        return None;
    }
    let Operand::Local(local) = handle else { return None };
    let Some(Stmt::Load { address, size, .. }) = points_to.addresses.definition(program, function, *local) else {
        return None;
    };
    if *size != program.architecture.pointer_size() {
        return None;
    }
    let loaded_from = points_to.addresses.of(function, address);
    let (index, scale) = loaded_from.index?;
    let body = &program.functions[function];
    let row = JoinLoop {
        header: around.header,
        exit: around.header,
        counter: None,
        first: Operand::Any,
        end: Operand::Any,
        beyond: 0,
        loaded_from,
        handle: *handle,
        place,
    };
    if let Some(up) = graph.counted(body, &points_to.addresses, function, around) {
        let Counted { counter, bound, exit } = up;
        let row = JoinLoop { exit, counter: Some(index), first: counter.start, end: bound, ..row };
        return (counter.local == index).then_some(row);
    }
    let CountedDown { counter, bound, inclusive, exit } =
        graph.counted_down(body, &points_to.addresses, function, around)?;
    let (beyond, loaded_from) = if inclusive { (1, loaded_from) } else { (0, loaded_from.plus(scale)?) };
    let row = JoinLoop { exit, first: bound, end: counter.start, beyond, loaded_from, ..row };
    (counter.local == index).then_some(row)
}

/// The statements that a function's threads depend on.
pub(super) fn is_thread_code(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Sync { op: SyncOp::Create { .. } | SyncOp::Join { .. } | SyncOp::ExitThread, .. })
}
