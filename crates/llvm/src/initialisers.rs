//! Initialisers of thread-local variables that have none.
//!
//! C++ reaches a thread-local variable of another source through a wrapper that first calls the variable's
//! initialiser, a weak symbol `_ZTH…` that only a variable with a dynamic initial value has. Where no input defines
//! it, an initialiser that does nothing takes its place, so that no call of an unknown function is left. (A variable
//! of a library is noticed by its own name.)

use inkwell::llvm_sys::LLVMLinkage;

use crate::ir::{Builder, Module};

/// Defines the initialisers that are missing.
pub(crate) fn complete(module: Module<'_>) {
    let builder = Builder::new(module);
    for function in module.functions() {
        let missing = function.is_declaration() && function.linkage() == LLVMLinkage::LLVMExternalWeakLinkage;
        if missing && function.name().starts_with("_ZTH") {
            function.set_linkage(LLVMLinkage::LLVMInternalLinkage);
            builder.position_at_end(function.append_block("entry"));
            builder.ret(None);
        }
    }
}
