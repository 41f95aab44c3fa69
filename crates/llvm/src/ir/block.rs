//! Basic blocks.

use std::marker::PhantomData;
use std::ptr::NonNull;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMBasicBlockRef;
use inkwell::llvm_sys::{LLVMBasicBlock, LLVMOpcode};

use super::Value;

/// A basic block of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Block<'m> {
    raw: NonNull<LLVMBasicBlock>,
    module: PhantomData<&'m ()>,
}

impl<'m> Block<'m> {
    /// The handle of a block; `None` for null.
    ///
    /// # Safety
    /// `raw` is null or a block of a module that lives for `'m`.
    pub(super) unsafe fn from_raw(raw: LLVMBasicBlockRef) -> Option<Self> {
        NonNull::new(raw).map(|raw| Self { raw, module: PhantomData })
    }

    /// For calls to LLVM.
    pub(super) fn raw(self) -> LLVMBasicBlockRef {
        self.raw.as_ptr()
    }

    /// The function it belongs to.
    pub(crate) fn function(self) -> Option<Value<'m>> {
        // SAFETY: a live block.
        unsafe { Value::from_raw(LLVMGetBasicBlockParent(self.raw())) }
    }

    /// The next block of the function.
    pub(super) fn next(self) -> Option<Self> {
        // SAFETY: a live block.
        unsafe { Self::from_raw(LLVMGetNextBasicBlock(self.raw())) }
    }

    /// Its first instruction.
    pub(crate) fn first(self) -> Option<Value<'m>> {
        // SAFETY: a live block.
        unsafe { Value::from_raw(LLVMGetFirstInstruction(self.raw())) }
    }

    /// The instructions in order.
    pub(crate) fn instructions(self) -> Vec<Value<'m>> {
        std::iter::successors(self.first(), |instruction| instruction.next_instruction()).collect()
    }

    /// The instruction that ends it.
    pub(crate) fn terminator(self) -> Option<Value<'m>> {
        // SAFETY: a live block.
        unsafe { Value::from_raw(LLVMGetBasicBlockTerminator(self.raw())) }
    }

    /// Where control may go from its end; a block is named as often as there are edges to it.
    pub(crate) fn successors(self) -> Vec<Self> {
        self.terminator().map(Value::successors).unwrap_or_default()
    }

    /// The first instruction that may have others before it: neither phi nor landing pad.
    pub(crate) fn first_insertion_point(self) -> Option<Value<'m>> {
        self.instructions()
            .into_iter()
            .find(|i| !matches!(i.opcode(), Some(LLVMOpcode::LLVMPHI | LLVMOpcode::LLVMLandingPad)))
    }
}
