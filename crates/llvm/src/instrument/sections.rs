//! Sections: the program's writable globals in two ranges that the runtime can save and restore.

use std::ffi::CStr;

use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::comdat::LLVMSetComdat;
use inkwell::llvm_sys::core::*;

use super::Weaver;
use crate::value::{self, Value};

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
pub(super) fn place(weaver: &mut Weaver<'_, '_>) {
    let module = weaver.module.as_mut_ptr();
    let own_assembly = unsafe {
        let mut len = 0;
        LLVMGetModuleInlineAsm(module, &mut len);
        len > 0
    };
    if own_assembly {
        weaver.unmodelled(None, "assembly outside of functions", None);
    }
    for global in value::globals(weaver.module).into_iter().filter(|g| is_writable(*g)) {
        match section(global).as_str() {
            "" => put(global),
            name if [".init_array", ".fini_array", ".preinit_array"].iter().any(|p| name.starts_with(p)) => {
                weaver.unmodelled(None, format!("puts `{}` into the section `{name}`", global.name()), None);
            }
            _ => {}
        }
    }
    unsafe { LLVMAppendModuleInlineAsm(module, ASSEMBLY.as_ptr().cast(), ASSEMBLY.len()) };
}

fn is_writable(global: Value<'_>) -> bool {
    let linkage = unsafe { LLVMGetLinkage(global.raw()) };
    !(global.is_declaration()
        || global.is_constant_global()
        || global.is_thread_local()
        || global.name().starts_with("llvm.")
        || matches!(linkage, LLVMLinkage::LLVMAvailableExternallyLinkage | LLVMLinkage::LLVMAppendingLinkage))
}

fn section(global: Value<'_>) -> String {
    let name = unsafe { LLVMGetSection(global.raw()) };
    if name.is_null() { String::new() } else { unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned() }
}

fn put(global: Value<'_>) {
    unsafe {
        let zero = LLVMIsNull(LLVMGetInitializer(global.raw())) != 0;
        // There is one module, so nothing is left to merge.
        LLVMSetComdat(global.raw(), std::ptr::null_mut());
        if LLVMGetLinkage(global.raw()) == LLVMLinkage::LLVMCommonLinkage {
            LLVMSetLinkage(global.raw(), LLVMLinkage::LLVMExternalLinkage);
        }
        LLVMSetSection(global.raw(), if zero { BSS } else { DATA }.as_ptr());
    }
}
