//! Functions for checkers that the program defines itself, made those of the runtime; sections that have the form of
//! functions.
//!
//! By the rules of the competition on software verification, `reach_error` is the error whatever its body does, a
//! function whose name starts with `__VERIFIER_atomic_` is executed without interruption, and programs state
//! assumptions by a function `assume_abort_if_not` that aborts. Calling `abort` elsewhere ends the program as usual.

use inkwell::llvm_sys::{LLVMLinkage, LLVMOpcode};

use crate::ir::{Builder, Module, Value};

const BEGIN: &str = "__VERIFIER_atomic_begin";
const END: &str = "__VERIFIER_atomic_end";
const SECTION: &str = "__VERIFIER_atomic_";
const ASSUME: &str = "__VERIFIER_assume";
/// Functions that mean the same whatever body they have.
const OURS: [&str; 5] = ["reach_error", "__VERIFIER_error", ASSUME, BEGIN, END];

/// Prepares the module's functions for checkers.
pub(crate) fn complete(module: Module<'_>) {
    for function in module.functions().into_iter().filter(|f| !f.is_declaration()) {
        let name = function.name();
        if OURS.contains(&name.as_str()) {
            replace(module, function, &name);
        } else if name.starts_with("__VERIFIER_nondet_") || name == "raceproof_choose" {
            // The program's own; the runtime has one of this name too.
            function.set_linkage(LLVMLinkage::LLVMInternalLinkage);
        } else if name.starts_with(SECTION) {
            enclose(module, function);
        } else if name == "assume_abort_if_not" {
            assume(module, function);
        }
    }
}

/// Lets all callers call the runtime's function of this name.
fn replace<'m>(module: Module<'m>, function: Value<'m>, name: &str) {
    function.set_name(&format!("{name}.own"));
    function.set_linkage(LLVMLinkage::LLVMInternalLinkage);
    let declared = module.add_function(name, function.value_type());
    function.replace_all_uses(declared);
}

/// Calls a function of the runtime before an instruction, at the location in the source of `at`. `number`: an argument.
fn call_before<'m>(builder: &Builder<'m>, instruction: Value<'m>, at: Value<'m>, name: &str, number: Option<u32>) {
    let arguments: Vec<_> = number.into_iter().map(|number| builder.const_i32(number)).collect();
    let types: Vec<_> = arguments.iter().map(|argument| argument.ty()).collect();
    let ty = builder.void.function(&types);
    let function = builder.module().declared_function(name, ty);
    builder.position_before(instruction);
    builder.set_location_of(at);
    builder.call(ty, function, &arguments);
}

/// Makes a section of a function's body.
fn enclose<'m>(module: Module<'m>, function: Value<'m>) {
    let builder = Builder::new(module);
    let instructions = function.instructions();
    let located = instructions.iter().find(|i| i.location().is_some()).copied();
    let first = function.blocks().first().and_then(|block| block.first_insertion_point());
    if let Some(first) = first {
        call_before(&builder, first, located.unwrap_or(first), BEGIN, None);
    }
    for end in instructions.into_iter().filter(|i| i.opcode() == Some(LLVMOpcode::LLVMRet)) {
        call_before(&builder, end, end, END, None);
    }
}

/// Makes an assumption of every `abort` in a function.
fn assume<'m>(module: Module<'m>, function: Value<'m>) {
    let builder = Builder::new(module);
    let aborts = |i: &Value<'_>| {
        i.opcode() == Some(LLVMOpcode::LLVMCall) && i.called_function().is_some_and(|f| f.name() == "abort")
    };
    for abort in function.instructions().into_iter().filter(aborts) {
        call_before(&builder, abort, abort, ASSUME, Some(0));
        abort.erase();
    }
}
