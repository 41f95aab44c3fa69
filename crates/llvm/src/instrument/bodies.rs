//! Bodies for atomic library calls.
//!
//! The library that defines `__atomic_load` and its kin takes locks of its own, which the runtime would take for the
//! program's and which would order what relaxed atomics leave unordered. All threads of the program share one
//! operating-system thread and switch in hooks only, so between two hooks ordinary code is atomic: each call gets a
//! body of plain instructions, put in after instrumentation so that it has no hooks.

use inkwell::llvm_sys::{LLVMIntPredicate, LLVMLinkage, LLVMOpcode};
use program::RmwOp;
use program::library::atomics::{self, AtomicCall, AtomicOp, AtomicSize, AtomicValue};

use super::Weaver;
use crate::ir::{Ty, Value};

/// Gives every atomic library call that is declared as expected a body.
pub(super) fn define(weaver: &Weaver<'_, '_>) {
    for function in weaver.module.functions().into_iter().filter(|f| f.is_declaration()) {
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
        let pointer = |value: &Value<'m>| value.ty() == self.weaver.insert.ptr;
        let integer = |value: &Value<'m>| self.integer().is_some_and(|ty| value.ty() == ty);
        let fits = |value: AtomicValue| match value {
            AtomicValue::Arg(i) => self.parameters.get(usize::from(i)).is_some_and(integer),
            AtomicValue::Memory(i) => self.parameters.get(usize::from(i)).is_some_and(pointer),
            AtomicValue::Result => self.integer().is_some_and(|ty| self.result_type() == ty),
            AtomicValue::Zero => true,
        };
        let address = self.parameters.get(usize::from(self.call.address)).is_some_and(pointer);
        let size = match self.call.size {
            AtomicSize::Bytes(_) => true,
            AtomicSize::Arg(i) => self.parameters.get(usize::from(i)).is_some_and(|p| p.ty().is_integer()),
        };
        address
            && size
            && match self.call.op {
                AtomicOp::Load { to } => fits(to),
                AtomicOp::Store { value } => fits(value),
                AtomicOp::Rmw { value, old, .. } => fits(value) && fits(old),
                AtomicOp::CompareExchange { expected, new, returns_old, .. } => {
                    let result = self.result_type().is_integer();
                    fits(expected) && fits(new) && result && (!returns_old || fits(AtomicValue::Result))
                }
                AtomicOp::Fence => false,
            }
    }

    fn result_type(&self) -> Ty<'m> {
        self.function.value_type().result()
    }

    /// The type of the object, if its size is fixed.
    fn integer(&self) -> Option<Ty<'m>> {
        match self.call.size {
            AtomicSize::Bytes(bytes) => Some(self.weaver.module.integer(u32::from(bytes) * 8)),
            AtomicSize::Arg(_) => None,
        }
    }

    fn define(&self) {
        let insert = &self.weaver.insert;
        self.function.set_linkage(LLVMLinkage::LLVMInternalLinkage);
        insert.position_at_end(self.function.append_block("entry"));
        insert.set_no_location();
        let result = match (self.integer(), self.call.size) {
            (Some(integer), _) => self.sized(integer),
            (None, AtomicSize::Arg(size)) => self.any_size(self.parameters[usize::from(size)]),
            (None, AtomicSize::Bytes(_)) => None,
        };
        insert.ret(result);
    }

    fn address(&self) -> Value<'m> {
        self.parameters[usize::from(self.call.address)]
    }

    /// The object is a number: loaded, changed, stored.
    fn sized(&self, integer: Ty<'m>) -> Option<Value<'m>> {
        let insert = &self.weaver.insert;
        let read = |value: AtomicValue| match value {
            AtomicValue::Arg(i) => self.parameters[usize::from(i)],
            AtomicValue::Memory(i) => insert.load(integer, self.parameters[usize::from(i)]),
            AtomicValue::Result | AtomicValue::Zero => integer.zero(),
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
        let memory = |value: AtomicValue| match value {
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

    /// Whether the two are equal, in the type of the call's result.
    fn truth(&self, sides: (Value<'m>, Value<'m>)) -> Value<'m> {
        let ty = self.result_type();
        self.weaver.insert.select(LLVMIntPredicate::LLVMIntEQ, sides, ty.number(1), ty.number(0))
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
                return insert.binary(LLVMOpcode::LLVMXor, both, both.ty().all_ones());
            }
        };
        insert.binary(opcode, old, value)
    }

    fn copy(&self, to: Value<'m>, from: Value<'m>, size: Value<'m>) {
        self.weaver.insert.move_memory(to, from, size);
    }

    fn compare(&self, left: Value<'m>, right: Value<'m>, size: Value<'m>) -> Value<'m> {
        let insert = &self.weaver.insert;
        let ty = insert.i32.function(&[insert.ptr, insert.ptr, size.ty()]);
        let function = self.weaver.module.declared_function("memcmp", ty);
        insert.call(ty, function, &[left, right, size])
    }
}
