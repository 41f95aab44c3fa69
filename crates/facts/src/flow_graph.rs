//! A function's blocks as a graph: order, predecessors, dominators, loops and what counts in them.

use model::index::{Idx, IndexVec};
use model::{Budget, Spent};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use program::{Block, BlockId, CompareOp, Expr, Function, FunctionId, LocalId, Operand, Program, Stmt, Terminator};

use crate::Rounds;
use crate::address::{Address, Addresses, Base};

/// The graph of one function's blocks.
pub struct FlowGraph {
    /// Blocks that can be reached, in reverse postorder.
    pub order: Vec<BlockId>,
    /// Who goes to a block.
    pub predecessors: IndexVec<BlockId, Vec<BlockId>>,
    dominator: IndexVec<BlockId, Option<BlockId>>,
    position: IndexVec<BlockId, Option<u32>>,
    /// Loops, by their headers, outer ones first.
    pub loops: Vec<Loop>,
    repeating: IndexVec<BlockId, bool>,
}

/// A natural loop.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Where it is entered.
    pub header: BlockId,
    /// All its blocks, sorted.
    pub body: Vec<BlockId>,
    /// Blocks that go back to the header.
    pub latches: Vec<BlockId>,
}

impl Loop {
    /// Whether a block belongs to it.
    pub fn contains(&self, block: BlockId) -> bool {
        self.body.binary_search(&block).is_ok()
    }
}

/// A local that counts a loop's rounds: it starts at `start` and grows by `step` each round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counter {
    /// The local, assigned at the header.
    pub local: LocalId,
    /// Its first value.
    pub start: Operand,
    /// What is added each round; never 0.
    pub step: i64,
}

/// A loop whose counter shrinks by 1 down to a bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CountedDown {
    /// What counts.
    pub counter: Counter,
    /// Rounds are done while the counter is above this.
    pub bound: Operand,
    /// Rounds are done while it is equal, too.
    pub inclusive: bool,
    /// Where the header goes when the bound is reached.
    pub exit: BlockId,
}

/// A loop that ends when its counter reaches a bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counted {
    /// What counts.
    pub counter: Counter,
    /// Rounds are done while the counter is below this.
    pub bound: Operand,
    /// Where the header goes when the bound is reached.
    pub exit: BlockId,
}

impl FlowGraph {
    /// Looks at a function with a body.
    pub fn new(function: &Function) -> Self {
        let count = function.blocks.len();
        let mut predecessors: IndexVec<BlockId, Vec<BlockId>> = IndexVec::filled(count, Vec::new());
        let mut position: IndexVec<BlockId, Option<u32>> = IndexVec::filled(count, None);
        let order = postorder(function);
        for (rank, block) in order.iter().enumerate() {
            position[*block] = Some(rank as u32);
        }
        for block in &order {
            for target in function.blocks[*block].terminator.targets() {
                if !predecessors[target].contains(block) {
                    predecessors[target].push(*block);
                }
            }
        }
        let repeating = on_cycles(function, &order);
        let mut this = Self {
            dominator: IndexVec::filled(count, None),
            order,
            predecessors,
            position,
            loops: Vec::new(),
            repeating,
        };
        this.find_dominators();
        this.find_loops(function);
        this
    }

    /// Cooper, Harvey and Kennedy, *A Simple, Fast Dominance Algorithm*. `petgraph::algo::dominators` does the same over hash
    /// maps: on 1,000 functions of 41 blocks it takes 40 ms where this takes 4 ms.
    fn find_dominators(&mut self) {
        let Some(entry) = self.order.first().copied() else { return };
        self.dominator[entry] = Some(entry);
        let mut changed = true;
        while changed {
            changed = false;
            for block in self.order.iter().skip(1) {
                let known = self.predecessors[*block].iter().copied().filter(|p| self.dominator[*p].is_some());
                let new = known.reduce(|one, other| self.common(one, other));
                if self.dominator[*block] != new {
                    self.dominator[*block] = new;
                    changed = true;
                }
            }
        }
    }
    fn common(&self, mut one: BlockId, mut other: BlockId) -> BlockId {
        while one != other {
            while self.position[one] > self.position[other] {
                one = self.dominator[one].unwrap_or(other);
            }
            while self.position[other] > self.position[one] {
                other = self.dominator[other].unwrap_or(one);
            }
        }
        one
    }
    /// Whether every way to a block leads through the other one.
    pub fn dominates(&self, one: BlockId, mut block: BlockId) -> bool {
        loop {
            if one == block {
                return true;
            }
            match self.dominator[block] {
                Some(next) if next != block => block = next,
                _ => return false,
            }
        }
    }
    /// Whether a block may be executed again after it was left.
    pub fn repeats(&self, block: BlockId) -> bool {
        self.repeating[block]
    }
    /// Whether the block can be reached at all.
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.position[block].is_some()
    }

    fn find_loops(&mut self, function: &Function) {
        let mut loops: Vec<Loop> = Vec::new();
        for block in &self.order {
            for header in function.blocks[*block].terminator.targets() {
                // Only an edge to an earlier block can close a loop.
                if self.position[header] > self.position[*block] || !self.dominates(header, *block) {
                    continue;
                }
                let known = loops.iter().position(|l| l.header == header);
                let at = known.unwrap_or_else(|| {
                    loops.push(Loop { header, body: vec![header], latches: Vec::new() });
                    loops.len() - 1
                });
                loops[at].latches.push(*block);
                let mut open = vec![*block];
                while let Some(next) = open.pop() {
                    if let Err(place) = loops[at].body.binary_search(&next) {
                        loops[at].body.insert(place, next);
                        open.extend(self.predecessors[next].iter().copied());
                    }
                }
            }
        }
        loops.sort_by_key(|l| (std::cmp::Reverse(l.body.len()), l.header));
        self.loops = loops;
    }
    /// The innermost loop that holds a block.
    pub fn innermost(&self, block: BlockId) -> Option<&Loop> {
        self.loops.iter().rev().find(|l| l.contains(block))
    }

    /// The counters of a loop.
    pub fn counters(&self, function: &Function, addresses: &Addresses, id: FunctionId, of: &Loop) -> Vec<Counter> {
        let phis = function.blocks[of.header].statements.iter().filter_map(|s| match &s.stmt {
            Stmt::Assign { dst, expr: Expr::Phi(sources) } => Some((*dst, sources)),
            _ => None,
        });
        phis.filter_map(|(local, sources)| {
            let (mut start, mut step) = (None, None);
            for (from, value) in sources {
                if of.contains(*from) {
                    let address = addresses.of(id, value);
                    let grows = address.base == Base::Local(local) && address.index.is_none() && address.offset != 0;
                    if !grows || step.is_some_and(|s| s != address.offset) {
                        return None;
                    }
                    step = Some(address.offset);
                } else if start.is_none_or(|s| s == *value) {
                    start = Some(*value);
                } else {
                    return None;
                }
            }
            Some(Counter { local, start: start?, step: step? })
        })
        .collect()
    }

    /// How the loop counts, if its header decides by a counter that grows by 1 up to a bound.
    pub fn counted(&self, function: &Function, addresses: &Addresses, id: FunctionId, of: &Loop) -> Option<Counted> {
        use CompareOp::{Ne, SGt, SLt, UGt, ULt};
        let (holds, left, right, exit) = self.stays(function, of)?;
        let counters = self.counters(function, addresses, id, of);
        let is = |operand: &Operand| {
            let address = addresses.of(id, operand);
            counters.iter().copied().find(|c| c.step == 1 && address == Address::of_local(c.local))
        };
        match (holds, is(&left), is(&right)) {
            (SLt | ULt | Ne, Some(counter), None) => Some(Counted { counter, bound: right, exit }),
            (SGt | UGt | Ne, None, Some(counter)) => Some(Counted { counter, bound: left, exit }),
            _ => None,
        }
    }

    /// How the loop counts, if its header decides by a counter that shrinks by 1 down to a bound.
    pub fn counted_down(
        &self,
        function: &Function,
        addresses: &Addresses,
        id: FunctionId,
        of: &Loop,
    ) -> Option<CountedDown> {
        use CompareOp::{Ne, SGe, SGt, UGt};
        let (holds, left, bound, exit) = self.stays(function, of)?;
        let counters = self.counters(function, addresses, id, of);
        let address = addresses.of(id, &left);
        let counter = counters.into_iter().find(|c| c.step == -1 && address == Address::of_local(c.local))?;
        match holds {
            SGt | UGt | Ne => Some(CountedDown { counter, bound, inclusive: false, exit }),
            SGe => Some(CountedDown { counter, bound, inclusive: true, exit }),
            _ => None,
        }
    }

    /// The comparison that holds at a loop's header while the loop is not left there, and where it is left to.
    fn stays(&self, function: &Function, of: &Loop) -> Option<(CompareOp, Operand, Operand, BlockId)> {
        let Terminator::Branch { condition: Operand::Local(condition), then, otherwise } =
            &function.blocks[of.header].terminator
        else {
            return None;
        };
        let (outside, negated) = match (of.contains(*then), of.contains(*otherwise)) {
            (true, false) => (otherwise, false),
            (false, true) => (then, true),
            _ => return None,
        };
        let (op, left, right) = self.comparison(function, *condition)?;
        use CompareOp::{Eq, Ne, SGe, SGt, SLe, SLt, UGe, UGt, ULe, ULt};
        let holds = match (op, negated) {
            (op, false) => op,
            (SGe, true) => SLt,
            (UGe, true) => ULt,
            (SLe, true) => SGt,
            (ULe, true) => UGt,
            (SLt, true) => SGe,
            (Eq, true) => Ne,
            _ => return None,
        };
        Some((holds, left, right, *outside))
    }

    /// Whether a loop is left at its header only, but for ways straight out of the function.
    pub fn leaves_at_header(&self, function: &Function, of: &Loop) -> bool {
        let resumes = |block: BlockId| {
            let Block { statements, terminator } = &function.blocks[block];
            statements.is_empty() && *terminator == Terminator::Resume
        };
        let mut inside = of.body.iter().filter(|block| **block != of.header);
        inside.all(|block| {
            let targets = function.blocks[*block].terminator.targets();
            targets.into_iter().all(|target| of.contains(target) || resumes(target))
        })
    }

    /// The comparison that a local is the result of.
    pub fn comparison(&self, function: &Function, local: LocalId) -> Option<(CompareOp, Operand, Operand)> {
        let mut statements = function.blocks.iter().flat_map(|b| &b.statements);
        statements.find_map(|s| match &s.stmt {
            Stmt::Assign { dst, expr: Expr::Compare { op, left, right, .. } } if *dst == local => {
                Some((*op, *left, *right))
            }
            _ => None,
        })
    }
}

/// The graphs of all functions with bodies.
pub(crate) fn flow_graphs(program: &Program, budget: &Budget) -> Result<IndexVec<FunctionId, FlowGraph>, Spent> {
    let (mut graphs, mut rounds) = (IndexVec::new(), Rounds::new(budget, 64));
    for function in &program.functions {
        rounds.begin()?;
        graphs.push(FlowGraph::new(function));
    }
    Ok(graphs)
}

/// Reverse postorder of the blocks that can be reached.
fn postorder(function: &Function) -> Vec<BlockId> {
    let mut seen = IndexVec::<BlockId, bool>::filled(function.blocks.len(), false);
    let mut order = Vec::new();
    let Some(entry) = function.blocks.ids().next() else { return order };
    let mut open = vec![(entry, function.blocks[entry].terminator.targets())];
    seen[entry] = true;
    while let Some((block, targets)) = open.last_mut() {
        match targets.pop() {
            Some(next) if !seen[next] => {
                seen[next] = true;
                open.push((next, function.blocks[next].terminator.targets()));
            }
            Some(_) => {}
            None => {
                order.push(*block);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Which blocks are on a cycle.
fn on_cycles(function: &Function, order: &[BlockId]) -> IndexVec<BlockId, bool> {
    let mut graph: DiGraph<(), (), u32> = DiGraph::with_capacity(function.blocks.len(), 2 * function.blocks.len());
    function.blocks.ids().for_each(|_| {
        graph.add_node(());
    });
    for block in order {
        for target in function.blocks[*block].terminator.targets() {
            graph.add_edge(block.0.into(), target.0.into(), ());
        }
    }
    let mut repeating = IndexVec::filled(function.blocks.len(), false);
    for group in kosaraju_scc(&graph) {
        if group.len() > 1 || graph.contains_edge(group[0], group[0]) {
            group.into_iter().for_each(|node| repeating[BlockId::new(node.index())] = true);
        }
    }
    repeating
}
