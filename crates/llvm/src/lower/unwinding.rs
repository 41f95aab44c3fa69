//! Which calls may be left otherwise than by returning: by an exception, or by a jump to where `setjmp` returned.
//!
//! - An exception leaves a call of a function that throws, calls one that does, or is not known. What libraries throw
//!   is assumed of functions of C++ alone, without allocation, which succeeds. `pthread_exit` unwinds the stack like an
//!   exception; in C it jumps from one `pthread_cleanup_push` to the next.
//! - A jump leaves a call of `longjmp`, of a function that calls it, or of any unknown one in a module that jumps.
//! - Where handlers of signals may jump, a jump leaves calls and comes between them ([`HandlerJumps`]).
//! - In a module that cancels threads, a call that is a cancellation point may be left before it does anything, as by
//!   `pthread_exit`.

use inkwell::llvm_sys::LLVMOpcode;
use program::library::threads::{self, ThreadOp};
use program::library::{self, Effect, LibraryFunction, Role};
use rustc_hash::{FxHashMap, FxHashSet};

use super::handler_jumps::HandlerJumps;
use crate::functions::Functions;
use crate::ir::Value;

/// What `pthread_cleanup_push` of C calls: `pthread_exit` jumps to where it was called.
const CLEANUP: &str = "__pthread_register_cancel";
/// What a handler of `pthread_cleanup_push` ends with.
const NEXT_CLEANUP: &str = "__pthread_unwind_next";
/// What ends another thread at its next cancellation point.
const CANCEL: &str = "pthread_cancel";
/// What may let it end anywhere.
const ASYNCHRONOUS: [&str; 5] = ["bsd_signal", "pthread_setcanceltype", "sigaction", "signal", "sysv_signal"];
const BUILTIN_SETJMP: &str = "llvm.eh.sjlj.setjmp";
const BUILTIN_LONGJMP: &str = "llvm.eh.sjlj.longjmp";

/// Whether a call may be left in a way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaves<'m> {
    Never,
    /// If this function of the module may.
    If(Value<'m>),
    Perhaps,
}

/// How functions of a module may be left.
#[derive(Default)]
pub(super) struct Unwinding<'m> {
    throwing: FxHashSet<Value<'m>>,
    jumping: FxHashSet<Value<'m>>,
    /// Whether the module jumps at all, or cancels threads, which leave as by a jump.
    jumps: bool,
    /// Jumps out of handlers of signals, if there may be any.
    handler_jumps: Option<HandlerJumps<'m>>,
    /// Whether the module cancels threads.
    cancels: bool,
    /// Whether threads may be cancelled anywhere: they ask for it, or a handler of a signal has a cancellation point.
    anywhere: bool,
    /// Whether `pthread_exit` jumps.
    cleanups: bool,
}

impl<'m> Unwinding<'m> {
    /// Looks at all functions.
    pub(super) fn new(functions: &Functions<'m>) -> Self {
        let is_used = |function: &&Value<'m>| !function.users().is_empty();
        let declared = || functions.table.iter().filter(|f| f.is_declaration()).filter(is_used).map(|f| f.name());
        let defined: Vec<(Value<'m>, Vec<Value<'m>>)> =
            functions.defined().map(|(_, function)| (function, function.instructions())).collect();
        let mut calls = defined.iter().flat_map(|(_, instructions)| instructions).filter_map(|i| i.called_function());
        let cleanups = declared().any(|name| name == CLEANUP);
        let cancels = declared().any(|name| name == CANCEL);
        let anywhere = cancels && declared().any(|name| ASYNCHRONOUS.contains(&name.as_str()));
        let long_jumps = declared().any(|name| library::lookup(&name).is_some_and(|row| row.role == Role::LongJump))
            || calls.any(|f| f.is_intrinsic() && f.name() == BUILTIN_LONGJMP);
        let jumps = cleanups || long_jumps || cancels;
        let handler_jumps = if long_jumps { HandlerJumps::new(functions) } else { None };
        let mut this = Self { cleanups, jumps, handler_jumps, cancels, anywhere, ..Self::default() };
        let (mut throws, mut jumps) = (Vec::new(), Vec::new());
        for (function, instructions) in &defined {
            let is = |i: &Value<'m>, opcode| i.opcode() == Some(opcode);
            // From a call without a handler, or from a handler that goes on throwing.
            let resumes = instructions.iter().any(|i| is(i, LLVMOpcode::LLVMResume));
            let passes = |i: &&Value<'m>| is(i, LLVMOpcode::LLVMCall) || is(i, LLVMOpcode::LLVMInvoke) && resumes;
            let throwing = instructions.iter().filter(|_| !function.never_unwinds()).filter(passes);
            throws.push((*function, throwing.map(|i| this.throw(*i)).collect::<Vec<_>>()));
            let interrupted = |i: Value<'m>| this.handler_jumps.as_ref().map_or(Leaves::Never, |j| j.leave_at(i));
            let left = |i: &Value<'m>| match interrupted(*i) {
                _ if this.may_be_cancelled(*i) => Leaves::Perhaps,
                Leaves::Never => this.jump(*i),
                leaves => leaves,
            };
            jumps.push((*function, instructions.iter().map(left).collect::<Vec<_>>()));
        }
        this.throwing = leaving(throws);
        this.jumping = leaving(jumps);
        this
    }

    /// Whether an exception may leave the function.
    pub(super) fn throws(&self, function: Value<'m>) -> bool {
        self.throwing.contains(&function)
    }
    /// Whether the function may be left by an exception or a jump.
    pub(super) fn leaves(&self, function: Value<'m>) -> bool {
        self.throws(function) || self.jumping.contains(&function)
    }
    /// Jumps out of handlers of signals, if there may be any.
    pub(super) fn handler_jumps(&self) -> Option<&HandlerJumps<'m>> {
        self.handler_jumps.as_ref()
    }

    /// Whether a thread that another one cancels may end instead of executing the instruction. Too many is no mistake. Where
    /// it may end anywhere, that is before calls and at the end of functions: nothing else takes or releases a lock or
    /// waits.
    pub(super) fn may_be_cancelled(&self, call: Value<'m>) -> bool {
        if self.anywhere && call.opcode() == Some(LLVMOpcode::LLVMRet) {
            return true;
        }
        let Some(callee) = call.called_function().filter(|f| self.cancels && f.is_declaration() && !f.is_intrinsic())
        else {
            return false;
        };
        let name = callee.name();
        if self.anywhere {
            return true;
        }
        match (threads::lookup(&name), library::lookup(&name)) {
            (Some(function), _) => match function.op {
                ThreadOp::CondWait { .. }
                | ThreadOp::Join { .. }
                | ThreadOp::SemWait { .. }
                | ThreadOp::TestCancel
                | ThreadOp::Unmodelled
                | ThreadOp::Yield => true,
                ThreadOp::Lock { .. } => name.contains("rwlock"),
                _ => false,
            },
            (None, Some(row)) => {
                let in_memory = ["mem", "str", "wmem", "wcs", "is", "to", "bcmp", "bcopy", "bzero", "__cxa", "_Z"];
                // POSIX allows these to be cancellation points (2.9.5).
                let may_act = ["isatty", "strerror", "strerror_r", "strftime", "strsignal", "wcsftime"];
                let waits = matches!(row.role, Role::Ordinary | Role::AllocateInside);
                let is_in_memory = in_memory.iter().any(|prefix| name.starts_with(prefix));
                waits && !row.is_pure() && (!is_in_memory || may_act.contains(&name.as_str()))
            }
            (None, None) => false,
        }
    }

    fn throw(&self, call: Value<'m>) -> Leaves<'m> {
        let Some(callee) = call.callee().filter(|_| !call.never_unwinds()) else { return Leaves::Never };
        if !callee.is_function() {
            return perhaps(!callee.is_assembly());
        }
        if callee.is_intrinsic() || callee.never_unwinds() {
            return Leaves::Never;
        }
        if !callee.is_declaration() {
            return Leaves::If(callee);
        }
        let name = callee.name();
        if let Some(function) = threads::lookup(&name) {
            return match function.op {
                ThreadOp::ExitThread => Leaves::Perhaps,
                ThreadOp::Once { function, .. } => match call.argument(function).filter(|f| f.is_function()) {
                    Some(routine) if !routine.is_declaration() => Leaves::If(routine),
                    _ => Leaves::Perhaps,
                },
                _ => Leaves::Never,
            };
        }
        let throws = |row: &LibraryFunction| match row.role {
            Role::Throws => true,
            Role::Ordinary => name.starts_with("_Z") || calls_back(row),
            _ => false,
        };
        perhaps(library::lookup(&name).is_none_or(throws))
    }

    fn jump(&self, call: Value<'m>) -> Leaves<'m> {
        let Some(callee) = call.callee().filter(|_| self.jumps) else { return Leaves::Never };
        if !callee.is_function() {
            return perhaps(!callee.is_assembly());
        }
        let name = callee.name();
        if callee.is_intrinsic() {
            return perhaps(name == BUILTIN_LONGJMP);
        }
        if !callee.is_declaration() {
            return Leaves::If(callee);
        }
        if let Some(function) = threads::lookup(&name) {
            return perhaps(match function.op {
                ThreadOp::ExitThread => self.cleanups,
                ThreadOp::Once { .. } => true,
                _ => false,
            });
        }
        let jumps = |row: &LibraryFunction| row.role == Role::LongJump || row.name == NEXT_CLEANUP || calls_back(row);
        perhaps(library::lookup(&name).is_none_or(jumps))
    }

    fn may_throw(&self, call: Value<'m>) -> bool {
        match self.throw(call) {
            Leaves::Never => false,
            Leaves::If(function) => self.throws(function),
            Leaves::Perhaps => true,
        }
    }
    /// Whether a call may be left by a jump.
    pub(super) fn may_jump(&self, call: Value<'m>) -> bool {
        match self.jump(call) {
            Leaves::Never => false,
            Leaves::If(function) => self.jumping.contains(&function),
            Leaves::Perhaps => true,
        }
    }

    /// Whether a call in the function may be left otherwise than by returning or ending the program.
    pub(super) fn may_leave(&self, function: Value<'m>, call: Value<'m>) -> bool {
        self.may_throw(call) && !function.never_unwinds() || self.may_jump(call)
    }
}

fn perhaps<'m>(may: bool) -> Leaves<'m> {
    if may { Leaves::Perhaps } else { Leaves::Never }
}

/// The functions that may be left, given how their calls may be.
pub(super) fn leaving<'m>(functions: Vec<(Value<'m>, Vec<Leaves<'m>>)>) -> FxHashSet<Value<'m>> {
    let mut callers: FxHashMap<Value<'m>, Vec<Value<'m>>> = FxHashMap::default();
    let (mut found, mut open) = (FxHashSet::default(), Vec::new());
    for (function, calls) in functions {
        for call in calls {
            match call {
                Leaves::Never => {}
                Leaves::If(callee) => callers.entry(callee).or_default().push(function),
                Leaves::Perhaps => open.push(function),
            }
        }
    }
    while let Some(function) = open.pop() {
        if found.insert(function) {
            open.extend(callers.get(&function).into_iter().flatten());
        }
    }
    found
}

fn calls_back(row: &LibraryFunction) -> bool {
    row.effects.iter().any(|effect| matches!(effect, Effect::Calls(_)))
}

/// Whether a call ends the calling thread after unwinding its stack.
pub(super) fn ends_thread(call: Value<'_>) -> bool {
    let name = call.called_function().filter(|f| f.is_declaration()).map(Value::name);
    name.and_then(|name| threads::lookup(&name)).is_some_and(|function| function.op == ThreadOp::ExitThread)
}

/// Whether a call returns again when something jumps to it.
pub(super) fn returns_twice(call: Value<'_>) -> bool {
    call.called_function().filter(|f| f.is_declaration()).is_some_and(|function| {
        let name = function.name();
        name == BUILTIN_SETJMP || library::lookup(&name).is_some_and(|row| row.role == Role::SetJump)
    })
}

/// Whether a call is the end of a handler of `pthread_cleanup_push` that `pthread_exit` ran.
pub(super) fn goes_to_next_cleanup(call: Value<'_>) -> bool {
    call.called_function().is_some_and(|function| function.name() == NEXT_CLEANUP)
}
