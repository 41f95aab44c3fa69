//! What the branches of a function depend on: which values are worth keeping, and for how long.
//!
//! A value is kept for a terminator, a lock of an array or a store to a flag that uses it, through any computation. Computations are done
//! when they are needed, from the values at their ends: loads, calls, tries and phis. In SSA form that gives the same:
//! a value cannot be used after one of its ends has been assigned again without being computed anew itself.

use std::collections::{BTreeMap, BTreeSet};

use facts::invocations::ProgramPoint;
use program::{BinaryOp, BlockId, Expr, Function, FunctionId, LocalId, Operand, Stmt, SyncOp, TryMode};

use crate::flags::Flags;

/// What the branches of one function depend on.
pub(crate) struct Deciding<'a> {
    definitions: BTreeMap<LocalId, (ProgramPoint, &'a Stmt)>,
    /// Locals that may be known at some time.
    knowable: BTreeSet<LocalId>,
    /// By block: the locals that are still needed when it has been entered, its phis included.
    live: BTreeMap<BlockId, BTreeSet<LocalId>>,
    /// Locals that are needed somewhere.
    needed: BTreeSet<LocalId>,
}

impl<'a> Deciding<'a> {
    /// Looks through a function. Loads of flags are known, and what is stored to flags is needed; without flags every
    /// load is taken for known, to see which variables could be flags.
    pub(crate) fn new(id: FunctionId, function: &'a Function, flags: Option<&Flags>) -> Self {
        let mut definitions = BTreeMap::new();
        for (block, body) in function.blocks.iter_enumerated() {
            for (index, statement) in body.statements.iter().enumerate() {
                let defined = statement.stmt.assigns().into_iter();
                definitions.extend(defined.map(|dst| (dst, ((id, block, index), &statement.stmt))));
            }
        }
        let (knowable, live, needed) = Default::default();
        let mut this = Self { definitions, knowable, live, needed };
        this.find_knowable(function, flags);
        while this.find_live(id, function, |place| flags.is_some_and(|flags| flags.at(place).is_some())) {}
        this
    }

    fn find_knowable(&mut self, function: &Function, flags: Option<&Flags>) {
        self.knowable.extend((0..function.params).map(LocalId));
        loop {
            let before = self.knowable.len();
            for (local, (place, stmt)) in &self.definitions {
                let knows = |operand: &Operand| match operand {
                    Operand::Const(_) => true,
                    Operand::Local(local) => self.knowable.contains(local),
                    _ => false,
                };
                let known = match stmt {
                    Stmt::Load { .. } | Stmt::Rmw { .. } | Stmt::CompareExchange { .. } => {
                        flags.is_none_or(|flags| flags.at(*place).is_some())
                    }
                    Stmt::Call { .. } => true,
                    Stmt::Sync { op: SyncOp::Lock { wait, .. } | SyncOp::SemWait { wait, .. }, .. } => {
                        *wait != TryMode::Wait
                    }
                    Stmt::Assign { expr: Expr::Phi(sources), .. } => {
                        sources.iter().any(|(_, operand)| knows(operand)) && self.has_few_values(*local)
                    }
                    Stmt::Assign { expr: Expr::Select { then, otherwise, .. }, .. } => knows(then) || knows(otherwise),
                    Stmt::Assign { expr: Expr::Offset { .. }, .. } => false,
                    Stmt::Assign { expr, .. } => expr.operands().iter().all(knows),
                    _ => false,
                };
                if known {
                    self.knowable.insert(*local);
                }
            }
            if self.knowable.len() == before {
                return;
            }
        }
    }

    /// One pass backwards; whether something changed.
    fn find_live(&mut self, id: FunctionId, function: &Function, stores: impl Fn(ProgramPoint) -> bool) -> bool {
        let mut changed = false;
        for (block, body) in function.blocks.iter_enumerated().rev() {
            let mut live = BTreeSet::new();
            for target in body.terminator.targets() {
                self.live_on_edge(function, block, target, &mut live);
            }
            body.terminator.operands().iter().for_each(|operand| self.add(operand, &mut live));
            for (index, statement) in body.statements.iter().enumerate().rev() {
                if matches!(statement.stmt, Stmt::Assign { expr: Expr::Phi(_), .. }) {
                    continue;
                }
                self.needed.extend(live.iter().copied());
                statement.stmt.assigns().iter().for_each(|dst| {
                    live.remove(dst);
                });
                if stores((id, block, index)) {
                    statement.stmt.operands().iter().for_each(|operand| self.add(operand, &mut live));
                }
                self.lock_index(&statement.stmt).iter().for_each(|operand| self.add(operand, &mut live));
            }
            self.needed.extend(live.iter().copied());
            changed |= self.live.get(&block) != Some(&live);
            self.live.insert(block, live);
        }
        changed
    }

    /// What decides which lock of an array a statement means.
    fn lock_index(&self, stmt: &Stmt) -> Option<Operand> {
        let Stmt::Sync {
            op: SyncOp::Lock { lock, .. } | SyncOp::Unlock { lock } | SyncOp::CondWait { lock, .. }, ..
        } = stmt
        else {
            return None;
        };
        let Operand::Local(local) = lock else { return None };
        match self.definition(*local)? {
            Stmt::Assign { expr: Expr::Offset { index, .. }, .. } => Some(*index),
            _ => None,
        }
    }

    /// What is needed when control goes from one block to another, before the phis.
    fn live_on_edge(&self, function: &Function, from: BlockId, to: BlockId, live: &mut BTreeSet<LocalId>) {
        let Some(needed) = self.live.get(&to) else { return };
        let mut needed = needed.clone();
        for (dst, sources) in phis(function, to) {
            if needed.remove(&dst) {
                let source = sources.iter().find(|(block, _)| *block == from);
                source.into_iter().for_each(|(_, operand)| self.add(operand, live));
            }
        }
        live.extend(needed);
    }

    /// Adds an operand and all it is computed from, if it may ever be known.
    fn add(&self, operand: &Operand, to: &mut BTreeSet<LocalId>) {
        let Operand::Local(local) = operand else { return };
        if !self.knowable.contains(local) || !to.insert(*local) {
            return;
        }
        if let Some((_, Stmt::Assign { expr, .. })) = self.definitions.get(local)
            && !matches!(expr, Expr::Phi(_))
        {
            expr.operands().iter().for_each(|operand| self.add(operand, to));
        }
    }

    /// The statement that assigns a local; `None` for parameters.
    pub(crate) fn definition(&self, local: LocalId) -> Option<&'a Stmt> {
        self.definitions.get(&local).map(|(_, stmt)| *stmt)
    }
    /// Whether a local is still needed when a block has been entered.
    pub(crate) fn is_live(&self, block: BlockId, local: LocalId) -> bool {
        self.live.get(&block).is_some_and(|live| live.contains(&local))
    }
    /// Whether a local is needed anywhere.
    pub(crate) fn is_needed(&self, local: LocalId) -> bool {
        self.needed.contains(&local)
    }

    /// Whether a local is made of loads, results, constants and logic alone: it has few values, and following them
    /// does not unroll loops that count.
    fn has_few_values(&self, local: LocalId) -> bool {
        let (mut found, mut open) = (BTreeSet::from([local]), vec![local]);
        while let Some(local) = open.pop() {
            let Some((_, Stmt::Assign { expr, .. })) = self.definitions.get(&local) else { continue };
            let logic = match expr {
                Expr::Binary { op, .. } => matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor),
                Expr::Offset { .. } => false,
                _ => true,
            };
            if !logic {
                return false;
            }
            let used =
                expr.operands().into_iter().filter_map(|o| if let Operand::Local(l) = o { Some(l) } else { None });
            open.extend(used.filter(|l| found.insert(*l)));
        }
        true
    }
}

/// The phis of a block.
pub(crate) fn phis(function: &Function, block: BlockId) -> impl Iterator<Item = (LocalId, &[(BlockId, Operand)])> {
    function.blocks[block].statements.iter().map_while(|s| match &s.stmt {
        Stmt::Assign { dst, expr: Expr::Phi(sources) } => Some((*dst, sources.as_slice())),
        _ => None,
    })
}
