//! Functions for checkers that the program defines itself, made those of the runtime; sections that have the form of
//! functions.
//!
//! By the rules of the competition on software verification, `reach_error` is the error whatever its body does, a
//! function whose name starts with `__VERIFIER_atomic_` is executed without interruption, and programs state
//! assumptions by a function `assume_abort_if_not` that aborts. Calling `abort` elsewhere ends the program as usual.

use std::ffi::CString;

use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::LLVMOpcode;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use inkwell::llvm_sys::prelude::LLVMBuilderRef;
use inkwell::module::Module;

use crate::value::{self, Value};

const BEGIN: &str = "__VERIFIER_atomic_begin";
const END: &str = "__VERIFIER_atomic_end";
const SECTION: &str = "__VERIFIER_atomic_";
const ASSUME: &str = "__VERIFIER_assume";
/// Functions that mean the same whatever body they have.
const OURS: [&str; 5] = ["reach_error", "__VERIFIER_error", ASSUME, BEGIN, END];

/// Prepares the module's functions for checkers.
pub(crate) fn complete(module: &Module<'_>) {
    for function in value::functions(module).into_iter().filter(|f| !f.is_declaration()) {
        let name = function.name();
        if OURS.contains(&name.as_str()) {
            replace(module, function, &name);
        } else if name.starts_with("__VERIFIER_nondet_") || name == "raceproof_choose" {
            // The program's own; the runtime has one of this name too.
            unsafe { LLVMSetLinkage(function.raw(), LLVMLinkage::LLVMInternalLinkage) };
        } else if name.starts_with(SECTION) {
            enclose(module, function);
        } else if name == "assume_abort_if_not" {
            assume(module, function);
        }
    }
}

/// Lets all callers call the runtime's function of this name.
fn replace(module: &Module<'_>, function: Value<'_>, name: &str) {
    let own = format!("{name}.own");
    let Ok(name) = CString::new(name) else { return };
    unsafe {
        LLVMSetValueName2(function.raw(), own.as_ptr().cast(), own.len());
        LLVMSetLinkage(function.raw(), LLVMLinkage::LLVMInternalLinkage);
        let ty = LLVMGlobalGetValueType(function.raw());
        let declared = LLVMAddFunction(module.as_mut_ptr(), name.as_ptr(), ty);
        LLVMReplaceAllUsesWith(function.raw(), declared);
    }
}

/// Builds calls of functions without result.
struct Calls<'a, 'm> {
    module: &'a Module<'m>,
    builder: LLVMBuilderRef,
}

impl Drop for Calls<'_, '_> {
    fn drop(&mut self) {
        unsafe { LLVMDisposeBuilder(self.builder) };
    }
}

impl<'a, 'm> Calls<'a, 'm> {
    fn new(module: &'a Module<'m>) -> Self {
        let builder = unsafe { LLVMCreateBuilderInContext(LLVMGetModuleContext(module.as_mut_ptr())) };
        Self { module, builder }
    }

    /// Calls a function of the runtime before an instruction, at the place in the source of `place`. `number`: an
    /// argument.
    fn before(&self, instruction: Value<'_>, place: Value<'_>, name: &str, number: Option<u64>) {
        let Ok(name) = CString::new(name) else { return };
        unsafe {
            let module = self.module.as_mut_ptr();
            let context = LLVMGetModuleContext(module);
            let int = LLVMInt32TypeInContext(context);
            let mut types = vec![int; usize::from(number.is_some())];
            let void = LLVMVoidTypeInContext(context);
            let ty = LLVMFunctionType(void, types.as_mut_ptr(), types.len() as u32, 0);
            let known = LLVMGetNamedFunction(module, name.as_ptr());
            let function = if known.is_null() { LLVMAddFunction(module, name.as_ptr(), ty) } else { known };
            let mut values: Vec<_> = number.iter().map(|n| LLVMConstInt(int, *n, 0)).collect();
            LLVMPositionBuilderBefore(self.builder, instruction.raw());
            LLVMSetCurrentDebugLocation2(self.builder, LLVMInstructionGetDebugLoc(place.raw()));
            LLVMBuildCall2(self.builder, ty, function, values.as_mut_ptr(), values.len() as u32, c"".as_ptr());
        }
    }
}

/// Makes a section of a function's body.
fn enclose(module: &Module<'_>, function: Value<'_>) {
    let calls = Calls::new(module);
    let instructions = function.instructions();
    let has_place = |i: &&Value<'_>| unsafe { !LLVMInstructionGetDebugLoc(i.raw()).is_null() };
    let place = instructions.iter().find(has_place).copied();
    let first = function.blocks().first().and_then(|block| block.first_insertion_point());
    if let Some(first) = first {
        calls.before(first, place.unwrap_or(first), BEGIN, None);
    }
    for end in instructions.into_iter().filter(|i| i.opcode() == Some(LLVMOpcode::LLVMRet)) {
        calls.before(end, end, END, None);
    }
}

/// Makes an assumption of every `abort` in a function.
fn assume(module: &Module<'_>, function: Value<'_>) {
    let calls = Calls::new(module);
    let aborts = |i: &Value<'_>| {
        i.opcode() == Some(LLVMOpcode::LLVMCall) && i.called_function().is_some_and(|f| f.name() == "abort")
    };
    for abort in function.instructions().into_iter().filter(aborts) {
        calls.before(abort, abort, ASSUME, Some(0));
        unsafe { LLVMInstructionEraseFromParent(abort.raw()) };
    }
}
