//! Sections: the program's writable globals in two ranges that the runtime can save and restore.

use std::ffi::CStr;

use inkwell::llvm_sys::LLVMLinkage;

use super::Weaver;
use crate::assembly::{self, Outside};
use crate::ir::Value;
use crate::lower::FUNCTION_SECTIONS;

const DATA: &CStr = c"rp_data";
const BSS: &CStr = c"rp_bss";

/// Makes both sections, so that their start and end exist in every program, and `rp_bss` one without content in the
/// file (LLVM alone would give any section named by hand a content).
const ASSEMBLY: &str = "\
.section rp_data,\"aw\",@progbits
.balign 16
.zero 16
.section rp_bss,\"aw\",@nobits
.balign 16
.zero 16
.text
";

/// Places every writable global that has no section of its own.
pub(super) fn assign(weaver: &mut Weaver<'_, '_>) {
    let module = weaver.module;
    if Outside::of(module) == Outside::Unknown {
        weaver.unmodelled(None, assembly::OUTSIDE, None);
    }
    for global in module.globals().into_iter().filter(|g| is_writable(*g)) {
        match global.section().as_str() {
            "" => assign_one(global),
            name if FUNCTION_SECTIONS.iter().any(|p| name.starts_with(p)) => {
                weaver.unmodelled(None, format!("puts `{}` into the section `{name}`", global.name()), None);
            }
            _ => {}
        }
    }
    module.append_assembly(ASSEMBLY);
}

fn is_writable(global: Value<'_>) -> bool {
    !(global.is_declaration()
        || global.is_constant_global()
        || global.is_thread_local()
        || global.name().starts_with("llvm.")
        || matches!(global.linkage(), LLVMLinkage::LLVMAvailableExternallyLinkage | LLVMLinkage::LLVMAppendingLinkage))
}

fn assign_one(global: Value<'_>) {
    let zero = global.initializer().is_some_and(Value::is_zero);
    if global.linkage() == LLVMLinkage::LLVMCommonLinkage {
        global.set_linkage(LLVMLinkage::LLVMExternalLinkage);
    }
    // There is one module, so nothing is left to merge.
    global.set_section(if zero { BSS } else { DATA });
}
