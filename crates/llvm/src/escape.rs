//! Which memory no other thread can reach.
//!
//! A local variable is private if its address is used only to access it: flow-insensitive, so a local whose
//! address leaves the function anywhere is never private. Pointers stored in memory, returned, turned into
//! numbers or passed to a function all count as leaving. What is private needs no hook; everything else has one.

use std::cell::RefCell;

use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::{
    LLVMGetCallSiteEnumAttribute, LLVMGetEnumAttributeAtIndex, LLVMGetEnumAttributeKindForName,
};
use inkwell::llvm_sys::prelude::LLVMAttributeRef;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::intrinsics::{self, Intrinsic};
use crate::value::Value;

/// Answers whether memory is private, remembering what it found about each local.
#[derive(Default)]
pub struct Privacy<'m> {
    locals: RefCell<FxHashMap<Value<'m>, bool>>,
}

impl<'m> Privacy<'m> {
    /// Nothing known yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether this local (an alloca or a `byval` parameter) can be reached by its own function alone.
    pub fn is_private_local(&self, local: Value<'m>) -> bool {
        *self.locals.borrow_mut().entry(local).or_insert_with(|| !escapes(local))
    }

    /// Whether no other thread can write what `pointer` points to.
    pub fn is_private(&self, pointer: Value<'m>) -> bool {
        let mut roots = Vec::new();
        collect_roots(pointer, &mut FxHashSet::default(), &mut roots);
        !roots.is_empty() && roots.into_iter().all(|root| self.is_private_root(root))
    }

    fn is_private_root(&self, root: Value<'m>) -> bool {
        match root.opcode() {
            Some(LLVMOpcode::LLVMAlloca) => self.is_private_local(root),
            Some(LLVMOpcode::LLVMCall) => root.called_function().is_some_and(|f| f.name() == "__errno_location"),
            Some(LLVMOpcode::LLVMLoad) => self.is_from_argument_list(root),
            Some(_) => false,
            None => root.is_constant_global() || (is_by_value(root) && self.is_private_local(root)),
        }
    }

    /// Whether `load` reads a pointer out of a private `va_list`: it points to the function's own arguments.
    fn is_from_argument_list(&self, load: Value<'m>) -> bool {
        let mut roots = Vec::new();
        let Some(address) = load.address() else { return false };
        collect_roots(address, &mut FxHashSet::default(), &mut roots);
        roots.iter().all(|root| {
            root.opcode() == Some(LLVMOpcode::LLVMAlloca) && self.is_private_local(*root) && is_argument_list(*root)
        })
    }
}

/// Where a pointer comes from, through arithmetic, casts and merges.
fn collect_roots<'m>(pointer: Value<'m>, seen: &mut FxHashSet<Value<'m>>, roots: &mut Vec<Value<'m>>) {
    if !seen.insert(pointer) {
        return;
    }
    match pointer.operation() {
        Some(
            LLVMOpcode::LLVMGetElementPtr
            | LLVMOpcode::LLVMBitCast
            | LLVMOpcode::LLVMAddrSpaceCast
            | LLVMOpcode::LLVMFreeze,
        ) => pointer.operand(0).into_iter().for_each(|base| collect_roots(base, seen, roots)),
        Some(LLVMOpcode::LLVMSelect) => {
            [1, 2].into_iter().filter_map(|i| pointer.operand(i)).for_each(|v| collect_roots(v, seen, roots));
        }
        Some(LLVMOpcode::LLVMPHI) => pointer.operands().for_each(|v| collect_roots(v, seen, roots)),
        Some(LLVMOpcode::LLVMCall) if intrinsics::of_call(pointer) == Some(Intrinsic::PassesPointer) => {
            pointer.operand(0).into_iter().for_each(|v| collect_roots(v, seen, roots));
        }
        _ => roots.push(pointer),
    }
}

/// What a use does with a pointer.
enum Use {
    /// Accesses through it or compares it.
    Local,
    /// Makes another pointer to the same object.
    Derived,
    /// May make it known elsewhere.
    Leaves,
}

fn escapes(local: Value<'_>) -> bool {
    let mut seen = FxHashSet::default();
    let mut work = vec![local];
    while let Some(pointer) = work.pop() {
        for user in pointer.users() {
            match classify(pointer, user) {
                Use::Local => {}
                Use::Derived if seen.insert(user) => work.push(user),
                Use::Derived => {}
                Use::Leaves => return true,
            }
        }
    }
    false
}

fn classify<'m>(pointer: Value<'m>, user: Value<'m>) -> Use {
    let leaves_if = |leaves| if leaves { Use::Leaves } else { Use::Local };
    match user.opcode() {
        Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMICmp | LLVMOpcode::LLVMVAArg) => Use::Local,
        Some(LLVMOpcode::LLVMStore) => leaves_if(user.operand(0) == Some(pointer)),
        Some(LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg) => {
            leaves_if(user.operands().skip(1).any(|value| value == pointer))
        }
        Some(
            LLVMOpcode::LLVMGetElementPtr
            | LLVMOpcode::LLVMBitCast
            | LLVMOpcode::LLVMAddrSpaceCast
            | LLVMOpcode::LLVMFreeze
            | LLVMOpcode::LLVMSelect
            | LLVMOpcode::LLVMPHI,
        ) => Use::Derived,
        Some(LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke) => match intrinsics::of_call(user) {
            Some(Intrinsic::Copy | Intrinsic::Fill | Intrinsic::Nothing) => Use::Local,
            Some(Intrinsic::PassesPointer) => Use::Derived,
            Some(Intrinsic::ThreadLocal | Intrinsic::Unknown) => Use::Leaves,
            None => leaves_if(
                user.callee() == Some(pointer)
                    || (0..).zip(user.arguments()).any(|(i, a)| a == pointer && !is_passed_by_value(user, i)),
            ),
        },
        _ => Use::Leaves,
    }
}

/// Whether `local` is a list of variable arguments.
fn is_argument_list(local: Value<'_>) -> bool {
    let starts = |user: &Value<'_>| {
        user.called_function()
            .is_some_and(|f| f.name().starts_with("llvm.va_start") || f.name().starts_with("llvm.va_copy"))
    };
    let mut pointers = local.users();
    pointers.extend(
        local.users().into_iter().filter(|u| u.opcode() == Some(LLVMOpcode::LLVMGetElementPtr)).flat_map(Value::users),
    );
    pointers.iter().any(starts)
}

fn by_value_kind() -> u32 {
    unsafe { LLVMGetEnumAttributeKindForName(c"byval".as_ptr(), "byval".len()) }
}

/// Whether argument `index` of a call is a copy that the call itself makes.
pub fn is_passed_by_value(call: Value<'_>, index: u32) -> bool {
    let attribute: LLVMAttributeRef = unsafe { LLVMGetCallSiteEnumAttribute(call.raw(), index + 1, by_value_kind()) };
    !attribute.is_null()
}

/// Whether this is a parameter that holds a copy made for the call: as good as a local.
pub fn is_by_value(parameter: Value<'_>) -> bool {
    let Some(function) = parameter.function().filter(|_| parameter.opcode().is_none()) else { return false };
    let Some(index) = function.parameters().iter().position(|p| *p == parameter) else { return false };
    !unsafe { LLVMGetEnumAttributeAtIndex(function.raw(), index as u32 + 1, by_value_kind()) }.is_null()
}
