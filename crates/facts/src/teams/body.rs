//! The code of one region: barriers, shared loops, and what keeps statements in one thread.

use std::collections::{BTreeMap, BTreeSet};

use model::SiteId;
use program::{BlockId, Callee, CompareOp, Expr, FunctionId, LocalId, Operand, Program, Stmt, Terminator};

use super::affine::{Forms, Var};
use super::{Assumed, Calls, apart};
use crate::flow_graph::FlowGraph;

/// Functions that wait for all threads of the team.
const BARRIERS: [&str; 4] = ["__kmpc_barrier", "__kmpc_cancel_barrier", "__kmpc_copyprivate", "__kmpc_end_reduce"];
/// A statement of the code: the access itself, or a call of what makes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Point {
    pub(super) block: BlockId,
    pub(super) index: usize,
    pub(super) own: bool,
}

/// What keeps a statement in one thread.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Guard {
    /// The thread with this number.
    Thread(i64),
    /// The thread that executes this `single`, the last iteration of this loop, or a certain iteration of it: one thread each
    /// time the statement at this place is reached.
    Once(Place, OnceKind),
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum OnceKind {
    Single,
    Last,
    Iteration(i64),
    Ordered,
}

/// A statement.
pub(super) type Place = (BlockId, usize);

/// A loop whose iterations the threads share out.
#[derive(Clone, Debug)]
pub(super) struct SharedLoop {
    /// What starts it.
    pub(super) init: Place,
    /// Its first and last iteration, where they are numbers.
    pub(super) bounds: Option<(i64, i64)>,
}

/// The code of a region.
pub(super) struct Body<'f> {
    program: &'f Program,
    code: FunctionId,
    graph: &'f FlowGraph,
    /// The last barriers before the start of each block, by number; the region's start is number 0. `None` if functions
    /// that it calls have barriers.
    phases: Option<BTreeMap<BlockId, BTreeSet<usize>>>,
    barriers: BTreeMap<Place, usize>,
    guards: BTreeMap<BlockId, BTreeSet<Guard>>,
    /// Statements in the `ordered` part of a loop: the call that enters it, and what starts the loop.
    ordered: BTreeMap<Place, Place>,
    forms: Forms<'f>,
}

impl<'f> Body<'f> {
    /// Looks at the code. `changed` says of a load whether the region may change what it reads.
    pub(super) fn new(
        program: &'f Program,
        code: FunctionId,
        graph: &'f FlowGraph,
        calls: &Calls<'_>,
        changed: &dyn Fn(SiteId) -> bool,
    ) -> Self {
        let function = &program.functions[code];
        let mut barriers = BTreeMap::new();
        let mut hidden = false;
        for ((_, block, index), callee) in calls.of(code) {
            if BARRIERS.contains(&program.functions[*callee].symbol.as_str()) {
                let number = barriers.len() + 1;
                barriers.entry((*block, *index)).or_insert(number);
            } else {
                let reached = calls.closure(*callee);
                hidden |= reached.iter().any(|f| BARRIERS.contains(&program.functions[*f].symbol.as_str()));
            }
        }
        let forms = Forms::new(program, code, graph, true, changed);
        let mut body = Self {
            program,
            code,
            graph,
            phases: None,
            barriers,
            guards: BTreeMap::new(),
            ordered: BTreeMap::new(),
            forms,
        };
        body.phases = (!hidden).then(|| body.find_phases());
        for (block, _) in function.blocks.iter_enumerated() {
            let guards = body.guards_of(block);
            body.guards.insert(block, guards);
        }
        body.ordered = body.find_ordered();
        body
    }

    /// Whether the block can be executed.
    pub(super) fn is_alive(&self, block: BlockId) -> bool {
        self.graph.is_reachable(block)
    }

    /// The name of the function that a statement calls.
    fn called(&self, (block, index): Place) -> Option<(&'f str, &'f [Operand])> {
        called(self.program, self.code, (block, index))
    }

    fn find_phases(&self) -> BTreeMap<BlockId, BTreeSet<usize>> {
        let blocks = &self.program.functions[self.code].blocks;
        let mut before: BTreeMap<BlockId, BTreeSet<usize>> = BTreeMap::new();
        let Some(entry) = self.graph.order.first() else { return before };
        before.insert(*entry, BTreeSet::from([0]));
        let mut changed = true;
        while changed {
            changed = false;
            for block in &self.graph.order {
                let last = self.barriers.range((*block, 0)..=(*block, usize::MAX)).next_back();
                let after = match last {
                    Some((_, number)) => BTreeSet::from([*number]),
                    None => before.get(block).cloned().unwrap_or_default(),
                };
                for target in blocks[*block].terminator.targets() {
                    let known = before.entry(target).or_default();
                    let size = known.len();
                    known.extend(&after);
                    changed |= known.len() > size;
                }
            }
        }
        before
    }

    /// The barriers that may be the last one before a statement.
    fn phases_at(&self, phases: &BTreeMap<BlockId, BTreeSet<usize>>, at: Point) -> BTreeSet<usize> {
        match self.barriers.range((at.block, 0)..(at.block, at.index)).next_back() {
            Some((_, number)) => BTreeSet::from([*number]),
            None => phases.get(&at.block).cloned().unwrap_or_default(),
        }
    }

    /// Whether a statement can be reached again without a barrier on the way.
    pub(super) fn repeats_in_phase(&self, (block, index): Place) -> bool {
        let blocks = &self.program.functions[self.code].blocks;
        let has_barrier =
            |block: BlockId, from: usize| self.barriers.range((block, from)..=(block, usize::MAX)).next().is_some();
        if has_barrier(block, index + 1) {
            return false;
        }
        let (mut seen, mut open) = (BTreeSet::new(), blocks[block].terminator.targets().to_vec());
        while let Some(next) = open.pop() {
            if next == block && self.barriers.range((block, 0)..(block, index)).next().is_none() {
                return true;
            }
            if seen.insert(next) && !has_barrier(next, 0) {
                open.extend(blocks[next].terminator.targets());
            }
        }
        false
    }

    /// What keeps a block in one thread: branches whose one side alone leads to it.
    fn guards_of(&self, block: BlockId) -> BTreeSet<Guard> {
        let blocks = &self.program.functions[self.code].blocks;
        let leads_only =
            |from: BlockId, to: BlockId| self.graph.predecessors[to] == [from] && self.graph.dominates(to, block);
        let mut guards = BTreeSet::new();
        for (from, content) in blocks.iter_enumerated().filter(|(from, _)| self.graph.is_reachable(*from)) {
            match &content.terminator {
                Terminator::Branch { condition, then, otherwise } if then != otherwise => {
                    guards.extend(self.guard(from, *condition, true).filter(|_| leads_only(from, *then)));
                    guards.extend(self.guard(from, *condition, false).filter(|_| leads_only(from, *otherwise)));
                }
                Terminator::Switch { value, cases, .. } => {
                    let of = cases.iter().filter(|(_, target)| leads_only(from, *target));
                    guards.extend(of.filter_map(|(case, _)| self.equal(from, *value, *case)));
                }
                _ => {}
            }
        }
        guards
    }

    /// What holds where a condition does, or does not.
    fn guard(&self, at: BlockId, condition: Operand, holds: bool) -> Option<Guard> {
        let Operand::Local(local) = condition else { return None };
        let Stmt::Assign { expr: Expr::Compare { op, left, right, .. }, .. } = &self.forms.definition(local)?.1 else {
            return None;
        };
        let equal = match op {
            CompareOp::Eq => holds,
            CompareOp::Ne => !holds,
            _ => return None,
        };
        match (equal, left, right) {
            (true, other, Operand::Const(number)) | (true, Operand::Const(number), other) => {
                self.equal(at, *other, *number)
            }
            (false, Operand::Local(result), Operand::Const(0)) => self.nonzero(*result),
            _ => None,
        }
    }

    /// What holds where a function's result, or a variable of the library, is not 0.
    fn nonzero(&self, result: LocalId) -> Option<Guard> {
        let (place, stmt) = self.forms.definition(result)?;
        match stmt {
            Stmt::Call { .. } => match self.called(place)? {
                ("__kmpc_master", _) => Some(Guard::Thread(0)),
                ("__kmpc_masked", [_, _, Operand::Const(filter)]) => Some(Guard::Thread(*filter)),
                ("__kmpc_single", _) => Some(Guard::Once(place, OnceKind::Single)),
                _ => None,
            },
            Stmt::Load { address: Operand::Local(variable), .. } => {
                let init = self.forms.last_flags.get(variable)?;
                Some(Guard::Once(*init, OnceKind::Last))
            }
            _ => None,
        }
    }

    /// What holds where a value is this number, after a comparison in this block.
    fn equal(&self, at: BlockId, value: Operand, number: i64) -> Option<Guard> {
        let form = self.forms.of(value);
        if form.base.is_some() || form.unknown {
            return None;
        }
        let [(var, coefficient)] = form.terms.iter().collect::<Vec<_>>()[..] else { return None };
        if *coefficient != 1 {
            return None;
        }
        let number = number.checked_sub(form.constant)?;
        match var {
            Var::Thread => Some(Guard::Thread(number)),
            Var::Split(index, header) if self.forms.is_round(*header, at) => {
                Some(Guard::Once(self.forms.shared_loops[*index].init, OnceKind::Iteration(number)))
            }
            _ => None,
        }
    }

    /// Statements that are surely between the start and the end of an `ordered` part, with what starts its loop.
    fn find_ordered(&self) -> BTreeMap<Place, Place> {
        let blocks = &self.program.functions[self.code].blocks;
        let step = |state: &mut BTreeSet<Option<Place>>, place: Place| match self.called(place) {
            Some(("__kmpc_ordered", _)) => *state = BTreeSet::from([Some(place)]),
            Some(("__kmpc_end_ordered", _)) => *state = BTreeSet::from([None]),
            _ => {}
        };
        let mut before: BTreeMap<BlockId, BTreeSet<Option<Place>>> = BTreeMap::new();
        let Some(entry) = self.graph.order.first() else { return BTreeMap::new() };
        before.insert(*entry, BTreeSet::from([None]));
        let mut changed = true;
        while changed {
            changed = false;
            for block in &self.graph.order {
                let mut state = before.get(block).cloned().unwrap_or_default();
                (0..blocks[*block].statements.len()).for_each(|index| step(&mut state, (*block, index)));
                for target in blocks[*block].terminator.targets() {
                    let known = before.entry(target).or_default();
                    let size = known.len();
                    known.extend(&state);
                    changed |= known.len() > size;
                }
            }
        }
        let mut inside = BTreeMap::new();
        for (block, content) in blocks.iter_enumerated() {
            let mut state = before.get(&block).cloned().unwrap_or_default();
            for index in 0..content.statements.len() {
                if let [Some(entered)] = state.iter().collect::<Vec<_>>()[..] {
                    inside.extend(self.loop_around(entered.0).map(|init| ((block, index), init)));
                }
                step(&mut state, (block, index));
            }
        }
        inside
    }

    /// What starts the loop that a block is in whose iterations are handed out: the last such call before it on every way.
    fn loop_around(&self, block: BlockId) -> Option<Place> {
        let inits = self.forms.shared_loops.iter().map(|shared| shared.init);
        let around: Vec<Place> =
            inits.filter(|(init, _)| *init != block && self.graph.dominates(*init, block)).collect();
        let last = around.iter().find(|one| around.iter().all(|other| self.graph.dominates(other.0, one.0)))?;
        Some(*last)
    }

    fn guards_at(&self, at: Point) -> BTreeSet<Guard> {
        let mut guards = self.guards.get(&at.block).cloned().unwrap_or_default();
        if let Some(init) = self.ordered.get(&(at.block, at.index)) {
            guards.insert(Guard::Once(*init, OnceKind::Ordered));
        }
        guards
    }

    /// What it takes that two statements, executed by different threads of a team, cannot race; `None` if they may.
    pub(super) fn separation(&self, one: Point, other: Point) -> Option<Assumed> {
        let (ones, others) = (self.guards_at(one), self.guards_at(other));
        let common = || ones.intersection(&others);
        if common().any(|guard| matches!(guard, Guard::Thread(_))) {
            return Some(Assumed::default());
        }
        let by_number = one.own && other.own && apart::by_thread(&self.forms, [self.access(one), self.access(other)]);
        if by_number {
            return Some(Assumed { indices: true, barriers: false });
        }
        let barriers = !self.barriers.is_empty();
        let phases = self.phases.as_ref()?;
        if self.phases_at(phases, one).is_disjoint(&self.phases_at(phases, other)) {
            return Some(Assumed { indices: false, barriers });
        }
        if common().any(|guard| matches!(guard, Guard::Once(place, _) if !self.repeats_in_phase(*place))) {
            return Some(Assumed { indices: false, barriers });
        }
        let is_repeated = |init: Place| self.repeats_in_phase(init);
        let accesses = || [self.access(one), self.access(other)];
        let by_iteration = one.own && other.own && apart::by_iteration(&self.forms, accesses(), &is_repeated);
        by_iteration.then_some(Assumed { indices: true, barriers })
    }

    fn access(&self, at: Point) -> (BlockId, &'f Stmt) {
        (at.block, &self.program.functions[self.code].blocks[at.block].statements[at.index].stmt)
    }
}

/// The name of the function that a statement calls, and what it is given.
pub(super) fn called(program: &Program, code: FunctionId, (block, index): Place) -> Option<(&str, &[Operand])> {
    match &program.functions[code].blocks[block].statements.get(index)?.stmt {
        Stmt::Call { callee: Callee::Direct(callee), args, .. } => {
            Some((program.functions[*callee].symbol.as_str(), args))
        }
        _ => None,
    }
}
