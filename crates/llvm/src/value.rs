//! Handles to LLVM values, for reading and walking a module.
//!
//! inkwell sorts values by type and panics on those it has no type for (metadata and token operands, for
//! example), which a user's module may well contain. These handles say nothing about a value's type; each
//! question is answered for any value. A handle may be used as long as its module is alive and the value has
//! not been erased from it; `'m` keeps it from outliving the module's context.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr::NonNull;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMModuleRef, LLVMTypeRef, LLVMValueRef};
use inkwell::llvm_sys::target::{LLVMGetModuleDataLayout, LLVMStoreSizeOfType};
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMOpcode, LLVMTypeKind, LLVMValue, LLVMValueKind};
use inkwell::values::AsValueRef;

/// A value of a module: an instruction, an argument, a constant, a global or a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Value<'m> {
    raw: NonNull<LLVMValue>,
    module: PhantomData<&'m ()>,
}

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Block<'m> {
    raw: LLVMBasicBlockRef,
    module: PhantomData<&'m ()>,
}

impl<'m> Value<'m> {
    /// The handle of a value of a live module; `None` for null.
    ///
    /// # Safety
    /// `raw` is null or a value of a module that lives for `'m`.
    pub unsafe fn from_raw(raw: LLVMValueRef) -> Option<Self> {
        NonNull::new(raw).map(|raw| Self { raw, module: PhantomData })
    }
    /// The same value as inkwell's handle.
    pub fn of<T: AsValueRef>(value: T) -> Self {
        let raw = NonNull::new(value.as_value_ref()).expect("raceproof bug: inkwell handles are never null");
        Self { raw, module: PhantomData }
    }
    /// For calls to LLVM.
    pub fn raw(self) -> LLVMValueRef {
        self.raw.as_ptr()
    }
    /// What kind of value this is.
    pub fn kind(self) -> LLVMValueKind {
        unsafe { LLVMGetValueKind(self.raw()) }
    }
    /// The instruction's operation; `None` if it is not an instruction.
    pub fn opcode(self) -> Option<LLVMOpcode> {
        (self.kind() == LLVMValueKind::LLVMInstructionValueKind)
            .then(|| unsafe { LLVMGetInstructionOpcode(self.raw()) })
    }
    /// The operation of an instruction or of a constant expression.
    pub fn operation(self) -> Option<LLVMOpcode> {
        match self.kind() {
            LLVMValueKind::LLVMInstructionValueKind => Some(unsafe { LLVMGetInstructionOpcode(self.raw()) }),
            LLVMValueKind::LLVMConstantExprValueKind => Some(unsafe { LLVMGetConstOpcode(self.raw()) }),
            _ => None,
        }
    }
    /// Operand `index`; for a call the arguments come first and the called value last.
    pub fn operand(self, index: u32) -> Option<Self> {
        let in_range = (index as i32) < self.operand_count();
        in_range.then(|| unsafe { Self::from_raw(LLVMGetOperand(self.raw(), index)) }).flatten()
    }
    fn operand_count(self) -> i32 {
        unsafe { LLVMGetNumOperands(self.raw()) }
    }
    /// All operands.
    pub fn operands(self) -> impl Iterator<Item = Self> {
        (0..self.operand_count().max(0) as u32).filter_map(move |i| self.operand(i))
    }
    /// Who uses this value, one entry per use.
    pub fn users(self) -> Vec<Self> {
        let mut users = Vec::new();
        let mut next = unsafe { LLVMGetFirstUse(self.raw()) };
        while !next.is_null() {
            users.extend(unsafe { Self::from_raw(LLVMGetUser(next)) });
            next = unsafe { LLVMGetNextUse(next) };
        }
        users
    }
    /// The value's type.
    pub fn ty(self) -> LLVMTypeRef {
        unsafe { LLVMTypeOf(self.raw()) }
    }
    /// Whether the value is a pointer.
    pub fn is_pointer(self) -> bool {
        unsafe { LLVMGetTypeKind(self.ty()) == LLVMTypeKind::LLVMPointerTypeKind }
    }
    /// Whether the value is the null pointer or another constant of zeros.
    pub fn is_null(self) -> bool {
        unsafe { LLVMIsNull(self.raw()) != 0 }
    }
    /// The value's name in the module; empty if it has none.
    pub fn name(self) -> String {
        let mut len = 0;
        unsafe {
            let start = LLVMGetValueName2(self.raw(), &mut len);
            if start.is_null() || len == 0 {
                return String::new();
            }
            String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), len)).into_owned()
        }
    }
    /// The number, for an integer constant of at most 64 bits, sign-extended.
    pub fn as_integer(self) -> Option<i64> {
        (self.kind() == LLVMValueKind::LLVMConstantIntValueKind && unsafe { LLVMGetIntTypeWidth(self.ty()) } <= 64)
            .then(|| unsafe { LLVMConstIntGetSExtValue(self.raw()) })
    }
    /// Whether this is a global variable.
    pub fn is_global_variable(self) -> bool {
        self.kind() == LLVMValueKind::LLVMGlobalVariableValueKind
    }
    /// Whether this is a global variable that is never written.
    pub fn is_constant_global(self) -> bool {
        self.is_global_variable() && unsafe { LLVMIsGlobalConstant(self.raw()) } != 0
    }
    /// Whether this is a global variable of which each thread has its own.
    pub fn is_thread_local(self) -> bool {
        self.is_global_variable() && unsafe { LLVMIsThreadLocal(self.raw()) } != 0
    }
    /// Whether this is a function.
    pub fn is_function(self) -> bool {
        self.kind() == LLVMValueKind::LLVMFunctionValueKind
    }
    /// Whether this function or global has no definition here.
    pub fn is_declaration(self) -> bool {
        unsafe { LLVMIsDeclaration(self.raw()) != 0 }
    }
    /// Whether this load or store is atomic.
    pub fn is_atomic(self) -> bool {
        unsafe { LLVMGetOrdering(self.raw()) != LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic }
    }
    /// Whether this is a function that LLVM itself defines.
    pub fn is_intrinsic(self) -> bool {
        self.is_function() && unsafe { LLVMGetIntrinsicID(self.raw()) != 0 }
    }
    /// The function an instruction is in, or an argument belongs to.
    pub fn function(self) -> Option<Self> {
        unsafe {
            match self.kind() {
                LLVMValueKind::LLVMInstructionValueKind => {
                    Self::from_raw(LLVMGetBasicBlockParent(LLVMGetInstructionParent(self.raw())))
                }
                LLVMValueKind::LLVMArgumentValueKind => Self::from_raw(LLVMGetParamParent(self.raw())),
                _ => None,
            }
        }
    }
    /// The block an instruction is in.
    pub fn block(self) -> Option<Block<'m>> {
        let raw = self.opcode().map(|_| unsafe { LLVMGetInstructionParent(self.raw()) })?;
        (!raw.is_null()).then_some(Block { raw, module: PhantomData })
    }
    /// The instruction before this one in the same block.
    pub fn previous_instruction(self) -> Option<Self> {
        self.opcode().and_then(|_| unsafe { Self::from_raw(LLVMGetPreviousInstruction(self.raw())) })
    }
    /// The next instruction of the same block.
    pub fn next_instruction(self) -> Option<Self> {
        self.opcode().and_then(|_| unsafe { Self::from_raw(LLVMGetNextInstruction(self.raw())) })
    }

    /// Whether this is a call of any form (`call`, `invoke`, `callbr`).
    pub fn is_call(self) -> bool {
        matches!(self.opcode(), Some(LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr))
    }
    /// The value that a call calls, seen through casts and aliases.
    pub fn callee(self) -> Option<Self> {
        let mut callee = unsafe { self.is_call().then(|| Self::from_raw(LLVMGetCalledValue(self.raw()))).flatten() }?;
        loop {
            callee = match callee.kind() {
                LLVMValueKind::LLVMGlobalAliasValueKind => {
                    unsafe { Self::from_raw(LLVMAliasGetAliasee(callee.raw())) }?
                }
                LLVMValueKind::LLVMConstantExprValueKind
                    if matches!(callee.operation(), Some(LLVMOpcode::LLVMBitCast | LLVMOpcode::LLVMAddrSpaceCast)) =>
                {
                    callee.operand(0)?
                }
                _ => return Some(callee),
            };
        }
    }
    /// The function that a call calls, where it is known.
    pub fn called_function(self) -> Option<Self> {
        self.callee().filter(|callee| callee.is_function())
    }
    /// The arguments of a call.
    pub fn arguments(self) -> impl Iterator<Item = Self> {
        let count = if self.is_call() { unsafe { LLVMGetNumArgOperands(self.raw()) } } else { 0 };
        (0..count).filter_map(move |i| self.operand(i))
    }
    /// The address that a load, store or atomic operation accesses.
    pub fn address(self) -> Option<Self> {
        match self.opcode()? {
            LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg => self.operand(0),
            LLVMOpcode::LLVMStore => self.operand(1),
            _ => None,
        }
    }

    /// The parameters of a function.
    pub fn parameters(self) -> Vec<Self> {
        let count = if self.is_function() { unsafe { LLVMCountParams(self.raw()) } } else { 0 };
        (0..count).filter_map(|i| unsafe { Self::from_raw(LLVMGetParam(self.raw(), i)) }).collect()
    }
    /// The blocks of a function, entry first.
    pub fn blocks(self) -> Vec<Block<'m>> {
        let mut blocks = Vec::new();
        let mut next = unsafe { LLVMGetFirstBasicBlock(self.raw()) };
        while !next.is_null() {
            blocks.push(Block { raw: next, module: PhantomData });
            next = unsafe { LLVMGetNextBasicBlock(next) };
        }
        blocks
    }
    /// The instructions of a function in order.
    pub fn instructions(self) -> Vec<Self> {
        self.blocks().into_iter().flat_map(Block::instructions).collect()
    }
    /// The value as LLVM prints it.
    pub fn text(self) -> String {
        unsafe {
            let text = LLVMPrintValueToString(self.raw());
            let owned = CStr::from_ptr(text).to_string_lossy().into_owned();
            LLVMDisposeMessage(text);
            owned
        }
    }
}

impl<'m> Block<'m> {
    /// For calls to LLVM.
    pub fn raw(self) -> LLVMBasicBlockRef {
        self.raw
    }
    /// The instructions in order.
    pub fn instructions(self) -> Vec<Value<'m>> {
        let mut instructions = Vec::new();
        let mut next = unsafe { LLVMGetFirstInstruction(self.raw) };
        while let Some(instruction) = unsafe { Value::from_raw(next) } {
            instructions.push(instruction);
            next = unsafe { LLVMGetNextInstruction(next) };
        }
        instructions
    }
    /// The first instruction that may have others before it: neither phi nor landing pad.
    pub fn first_insertion_point(self) -> Option<Value<'m>> {
        self.instructions()
            .into_iter()
            .find(|i| !matches!(i.opcode(), Some(LLVMOpcode::LLVMPHI | LLVMOpcode::LLVMLandingPad)))
    }
}

/// The functions of a module in its order.
pub fn functions<'m>(module: &inkwell::module::Module<'m>) -> Vec<Value<'m>> {
    walk(module.as_mut_ptr(), |m| unsafe { LLVMGetFirstFunction(m) }, |v| unsafe { LLVMGetNextFunction(v) })
}

/// The global variables of a module in its order.
pub fn globals<'m>(module: &inkwell::module::Module<'m>) -> Vec<Value<'m>> {
    walk(module.as_mut_ptr(), |m| unsafe { LLVMGetFirstGlobal(m) }, |v| unsafe { LLVMGetNextGlobal(v) })
}

fn walk<'m>(
    module: LLVMModuleRef,
    first: impl Fn(LLVMModuleRef) -> LLVMValueRef,
    next: impl Fn(LLVMValueRef) -> LLVMValueRef,
) -> Vec<Value<'m>> {
    let mut values = Vec::new();
    let mut at = first(module);
    while let Some(value) = unsafe { Value::from_raw(at) } {
        values.push(value);
        at = next(at);
    }
    values
}

/// The number of bytes that storing a value of this type writes.
pub(crate) fn store_size(module: &inkwell::module::Module<'_>, ty: LLVMTypeRef) -> u64 {
    unsafe { LLVMStoreSizeOfType(LLVMGetModuleDataLayout(module.as_mut_ptr()), ty) }
}
