//! `main`, constructors and destructors: given to the runtime to call.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMValueKind};

use super::Weaver;
use crate::value::Value;

/// Renames `main`, and turns the lists of constructors and destructors into functions that call them in order.
pub(super) fn take_out(weaver: &Weaver<'_, '_>) {
    let module = weaver.module.as_mut_ptr();
    unsafe {
        let main = LLVMGetNamedFunction(module, c"main".as_ptr());
        if !main.is_null() {
            const NAME: &str = "__rp_user_main";
            LLVMSetValueName2(main, NAME.as_ptr().cast(), NAME.len());
            LLVMSetLinkage(main, LLVMLinkage::LLVMExternalLinkage);
        }
    }
    let constructors = list(weaver, "llvm.global_ctors");
    caller(weaver, "__rp_user_ctors", constructors);
    // Destructors run in the opposite order.
    let destructors = list(weaver, "llvm.global_dtors");
    caller(weaver, "__rp_user_dtors", destructors.into_iter().rev().collect());
}

/// Takes a list out of the module: its functions by priority.
fn list<'m>(weaver: &Weaver<'_, 'm>, name: &str) -> Vec<Value<'m>> {
    let Some(global) = weaver.module.get_global(name).map(Value::of) else { return Vec::new() };
    let mut functions: Vec<(i64, Value<'m>)> = Vec::new();
    let entries = unsafe { Value::from_raw(LLVMGetInitializer(global.raw())) };
    for entry in entries.into_iter().flat_map(Value::operands) {
        let priority = entry.operand(0).and_then(Value::as_integer).unwrap_or(i64::from(u16::MAX));
        let is_null = |f: &Value<'_>| f.kind() == LLVMValueKind::LLVMConstantPointerNullValueKind;
        functions.extend(entry.operand(1).filter(|f| !is_null(f)).map(|f| (priority, f)));
    }
    unsafe { LLVMDeleteGlobal(global.raw()) };
    functions.sort_by_key(|(priority, _)| *priority);
    functions.into_iter().map(|(_, function)| function).collect()
}

/// Defines `void name(void)` that calls the functions in order.
fn caller<'m>(weaver: &Weaver<'_, 'm>, name: &str, functions: Vec<Value<'m>>) {
    let context = weaver.module.get_context();
    let ty = context.void_type().fn_type(&[], false);
    let function = weaver.module.add_function(name, ty, None);
    let insert = &weaver.insert;
    unsafe {
        let entry = LLVMAppendBasicBlockInContext(insert.context(), Value::of(function).raw(), c"entry".as_ptr());
        LLVMPositionBuilderAtEnd(insert.builder(), entry);
        LLVMSetCurrentDebugLocation2(insert.builder(), std::ptr::null_mut());
        let ty = LLVMFunctionType(insert.void, std::ptr::null_mut(), 0, 0);
        for f in functions {
            LLVMBuildCall2(insert.builder(), ty, f.raw(), std::ptr::null_mut(), 0, c"".as_ptr());
        }
        LLVMBuildRetVoid(insert.builder());
    }
}
