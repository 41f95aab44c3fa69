//! Bodies for atomic library calls.
//!
//! The library that defines `__atomic_load` and its kin takes locks of its own, which the runtime would take for the
//! program's and which would order what relaxed atomics leave unordered. All threads of the program share one
//! operating-system thread and switch in hooks only, so between two hooks ordinary code is atomic: each call gets a
//! body of plain instructions, put in after instrumentation so that it has no hooks.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMTypeRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMLinkage, LLVMOpcode, LLVMTypeKind};
use program::RmwOp;
use program::library::atomics::{self, AtomicCall, AtomicOp, AtomicSize, AtomicValue};

use super::Weaver;
use crate::value::{self, Value};

/// Gives every atomic library call that is declared as expected a body.
pub(super) fn define(weaver: &Weaver<'_, '_>) {
    for function in value::functions(weaver.module).into_iter().filter(|f| f.is_declaration()) {
        let Some(call) = atomics::lookup(&function.name()) else { continue };
        let body = Body { weaver, function, parameters: function.parameters(), call };
        if body.is_as_expected() {
            body.define();
        }
    }
}

struct Body<'w, 'a, 'm> {
    weaver: &'w Weaver<'a, 'm>,
    function: Value<'m>,
    parameters: Vec<Value<'m>>,
    call: AtomicCall,
}

impl<'m> Body<'_, '_, 'm> {
    /// Whether the declaration has the types that the call should have.
    fn is_as_expected(&self) -> bool {
        let integer = |value: &Value<'m>| self.integer().is_some_and(|ty| value.ty() == ty);
        let place = |value: AtomicValue| match value {
            AtomicValue::Arg(i) => self.parameters.get(usize::from(i)).is_some_and(integer),
            AtomicValue::Memory(i) => self.parameters.get(usize::from(i)).is_some_and(|p| p.is_pointer()),
            AtomicValue::Result => self.integer().is_some_and(|ty| self.result_type() == ty),
            AtomicValue::Zero => true,
        };
        let address = self.parameters.get(usize::from(self.call.address)).is_some_and(|p| p.is_pointer());
        address
            && match self.call.op {
                AtomicOp::Load { to } => place(to),
                AtomicOp::Store { value } => place(value),
                AtomicOp::Rmw { value, old, .. } => place(value) && place(old),
                AtomicOp::CompareExchange { expected, new, returns_old, .. } => {
                    let result = unsafe { LLVMGetTypeKind(self.result_type()) } == LLVMTypeKind::LLVMIntegerTypeKind;
                    place(expected) && place(new) && result && (!returns_old || place(AtomicValue::Result))
                }
                AtomicOp::Fence => false,
            }
    }

    fn result_type(&self) -> LLVMTypeRef {
        unsafe { LLVMGetReturnType(LLVMGlobalGetValueType(self.function.raw())) }
    }

    /// The type of the object, if its size is fixed.
    fn integer(&self) -> Option<LLVMTypeRef> {
        match self.call.size {
            AtomicSize::Bytes(bytes) => {
                Some(unsafe { LLVMIntTypeInContext(self.weaver.insert.context(), u32::from(bytes) * 8) })
            }
            AtomicSize::Arg(_) => None,
        }
    }

    fn define(&self) {
        let builder = self.weaver.insert.builder();
        unsafe {
            LLVMSetLinkage(self.function.raw(), LLVMLinkage::LLVMInternalLinkage);
            let context = self.weaver.insert.context();
            let entry = LLVMAppendBasicBlockInContext(context, self.function.raw(), c"entry".as_ptr());
            LLVMPositionBuilderAtEnd(builder, entry);
            LLVMSetCurrentDebugLocation2(builder, std::ptr::null_mut());
        }
        let result = match (self.integer(), self.call.size) {
            (Some(integer), _) => self.sized(integer),
            (None, AtomicSize::Arg(size)) => self.any_size(self.parameters[usize::from(size)]),
            (None, AtomicSize::Bytes(_)) => None,
        };
        unsafe {
            match result {
                Some(value) => LLVMBuildRet(builder, value.raw()),
                None => LLVMBuildRetVoid(builder),
            };
        }
    }

    fn address(&self) -> Value<'m> {
        self.parameters[usize::from(self.call.address)]
    }

    /// The object is a number: loaded, changed, stored.
    fn sized(&self, integer: LLVMTypeRef) -> Option<Value<'m>> {
        let insert = &self.weaver.insert;
        let read = |place: AtomicValue| match place {
            AtomicValue::Arg(i) => self.parameters[usize::from(i)],
            AtomicValue::Memory(i) => insert.load(integer, self.parameters[usize::from(i)]),
            AtomicValue::Result | AtomicValue::Zero => self.made(unsafe { LLVMConstNull(integer) }),
        };
        let current = || insert.load(integer, self.address());
        match self.call.op {
            AtomicOp::Fence => None,
            AtomicOp::Load { .. } => Some(current()),
            AtomicOp::Store { value } => {
                insert.store(read(value), self.address());
                None
            }
            AtomicOp::Rmw { op, value, returns_new, .. } => {
                let old = current();
                let new = self.updated(op, old, read(value));
                insert.store(new, self.address());
                Some(if returns_new { new } else { old })
            }
            AtomicOp::CompareExchange { expected, new, returns_old, .. } => {
                let (old, wanted) = (current(), read(expected));
                let sides = (old, wanted);
                insert.store(insert.select(LLVMIntPredicate::LLVMIntEQ, sides, read(new), old), self.address());
                if let AtomicValue::Memory(i) = expected {
                    insert.store(old, self.parameters[usize::from(i)]);
                }
                Some(if returns_old { old } else { self.truth(sides) })
            }
        }
    }

    /// The object is memory: copied and compared.
    fn any_size(&self, size: Value<'m>) -> Option<Value<'m>> {
        let memory = |place: AtomicValue| match place {
            AtomicValue::Memory(i) => self.parameters.get(usize::from(i)).copied(),
            _ => None,
        };
        let object = self.address();
        match self.call.op {
            AtomicOp::Load { to } => self.copy(memory(to)?, object, size),
            AtomicOp::Store { value } => self.copy(object, memory(value)?, size),
            AtomicOp::Rmw { value, old, .. } => {
                self.copy(memory(old)?, object, size);
                self.copy(object, memory(value)?, size);
            }
            AtomicOp::CompareExchange { expected, new, .. } => {
                let (expected, new) = (memory(expected)?, memory(new)?);
                let sides = (self.compare(object, expected, size), self.weaver.insert.const_i32(0));
                // Where the two are equal, copying the old value back changes nothing.
                self.copy(expected, object, size);
                let source = self.weaver.insert.select(LLVMIntPredicate::LLVMIntEQ, sides, new, object);
                self.copy(object, source, size);
                return Some(self.truth(sides));
            }
            AtomicOp::Fence => {}
        }
        None
    }

    fn made(&self, value: LLVMValueRef) -> Value<'m> {
        unsafe { Value::from_raw(value) }.expect("raceproof bug: LLVM makes a value of well-typed operands")
    }

    /// Whether the two are equal, in the type of the call's result.
    fn truth(&self, sides: (Value<'m>, Value<'m>)) -> Value<'m> {
        let ty = self.result_type();
        let (one, zero) = unsafe { (LLVMConstInt(ty, 1, 0), LLVMConstInt(ty, 0, 0)) };
        self.weaver.insert.select(LLVMIntPredicate::LLVMIntEQ, sides, self.made(one), self.made(zero))
    }

    fn updated(&self, op: RmwOp, old: Value<'m>, value: Value<'m>) -> Value<'m> {
        let insert = &self.weaver.insert;
        let opcode = match op {
            RmwOp::Add => LLVMOpcode::LLVMAdd,
            RmwOp::Sub => LLVMOpcode::LLVMSub,
            RmwOp::And => LLVMOpcode::LLVMAnd,
            RmwOp::Or => LLVMOpcode::LLVMOr,
            RmwOp::Xor => LLVMOpcode::LLVMXor,
            RmwOp::Exchange => return value,
            // The only other operation among these calls is "not and".
            RmwOp::Max | RmwOp::Min | RmwOp::UMax | RmwOp::UMin | RmwOp::Other => {
                let both = insert.binary(LLVMOpcode::LLVMAnd, old, value);
                return insert.binary(LLVMOpcode::LLVMXor, both, self.made(unsafe { LLVMConstAllOnes(both.ty()) }));
            }
        };
        insert.binary(opcode, old, value)
    }

    fn copy(&self, to: Value<'m>, from: Value<'m>, size: Value<'m>) {
        unsafe { LLVMBuildMemMove(self.weaver.insert.builder(), to.raw(), 1, from.raw(), 1, size.raw()) };
    }

    fn compare(&self, left: Value<'m>, right: Value<'m>, size: Value<'m>) -> Value<'m> {
        let insert = &self.weaver.insert;
        let module = self.weaver.module.as_mut_ptr();
        unsafe {
            let mut types = [insert.ptr, insert.ptr, size.ty()];
            let ty = LLVMFunctionType(insert.i32, types.as_mut_ptr(), 3, 0);
            let known = LLVMGetNamedFunction(module, c"memcmp".as_ptr());
            let function = if known.is_null() { LLVMAddFunction(module, c"memcmp".as_ptr(), ty) } else { known };
            let mut arguments = [left.raw(), right.raw(), size.raw()];
            let builder = insert.builder();
            self.made(LLVMBuildCall2(builder, ty, function, arguments.as_mut_ptr(), 3, c"".as_ptr()))
        }
    }
}
