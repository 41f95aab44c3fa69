//! What an iteration of a handed-out loop decides, whichever thread of the team executes it.
//!
//! A chunk of a `dynamic` or `guided` loop goes to the thread that asks first, so that in one thread everything about the
//! loop differs from schedule to schedule. But each iteration is executed exactly once by some thread. A statement that each
//! iteration executes or not by its number alone, with an address that follows from its number alone, touches the same
//! memory in every schedule: it fails in each of them or in none.
//!
//! *By its number alone*: computed from constants, from what all threads of the team are given, from memory that is the same
//! in every schedule, and from the number. The thread's own number and what a thread keeps from one chunk to the next do not
//! count, and nor does anything that is not understood.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use facts::invocations::ProgramPoint;
use program::openmp;
use program::{BinaryOp, BlockId, Callee, Expr, Function, FunctionId, LocalId, Operand, Program, Stmt, Terminator};

use crate::branches::Branches;
use crate::memory::Memory;
use crate::steady::Steady;

/// The code of regions with handed-out loops.
pub(crate) struct Iterations<'a> {
    program: &'a Program,
    memory: &'a Memory,
    steady: &'a Steady,
    regions: RefCell<BTreeMap<FunctionId, Option<Rc<Region>>>>,
}

/// The code of one region.
struct Region {
    definitions: BTreeMap<LocalId, (BlockId, usize)>,
    branches: Branches,
    /// Variables that hold the first and the last iteration of a chunk.
    bounds: BTreeSet<LocalId>,
    /// What says whether there was another chunk.
    taken: BTreeSet<LocalId>,
}

impl Region {
    /// `None` if the function is not the code of a region with a handed-out loop.
    fn new(program: &Program, steady: &Steady, id: FunctionId) -> Option<Self> {
        let function = &program.functions[id];
        if !openmp::is_region(function) || !is_started_steadily(program, steady, id) {
            return None;
        }
        let (mut definitions, mut bounds, mut taken) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        for (block, content) in function.blocks.iter_enumerated() {
            for (index, statement) in content.statements.iter().enumerate() {
                definitions.extend(statement.stmt.assigns().into_iter().map(|local| (local, (block, index))));
                if let Some((result, chunk)) = openmp::next_chunk(program, &statement.stmt) {
                    bounds.extend(chunk);
                    taken.extend(result);
                }
            }
        }
        (!taken.is_empty()).then(|| Self { definitions, branches: Branches::new(function), bounds, taken })
    }
}

/// Whether a region is started in every schedule or in none, and given the same. The library calls its code through a pointer:
/// it is started where its adapter, or whatever that calls, is named, and given what is stored there in an array.
fn is_started_steadily(program: &Program, steady: &Steady, code: FunctionId) -> bool {
    let mut names = BTreeSet::from([code]);
    let mut started = false;
    loop {
        let before = names.len();
        for (id, function) in program.functions.iter_enumerated() {
            for (block, content) in function.blocks.iter_enumerated() {
                for (index, statement) in content.statements.iter().enumerate() {
                    let names_code = |operand: &Operand| matches!(operand, Operand::Function(f) if names.contains(f));
                    match &statement.stmt {
                        // An adapter, or what stands between it and the code.
                        Stmt::Call { callee: Callee::Direct(callee), .. } if names.contains(callee) => {
                            names.insert(id);
                        }
                        stmt if stmt.operands().iter().any(names_code) => {
                            started = true;
                            if !steady.place((id, block, index)) || !gives_steadily(steady, id, function) {
                                return false;
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
        if names.len() == before {
            return started && names.iter().all(|f| *f == code || only_calls(program, *f, &names));
        }
    }
}

/// Whether a function calls one of these and nothing else.
fn only_calls(program: &Program, function: FunctionId, these: &BTreeSet<FunctionId>) -> bool {
    let statements = program.functions[function].blocks.iter().flat_map(|block| &block.statements);
    statements.into_iter().all(|statement| match &statement.stmt {
        Stmt::Call { callee: Callee::Direct(callee), .. } => these.contains(callee),
        Stmt::Assign { .. } | Stmt::Load { .. } => true,
        _ => false,
    })
}

/// Whether all that a function puts into arrays of arguments for regions is the same in every schedule.
fn gives_steadily(steady: &Steady, id: FunctionId, function: &Function) -> bool {
    let statements = || function.blocks.iter().flat_map(|block| &block.statements).map(|statement| &statement.stmt);
    let arrays: BTreeSet<LocalId> = statements()
        .filter_map(|stmt| match stmt {
            Stmt::Alloca { dst, name: Some(name), .. } if name == openmp::ARGUMENTS => Some(*dst),
            _ => None,
        })
        .collect();
    let elements: BTreeSet<LocalId> = statements()
        .filter_map(|stmt| match stmt {
            Stmt::Assign { dst, expr: Expr::Offset { base: Operand::Local(base), .. } } if arrays.contains(base) => {
                Some(*dst)
            }
            _ => None,
        })
        .chain(arrays.iter().copied())
        .collect();
    statements().all(|stmt| match stmt {
        Stmt::Store { address: Operand::Local(at), value, .. } if elements.contains(at) => steady.value(id, value),
        _ => true,
    })
}

impl<'a> Iterations<'a> {
    pub(crate) fn new(program: &'a Program, memory: &'a Memory, steady: &'a Steady) -> Self {
        Self { program, memory, steady, regions: RefCell::default() }
    }

    /// Whether the number of the iteration alone decides whether the access is made, and where.
    pub(crate) fn decide(&self, (function, block, index): ProgramPoint) -> bool {
        let body = &self.program.functions[function];
        let statement = body.blocks[block].statements.get(index);
        let address = match statement.map(|statement| &statement.stmt) {
            Some(Stmt::Load { address, .. } | Stmt::Store { address, .. } | Stmt::Rmw { address, .. }) => *address,
            _ => return false,
        };
        let region = Rc::clone(
            match self
                .regions
                .borrow_mut()
                .entry(function)
                .or_insert_with(|| Region::new(self.program, self.steady, function).map(Rc::new))
            {
                Some(region) => region,
                None => return false,
            },
        );
        let of = Code { iterations: self, function, region: &region };
        of.decides(address, &mut BTreeSet::new()) && of.decides_block(block)
    }
}

/// The code of a region, to be asked.
struct Code<'c, 'a> {
    iterations: &'c Iterations<'a>,
    function: FunctionId,
    region: &'c Region,
}

impl Code<'_, '_> {
    fn body(&self) -> &Function {
        &self.iterations.program.functions[self.function]
    }

    /// Whether iterations decide by their numbers how often the block is executed.
    fn decides_block(&self, block: BlockId) -> bool {
        let (mut seen, mut open) = (BTreeSet::from([block]), vec![block]);
        while let Some(block) = open.pop() {
            for (branch, content) in self.body().blocks.iter_enumerated() {
                if !self.region.branches.depending_on(branch).contains(&block) {
                    continue;
                }
                let decided = match &content.terminator {
                    Terminator::Branch { condition: value, .. } | Terminator::Switch { value, .. } => {
                        self.decides(*value, &mut BTreeSet::new())
                    }
                    Terminator::Goto(_) => true,
                    _ => false,
                };
                if !decided {
                    return false;
                }
                open.extend(Some(branch).filter(|branch| seen.insert(*branch)));
            }
        }
        true
    }

    /// Whether a value follows from the number of the iteration and from what all threads have in common.
    fn decides(&self, operand: Operand, around: &mut BTreeSet<LocalId>) -> bool {
        let program = self.iterations.program;
        let local = match operand {
            Operand::Const(_) | Operand::Function(_) => return true,
            Operand::Global(global, _) => return !program.globals[global].thread_local,
            Operand::Any => return false,
            Operand::Local(local) => local,
        };
        if local.0 < self.body().params {
            // The first two say the number of the thread; all others are the same in all threads, and in every schedule.
            return local.0 >= 2;
        }
        if !around.insert(local) {
            return false;
        }
        let Some(&(block, index)) = self.region.definitions.get(&local) else { return false };
        let decides = match &self.body().blocks[block].statements[index].stmt {
            Stmt::Assign { expr: Expr::Phi(sources), .. } => self.counts_iterations(local, sources),
            Stmt::Assign { expr, .. } => expr.operands().into_iter().all(|operand| self.decides(operand, around)),
            Stmt::Load { address: Operand::Local(bound), .. } if self.region.bounds.contains(bound) => true,
            Stmt::Load { address, atomic: None, .. } => {
                let Iterations { steady, memory, .. } = self.iterations;
                self.decides(*address, around) && steady.reads(memory, (self.function, block, index))
            }
            Stmt::Call { .. } => self.region.taken.contains(&local),
            _ => false,
        };
        around.remove(&local);
        decides
    }

    /// Whether a local is the number of the iteration: from the first of the chunk on, by a number each time. Whatever else
    /// a loop carries may be carried from chunk to chunk.
    fn counts_iterations(&self, local: LocalId, sources: &[(BlockId, Operand)]) -> bool {
        let definition = |operand: &Operand| match operand {
            Operand::Local(local) => {
                let (block, index) = self.region.definitions.get(local)?;
                Some(&self.body().blocks[*block].statements[*index].stmt)
            }
            _ => None,
        };
        let is_first = |operand: &Operand| {
            matches!(definition(operand), Some(Stmt::Load { address: Operand::Local(bound), .. })
                if self.region.bounds.contains(bound))
        };
        let is_next = |operand: &Operand| {
            matches!(definition(operand), Some(Stmt::Assign { expr: Expr::Binary { op: BinaryOp::Add, left, right, .. }, .. })
                if *left == Operand::Local(local) && matches!(right, Operand::Const(_)))
        };
        match sources {
            [(_, one), (_, other)] => is_first(one) && is_next(other) || is_first(other) && is_next(one),
            _ => false,
        }
    }
}
