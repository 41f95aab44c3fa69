//! Removing attributes that do not hold in an instrumented program, and keeping frames.
//!
//! `__attribute__((pure))` and the like say that a function does not touch memory. With hooks in it, or defined by the
//! runtime, it does: another thread may run inside. If the attribute stayed, LLVM could merge calls and keep values across
//! them. LLVM must not know which functions allocate either: it would remove a `realloc` whose result is only freed, and
//! with it a free that races. In a program for the recorder it would keep the cursor in a register over a call of `malloc`,
//! and what is logged next would overwrite the record of the block.

use crate::functions::Functions;
use crate::ir::{AttributeOf, Value};

const OF_FUNCTIONS: [&str; 8] =
    ["allockind", "allocsize", "memory", "nofree", "nosync", "nocallback", "speculatable", "willreturn"];
const OF_PARAMETERS: [&str; 4] = ["nocapture", "readnone", "readonly", "writeonly"];
/// The attribute that keeps LLVM from knowing library functions by their names.
const NO_BUILTINS: &str = "no-builtins";

/// Removes the attributes from all functions and from calls of them; LLVM's intrinsics keep theirs.
pub(super) fn strip(functions: &Functions<'_>) {
    for &function in functions.table.iter() {
        function.add_string_attribute(NO_BUILTINS, "");
        strip_one(function, function.parameters().len());
        let calls_function = |i: &Value<'_>| i.is_call() && i.called_function().is_none_or(|f| !f.is_intrinsic());
        for call in function.instructions().into_iter().filter(calls_function) {
            strip_one(call, call.arguments().count());
        }
    }
}

/// Removes the attributes from a function or call with this many parameters.
fn strip_one(of: Value<'_>, parameters: usize) {
    for name in OF_FUNCTIONS {
        of.remove_attribute(AttributeOf::Function, name);
    }
    for name in OF_PARAMETERS {
        (0..parameters as u32).for_each(|number| of.remove_attribute(AttributeOf::Parameter(number), name));
    }
}

/// Makes backtraces of findings possible: every function keeps a frame pointer. One that calls itself may
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
