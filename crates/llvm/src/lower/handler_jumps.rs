//! Jumps out of handlers of signals.
//!
//! A handler runs anywhere, so such a jump comes from anywhere: from any point of a function that called `setjmp`, or of
//! what it runs, to where that returns again. The points differ in what was done before, to threads and locks by any
//! function, and besides that to memory by the function that goes on itself. So what deals with threads is left after each
//! call that does, and a function that calls `setjmp` after each statement with an effect. What waits for a condition may
//! be left in the middle, where it does not hold its lock.

use inkwell::llvm_sys::LLVMOpcode;
use program::library::{self, Effect, threads};
use rustc_hash::FxHashSet;

use super::unwinding::{Leaves, leaving, returns_twice};
use crate::functions::Functions;
use crate::ir::Value;

/// Functions that install handlers.
const INSTALLS: [&str; 4] = ["bsd_signal", "sigaction", "signal", "sysv_signal"];

/// What such jumps leave, and where they arrive.
#[derive(Default)]
pub(super) struct HandlerJumps<'m> {
    /// Functions that may take or release a lock, make or await a thread, or run what is not known.
    dealing: FxHashSet<Value<'m>>,
    /// Functions that call `setjmp`.
    landing: FxHashSet<Value<'m>>,
    /// Whether some call that deals with threads has an exception handler of its own, after which nothing is left here.
    invokes: bool,
}

impl<'m> HandlerJumps<'m> {
    /// Looks at all functions of a module that calls `longjmp`; `None` if no handler can.
    pub(super) fn new(functions: &Functions<'m>) -> Option<Self> {
        let mut declared = functions.table.iter().filter(|f| f.is_declaration() && !f.users().is_empty());
        if !declared.any(|f| INSTALLS.contains(&f.name().as_str())) {
            return None;
        }
        let mut calls = Vec::new();
        let mut this = Self::default();
        for (_, function) in functions.defined() {
            let instructions = function.instructions();
            calls.push((function, instructions.iter().map(|i| deals(*i)).collect::<Vec<_>>()));
            if instructions.iter().any(|i| returns_twice(*i)) {
                this.landing.insert(function);
            }
            this.invokes |= instructions.iter().any(|i| i.opcode() == Some(LLVMOpcode::LLVMInvoke));
        }
        this.dealing = leaving(calls);
        Some(this)
    }

    /// Whether all of them are edges of the program.
    pub(super) fn are_followed(&self) -> bool {
        !self.invokes
    }

    /// Whether a call leaves its function with something done that deals with threads.
    pub(super) fn leave_at(&self, call: Value<'m>) -> Leaves<'m> {
        deals(call)
    }

    /// Whether a function is left after an instruction because of what that has done.
    pub(super) fn leave_after(&self, function: Value<'m>, instruction: Value<'m>) -> bool {
        use LLVMOpcode::{LLVMAtomicCmpXchg, LLVMAtomicRMW, LLVMCall, LLVMStore};
        let is_call = instruction.opcode() == Some(LLVMCall);
        if self.landing.contains(&function) {
            let is_effect = matches!(instruction.opcode(), Some(LLVMStore | LLVMAtomicRMW | LLVMAtomicCmpXchg));
            let intrinsic = instruction.called_function().filter(|f| f.is_intrinsic());
            return is_effect || is_call && intrinsic.is_none_or(|f| f.name().starts_with("llvm.mem"));
        }
        is_call
            && match deals(instruction) {
                Leaves::Never => false,
                Leaves::If(callee) => self.dealing.contains(&callee),
                Leaves::Perhaps => true,
            }
    }
}

/// Whether a call deals with threads.
fn deals(call: Value<'_>) -> Leaves<'_> {
    let Some(callee) = call.callee() else { return Leaves::Never };
    if !callee.is_function() {
        return if callee.is_assembly() { Leaves::Never } else { Leaves::Perhaps };
    }
    if callee.is_intrinsic() {
        return Leaves::Never;
    }
    if !callee.is_declaration() {
        return Leaves::If(callee);
    }
    let name = callee.name();
    let calls_back = |effects: &[Effect]| effects.iter().any(|effect| matches!(effect, Effect::Calls(_)));
    let runs = threads::lookup(&name).is_some()
        || library::lookup(&name).is_none_or(|row| calls_back(row.effects) || row.is_opaque());
    if runs { Leaves::Perhaps } else { Leaves::Never }
}
