//! Taking away promises that instrumented functions do not keep.
//!
//! `__attribute__((pure))` and the like tell LLVM that a function leaves memory alone. With hooks in it, it does
//! not: another thread may run inside. Calls could be merged, and values kept across them, if the promise stayed.

use inkwell::llvm_sys::core::*;

use crate::functions::Functions;
use crate::value::Value;

const OF_FUNCTIONS: [&str; 6] = ["memory", "nofree", "nosync", "nocallback", "speculatable", "willreturn"];
const OF_PARAMETERS: [&str; 4] = ["nocapture", "readnone", "readonly", "writeonly"];
/// LLVM's index of a function's own attributes; parameters count from 1.
const FUNCTION: u32 = u32::MAX;

/// Takes the promises from all defined functions and from calls of them.
pub(super) fn strip(functions: &Functions<'_>) {
    for (_, function) in functions.defined() {
        let parameters = 1..=function.parameters().len() as u32;
        for kind in kinds(&OF_FUNCTIONS) {
            unsafe { LLVMRemoveEnumAttributeAtIndex(function.raw(), FUNCTION, kind) };
        }
        for kind in kinds(&OF_PARAMETERS) {
            parameters.clone().for_each(|i| unsafe { LLVMRemoveEnumAttributeAtIndex(function.raw(), i, kind) });
        }
        let calls_own_code = |i: &Value<'_>| i.is_call() && i.called_function().is_none_or(|f| !f.is_declaration());
        for call in function.instructions().into_iter().filter(calls_own_code) {
            for kind in kinds(&OF_FUNCTIONS) {
                unsafe { LLVMRemoveCallSiteEnumAttribute(call.raw(), FUNCTION, kind) };
            }
            for kind in kinds(&OF_PARAMETERS) {
                for (index, _) in (1..).zip(call.arguments()) {
                    unsafe { LLVMRemoveCallSiteEnumAttribute(call.raw(), index, kind) };
                }
            }
        }
    }
}

fn kinds(names: &[&str]) -> impl Iterator<Item = u32> {
    names.iter().map(|name| unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) })
}
