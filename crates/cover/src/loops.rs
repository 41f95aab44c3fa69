//! Loops that count, and the shape of control flow around them.

use std::collections::BTreeSet;

use program::{BinaryOp, BlockId, CompareOp, Expr, Function, LocalId, Operand, Stmt, Terminator};

use crate::deciding::phis;

/// A loop that counts up by one from a constant, tested at its head.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CountingLoop {
    pub(crate) head: BlockId,
    /// Where the head goes when the test fails.
    pub(crate) exit: BlockId,
    /// Its blocks, the head included.
    pub(crate) inside: BTreeSet<BlockId>,
    /// The local that counts, a phi of the head.
    pub(crate) counter: LocalId,
    /// The numbers it counts through.
    pub(crate) range: Range,
}

/// Numbers from `first` on, while they compare to `bound` as said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    pub(crate) first: i64,
    op: CompareOp,
    bits: u8,
    pub(crate) bound: Operand,
}

impl Range {
    /// The first number that is not in it, if it is known.
    fn end(&self) -> Option<i64> {
        let Operand::Const(bound) = self.bound else { return None };
        match self.op {
            CompareOp::SLt | CompareOp::Ne => Some(bound),
            CompareOp::ULt => Some(bound).filter(|bound| *bound >= 0),
            CompareOp::SLe => bound.checked_add(1),
            CompareOp::ULe => bound.checked_add(1).filter(|_| bound >= 0),
            _ => None,
        }
    }
    /// Whether it certainly has this number.
    pub(crate) fn contains(&self, number: i64) -> bool {
        self.first <= number && self.end().is_some_and(|end| number < end)
    }
    /// Whether it certainly has all numbers of another, when both bounds mean the same value.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let same_test = (self.op, self.bits, self.bound) == (other.op, other.bits, other.bound);
        match (self.end(), other.end()) {
            (Some(end), Some(other_end)) => self.first <= other.first && other_end <= end,
            _ => same_test && self.first == other.first,
        }
    }
}

/// The loops of a function that count.
pub(crate) fn counting_loops(function: &Function) -> Vec<CountingLoop> {
    function.blocks.ids().filter_map(|head| counting_loop(function, head)).collect()
}

fn counting_loop(function: &Function, head: BlockId) -> Option<CountingLoop> {
    let Terminator::Branch { condition: Operand::Local(condition), then, otherwise } = function.blocks[head].terminator
    else {
        return None;
    };
    let test = function.blocks[head].statements.iter().find(|s| s.stmt.assigns().contains(&condition))?;
    let Stmt::Assign { expr: Expr::Compare { op, bits, left: Operand::Local(counter), right }, .. } = &test.stmt else {
        return None;
    };
    let before: BTreeSet<BlockId> = match function.blocks.ids().next() {
        Some(entry) if entry != head => reachable(function, entry, |_, to| to != head),
        _ => return None,
    };
    let (_, sources) = phis(function, head).find(|(dst, _)| dst == counter)?;
    let mut first = None;
    for (from, value) in sources {
        match value {
            // Where control enters the loop.
            Operand::Const(n) if before.contains(from) && *n >= 0 && first.is_none_or(|first| first == *n) => {
                first = Some(*n);
            }
            // Where it goes round.
            Operand::Local(next) if !before.contains(from) && is_successor(function, *next, *counter, *bits) => {}
            _ => return None,
        }
    }
    let counts = matches!(op, CompareOp::SLt | CompareOp::SLe | CompareOp::ULt | CompareOp::ULe | CompareOp::Ne);
    let goes_round = |block: &BlockId| reachable(function, *block, |_, _| true).contains(&head);
    let mut inside: BTreeSet<BlockId> = reachable(function, then, |_, to| to != head);
    inside.retain(|block| !before.contains(block) && goes_round(block));
    inside.insert(head);
    let shape = counts && inside.contains(&then) && !inside.contains(&otherwise);
    let range = Range { first: first?, op: *op, bits: *bits, bound: *right };
    shape.then_some(CountingLoop { head, exit: otherwise, inside, counter: *counter, range })
}

/// Whether a local is the other one plus one.
fn is_successor(function: &Function, local: LocalId, of: LocalId, width: u8) -> bool {
    let mut statements = function.blocks.iter().flat_map(|b| &b.statements);
    let definition = statements.find(|s| s.stmt.assigns().contains(&local));
    matches!(definition.map(|s| &s.stmt), Some(Stmt::Assign {
        expr: Expr::Binary { op: BinaryOp::Add, bits, left: Operand::Local(left), right: Operand::Const(1) }, ..
    }) if *left == of && *bits == width)
}

/// The blocks that control can get to from a block, itself included, by edges that are allowed.
pub(crate) fn reachable(
    function: &Function,
    from: BlockId,
    allowed: impl Fn(BlockId, BlockId) -> bool,
) -> BTreeSet<BlockId> {
    let (mut found, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(block) = open.pop() {
        let targets = function.blocks[block].terminator.targets().into_iter().filter(|to| allowed(block, *to));
        open.extend(targets.filter(|to| found.insert(*to)));
    }
    found
}
