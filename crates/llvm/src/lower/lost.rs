//! Addresses that go where they cannot be followed: into vectors, into numbers of more than 64 bits, through inline
//! assembly.
//!
//! Each of them is stored to one variable that the program does not have, and what comes back from there is loaded from
//! it: one of these addresses, or another one inside the same object. An integer that is converted to floating point is a
//! number from then on (A10), but a `double` may have been one of them all along.

use inkwell::llvm_sys::{LLVMOpcode, LLVMValueKind};
use program::{Expr, GlobalId, Operand, Stmt};

use super::aggregate::Leaf;
use super::body::Body;
use super::{Lowering, variable};
use crate::ir::{Ty, Value};

/// Where the whole words of some bytes begin.
fn words(word: u32, offset: i64, size: u32) -> impl Iterator<Item = i64> {
    (0..i64::from(size / word)).map(move |number| offset + number * i64::from(word))
}

impl Lowering<'_, '_> {
    fn lost_addresses(&mut self) -> GlobalId {
        *self.lost.get_or_insert_with(|| {
            self.program.globals.push(variable(
                "addresses in vectors",
                self.symbols.layout.pointer_size().into(),
                false,
            ))
        })
    }
}

impl<'m> Body<'_, '_, 'm> {
    /// An instruction makes something of its operands that is not a number of the language.
    pub(super) fn lose_operands(&mut self, instruction: Value<'m>) {
        use LLVMOpcode::*;
        // Members of structs are followed one by one.
        let is_followed = matches!(
            instruction.opcode(),
            Some(LLVMInsertValue | LLVMExtractValue | LLVMLandingPad | LLVMSIToFP | LLVMUIToFP)
        );
        if !is_followed && !instruction.ty().is_void() {
            instruction.operands().for_each(|operand| self.lose(operand));
        }
    }

    /// A constant vector or array has addresses in it; members of structs are followed one by one.
    pub(super) fn lose_elements(&mut self, constant: Value<'m>) {
        use LLVMValueKind::*;
        let is_sequence = matches!(constant.kind(), LLVMConstantVectorValueKind | LLVMConstantArrayValueKind);
        if is_sequence || constant.kind() == LLVMConstantStructValueKind {
            for element in constant.operands() {
                self.compute_constant(element);
                if is_sequence {
                    self.lose(element);
                }
                self.lose_elements(element);
            }
        }
    }

    /// Something is loaded that is not a number, or not a member of a struct that is followed.
    pub(super) fn lose_loaded(&mut self, load: Value<'m>, address: Operand) {
        for Leaf { path, ty, offset } in self.leaves(load.ty()) {
            let is_followed = Self::is_scalar(ty) && path.len() <= 1;
            if is_followed || self.is_only_number(ty) {
                continue;
            }
            for at in words(self.word(), offset, self.size(ty)) {
                let (place, dst) = (self.place(address, at), self.fresh());
                self.emit_private(Stmt::Load { dst, address: place, size: self.word(), atomic: None });
                self.keep(Operand::Local(dst));
            }
        }
    }

    /// Whether values of the type are floating-point numbers and not as large as an address.
    fn is_only_number(&self, ty: Ty<'m>) -> bool {
        ty.is_float() && self.size(ty) != self.word()
    }

    /// Something is stored that is not a number of the language: each word of it may be one of these addresses.
    pub(super) fn store_lost(&mut self, address: Operand, offset: i64, ty: Ty<'m>) {
        if self.is_only_number(ty) {
            return;
        }
        for at in words(self.word(), offset, self.size(ty)) {
            let (address, expr) = (self.place(address, at), self.any_lost());
            let value = self.temporary(expr);
            self.emit_private(Stmt::Store { address, value, size: self.word(), atomic: None });
        }
    }

    /// What an instruction results in that takes a number out of something else.
    pub(super) fn found(&mut self, instruction: Value<'m>) -> Expr {
        if self.is_address(instruction) { self.any_lost() } else { Expr::Use(Operand::Any) }
    }

    /// One of these addresses.
    fn any_lost(&mut self) -> Expr {
        let (base, address) = (self.fresh(), Operand::Global(self.lowering.lost_addresses(), 0));
        self.emit_private(Stmt::Load { dst: base, address, size: self.word(), atomic: None });
        Expr::Offset { base: Operand::Local(base), index: Operand::Any, scale: 1, offset: 0 }
    }

    /// Whether a value is large enough for an address.
    fn is_address(&self, value: Value<'m>) -> bool {
        value.is_pointer() || Self::is_scalar(value.ty()) && value.ty().int_bits() >= Some(8 * self.word())
    }

    /// Bytes of a pointer.
    pub(super) fn word(&self) -> u32 {
        self.symbols().layout.pointer_size()
    }

    fn place(&mut self, address: Operand, offset: i64) -> Operand {
        let expr = self.offset(address, offset);
        self.value_of(expr)
    }

    /// A value goes where it cannot be followed.
    pub(super) fn lose(&mut self, value: Value<'m>) {
        if self.is_address(value) {
            let value = self.operand(value);
            self.keep(value);
        }
    }

    fn keep(&mut self, value: Operand) {
        if !matches!(value, Operand::Const(_) | Operand::Any) {
            let address = Operand::Global(self.lowering.lost_addresses(), 0);
            self.emit_private(Stmt::Store { address, value, size: self.word(), atomic: None });
        }
    }
}
