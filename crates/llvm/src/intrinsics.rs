//! What LLVM's own functions do to memory.

use crate::ir::Value;

/// The effect of an intrinsic on memory that another thread could see.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Intrinsic {
    /// Copies: destination, source, length.
    Copy,
    /// Sets: destination, byte, length.
    Fill,
    /// None, and the result is not one of its pointers.
    Nothing,
    /// None, and the result is its first argument.
    PassesPointer,
    /// The address of a thread-local variable.
    ThreadLocal,
    /// Accesses memory through a pointer in a way we have no model for.
    Unknown,
}

/// Intrinsics that take a pointer but access nothing that another thread could see. Each entry is the name
/// up to its type suffixes.
const WITHOUT_EFFECT: &[&str] = &[
    "llvm.assume",
    "llvm.codeview.annotation",
    "llvm.dbg.",
    "llvm.eh.",
    "llvm.experimental.noalias.scope.decl",
    "llvm.frameaddress",
    "llvm.invariant.end",
    "llvm.invariant.start",
    "llvm.is.constant",
    "llvm.lifetime.end",
    "llvm.lifetime.start",
    "llvm.objectsize",
    "llvm.prefetch",
    "llvm.returnaddress",
    "llvm.stackrestore",
    "llvm.stacksave",
    "llvm.va_copy",
    "llvm.va_end",
    "llvm.va_start",
    "llvm.var.annotation",
];

/// Intrinsics whose result is their first argument.
const PASSING: &[&str] = &[
    "llvm.expect",
    "llvm.launder.invariant.group",
    "llvm.ptr.annotation",
    "llvm.ptrmask",
    "llvm.strip.invariant.group",
];

/// The effect of a call to an intrinsic; `None` if it is not a call to one.
pub(crate) fn of_call(call: Value<'_>) -> Option<Intrinsic> {
    let function = call.called_function().filter(|f| f.is_intrinsic())?;
    let name = function.name();
    let starts = |prefix: &&str| name.starts_with(*prefix);
    Some(if name.contains(".element.unordered.atomic") {
        Intrinsic::Unknown
    } else if ["llvm.memcpy.", "llvm.memmove."].iter().any(starts) {
        Intrinsic::Copy
    } else if name.starts_with("llvm.memset.") {
        Intrinsic::Fill
    } else if name.starts_with("llvm.threadlocal.address") {
        Intrinsic::ThreadLocal
    } else if PASSING.iter().any(starts) {
        Intrinsic::PassesPointer
    } else if WITHOUT_EFFECT.iter().any(starts) || !call.arguments().any(Value::is_pointer) {
        Intrinsic::Nothing
    } else {
        Intrinsic::Unknown
    })
}

/// Whether a call does something visible, so that it needs a site.
pub(crate) fn is_visible_call(call: Value<'_>) -> bool {
    match of_call(call) {
        None => true,
        Some(effect) => matches!(effect, Intrinsic::Copy | Intrinsic::Fill | Intrinsic::Unknown),
    }
}
