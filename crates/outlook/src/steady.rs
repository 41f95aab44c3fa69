//! What is the same under every schedule: values and branches that do not depend on shared data.
//!
//! Flow-insensitive, over the whole program, from nothing known to differ to a fixed point. What differs starts where
//! threads meet: a read of memory that another thread may write at the same time, or that two threads have written in an
//! order that nothing fixes; the result of a try; a value left open; all that the library answers. It spreads by
//! assignments, through memory, by arguments and results, and by branches: to what they decide to execute
//! ([`branches`](crate::branches)), to what is chosen where their ways meet, and to functions called and threads created
//! there.
//!
//! *Never claimed wrongly*: if no thread stops early or waits for ever, a steady statement is executed in every
//! schedule of a state's future or in none, equally often by each thread, with the same values. (What was never written
//! is taken to be the same too.)

use std::collections::{BTreeMap, BTreeSet};

use facts::invocations::{How, Invocations, ProgramPoint};
use program::library::{self, Role};
use program::{BlockId, Callee, Expr, FunctionId, LocalId, Operand, Program, Stmt, SyncOp, Terminator, TryMode};

use crate::branches::Branches;
use crate::memory::Memory;

/// What differs from schedule to schedule.
#[derive(Default)]
pub(crate) struct Steady {
    locals: BTreeSet<(FunctionId, LocalId)>,
    blocks: BTreeSet<(FunctionId, BlockId)>,
    /// Functions that are called, or run by threads, in some schedules only.
    functions: BTreeSet<FunctionId>,
    /// Functions whose result differs.
    results: BTreeSet<FunctionId>,
    /// Statements that write what differs, or in some schedules only.
    writers: BTreeSet<ProgramPoint>,
    /// Nothing is known.
    nothing: bool,
}

impl Steady {
    pub(crate) fn new(program: &Program, invocations: &Invocations, memory: Option<&Memory>) -> Self {
        let Some(memory) = memory else { return Self { nothing: true, ..Self::default() } };
        let branches = program.functions.iter().map(Branches::new).collect::<Vec<_>>();
        let mut invoked: BTreeMap<FunctionId, Vec<(ProgramPoint, How)>> = BTreeMap::new();
        for invocation in program.functions.ids().flat_map(|f| invocations.of(f)) {
            invoked.entry(invocation.callee).or_default().push((invocation.place, invocation.how));
        }
        let mut analysis = Analysis { program, invocations, memory, branches, invoked, steady: Self::default() };
        while analysis.run() {}
        analysis.steady
    }

    /// Whether the value is the same in every schedule.
    pub(crate) fn value(&self, function: FunctionId, operand: &Operand) -> bool {
        !self.nothing
            && match operand {
                Operand::Local(local) => !self.locals.contains(&(function, *local)),
                Operand::Any => false,
                Operand::Const(_) | Operand::Global(..) | Operand::Function(_) => true,
            }
    }

    /// Whether the statement is executed equally often in every schedule.
    pub(crate) fn place(&self, (function, block, _): ProgramPoint) -> bool {
        !self.nothing && !self.functions.contains(&function) && !self.blocks.contains(&(function, block))
    }

    /// Whether what the statement reads is the same in every schedule.
    pub(crate) fn reads(&self, memory: &Memory, place: ProgramPoint) -> bool {
        let differs = |writer: ProgramPoint| memory.is_contended(writer) || self.writers.contains(&writer);
        !self.nothing && !memory.is_contended(place) && !memory.writers(place).any(differs)
    }

    /// How much is known to differ.
    fn size(&self) -> usize {
        self.locals.len() + self.blocks.len() + self.functions.len() + self.results.len() + self.writers.len()
    }
}

struct Analysis<'a> {
    program: &'a Program,
    invocations: &'a Invocations,
    memory: &'a Memory,
    branches: Vec<Branches>,
    invoked: BTreeMap<FunctionId, Vec<(ProgramPoint, How)>>,
    steady: Steady,
}

impl Analysis<'_> {
    /// Whether more was found to differ.
    fn run(&mut self) -> bool {
        let before = self.steady.size();
        for function in self.program.functions.ids() {
            self.entry(function);
            self.flow(function);
            for (block, code) in self.program.functions[function].blocks.iter_enumerated() {
                for (index, statement) in code.statements.iter().enumerate() {
                    self.statement((function, block, index), &statement.stmt);
                }
                if let Terminator::Return(Some(value)) = &code.terminator
                    && !(self.steady.value(function, value) && self.steady.place((function, block, 0)))
                {
                    self.steady.results.insert(function);
                }
            }
        }
        self.steady.size() > before
    }

    /// What makes a function run, and its arguments.
    fn entry(&mut self, function: FunctionId) {
        for (place, how) in self.invoked.get(&function).into_iter().flatten() {
            let (caller, block, index) = *place;
            let stmt = &self.program.functions[caller].blocks[block].statements[index].stmt;
            let (target, args): (Option<&Operand>, &[Operand]) = match stmt {
                Stmt::Call { callee: Callee::Direct(_), args, .. } => (None, args),
                Stmt::Call { callee: Callee::Indirect(pointer), args, .. } => (Some(pointer), args),
                Stmt::Sync { op: SyncOp::Create { function, arg }, .. } => (Some(function), std::slice::from_ref(arg)),
                _ => (None, &[]),
            };
            let chosen = target.is_none_or(|target| self.steady.value(caller, target));
            // Who runs a routine that runs once, and how often a callback is called, is not known.
            if !matches!(how, How::Call | How::Create) || !chosen || !self.steady.place(*place) {
                self.steady.functions.insert(function);
            }
            for parameter in 0..self.program.functions[function].params {
                let arg = args.get(parameter as usize);
                if arg.is_none_or(|arg| !self.steady.value(caller, arg)) {
                    self.steady.locals.insert((function, LocalId(parameter)));
                }
            }
        }
    }

    /// Whether how a block ends differs.
    fn turns(&self, function: FunctionId, block: BlockId) -> bool {
        let differs = match &self.program.functions[function].blocks[block].terminator {
            Terminator::Branch { condition: value, .. } | Terminator::Switch { value, .. } => {
                !self.steady.value(function, value)
            }
            Terminator::Any(_) | Terminator::Invoke { .. } => true,
            Terminator::Goto(_) | Terminator::Return(_) | Terminator::Resume | Terminator::Unreachable => false,
        };
        differs || self.steady.blocks.contains(&(function, block))
    }

    fn flow(&mut self, function: FunctionId) {
        for block in self.program.functions[function].blocks.ids() {
            if self.turns(function, block) {
                let depending = self.branches[function.0 as usize].depending_on(block);
                self.steady.blocks.extend(depending.into_iter().map(|block| (function, block)));
            }
        }
    }

    fn statement(&mut self, place: ProgramPoint, stmt: &Stmt) {
        let (function, block, _) = place;
        let value = |operand: &Operand| self.steady.value(function, operand);
        let reads = || self.steady.reads(self.memory, place);
        let same = match stmt {
            Stmt::Assign { expr: Expr::Phi(sources), .. } => {
                let mut from = self.branches[function.0 as usize].sources[block.0 as usize].iter();
                sources.iter().all(|(_, operand)| value(operand)) && !from.any(|b| self.turns(function, *b))
            }
            Stmt::Assign { expr, .. } => expr.operands().iter().all(value),
            Stmt::Load { address, .. } => value(address) && reads(),
            Stmt::Rmw { address, value: with, .. } => value(address) && value(with) && reads(),
            Stmt::CompareExchange { address, expected, new, .. } => {
                value(address) && value(expected) && value(new) && reads()
            }
            Stmt::Store { address, value: with, .. } => value(address) && value(with),
            Stmt::Copy { to, from, len } => value(to) && value(from) && value(len) && reads(),
            Stmt::Fill { to, value: with, len } => value(to) && value(with) && value(len),
            Stmt::Alloca { size, .. } | Stmt::Alloc { size, .. } => value(size),
            Stmt::Call { .. } => !self.invocations.at(place).any(|i| self.steady.results.contains(&i.callee)),
            Stmt::Library { function: name, args, .. } => library::lookup(name).is_some_and(|row| {
                matches!(row.role, Role::Allocate { .. }) && row.effects.is_empty() && args.iter().all(value)
            }),
            Stmt::Sync { op, .. } => has_one_result(op),
            Stmt::Free { .. } | Stmt::Fence(_) | Stmt::Assert { .. } | Stmt::Exit { .. } => true,
        };
        if !same {
            self.steady.locals.extend(stmt.assigns().into_iter().map(|local| (function, local)));
        }
        if !same || !self.steady.place(place) {
            self.steady.writers.insert(place);
        }
    }
}

/// Whether the operation, when it is over, has the same result in every schedule.
fn has_one_result(op: &SyncOp) -> bool {
    match op {
        SyncOp::Lock { wait, .. } | SyncOp::SemWait { wait, .. } | SyncOp::CondWait { wait, .. } => {
            *wait == TryMode::Wait
        }
        SyncOp::Join { mode, .. } => *mode == TryMode::Wait,
        SyncOp::BarrierWait { .. } | SyncOp::SemGet { .. } | SyncOp::Choose { .. } => false,
        _ => true,
    }
}
