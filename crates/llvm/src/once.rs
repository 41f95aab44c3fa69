//! `std::call_once` of libstdc++, made part of the program.
//!
//! The template stores what to call in two thread-local variables of the library and passes the library's
//! `__once_proxy` to `pthread_once`, which calls it. The library's variables would be shared by all threads of the
//! program, which are one thread to the operating system. So the program gets variables and a proxy of its own.

use inkwell::llvm_sys::{LLVMLinkage, LLVMThreadLocalMode};

use crate::ir::{Builder, Module, Value};

/// What to call; the other variable holds its data.
const CALL: &str = "_ZSt11__once_call";
const VARIABLES: [&str; 2] = [CALL, "_ZSt15__once_callable"];
const PROXY: &str = "__once_proxy";

/// Defines the variables and the proxy where the module uses them.
pub(crate) fn complete(module: Module<'_>) {
    for name in VARIABLES {
        let Some(variable) = module.global(name).filter(|v| v.is_declaration()) else { continue };
        variable.set_initializer(variable.value_type().zero());
        variable.set_linkage(LLVMLinkage::LLVMInternalLinkage);
        variable.set_thread_local(LLVMThreadLocalMode::LLVMGeneralDynamicTLSModel);
    }
    let (Some(proxy), Some(call)) = (module.function(PROXY), module.global(CALL)) else { return };
    if proxy.is_declaration() {
        proxy.set_linkage(LLVMLinkage::LLVMInternalLinkage);
        define(module, proxy, call);
    }
}

/// The proxy calls what the calling thread's variable points to.
fn define<'m>(module: Module<'m>, proxy: Value<'m>, variable: Value<'m>) {
    let builder = Builder::new(module);
    builder.position_at_end(proxy.append_block("entry"));
    let own = module.intrinsic("llvm.threadlocal.address", builder.ptr);
    let address = builder.call(own.value_type(), own, &[variable]);
    let target = builder.load(builder.ptr, address);
    target.set_name("call");
    builder.call(builder.void.function(&[]), target, &[]);
    builder.ret(None);
}
