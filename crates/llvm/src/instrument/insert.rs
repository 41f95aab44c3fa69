//! Inserting instructions: a builder with the module's common types, and calls to the runtime's hooks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::CString;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use inkwell::llvm_sys::prelude::{
    LLVMBasicBlockRef, LLVMBuilderRef, LLVMContextRef, LLVMModuleRef, LLVMTypeRef, LLVMValueRef,
};
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMTypeKind};
use inkwell::module::Module;

use crate::value::Value;

/// Inserts instructions into one module.
pub(crate) struct Insert<'m> {
    module: LLVMModuleRef,
    context: LLVMContextRef,
    builder: LLVMBuilderRef,
    globals: RefCell<BTreeMap<&'static str, Value<'m>>>,
    /// `void`.
    pub(crate) void: LLVMTypeRef,
    /// 8 bits.
    pub(crate) i8: LLVMTypeRef,
    /// 32 bits.
    pub(crate) i32: LLVMTypeRef,
    /// 64 bits.
    pub(crate) i64: LLVMTypeRef,
    /// A pointer.
    pub(crate) ptr: LLVMTypeRef,
}

impl Drop for Insert<'_> {
    fn drop(&mut self) {
        unsafe { LLVMDisposeBuilder(self.builder) };
    }
}

// Every call below hands LLVM values and types of the module this was made for, which `'m` keeps alive.
impl<'m> Insert<'m> {
    pub(crate) fn new(module: &Module<'m>) -> Self {
        let module = module.as_mut_ptr();
        unsafe {
            let context = LLVMGetModuleContext(module);
            Self {
                module,
                context,
                builder: LLVMCreateBuilderInContext(context),
                globals: RefCell::default(),
                void: LLVMVoidTypeInContext(context),
                i8: LLVMInt8TypeInContext(context),
                i32: LLVMInt32TypeInContext(context),
                i64: LLVMInt64TypeInContext(context),
                ptr: LLVMPointerTypeInContext(context, 0),
            }
        }
    }

    fn made(value: LLVMValueRef) -> Value<'m> {
        unsafe { Value::from_raw(value) }.expect("raceproof bug: LLVM makes a value of well-typed operands")
    }

    pub(crate) fn context(&self) -> LLVMContextRef {
        self.context
    }
    pub(crate) fn builder(&self) -> LLVMBuilderRef {
        self.builder
    }

    /// The next instructions go before this one and have its place in the source.
    pub(crate) fn before(&self, instruction: Value<'m>) {
        unsafe {
            LLVMPositionBuilderBefore(self.builder, instruction.raw());
            LLVMSetCurrentDebugLocation2(self.builder, LLVMInstructionGetDebugLoc(instruction.raw()));
        }
    }

    /// The next instructions go right after this one, on the way on which it returns normally.
    pub(crate) fn after(&self, instruction: Value<'m>) {
        if instruction.opcode() == Some(LLVMOpcode::LLVMInvoke) {
            self.on_normal_edge(instruction);
        } else if let Some(next) = instruction.next_instruction() {
            unsafe { LLVMPositionBuilderBefore(self.builder, next.raw()) };
        }
        unsafe { LLVMSetCurrentDebugLocation2(self.builder, LLVMInstructionGetDebugLoc(instruction.raw())) };
    }

    /// Puts a block of its own on an invoke's normal edge, so that what is inserted runs for this call alone.
    fn on_normal_edge(&self, invoke: Value<'m>) {
        unsafe {
            let source = LLVMGetInstructionParent(invoke.raw());
            let target = LLVMGetNormalDest(invoke.raw());
            let edge = LLVMInsertBasicBlockInContext(self.context, target, c"returned".as_ptr());
            let mut next = LLVMGetFirstInstruction(target);
            while !next.is_null() && LLVMGetInstructionOpcode(next) == LLVMOpcode::LLVMPHI {
                let phi = next;
                next = LLVMGetNextInstruction(phi);
                self.redirect_phi(Self::made(phi), source, edge);
            }
            LLVMSetNormalDest(invoke.raw(), edge);
            LLVMPositionBuilderAtEnd(self.builder, edge);
            let jump = LLVMBuildBr(self.builder, target);
            LLVMPositionBuilderBefore(self.builder, jump);
        }
    }

    /// Replaces a phi by one in which values from block `from` come from block `to`.
    unsafe fn redirect_phi(&self, phi: Value<'m>, from: LLVMBasicBlockRef, to: LLVMBasicBlockRef) {
        unsafe {
            LLVMPositionBuilderBefore(self.builder, phi.raw());
            let replacement = LLVMBuildPhi(self.builder, phi.ty(), c"".as_ptr());
            for i in 0..LLVMCountIncoming(phi.raw()) {
                let block = LLVMGetIncomingBlock(phi.raw(), i);
                let mut block = if block == from { to } else { block };
                let mut value = LLVMGetIncomingValue(phi.raw(), i);
                if value == phi.raw() {
                    value = replacement;
                }
                LLVMAddIncoming(replacement, &mut value, &mut block, 1);
            }
            LLVMReplaceAllUsesWith(phi.raw(), replacement);
            LLVMInstructionEraseFromParent(phi.raw());
        }
    }

    pub(crate) fn const_i32(&self, number: u32) -> Value<'m> {
        Self::made(unsafe { LLVMConstInt(self.i32, u64::from(number), 0) })
    }
    pub(crate) fn const_i64(&self, number: u64) -> Value<'m> {
        Self::made(unsafe { LLVMConstInt(self.i64, number, 0) })
    }

    /// The value as 64 bits: integers extended (`signed`) or cut, pointers as numbers, anything else as 0.
    pub(crate) fn widened(&self, value: Value<'m>, signed: bool) -> Value<'m> {
        unsafe {
            match LLVMGetTypeKind(value.ty()) {
                LLVMTypeKind::LLVMIntegerTypeKind => {
                    let is_signed = i32::from(signed);
                    Self::made(LLVMBuildIntCast2(self.builder, value.raw(), self.i64, is_signed, c"".as_ptr()))
                }
                LLVMTypeKind::LLVMPointerTypeKind => {
                    Self::made(LLVMBuildPtrToInt(self.builder, value.raw(), self.i64, c"".as_ptr()))
                }
                _ => self.const_i64(0),
            }
        }
    }
    pub(crate) fn multiply(&self, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        self.binary(LLVMOpcode::LLVMMul, left, right)
    }
    pub(crate) fn binary(&self, op: LLVMOpcode, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        Self::made(unsafe { LLVMBuildBinOp(self.builder, op, left.raw(), right.raw(), c"".as_ptr()) })
    }
    /// `then` if the comparison of `sides` holds, else `otherwise`.
    pub(crate) fn select(
        &self,
        predicate: LLVMIntPredicate,
        sides: (Value<'m>, Value<'m>),
        then: Value<'m>,
        otherwise: Value<'m>,
    ) -> Value<'m> {
        unsafe {
            let holds = LLVMBuildICmp(self.builder, predicate, sides.0.raw(), sides.1.raw(), c"".as_ptr());
            Self::made(LLVMBuildSelect(self.builder, holds, then.raw(), otherwise.raw(), c"".as_ptr()))
        }
    }
    /// The 64-bit number, or 0 if it is negative.
    pub(crate) fn not_negative(&self, number: Value<'m>) -> Value<'m> {
        let zero = self.const_i64(0);
        self.select(LLVMIntPredicate::LLVMIntSLT, (number, zero), zero, number)
    }
    /// The pointer moved by a number of bytes.
    pub(crate) fn offset(&self, pointer: Value<'m>, bytes: Value<'m>) -> Value<'m> {
        let mut index = bytes.raw();
        Self::made(unsafe { LLVMBuildGEP2(self.builder, self.i8, pointer.raw(), &mut index, 1, c"".as_ptr()) })
    }
    pub(crate) fn load(&self, ty: LLVMTypeRef, pointer: Value<'m>) -> Value<'m> {
        Self::made(unsafe { LLVMBuildLoad2(self.builder, ty, pointer.raw(), c"".as_ptr()) })
    }
    pub(crate) fn store(&self, value: Value<'m>, pointer: Value<'m>) -> Value<'m> {
        Self::made(unsafe { LLVMBuildStore(self.builder, value.raw(), pointer.raw()) })
    }
    /// An element of a struct or array value.
    pub(crate) fn extract(&self, aggregate: Value<'m>, index: u32) -> Value<'m> {
        Self::made(unsafe { LLVMBuildExtractValue(self.builder, aggregate.raw(), index, c"".as_ptr()) })
    }
    /// An integer extended without sign to 32 bits.
    pub(crate) fn to_i32(&self, value: Value<'m>) -> Value<'m> {
        Self::made(unsafe { LLVMBuildIntCast2(self.builder, value.raw(), self.i32, 0, c"".as_ptr()) })
    }

    /// An array of 64-bit numbers in the frame of the function that `instruction` is in. Moves the insertion point.
    pub(crate) fn frame_array(&self, instruction: Value<'m>, len: u64) -> Value<'m> {
        let entry = instruction.function().and_then(|f| f.blocks().first().copied());
        let first = entry.and_then(|block| block.first_insertion_point()).unwrap_or(instruction);
        unsafe {
            LLVMPositionBuilderBefore(self.builder, first.raw());
            LLVMSetCurrentDebugLocation2(self.builder, std::ptr::null_mut());
            Self::made(LLVMBuildAlloca(self.builder, LLVMArrayType2(self.i64, len), c"".as_ptr()))
        }
    }

    /// A variable of the runtime.
    pub(crate) fn runtime_variable(&self, name: &'static str, ty: LLVMTypeRef) -> Value<'m> {
        *self.globals.borrow_mut().entry(name).or_insert_with(|| {
            let name = CString::new(name).expect("raceproof bug: our names have no zero byte");
            unsafe {
                let known = LLVMGetNamedGlobal(self.module, name.as_ptr());
                Self::made(if known.is_null() { LLVMAddGlobal(self.module, ty, name.as_ptr()) } else { known })
            }
        })
    }

    /// Calls a `void` hook of the runtime. Its declaration has no attributes, so that it may do anything to memory:
    /// no access can be moved across it.
    pub(crate) fn hook(&self, name: &'static str, arguments: &[Value<'m>]) {
        unsafe {
            let mut types: Vec<_> = arguments.iter().map(|a| a.ty()).collect();
            let ty = LLVMFunctionType(self.void, types.as_mut_ptr(), types.len() as u32, 0);
            let function = *self.globals.borrow_mut().entry(name).or_insert_with(|| {
                let name = CString::new(name).expect("raceproof bug: our names have no zero byte");
                let known = LLVMGetNamedFunction(self.module, name.as_ptr());
                Self::made(if known.is_null() { LLVMAddFunction(self.module, name.as_ptr(), ty) } else { known })
            });
            let mut values: Vec<_> = arguments.iter().map(|a| a.raw()).collect();
            let count = values.len() as u32;
            LLVMBuildCall2(self.builder, ty, function.raw(), values.as_mut_ptr(), count, c"".as_ptr());
        }
    }
}
