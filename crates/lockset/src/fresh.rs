//! Accesses to a new heap block by the function that made it, before anybody else can know it.
//!
//! A block is shown when its address is stored, passed to a function that may keep it, given to a new thread or
//! returned. Before that only its maker touches it. What comes after that by another thread happens later, if the
//! address itself is passed on without a race: [`crate::verdict`] checks that for every place the address is stored in.

use std::collections::{BTreeMap, BTreeSet};

use facts::Solved;
use facts::address::{Address, Base};
use facts::invocations::ProgramPoint;
use model::index::IndexVec;
use program::library;
use program::{BlockId, FunctionId, LocalId, Operand, Stmt, SyncOp, Terminator};

/// Which accesses are to blocks that nobody else knows yet.
pub(crate) struct Fresh {
    /// Parameters whose value a function may show to others.
    shows: IndexVec<FunctionId, Vec<bool>>,
    /// By function and local that holds a new block: from which statement of each block on it may have been shown.
    shown: BTreeMap<(FunctionId, LocalId), BTreeMap<BlockId, usize>>,
}

impl Fresh {
    pub(crate) fn new(facts: &Solved<'_>) -> Self {
        let program = facts.program;
        let mut shows: IndexVec<FunctionId, Vec<bool>> = IndexVec::new();
        for function in &program.functions {
            shows.push(vec![function.blocks.is_empty(); function.params as usize]);
        }
        let mut this = Self { shows, shown: BTreeMap::new() };
        // What is passed on is found in the next round.
        for _ in 0..16 {
            let mut changed = false;
            for (id, function) in program.functions.iter_enumerated() {
                let showing = this.showing(facts, id);
                for parameter in 0..function.params {
                    let slot = parameter as usize;
                    if !this.shows[id][slot] && showing.contains_key(&LocalId(parameter)) {
                        this.shows[id][slot] = true;
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        if this.unsettled(facts) {
            this.shows.iter_mut().for_each(|list| list.fill(true));
        }
        for (id, function) in program.functions.iter_enumerated() {
            let made: Vec<(LocalId, ProgramPoint)> = made_in(facts, id);
            if made.is_empty() {
                continue;
            }
            let showing = this.showing(facts, id);
            for (local, place) in made {
                let from = showing.get(&local).map_or(&[][..], Vec::as_slice);
                this.shown.insert((id, local), spread(function, place, from));
            }
        }
        this
    }

    /// Whether another round would still find something.
    fn unsettled(&self, facts: &Solved<'_>) -> bool {
        facts.program.functions.iter_enumerated().any(|(id, function)| {
            let showing = self.showing(facts, id);
            (0..function.params).any(|p| !self.shows[id][p as usize] && showing.contains_key(&LocalId(p)))
        })
    }

    /// Whether an access is to a new block that nobody else knows yet.
    pub(crate) fn is_fresh(&self, place: ProgramPoint, address: &Address) -> bool {
        let Base::Local(local) = address.base else { return false };
        let Some(shown) = self.shown.get(&(place.0, local)) else { return false };
        shown.get(&place.1).is_none_or(|from| place.2 < *from)
    }

    /// The statements that show the value of a local to others; a terminator counts as one more statement.
    fn showing(&self, facts: &Solved<'_>, function: FunctionId) -> BTreeMap<LocalId, Vec<(BlockId, usize)>> {
        let mut found: BTreeMap<LocalId, Vec<(BlockId, usize)>> = BTreeMap::new();
        let addresses = &facts.points_to.addresses;
        for (block_id, block) in facts.program.functions[function].blocks.iter_enumerated() {
            let mut show = |operand: &Operand, index: usize| {
                if let Base::Local(local) = addresses.of(function, operand).base {
                    found.entry(local).or_default().push((block_id, index));
                }
            };
            for (index, statement) in block.statements.iter().enumerate() {
                match &statement.stmt {
                    // What is made of the local alone is still that local; everything else may be anything.
                    Stmt::Assign { dst, expr }
                        if addresses.of(function, &Operand::Local(*dst)).base == Base::Local(*dst)
                            && !matches!(expr, program::Expr::Compare { .. }) =>
                    {
                        expr.operands().iter().for_each(|o| show(o, index));
                    }
                    Stmt::Store { value, .. } | Stmt::Rmw { value, .. } | Stmt::CompareExchange { new: value, .. } => {
                        show(value, index);
                    }
                    Stmt::Call { args, .. } => {
                        let invoke = facts.points_to.invoke((function, block_id, index));
                        for (position, arg) in args.iter().enumerate() {
                            let keeps = invoke.is_none_or(|i| {
                                let shown = |f: &FunctionId| self.shows[*f].get(position).is_none_or(|s| *s);
                                i.outside || i.callees.iter().any(shown)
                            });
                            if keeps {
                                show(arg, index);
                            }
                        }
                    }
                    Stmt::Library { function: name, args, .. } => {
                        let harmless = library::lookup(name).is_some_and(|row| !row.shows_arguments());
                        if !harmless {
                            args.iter().for_each(|arg| show(arg, index));
                        }
                    }
                    Stmt::Sync { op: SyncOp::Create { arg, .. }, .. } => show(arg, index),
                    _ => {}
                }
            }
            if let Terminator::Return(Some(value)) = &block.terminator {
                show(value, block.statements.len());
            }
        }
        found
    }
}

/// The locals of a function that hold a new block, with the statements that make it.
fn made_in(facts: &Solved<'_>, function: FunctionId) -> Vec<(LocalId, ProgramPoint)> {
    let mut made = Vec::new();
    for (block_id, block) in facts.program.functions[function].blocks.iter_enumerated() {
        for (index, statement) in block.statements.iter().enumerate() {
            let place = (function, block_id, index);
            match &statement.stmt {
                Stmt::Alloc { dst, .. } => made.push((*dst, place)),
                Stmt::Call { dst: Some(dst), .. } if facts.points_to.is_new_block(place, *dst) => {
                    made.push((*dst, place));
                }
                _ => {}
            }
        }
    }
    made
}

/// Everything that may follow the statements before the block is made again.
fn spread(function: &program::Function, made: ProgramPoint, from: &[(BlockId, usize)]) -> BTreeMap<BlockId, usize> {
    let mut shown: BTreeMap<BlockId, usize> = BTreeMap::new();
    let mut open: Vec<BlockId> = Vec::new();
    let mut entered: BTreeSet<BlockId> = BTreeSet::new();
    for (block, index) in from {
        let first = shown.entry(*block).or_insert(index + 1);
        *first = (*first).min(index + 1);
        // In the block that makes it, what comes before that has to do with an older one.
        if *block != made.1 || *index >= made.2 {
            open.extend(function.blocks[*block].terminator.targets());
        }
    }
    while let Some(block) = open.pop() {
        if !entered.insert(block) {
            continue;
        }
        if block == made.1 {
            continue;
        }
        shown.insert(block, 0);
        open.extend(function.blocks[block].terminator.targets());
    }
    shown
}
