//! Library functions whose address is taken, given a body of the program's own.
//!
//! What a library function touches is reported at its calls, and a call through a pointer does not say which
//! function it calls. So a pointer to a library function is made to point to a function of the program that does
//! nothing but call it.

use inkwell::llvm_sys::{LLVMLinkage, LLVMOpcode};
use program::library::{self, threads};

use crate::ir::{AttributeOf, Builder, Module, Value};

/// Follows the library function's name in its stand-in's name.
const SUFFIX: &str = ".pointer";

/// Replaces addresses of library functions by those of stand-ins. Variadic functions keep their address: their
/// arguments cannot be passed on.
pub(crate) fn stand_in(module: Module<'_>) {
    for function in module.functions() {
        let name = function.name();
        if function.is_declaration()
            && touches_memory(&name)
            && is_address_taken(function)
            && !function.value_type().is_variadic()
        {
            replace(module, function, &format!("{name}{SUFFIX}"));
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

fn replace<'m>(module: Module<'m>, function: Value<'m>, name: &str) {
    let calls: Vec<_> = function.users().into_iter().filter(|u| u.called_function() == Some(function)).collect();
    let ty = function.value_type();
    let stand_in = module.add_function(name, ty);
    stand_in.set_linkage(LLVMLinkage::LLVMInternalLinkage);
    function.replace_all_uses(stand_in);
    calls.into_iter().for_each(|call| call.set_callee(function));

    let builder = Builder::new(module);
    builder.position_at_end(stand_in.append_block("entry"));
    let parameters = stand_in.parameters();
    let call = builder.call(ty, function, &parameters);
    builder.ret((!ty.result().is_void()).then_some(call));
    // How arguments and result are passed is in their attributes.
    let parameters = (0..parameters.len() as u32).map(AttributeOf::Parameter);
    for of in std::iter::once(AttributeOf::Result).chain(parameters) {
        stand_in.copy_attributes(function, of);
        call.copy_attributes(function, of);
    }
}
