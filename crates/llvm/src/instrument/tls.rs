//! Thread-local variables: moved into one image of which the runtime gives each thread a copy.
//!
//! The program's threads share one operating-system thread, so real thread-local storage would be shared too. The
//! address of a variable becomes `__rp_tls_base + offset`.

use std::ffi::CStr;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::llvm_sys::target::{LLVMABIAlignmentOfType, LLVMABISizeOfType, LLVMGetModuleDataLayout};
use inkwell::llvm_sys::{LLVMLinkage, LLVMOpcode, LLVMValueKind};

use super::Weaver;
use crate::intrinsics::{self, Intrinsic};
use crate::value::{self, Value};

/// Moves the program's own thread-local variables; those of libraries stay, and are listed as unmodelled.
pub(super) fn move_into_image(weaver: &mut Weaver<'_, '_>) {
    let (own, foreign): (Vec<_>, Vec<_>) =
        value::globals(weaver.module).into_iter().filter(|g| g.is_thread_local()).partition(|g| !g.is_declaration());
    for variable in foreign {
        let what = format!("uses the thread-local variable `{}` of a library", variable.name());
        weaver.unmodelled(None, what, None);
    }
    let mut image = Image::default();
    for variable in own {
        let offset = image.add(weaver, variable);
        if !replace(weaver, variable, offset) {
            let what = format!("uses the address of the thread-local variable `{}` as a constant", variable.name());
            weaver.unmodelled(None, what, None);
        } else if variable.users().is_empty() {
            unsafe { LLVMDeleteGlobal(variable.raw()) };
        }
    }
    image.define(weaver);
}

/// The initial content of a thread's variables.
struct Image {
    content: Vec<LLVMValueRef>,
    size: u64,
    align: u64,
}

impl Default for Image {
    fn default() -> Self {
        Self { content: Vec::new(), size: 0, align: 1 }
    }
}

impl Image {
    /// Gives a variable its place.
    fn add(&mut self, weaver: &Weaver<'_, '_>, variable: Value<'_>) -> u64 {
        unsafe {
            let layout = LLVMGetModuleDataLayout(weaver.module.as_mut_ptr());
            let ty = LLVMGlobalGetValueType(variable.raw());
            let natural = LLVMABIAlignmentOfType(layout, ty);
            let align = u64::from(LLVMGetAlignment(variable.raw()).max(natural)).max(1);
            let offset = self.size.next_multiple_of(align);
            if offset > self.size {
                self.content.push(LLVMConstNull(LLVMArrayType2(weaver.insert.i8, offset - self.size)));
            }
            self.content.push(LLVMGetInitializer(variable.raw()));
            let size = LLVMABISizeOfType(layout, ty);
            let stored = LLVMABISizeOfType(layout, LLVMTypeOf(LLVMGetInitializer(variable.raw())));
            self.size = offset + size.max(stored);
            self.align = self.align.max(align);
            offset
        }
    }

    /// Defines `__rp_tls_image`, `__rp_tls_size` and `__rp_tls_align`.
    fn define(mut self, weaver: &Weaver<'_, '_>) {
        let insert = &weaver.insert;
        let constant = |name: &CStr, value: LLVMValueRef, align: u32| unsafe {
            let global = LLVMAddGlobal(weaver.module.as_mut_ptr(), LLVMTypeOf(value), name.as_ptr());
            LLVMSetInitializer(global, value);
            LLVMSetGlobalConstant(global, 1);
            LLVMSetLinkage(global, LLVMLinkage::LLVMExternalLinkage);
            LLVMSetAlignment(global, align);
        };
        unsafe {
            let (content, count) = (self.content.as_mut_ptr(), self.content.len() as u32);
            let image = LLVMConstStructInContext(insert.context(), content, count, 1);
            constant(c"__rp_tls_image", image, u32::try_from(self.align).unwrap_or(1));
        }
        constant(c"__rp_tls_size", insert.const_i64(self.size).raw(), 8);
        constant(c"__rp_tls_align", insert.const_i64(self.align).raw(), 8);
    }
}

/// Replaces all uses of a variable's address; false if some use remains.
fn replace<'m>(weaver: &Weaver<'_, 'm>, variable: Value<'m>, offset: u64) -> bool {
    variable.users().into_iter().all(|user| {
        if intrinsics::of_call(user) != Some(Intrinsic::ThreadLocal) {
            return replace_in(weaver, user, variable, &|weaver| address(weaver, offset));
        }
        weaver.insert.before(user);
        let address = address(weaver, offset);
        unsafe {
            LLVMReplaceAllUsesWith(user.raw(), address.raw());
            LLVMInstructionEraseFromParent(user.raw());
        }
        true
    })
}

/// The variable's address, computed at the insertion point.
fn address<'m>(weaver: &Weaver<'_, 'm>, offset: u64) -> Value<'m> {
    let insert = &weaver.insert;
    let base = insert.runtime_variable("__rp_tls_base", insert.ptr);
    let base = insert.load(insert.ptr, base);
    insert.offset(base, insert.const_i64(offset))
}

type Compute<'c, 'w, 'm> = &'c dyn Fn(&Weaver<'w, 'm>) -> Value<'m>;

/// Replaces the constant `old` in one of its users by a computed value; through constant pointer arithmetic too.
fn replace_in<'w, 'm>(weaver: &Weaver<'w, 'm>, user: Value<'m>, old: Value<'m>, compute: Compute<'_, 'w, 'm>) -> bool {
    match user.kind() {
        LLVMValueKind::LLVMInstructionValueKind => {
            for index in (0..).zip(user.operands()).filter(|(_, o)| *o == old).map(|(i, _)| i).collect::<Vec<u32>>() {
                let at = if user.opcode() == Some(LLVMOpcode::LLVMPHI) {
                    let block = unsafe { LLVMGetIncomingBlock(user.raw(), index) };
                    unsafe { Value::from_raw(LLVMGetBasicBlockTerminator(block)) }
                } else {
                    Some(user)
                };
                let Some(at) = at else { return false };
                weaver.insert.before(at);
                let new = compute(weaver);
                unsafe { LLVMSetOperand(user.raw(), index, new.raw()) };
            }
            true
        }
        LLVMValueKind::LLVMConstantExprValueKind if user.operation() == Some(LLVMOpcode::LLVMGetElementPtr) => {
            let moved = |weaver: &Weaver<'w, 'm>| unsafe {
                let mut indices: Vec<_> = user.operands().skip(1).map(Value::raw).collect();
                let element = LLVMGetGEPSourceElementType(user.raw());
                let base = compute(weaver).raw();
                let (start, count) = (indices.as_mut_ptr(), indices.len() as u32);
                let pointer = LLVMBuildGEP2(weaver.insert.builder(), element, base, start, count, c"".as_ptr());
                Value::from_raw(pointer).expect("raceproof bug: LLVM makes a value of well-typed operands")
            };
            user.users().into_iter().all(|next| replace_in(weaver, next, user, &moved))
        }
        _ => false,
    }
}
