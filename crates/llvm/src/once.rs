//! `std::call_once` of libstdc++, made part of the program.
//!
//! The template stores what to call in two thread-local variables of the library and passes the library's
//! `__once_proxy` to `pthread_once`, which calls it. The library's variables would be shared by all threads of the
//! program, which are one thread to the operating system. So the program gets variables and a proxy of its own.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMThreadLocalMode};
use inkwell::module::{Linkage, Module};
use inkwell::values::PointerValue;

use crate::value::Value;

/// What to call; the other variable holds its data.
const CALL: &str = "_ZSt11__once_call";
const VARIABLES: [&str; 2] = [CALL, "_ZSt15__once_callable"];
const PROXY: &str = "__once_proxy";

/// Defines the variables and the proxy where the module uses them.
pub(crate) fn complete(module: &Module<'_>) {
    for name in VARIABLES {
        let Some(variable) = module.get_global(name).map(Value::of).filter(|v| v.is_declaration()) else { continue };
        unsafe {
            LLVMSetInitializer(variable.raw(), LLVMConstNull(LLVMGlobalGetValueType(variable.raw())));
            LLVMSetLinkage(variable.raw(), LLVMLinkage::LLVMInternalLinkage);
            LLVMSetThreadLocalMode(variable.raw(), LLVMThreadLocalMode::LLVMGeneralDynamicTLSModel);
        }
    }
    let (Some(proxy), Some(call)) = (module.get_function(PROXY), module.get_global(CALL)) else { return };
    if proxy.count_basic_blocks() > 0 {
        return;
    }
    proxy.set_linkage(Linkage::Internal);
    define(module, Value::of(proxy), call.as_pointer_value());
}

/// The proxy calls what the calling thread's variable points to.
fn define(module: &Module<'_>, proxy: Value<'_>, call: PointerValue<'_>) {
    const ADDRESS: &str = "llvm.threadlocal.address";
    unsafe {
        let context = LLVMGetModuleContext(module.as_mut_ptr());
        let pointer = LLVMPointerTypeInContext(context, 0);
        let entry = LLVMAppendBasicBlockInContext(context, proxy.raw(), c"entry".as_ptr());
        let builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderAtEnd(builder, entry);
        let id = LLVMLookupIntrinsicID(ADDRESS.as_ptr().cast(), ADDRESS.len());
        let mut overload = pointer;
        let function = LLVMGetIntrinsicDeclaration(module.as_mut_ptr(), id, &mut overload, 1);
        let ty = LLVMIntrinsicGetType(context, id, &mut overload, 1);
        let mut variable = Value::of(call).raw();
        let address = LLVMBuildCall2(builder, ty, function, &mut variable, 1, c"".as_ptr());
        let target = LLVMBuildLoad2(builder, pointer, address, c"call".as_ptr());
        let ty = LLVMFunctionType(LLVMVoidTypeInContext(context), std::ptr::null_mut(), 0, 0);
        LLVMBuildCall2(builder, ty, target, std::ptr::null_mut(), 0, c"".as_ptr());
        LLVMBuildRetVoid(builder);
        LLVMDisposeBuilder(builder);
    }
}
