//! Bodies of functions: numbering of locals and blocks, and the walk over instructions.

use std::collections::BTreeMap;

use inkwell::llvm_sys::{LLVMOpcode, LLVMValueKind};
use model::{IndexVec, SiteId};
use program::{Block, BlockId, Expr, Local, LocalId, Operand, Statement, Stmt, Terminator};
use rustc_hash::FxHashMap;

use super::Lowering;
use super::constant::Symbols;
use crate::ir::{self, Ty, Value};
use crate::names::Variables;

/// A function's body in the making.
pub(super) struct Body<'l, 'a, 'm> {
    pub(super) lowering: &'l mut Lowering<'a, 'm>,
    pub(super) function: Value<'m>,
    pub(super) variables: Variables<'m>,
    locals: IndexVec<LocalId, Local>,
    of: FxHashMap<Value<'m>, LocalId>,
    /// The numbers in results that are structs; what is not a number has no local.
    parts: FxHashMap<Value<'m>, Vec<Option<LocalId>>>,
    /// The blocks that a block is cut into after calls that may be left otherwise than by returning, in order.
    pub(super) pieces: FxHashMap<ir::Block<'m>, Vec<BlockId>>,
    /// From where control comes to the handlers of `invoke`s that may also be left by a jump, by their blocks.
    pub(super) before_handlers: FxHashMap<ir::Block<'m>, BlockId>,
    /// Where calls that return twice go on.
    pub(super) again: Vec<BlockId>,
    /// Where what leaves the function by an exception or a jump goes.
    pub(super) outward: Option<BlockId>,
    /// The block that leaves the function so.
    pub(super) resume: Option<BlockId>,
    /// Blocks that are lowered.
    pub(super) done: BTreeMap<BlockId, Block>,
    pub(super) next: u32,
    pub(super) statements: Vec<Statement>,
    /// The site of the instruction being lowered.
    pub(super) site: Option<SiteId>,
}

/// The locals and blocks of a function.
pub(super) struct Lowered {
    pub(super) locals: IndexVec<LocalId, Local>,
    pub(super) blocks: IndexVec<BlockId, Block>,
}

impl<'l, 'a, 'm> Body<'l, 'a, 'm> {
    /// Lowers a function; without a body it has parameters only.
    pub(super) fn lower(lowering: &'l mut Lowering<'a, 'm>, function: Value<'m>) -> Lowered {
        let mut body = Self {
            lowering,
            function,
            variables: Variables::of(function),
            locals: IndexVec::new(),
            of: FxHashMap::default(),
            parts: FxHashMap::default(),
            pieces: FxHashMap::default(),
            before_handlers: FxHashMap::default(),
            again: Vec::new(),
            outward: None,
            resume: None,
            done: BTreeMap::new(),
            next: 0,
            statements: Vec::new(),
            site: None,
        };
        body.number();
        body.compute_constants();
        for block in function.blocks() {
            body.lower_block(block);
        }
        Lowered { locals: body.locals, blocks: body.done.into_values().collect() }
    }

    /// Gives a number to every parameter, block and result, so that uses may come before definitions.
    fn number(&mut self) {
        for parameter in self.function.parameters() {
            let local = self.named_local(parameter);
            self.of.insert(parameter, local);
        }
        self.number_blocks();
        for instruction in self.function.instructions() {
            if self.same_as(instruction).is_some() {
                continue;
            }
            if Self::is_scalar(instruction.ty()) {
                let local = self.named_local(instruction);
                self.of.insert(instruction, local);
            } else if Self::defines_parts(instruction) {
                let parts = instruction.ty().struct_elements().unwrap_or_default();
                let parts = parts.into_iter().map(|ty| Self::is_scalar(ty).then(|| self.fresh())).collect();
                self.parts.insert(instruction, parts);
            }
        }
    }

    /// Computes what constants without a fixed value (`&a ^ &b`) stand for where the function begins, as if they were
    /// instructions: pointers flow through them.
    fn compute_constants(&mut self) {
        for instruction in self.function.instructions() {
            for operand in instruction.operands() {
                self.compute_constant(operand);
                self.lose_elements(operand);
            }
        }
    }

    /// Computes one of them, and those that it consists of.
    pub(super) fn compute_constant(&mut self, value: Value<'m>) {
        let is_expression = value.kind() == LLVMValueKind::LLVMConstantExprValueKind && Self::is_scalar(value.ty());
        if !is_expression || self.of.contains_key(&value) || self.symbols().constant(value) != Operand::Any {
            return;
        }
        let Some(opcode) = value.operation() else { return };
        value.operands().for_each(|part| self.compute_constant(part));
        let local = self.fresh();
        let expr = self.expression(value, opcode);
        self.assign(local, expr);
        self.of.insert(value, local);
    }

    /// Whether values of the type are numbers of the language.
    pub(super) fn is_scalar(ty: Ty<'m>) -> bool {
        ty.is_pointer() || ty.int_bits().is_some_and(|bits| bits <= 64)
    }

    /// Instructions whose result is a struct and which define the numbers in it one by one.
    fn defines_parts(instruction: Value<'m>) -> bool {
        use LLVMOpcode::*;
        let opcode = instruction.opcode();
        let called = || instruction.called_function().is_some_and(|f| !f.is_declaration());
        instruction.ty().struct_elements().is_some()
            && (matches!(opcode, Some(LLVMAtomicCmpXchg | LLVMLandingPad | LLVMLoad | LLVMPHI))
                || Self::is_overflow_arithmetic(instruction)
                || called())
    }

    /// `llvm.sadd.with.overflow` and its relatives.
    pub(super) fn is_overflow_arithmetic(instruction: Value<'m>) -> bool {
        let scalar = |v: Value<'m>| Self::is_scalar(v.ty());
        instruction.called_function().is_some_and(|f| f.is_intrinsic() && f.name().contains(".with.overflow."))
            && instruction.arguments().all(scalar)
    }

    fn named_local(&mut self, value: Value<'m>) -> LocalId {
        let name = self.variables.value(value).map(|variable| variable.name.clone());
        self.locals.push(Local { name })
    }

    pub(super) fn instruction(&mut self, instruction: Value<'m>) {
        use LLVMOpcode::*;
        match instruction.opcode() {
            Some(LLVMLoad) => self.load(instruction),
            Some(LLVMStore) => self.store(instruction),
            Some(LLVMAtomicRMW) => self.read_modify_write(instruction),
            Some(LLVMAtomicCmpXchg) => self.compare_exchange(instruction),
            Some(LLVMFence) => self.fence(instruction),
            Some(LLVMAlloca) => self.alloca(instruction),
            Some(LLVMCall) => self.call(instruction),
            Some(LLVMLandingPad) => self.caught(instruction),
            Some(LLVMVAArg) => self.variadic_argument(instruction),
            Some(_) if self.same_as(instruction).is_some() => {}
            Some(opcode) if Self::is_scalar(instruction.ty()) => self.compute(instruction, opcode),
            Some(LLVMPHI) => self.phi_of_parts(instruction),
            // What is not a number has no statement of its own: its uses are `Any`.
            _ => self.lose_operands(instruction),
        }
    }

    /// How the block ends, if the instruction ends it.
    pub(super) fn terminator(&mut self, instruction: Value<'m>) -> Option<Terminator> {
        use LLVMOpcode::*;
        let successors = |body: &Self| instruction.successors().into_iter().map(|b| body.block(b)).collect::<Vec<_>>();
        Some(match instruction.opcode()? {
            LLVMRet => {
                let value = instruction.operand(0);
                value.into_iter().for_each(|value| self.return_parts(value));
                Terminator::Return(value.map(|value| self.operand(value)))
            }
            LLVMBr => {
                let to = successors(self);
                match (instruction.is_conditional(), to.as_slice()) {
                    (true, &[then, otherwise]) => match self.decided(instruction) {
                        Some(taken) => Terminator::Goto(if taken { then } else { otherwise }),
                        None => Terminator::Branch { condition: self.operand(instruction.part(0)), then, otherwise },
                    },
                    _ => Terminator::Goto(to[0]),
                }
            }
            LLVMSwitch => self.switch(instruction),
            LLVMIndirectBr => Terminator::Any(successors(self)),
            LLVMInvoke => self.invoke(instruction),
            LLVMCallBr => {
                self.call(instruction);
                Terminator::Any(successors(self))
            }
            LLVMResume => Terminator::Goto(self.outward()),
            LLVMUnreachable => Terminator::Unreachable,
            LLVMCatchRet | LLVMCleanupRet | LLVMCatchSwitch => {
                self.unmodelled("exception handling of another system", None);
                Terminator::Any(successors(self))
            }
            _ => return None,
        })
    }

    fn switch(&mut self, instruction: Value<'m>) -> Terminator {
        let value = self.operand(instruction.part(0));
        let to: Vec<_> = instruction.successors().into_iter().map(|b| self.block(b)).collect();
        // Operands: the value, the default block, then pairs of constant and block.
        let constants: Option<Vec<_>> =
            (1..to.len() as u32).map(|case| instruction.part(2 * case).as_number()).collect();
        if let (Operand::Const(number), Some(constants)) = (value, &constants) {
            let at = constants.iter().position(|constant| *constant == number).map_or(0, |at| at + 1);
            // A block that begins with a phi names all blocks before it.
            let begins_with_phi = |block: ir::Block<'m>| {
                block.instructions().first().is_some_and(|first| first.opcode() == Some(LLVMOpcode::LLVMPHI))
            };
            let left_out = instruction.successors().into_iter().zip(&to).filter(|(_, target)| **target != to[at]);
            if !left_out.into_iter().any(|(block, _)| begins_with_phi(block)) {
                return Terminator::Goto(to[at]);
            }
        }
        match constants {
            Some(constants) => Terminator::Switch {
                value,
                cases: constants.into_iter().zip(to[1..].iter().copied()).collect(),
                default: to[0],
            },
            None => Terminator::Any(to),
        }
    }

    /// The names of constants.
    pub(super) fn symbols(&self) -> &Symbols<'a, 'm> {
        &self.lowering.symbols
    }

    /// The value as an operand.
    pub(super) fn operand(&self, value: Value<'m>) -> Operand {
        if !Self::is_scalar(value.ty()) {
            return Operand::Any;
        }
        match value.kind() {
            LLVMValueKind::LLVMInstructionValueKind | LLVMValueKind::LLVMArgumentValueKind => match self.of.get(&value)
            {
                Some(&local) => Operand::Local(local),
                None => self.same_as(value).map_or(Operand::Any, |same| self.operand(same)),
            },
            _ => match self.of.get(&value) {
                Some(&computed) => Operand::Local(computed),
                None => self.symbols().constant(value),
            },
        }
    }

    /// A number inside the struct that an instruction results in.
    pub(super) fn part_of(&self, instruction: Value<'m>, path: &[u32]) -> Operand {
        let &[index] = path else { return Operand::Any };
        let part = self.parts.get(&instruction).and_then(|parts| parts.get(index as usize).copied().flatten());
        part.map_or(Operand::Any, Operand::Local)
    }

    /// The locals of the numbers in a struct result, with their positions.
    pub(super) fn parts(&self, instruction: Value<'m>) -> Vec<(u32, LocalId)> {
        let parts = self.parts.get(&instruction).map_or(&[][..], Vec::as_slice);
        parts.iter().enumerate().filter_map(|(i, part)| Some((i as u32, (*part)?))).collect()
    }

    /// The local of an instruction's result; a fresh one if the result is not a number.
    pub(super) fn result(&mut self, instruction: Value<'m>) -> LocalId {
        match self.of.get(&instruction) {
            Some(&local) => local,
            None => self.locals.push(Local::default()),
        }
    }

    /// The local of a call's result, if it has one that is a number.
    pub(super) fn optional_result(&self, call: Value<'m>) -> Option<LocalId> {
        self.of.get(&call).copied()
    }

    /// The local of a number in a struct result; a fresh one if that part is not a number.
    pub(super) fn part_result(&mut self, instruction: Value<'m>, index: usize) -> LocalId {
        let part = self.parts.get(&instruction).and_then(|parts| parts.get(index).copied().flatten());
        part.unwrap_or_else(|| self.fresh())
    }

    /// A local without a name.
    pub(super) fn fresh(&mut self) -> LocalId {
        self.locals.push(Local::default())
    }

    /// Assigns the result of an instruction, if it is a number.
    pub(super) fn define(&mut self, instruction: Value<'m>, expr: Expr) {
        if let Some(dst) = self.optional_result(instruction) {
            self.assign(dst, expr);
        }
    }

    /// Assigns a local.
    pub(super) fn assign(&mut self, dst: LocalId, expr: Expr) {
        self.statements.push(Statement { site: None, stmt: Stmt::Assign { dst, expr } });
    }

    /// Adds a statement that no other thread can notice.
    pub(super) fn emit_private(&mut self, stmt: Stmt) {
        self.statements.push(Statement { site: None, stmt });
    }

    /// Computes an intermediate value.
    pub(super) fn temporary(&mut self, expr: Expr) -> Operand {
        let dst = self.fresh();
        self.assign(dst, expr);
        Operand::Local(dst)
    }

    /// Adds a statement with a visible effect.
    pub(super) fn emit(&mut self, stmt: Stmt) {
        self.statements.push(Statement { site: self.site, stmt });
    }

    /// Notes what cannot be expressed.
    pub(super) fn unmodelled(&mut self, what: &str, function: Option<&str>) {
        let (what, function) = (what.to_owned(), function.map(str::to_owned));
        self.lowering.program.unmodelled.push(program::Unmodelled { site: self.site, what, function });
    }
}
