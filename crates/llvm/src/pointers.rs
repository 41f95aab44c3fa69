//! Library functions whose address is taken, given a body of the program's own.
//!
//! What a library function touches is reported at its calls, and a call through a pointer does not say which
//! function it calls. So a pointer to a library function is made to point to a function of the program that does
//! nothing but call it.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMAttributeRef, LLVMModuleRef};
use inkwell::llvm_sys::{LLVMLinkage, LLVMOpcode, LLVMTypeKind};
use inkwell::module::Module;
use program::library::{self, threads};

use crate::value::{self, Value};

/// Follows the library function's name in its stand-in's name.
const SUFFIX: &str = ".pointer";

/// Puts stand-ins in the place of addresses of library functions. Variadic functions keep their address: their
/// arguments cannot be passed on.
pub(crate) fn stand_in(module: &Module<'_>) {
    for function in value::functions(module) {
        let name = function.name();
        if function.is_declaration() && touches_memory(&name) && is_address_taken(function) && !is_variadic(function) {
            replace(module.as_mut_ptr(), function, &format!("{name}{SUFFIX}"));
        }
    }
}

/// Whether calls of this function are accompanied by reports of what it touches.
fn touches_memory(name: &str) -> bool {
    library::lookup(name).is_some_and(|f| !f.by_runtime && !f.is_pure())
        || threads::lookup(name).is_some_and(|f| !f.effects.is_empty())
        || library::atomics::lookup(name).is_some()
}

/// Whether a function is used other than by calling it or asking whether it is there. A personality function is
/// called by the unwinder alone.
pub(crate) fn is_address_taken(function: Value<'_>) -> bool {
    function.users().into_iter().any(|user| {
        let called_only = user.called_function() == Some(function) && !user.arguments().any(|a| a == function);
        !called_only && !user.is_function() && user.opcode() != Some(LLVMOpcode::LLVMICmp)
    })
}

fn is_variadic(function: Value<'_>) -> bool {
    unsafe { LLVMIsFunctionVarArg(LLVMGlobalGetValueType(function.raw())) != 0 }
}

fn replace(module: LLVMModuleRef, function: Value<'_>, name: &str) {
    let calls: Vec<_> = function.users().into_iter().filter(|u| u.called_function() == Some(function)).collect();
    unsafe {
        let context = LLVMGetModuleContext(module);
        let ty = LLVMGlobalGetValueType(function.raw());
        let stand_in = LLVMAddFunction(module, c"".as_ptr(), ty);
        LLVMSetValueName2(stand_in, name.as_ptr().cast(), name.len());
        LLVMSetLinkage(stand_in, LLVMLinkage::LLVMInternalLinkage);
        LLVMReplaceAllUsesWith(function.raw(), stand_in);
        for call in calls {
            // The callee is a call's last operand.
            LLVMSetOperand(call.raw(), LLVMGetNumOperands(call.raw()) as u32 - 1, function.raw());
        }

        let entry = LLVMAppendBasicBlockInContext(context, stand_in, c"entry".as_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, entry);
        let count = LLVMCountParams(stand_in);
        let mut arguments: Vec<_> = (0..count).map(|i| LLVMGetParam(stand_in, i)).collect();
        let call = LLVMBuildCall2(builder, ty, function.raw(), arguments.as_mut_ptr(), count, c"".as_ptr());
        if LLVMGetTypeKind(LLVMGetReturnType(ty)) == LLVMTypeKind::LLVMVoidTypeKind {
            LLVMBuildRetVoid(builder);
        } else {
            LLVMBuildRet(builder, call);
        }
        LLVMDisposeBuilder(builder);
        // How arguments and result are passed is in their attributes.
        for index in 0..=count {
            for attribute in attributes(function, index) {
                LLVMAddAttributeAtIndex(stand_in, index, attribute);
                LLVMAddCallSiteAttribute(call, index, attribute);
            }
        }
    }
}

/// The attributes of a function's result (index 0) or of a parameter (from 1).
fn attributes(function: Value<'_>, index: u32) -> Vec<LLVMAttributeRef> {
    unsafe {
        let mut attributes = vec![std::ptr::null_mut(); LLVMGetAttributeCountAtIndex(function.raw(), index) as usize];
        LLVMGetAttributesAtIndex(function.raw(), index, attributes.as_mut_ptr());
        attributes
    }
}
