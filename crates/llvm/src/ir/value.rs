//! Handles to values: what can be asked of any of them.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr::NonNull;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::llvm_sys::{LLVMInlineAsmDialect, LLVMOpcode, LLVMValue, LLVMValueKind};

use super::{Ty, require, text};

/// A value of a module: an instruction, an argument, a constant, a global or a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Value<'m> {
    raw: NonNull<LLVMValue>,
    module: PhantomData<&'m ()>,
}

impl<'m> Value<'m> {
    /// The handle of a value; `None` for null.
    ///
    /// # Safety
    /// `raw` is null or a value of a module that lives for `'m`.
    pub(super) unsafe fn from_raw(raw: LLVMValueRef) -> Option<Self> {
        NonNull::new(raw).map(|raw| Self { raw, module: PhantomData })
    }

    /// The handle of a value that LLVM has just made.
    ///
    /// # Safety
    /// As for [`from_raw`](Self::from_raw).
    pub(super) unsafe fn made(raw: LLVMValueRef) -> Self {
        // SAFETY: the caller's.
        unsafe { Self::from_raw(raw) }.expect("raceproof bug: LLVM makes a value of well-typed operands")
    }

    /// For calls to LLVM.
    pub(super) fn raw(self) -> LLVMValueRef {
        self.raw.as_ptr()
    }

    /// What kind of value this is.
    pub(crate) fn kind(self) -> LLVMValueKind {
        // SAFETY: a live value.
        unsafe { LLVMGetValueKind(self.raw()) }
    }

    /// The value's type.
    pub(crate) fn ty(self) -> Ty<'m> {
        // SAFETY: a live value has a type, which belongs to the context and so lives as long.
        unsafe { Ty::from_raw(LLVMTypeOf(self.raw())) }
    }

    /// Whether the value is a pointer.
    pub(crate) fn is_pointer(self) -> bool {
        self.ty().is_pointer()
    }

    /// The value's name in the module; empty if it has none.
    pub(crate) fn name(self) -> String {
        let mut len = 0;
        // SAFETY: a live value; LLVM returns the start and sets the length of its name, which is copied at once.
        unsafe {
            let start = LLVMGetValueName2(self.raw(), &mut len);
            text(start, len)
        }
    }

    /// Gives the value a name; LLVM adds a number where the name is taken.
    pub(crate) fn set_name(self, name: &str) {
        // SAFETY: a live value; LLVM copies the bytes.
        unsafe { LLVMSetValueName2(self.raw(), name.as_ptr().cast(), name.len()) };
    }

    /// The value as LLVM prints it.
    pub(crate) fn text(self) -> String {
        // SAFETY: a live value; what LLVM prints is a string that is ours, to be given back.
        unsafe {
            let printed = LLVMPrintValueToString(self.raw());
            let owned = CStr::from_ptr(printed).to_string_lossy().into_owned();
            LLVMDisposeMessage(printed);
            owned
        }
    }

    /// The operation of an instruction or of a constant expression.
    pub(crate) fn operation(self) -> Option<LLVMOpcode> {
        match self.kind() {
            LLVMValueKind::LLVMInstructionValueKind => self.opcode(),
            // SAFETY: a constant expression.
            LLVMValueKind::LLVMConstantExprValueKind => Some(unsafe { LLVMGetConstOpcode(self.raw()) }),
            _ => None,
        }
    }

    /// Whether this is a value that has operands.
    fn is_user(self) -> bool {
        use LLVMValueKind::*;
        !matches!(
            self.kind(),
            LLVMArgumentValueKind | LLVMBasicBlockValueKind | LLVMMetadataAsValueValueKind | LLVMInlineAsmValueKind
        )
    }

    fn operand_count(self) -> u32 {
        if !self.is_user() {
            return 0;
        }
        // SAFETY: a value that has operands.
        unsafe { LLVMGetNumOperands(self.raw()) }.max(0) as u32
    }

    /// Operand `index`; for a call the arguments come first and the called value last.
    pub(crate) fn operand(self, index: u32) -> Option<Self> {
        // SAFETY: the value has operands, and as many as that.
        (index < self.operand_count()).then(|| unsafe { Self::from_raw(LLVMGetOperand(self.raw(), index)) }).flatten()
    }

    /// An operand that the value's kind guarantees.
    pub(crate) fn part(self, index: u32) -> Self {
        self.operand(index).expect("raceproof bug: a verified instruction lacks an operand")
    }

    /// All operands.
    pub(crate) fn operands(self) -> impl Iterator<Item = Self> {
        (0..self.operand_count()).filter_map(move |i| self.operand(i))
    }

    /// Replaces operand `index` by a value of the same type.
    pub(crate) fn set_operand(self, index: u32, value: Self) {
        let old = self.operand(index);
        require(old.is_some_and(|old| old.ty() == value.ty()), "an operand is replaced by one of its type");
        // SAFETY: the operand is there and the new one has its type.
        unsafe { LLVMSetOperand(self.raw(), index, value.raw()) };
    }

    /// Replaces the value called by a call.
    pub(crate) fn set_callee(self, callee: Self) {
        require(self.is_call(), "only calls have a callee");
        // The callee is a call's last operand.
        self.set_operand(self.operand_count() - 1, callee);
    }

    /// Who uses this value, one entry per use.
    pub(crate) fn users(self) -> Vec<Self> {
        let mut users = Vec::new();
        // SAFETY: a live value.
        let mut next = unsafe { LLVMGetFirstUse(self.raw()) };
        while !next.is_null() {
            // SAFETY: a use of this value, by a user in the same module; nothing changes during the walk.
            unsafe {
                users.extend(Self::from_raw(LLVMGetUser(next)));
                next = LLVMGetNextUse(next);
            }
        }
        users
    }

    /// Lets all users use another value of the same type instead.
    pub(crate) fn replace_all_uses(self, by: Self) {
        require(self != by && self.ty() == by.ty(), "a value is replaced by another one of its type");
        // SAFETY: two live values of one type.
        unsafe { LLVMReplaceAllUsesWith(self.raw(), by.raw()) };
    }

    /// The function an instruction is in, or an argument belongs to.
    pub(crate) fn function(self) -> Option<Self> {
        match self.kind() {
            LLVMValueKind::LLVMInstructionValueKind => self.block()?.function(),
            // SAFETY: an argument.
            LLVMValueKind::LLVMArgumentValueKind => unsafe { Self::from_raw(LLVMGetParamParent(self.raw())) },
            _ => None,
        }
    }

    /// What an alias stands for, through all aliases; other values stand for themselves.
    pub(crate) fn resolved(self) -> Self {
        let mut at = self;
        while let Some(aliasee) = at.aliasee() {
            at = aliasee;
        }
        at
    }

    /// What an alias stands for.
    pub(super) fn aliasee(self) -> Option<Self> {
        if self.kind() != LLVMValueKind::LLVMGlobalAliasValueKind {
            return None;
        }
        // SAFETY: an alias.
        unsafe { Self::from_raw(LLVMAliasGetAliasee(self.raw())) }
    }

    /// Whether this is inline assembly.
    pub(crate) fn is_assembly(self) -> bool {
        self.kind() == LLVMValueKind::LLVMInlineAsmValueKind
    }

    /// The text of inline assembly; empty for other values.
    pub(crate) fn assembly_text(self) -> String {
        if !self.is_assembly() {
            return String::new();
        }
        let mut len = 0;
        // SAFETY: inline assembly; LLVM returns the start and sets the length of its text, which is copied at once.
        unsafe {
            let start = LLVMGetInlineAsmAsmString(self.raw(), &mut len);
            text(start, len)
        }
    }

    /// Whether the compiler may not leave out, merge or move inline assembly (`volatile`).
    pub(crate) fn is_volatile_assembly(self) -> bool {
        // SAFETY: inline assembly.
        self.is_assembly() && unsafe { LLVMGetInlineAsmHasSideEffects(self.raw()) != 0 }
    }

    /// Whether inline assembly is written with the destination last, as GNU's assembler has it.
    pub(crate) fn is_gnu_assembly(self) -> bool {
        let gnu = LLVMInlineAsmDialect::LLVMInlineAsmDialectATT;
        // SAFETY: inline assembly.
        self.is_assembly() && unsafe { LLVMGetInlineAsmDialect(self.raw()) == gnu }
    }

    /// The function or variable with this name in the module that an instruction is in.
    pub(crate) fn symbol_beside(self, name: &str) -> Option<Self> {
        let (function, name) = (self.function()?, std::ffi::CString::new(name).ok()?);
        // SAFETY: a live function has a module, in which LLVM looks up a string that ends with a null byte.
        unsafe {
            let module = LLVMGetGlobalParent(function.raw());
            let found = Self::from_raw(LLVMGetNamedFunction(module, name.as_ptr()));
            found.or_else(|| Self::from_raw(LLVMGetNamedGlobal(module, name.as_ptr())))
        }
    }

    /// The constraints of inline assembly, separated by commas; empty for other values.
    pub(crate) fn assembly_constraints(self) -> String {
        if !self.is_assembly() {
            return String::new();
        }
        let mut len = 0;
        // SAFETY: as above.
        unsafe {
            let start = LLVMGetInlineAsmConstraintString(self.raw(), &mut len);
            text(start, len)
        }
    }
}
