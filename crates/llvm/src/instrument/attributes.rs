//! Taking away promises that functions do not keep in an instrumented program, and keeping their frames.
//!
//! `__attribute__((pure))` and the like tell LLVM that a function leaves memory alone. With hooks in it, or defined by
//! the runtime, it does not: another thread may run inside. Calls could be merged, and values kept across them, if the
//! promise stayed. Nor may LLVM know which functions allocate: it would leave out a `realloc` whose result is only
//! freed, and with it a free that races.

use crate::functions::Functions;
use crate::ir::{AttributeOf, Value};

const OF_FUNCTIONS: [&str; 8] =
    ["allockind", "allocsize", "memory", "nofree", "nosync", "nocallback", "speculatable", "willreturn"];
const OF_PARAMETERS: [&str; 4] = ["nocapture", "readnone", "readonly", "writeonly"];
/// The attribute that keeps LLVM from knowing library functions by their names.
const NO_BUILTINS: &str = "no-builtins";

/// Takes the promises from all functions and from calls of them; LLVM's intrinsics keep theirs.
pub(super) fn strip(functions: &Functions<'_>) {
    for &function in functions.table.iter() {
        function.add_string_attribute(NO_BUILTINS, "");
        take(function, function.parameters().len());
        let calls_function = |i: &Value<'_>| i.is_call() && i.called_function().is_none_or(|f| !f.is_intrinsic());
        for call in function.instructions().into_iter().filter(calls_function) {
            take(call, call.arguments().count());
        }
    }
}

/// Takes the promises from a function or call with this many parameters.
fn take(of: Value<'_>, parameters: usize) {
    for name in OF_FUNCTIONS {
        of.remove_attribute(AttributeOf::Function, name);
    }
    for name in OF_PARAMETERS {
        (0..parameters as u32).for_each(|number| of.remove_attribute(AttributeOf::Parameter(number), name));
    }
}

/// Lets a finding tell how a thread got there: every function keeps a frame that can be found. One that calls itself may
/// still turn that into a loop, so that no stack overflows that would not otherwise.
pub(super) fn keep_frames(functions: &Functions<'_>) {
    for (_, function) in functions.defined() {
        function.add_string_attribute("frame-pointer", "all");
        let calls_itself = |call: &Value<'_>| call.is_call() && call.called_function() == Some(function);
        if !function.instructions().iter().any(calls_itself) {
            function.add_string_attribute("disable-tail-calls", "true");
        }
    }
}
