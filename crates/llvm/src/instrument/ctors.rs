//! `main`, constructors and destructors: given to the runtime to call.

use inkwell::llvm_sys::{LLVMLinkage, LLVMValueKind};

use super::Weaver;
use crate::ir::Value;

/// Renames `main`, and turns the lists of constructors and destructors into functions that call them in order.
pub(super) fn take_out(weaver: &Weaver<'_, '_>) {
    if let Some(main) = weaver.module.function("main") {
        main.set_name("__rp_user_main");
        main.set_linkage(LLVMLinkage::LLVMExternalLinkage);
    }
    let constructors = list(weaver, "llvm.global_ctors");
    caller(weaver, "__rp_user_ctors", constructors);
    // Destructors run in the opposite order.
    let destructors = list(weaver, "llvm.global_dtors");
    caller(weaver, "__rp_user_dtors", destructors.into_iter().rev().collect());
}

/// Takes a list out of the module: its functions by priority.
fn list<'m>(weaver: &Weaver<'_, 'm>, name: &str) -> Vec<Value<'m>> {
    let Some(global) = weaver.module.global(name) else { return Vec::new() };
    let mut functions: Vec<(i64, Value<'m>)> = Vec::new();
    for entry in global.initializer().into_iter().flat_map(Value::operands) {
        let priority = entry.operand(0).and_then(Value::as_integer).unwrap_or(i64::from(u16::MAX));
        let is_null = |f: &Value<'_>| f.kind() == LLVMValueKind::LLVMConstantPointerNullValueKind;
        functions.extend(entry.operand(1).filter(|f| !is_null(f)).map(|f| (priority, f)));
    }
    global.delete();
    functions.sort_by_key(|(priority, _)| *priority);
    functions.into_iter().map(|(_, function)| function).collect()
}

/// Defines `void name(void)` that calls the functions in order.
fn caller<'m>(weaver: &Weaver<'_, 'm>, name: &str, functions: Vec<Value<'m>>) {
    let insert = &weaver.insert;
    let ty = insert.void.function(&[]);
    let function = weaver.module.add_function(name, ty);
    insert.position_at_end(function.append_block("entry"));
    insert.set_no_location();
    for function in functions {
        insert.call(ty, function, &[]);
    }
    insert.ret(None);
}
