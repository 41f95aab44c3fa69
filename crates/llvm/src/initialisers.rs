//! Initialisers of thread-local variables that have none.
//!
//! C++ reaches a thread-local variable of another source through a wrapper that first calls the variable's
//! initialiser, a weak symbol `_ZTH…` that only a variable with a dynamic initial value has. Where no input defines
//! it, an initialiser that does nothing takes its place, so that no call of an unknown function is left. (A variable
//! of a library is noticed by its own name.)

use inkwell::module::{Linkage, Module};

/// Defines the initialisers that are missing.
pub(crate) fn complete(module: &Module<'_>) {
    let context = module.get_context();
    let builder = context.create_builder();
    for function in module.get_functions() {
        let missing = function.count_basic_blocks() == 0 && function.get_linkage() == Linkage::ExternalWeak;
        if missing && function.get_name().to_bytes().starts_with(b"_ZTH") {
            function.set_linkage(Linkage::Internal);
            builder.position_at_end(context.append_basic_block(function, "entry"));
            builder.build_return(None).expect("raceproof bug: the builder stands at a block's end");
        }
    }
}
