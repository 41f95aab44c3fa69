//! Taking away promises that functions do not keep in an instrumented program, and keeping their frames.
//!
//! `__attribute__((pure))` and the like tell LLVM that a function leaves memory alone. With hooks in it, or defined by
//! the runtime, it does not: another thread may run inside. Calls could be merged, and values kept across them, if the
//! promise stayed. Nor may LLVM know which functions allocate: it would leave out a `realloc` whose result is only
//! freed, and with it a free that races.

use inkwell::llvm_sys::core::*;

use crate::functions::Functions;
use crate::value::Value;

const OF_FUNCTIONS: [&str; 8] =
    ["allockind", "allocsize", "memory", "nofree", "nosync", "nocallback", "speculatable", "willreturn"];
const OF_PARAMETERS: [&str; 4] = ["nocapture", "readnone", "readonly", "writeonly"];
/// The attribute that keeps LLVM from knowing library functions by their names.
const NO_BUILTINS: &str = "no-builtins";
/// LLVM's index of a function's own attributes; parameters count from 1.
const FUNCTION: u32 = u32::MAX;

/// Takes the promises from all functions and from calls of them; LLVM's intrinsics keep theirs.
pub(super) fn strip(functions: &Functions<'_>) {
    for &function in functions.table.iter() {
        let parameters = 1..=function.parameters().len() as u32;
        add(function, NO_BUILTINS, "");
        for kind in kinds(&OF_FUNCTIONS) {
            unsafe { LLVMRemoveEnumAttributeAtIndex(function.raw(), FUNCTION, kind) };
        }
        for kind in kinds(&OF_PARAMETERS) {
            parameters.clone().for_each(|i| unsafe { LLVMRemoveEnumAttributeAtIndex(function.raw(), i, kind) });
        }
        let calls_function = |i: &Value<'_>| i.is_call() && i.called_function().is_none_or(|f| !f.is_intrinsic());
        for call in function.instructions().into_iter().filter(calls_function) {
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

/// Lets a finding tell how a thread got there: every function keeps a frame that can be found. One that calls itself may
/// still turn that into a loop, so that no stack overflows that would not otherwise.
pub(super) fn keep_frames(functions: &Functions<'_>) {
    for (_, function) in functions.defined() {
        add(function, "frame-pointer", "all");
        let calls_itself = |call: &Value<'_>| call.is_call() && call.called_function() == Some(function);
        if !function.instructions().iter().any(calls_itself) {
            add(function, "disable-tail-calls", "true");
        }
    }
}

fn add(function: Value<'_>, name: &str, value: &str) {
    // Safety: attributes live as long as their context, which is the function's.
    unsafe {
        let context = LLVMGetModuleContext(LLVMGetGlobalParent(function.raw()));
        let (name_at, value_at) = (name.as_ptr().cast(), value.as_ptr().cast());
        let attribute = LLVMCreateStringAttribute(context, name_at, name.len() as u32, value_at, value.len() as u32);
        LLVMAddAttributeAtIndex(function.raw(), FUNCTION, attribute);
    }
}

fn kinds(names: &[&str]) -> impl Iterator<Item = u32> {
    names.iter().map(|name| unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) })
}
