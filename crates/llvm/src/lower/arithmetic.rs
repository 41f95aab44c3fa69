//! Instructions that compute values without touching memory.
//!
//! A value of fewer than 64 bits is kept sign-extended, except that one-bit values are 0 and 1. Values wider than
//! 64 bits, floating point and vectors are [`Operand::Any`].

use inkwell::llvm_sys::{LLVMIntPredicate, LLVMLinkage, LLVMOpcode, LLVMValueKind};
use program::{BinaryOp, CompareOp, Expr, Operand};

use super::body::Body;
use super::constant::Step;
use crate::intrinsics::{self, Intrinsic};
use crate::ir::{self, Value};

impl<'m> Body<'_, '_, 'm> {
    /// Lowers an instruction without effect; its result is a scalar.
    pub(super) fn compute(&mut self, instruction: Value<'m>, opcode: LLVMOpcode) {
        let expr = self.expression(instruction, opcode);
        self.define(instruction, expr);
    }

    /// What an instruction or a constant expression computes.
    pub(super) fn expression(&mut self, instruction: Value<'m>, opcode: LLVMOpcode) -> Expr {
        use LLVMOpcode::*;
        match opcode {
            LLVMAdd | LLVMSub | LLVMMul | LLVMSDiv | LLVMUDiv | LLVMSRem | LLVMURem | LLVMAnd | LLVMOr | LLVMXor
            | LLVMShl | LLVMLShr | LLVMAShr => self.binary(instruction, opcode),
            LLVMICmp => self.compare(instruction),
            LLVMGetElementPtr => self.address(instruction),
            LLVMSelect => Expr::Select {
                condition: self.operand(instruction.part(0)),
                then: self.operand(instruction.part(1)),
                otherwise: self.operand(instruction.part(2)),
            },
            LLVMPHI => self.phi(instruction, &[]),
            LLVMTrunc | LLVMZExt | LLVMSExt | LLVMPtrToInt | LLVMIntToPtr => self.cast(instruction, opcode),
            LLVMBitCast | LLVMAddrSpaceCast | LLVMFreeze if Self::is_scalar(instruction.part(0).ty()) => {
                Expr::Use(self.operand(instruction.part(0)))
            }
            LLVMExtractValue => Expr::Use(self.extract(instruction.part(0), &instruction.indices())),
            LLVMFPToSI | LLVMFPToUI => Expr::Use(Operand::Any),
            _ => self.found(instruction),
        }
    }

    /// The value that an instruction merely hands on: no local is needed for it, unless the source names it.
    pub(super) fn same_as(&self, instruction: Value<'m>) -> Option<Value<'m>> {
        use LLVMOpcode::*;
        let opcode = instruction.opcode()?;
        if !Self::is_scalar(instruction.ty()) || self.variables.value(instruction).is_some() {
            return None;
        }
        if let Some(constant) = Self::returned_constant(instruction) {
            return Some(constant);
        }
        let same = match opcode {
            LLVMGetElementPtr => self.symbols().constant_offset(instruction) == Some(0),
            LLVMSExt => Self::bits(instruction.part(0)) > 1,
            LLVMZExt => Self::bits(instruction.part(0)) == 1,
            LLVMPtrToInt | LLVMIntToPtr => Self::bits(instruction.part(0)) == Self::bits(instruction),
            LLVMBitCast | LLVMAddrSpaceCast | LLVMFreeze => true,
            LLVMCall => matches!(intrinsics::of_call(instruction), Some(Intrinsic::ThreadLocal)),
            _ => false,
        };
        instruction.operand(0).filter(|from| same && Self::is_scalar(from.ty()))
    }

    /// The number that a call returns whose function does nothing else. (libstdc++ asks such a function whether there are
    /// threads before it locks.)
    pub(super) fn returned_constant(call: Value<'m>) -> Option<Value<'m>> {
        let function = call.called_function().filter(|f| !f.is_declaration())?;
        if function.linkage() != LLVMLinkage::LLVMInternalLinkage {
            return None;
        }
        let only = function.entry()?.first()?;
        let value = only.operand(0).filter(|_| only.opcode() == Some(LLVMOpcode::LLVMRet))?;
        (value.kind() == LLVMValueKind::LLVMConstantIntValueKind).then_some(value)
    }

    /// Whether a branch takes the first of its two targets, if its condition compares constants and the other target has
    /// no values by predecessor.
    pub(super) fn decided(&self, branch: Value<'m>) -> Option<bool> {
        let has_phis = |block: ir::Block<'m>| block.first().is_some_and(|i| i.opcode() == Some(LLVMOpcode::LLVMPHI));
        let compare = branch.part(0);
        if compare.opcode() != Some(LLVMOpcode::LLVMICmp) || self.variables.value(compare).is_some() {
            return None;
        }
        let constant = |part: u32| match self.operand(compare.part(part)) {
            Operand::Const(number) => Some(number),
            _ => None,
        };
        let (left, right) = (constant(0)?, constant(1)?);
        let taken = match compare.predicate() {
            LLVMIntPredicate::LLVMIntEQ => left == right,
            LLVMIntPredicate::LLVMIntNE => left != right,
            _ => return None,
        };
        let other = branch.successors().get(usize::from(taken)).copied()?;
        (!has_phis(other)).then_some(taken)
    }

    /// The width of a scalar: of integers theirs, of pointers 64.
    fn bits(value: Value<'m>) -> u8 {
        value.ty().int_bits().unwrap_or(64) as u8
    }

    fn binary(&mut self, instruction: Value<'m>, opcode: LLVMOpcode) -> Expr {
        use LLVMOpcode::*;
        let (left, right) = (self.operand(instruction.part(0)), self.operand(instruction.part(1)));
        let bits = Self::bits(instruction);
        if bits == 1 {
            // Arithmetic modulo 2 on 0 and 1. A division is by 1 and a shift by 0: anything else is undefined.
            let op = match opcode {
                LLVMAdd | LLVMSub | LLVMXor => BinaryOp::Xor,
                LLVMMul | LLVMAnd => BinaryOp::And,
                LLVMOr => BinaryOp::Or,
                LLVMSRem | LLVMURem => return Expr::Use(Operand::Const(0)),
                _ => return Expr::Use(left),
            };
            return Expr::Binary { op, bits: 8, left, right };
        }
        let op = match opcode {
            LLVMAdd => BinaryOp::Add,
            LLVMSub => BinaryOp::Sub,
            LLVMMul => BinaryOp::Mul,
            LLVMSDiv => BinaryOp::SDiv,
            LLVMUDiv => BinaryOp::UDiv,
            LLVMSRem => BinaryOp::SRem,
            LLVMURem => BinaryOp::URem,
            LLVMAnd => BinaryOp::And,
            LLVMOr => BinaryOp::Or,
            LLVMXor => BinaryOp::Xor,
            LLVMShl => BinaryOp::Shl,
            LLVMLShr => BinaryOp::LShr,
            _ => BinaryOp::AShr,
        };
        Expr::Binary { op, bits, left, right }
    }

    fn compare(&mut self, instruction: Value<'m>) -> Expr {
        use LLVMIntPredicate::*;
        let operand = instruction.part(0);
        if !Self::is_scalar(operand.ty()) {
            return Expr::Use(Operand::Any);
        }
        let (left, right) = (self.operand(operand), self.operand(instruction.part(1)));
        let bits = Self::bits(operand);
        let op = match instruction.predicate() {
            LLVMIntEQ => CompareOp::Eq,
            LLVMIntNE => CompareOp::Ne,
            LLVMIntUGT => CompareOp::UGt,
            LLVMIntUGE => CompareOp::UGe,
            LLVMIntULT => CompareOp::ULt,
            LLVMIntULE => CompareOp::ULe,
            // Of one signed bit, 1 means -1.
            LLVMIntSGT if bits == 1 => CompareOp::ULt,
            LLVMIntSGE if bits == 1 => CompareOp::ULe,
            LLVMIntSLT if bits == 1 => CompareOp::UGt,
            LLVMIntSLE if bits == 1 => CompareOp::UGe,
            LLVMIntSGT => CompareOp::SGt,
            LLVMIntSGE => CompareOp::SGe,
            LLVMIntSLT => CompareOp::SLt,
            LLVMIntSLE => CompareOp::SLe,
        };
        Expr::Compare { op, bits: if bits == 1 { 8 } else { bits }, left, right }
    }

    fn cast(&mut self, instruction: Value<'m>, opcode: LLVMOpcode) -> Expr {
        let source = instruction.part(0);
        if !Self::is_scalar(source.ty()) {
            return self.found(instruction);
        }
        let value = self.operand(source);
        if value == Operand::Any {
            return Expr::Use(Operand::Any);
        }
        let (from, to) = (Self::bits(source), Self::bits(instruction));
        match opcode {
            LLVMOpcode::LLVMSExt if from == 1 => {
                Expr::Binary { op: BinaryOp::Sub, bits: to, left: Operand::Const(0), right: value }
            }
            LLVMOpcode::LLVMZExt | LLVMOpcode::LLVMIntToPtr if 1 < from && from < to => {
                Expr::Truncate { value, bits: from, signed: false }
            }
            _ if to < from => Expr::Truncate { value, bits: to, signed: to > 1 },
            _ => Expr::Use(value),
        }
    }

    /// Pointer arithmetic. Each variable index but the last gets a local of its own.
    fn address(&mut self, gep: Value<'m>) -> Expr {
        let base = self.operand(gep.part(0));
        let mut offset = 0i64;
        let mut indices = Vec::new();
        for step in self.symbols().steps(gep) {
            match step {
                Step::Bytes(bytes) => offset = offset.wrapping_add(bytes),
                Step::Index { index, scale } => indices.push((self.operand(index), scale)),
            }
        }
        let Some((last, others)) = indices.split_last() else {
            return self.offset(base, offset);
        };
        let mut base = base;
        for &(index, scale) in others {
            base = self.temporary(Expr::Offset { base, index, scale, offset: 0 });
        }
        Expr::Offset { base, index: last.0, scale: last.1, offset }
    }

    /// `base + offset`.
    pub(super) fn offset(&mut self, base: Operand, offset: i64) -> Expr {
        match base {
            Operand::Global(global, start) => Expr::Use(Operand::Global(global, start.wrapping_add(offset))),
            base if offset == 0 => Expr::Use(base),
            base => Expr::Offset { base, index: Operand::Const(0), scale: 0, offset },
        }
    }
}
