//! Which memory no other thread can reach.
//!
//! A local variable is private if its address is used only to access it: flow-insensitive, so a local whose
//! address leaves the function anywhere is never private. Pointers stored in memory, returned, turned into
//! numbers or passed to a function all count as leaving. What is private needs no hook; everything else has one.

use inkwell::llvm_sys::LLVMOpcode;
use program::library::threads::ThreadOp;
use program::library::{self, Effect, Role};
use rustc_hash::FxHashSet;

use crate::functions::Functions;
use crate::intrinsics::{self, Intrinsic};
use crate::ir::{Module, Value};

/// Which locals and thread-local variables of a module are private. Found out once, before hooks are inserted:
/// a hook is given addresses, so afterwards everything would seem to leave.
pub(crate) struct Privacy<'m> {
    private: FxHashSet<Value<'m>>,
}

impl<'m> Privacy<'m> {
    /// Analyses the module.
    pub(crate) fn analyse(module: Module<'m>, functions: &Functions<'m>) -> Self {
        let mut private = FxHashSet::default();
        for (_, function) in functions.defined() {
            let is_alloca = |i: &Value<'m>| i.opcode() == Some(LLVMOpcode::LLVMAlloca);
            let locals = function.instructions().into_iter().filter(is_alloca);
            let copies = function.parameters().into_iter().filter(|p| p.by_value_parameter().is_some());
            private.extend(locals.chain(copies).filter(|local| !escapes(*local)));
        }
        let thread_locals = module.globals().into_iter().filter(|g| g.is_thread_local() && !g.is_declaration());
        private.extend(thread_locals.filter(|g| !thread_local_escapes(*g)));
        Self { private }
    }

    /// Whether this local (an alloca or a `byval` parameter) can be reached by its own function alone, or this
    /// thread-local variable by its own thread alone.
    pub(crate) fn is_private_local(&self, local: Value<'m>) -> bool {
        self.private.contains(&local)
    }

    /// Whether no other thread can write what `pointer` points to.
    pub(crate) fn is_private(&self, pointer: Value<'m>) -> bool {
        let roots = roots(pointer);
        !roots.is_empty() && roots.into_iter().all(|root| self.is_private_root(root))
    }

    fn is_private_root(&self, root: Value<'m>) -> bool {
        match root.opcode() {
            Some(LLVMOpcode::LLVMAlloca) => self.is_private_local(root),
            Some(LLVMOpcode::LLVMCall) => match intrinsics::of_call(root) {
                Some(Intrinsic::ThreadLocal) => root.operand(0).is_some_and(|global| self.is_private_local(global)),
                _ => root.called_function().is_some_and(|f| f.name() == ERRNO),
            },
            Some(LLVMOpcode::LLVMLoad) => self.is_from_argument_list(root),
            Some(_) => false,
            None => root.is_constant_global() || self.is_private_local(root),
        }
    }

    /// Whether `load` reads a pointer out of a private `va_list`: it points to the function's own arguments.
    fn is_from_argument_list(&self, load: Value<'m>) -> bool {
        let Some(address) = load.address() else { return false };
        roots(address).iter().all(|root| {
            root.opcode() == Some(LLVMOpcode::LLVMAlloca) && self.is_private_local(*root) && is_argument_list(*root)
        })
    }
}

/// Where a pointer comes from, through arithmetic, casts and merges.
pub(crate) fn roots(pointer: Value<'_>) -> Vec<Value<'_>> {
    let mut roots = Vec::new();
    collect_roots(pointer, &mut FxHashSet::default(), &mut roots);
    roots
}

fn collect_roots<'m>(pointer: Value<'m>, seen: &mut FxHashSet<Value<'m>>, roots: &mut Vec<Value<'m>>) {
    if !seen.insert(pointer) {
        return;
    }
    match pointer.operation() {
        Some(
            LLVMOpcode::LLVMGetElementPtr
            | LLVMOpcode::LLVMBitCast
            | LLVMOpcode::LLVMAddrSpaceCast
            | LLVMOpcode::LLVMFreeze,
        ) => pointer.operand(0).into_iter().for_each(|base| collect_roots(base, seen, roots)),
        Some(LLVMOpcode::LLVMSelect) => {
            [1, 2].into_iter().filter_map(|i| pointer.operand(i)).for_each(|v| collect_roots(v, seen, roots));
        }
        Some(LLVMOpcode::LLVMPHI) => pointer.operands().for_each(|v| collect_roots(v, seen, roots)),
        Some(LLVMOpcode::LLVMCall) if intrinsics::of_call(pointer) == Some(Intrinsic::PassesPointer) => {
            pointer.operand(0).into_iter().for_each(|v| collect_roots(v, seen, roots));
        }
        _ => roots.push(pointer),
    }
}

/// What a use does with a pointer.
enum Use {
    /// Accesses through it or compares it.
    Local,
    /// Makes another pointer to the same object.
    Derived,
    /// May make it known elsewhere.
    Leaves,
}

/// The address of the calling thread's `errno`.
const ERRNO: &str = "__errno_location";

/// Whether a thread-local variable's address may become known to another thread.
fn thread_local_escapes(variable: Value<'_>) -> bool {
    variable.users().into_iter().any(|user| intrinsics::of_call(user) != Some(Intrinsic::ThreadLocal) || escapes(user))
}

fn escapes(local: Value<'_>) -> bool {
    let mut seen = FxHashSet::default();
    let mut work = vec![local];
    while let Some(pointer) = work.pop() {
        for user in pointer.users() {
            match classify(pointer, user) {
                Use::Local => {}
                Use::Derived if seen.insert(user) => work.push(user),
                Use::Derived => {}
                Use::Leaves => return true,
            }
        }
    }
    false
}

fn classify<'m>(pointer: Value<'m>, user: Value<'m>) -> Use {
    let leaves_if = |leaves| if leaves { Use::Leaves } else { Use::Local };
    match user.opcode() {
        Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMICmp | LLVMOpcode::LLVMVAArg) => Use::Local,
        Some(LLVMOpcode::LLVMStore) => leaves_if(user.operand(0) == Some(pointer)),
        Some(LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg) => {
            leaves_if(user.operands().skip(1).any(|value| value == pointer))
        }
        Some(
            LLVMOpcode::LLVMGetElementPtr
            | LLVMOpcode::LLVMBitCast
            | LLVMOpcode::LLVMAddrSpaceCast
            | LLVMOpcode::LLVMFreeze
            | LLVMOpcode::LLVMSelect
            | LLVMOpcode::LLVMPHI,
        ) => Use::Derived,
        Some(LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke) => match intrinsics::of_call(user) {
            Some(Intrinsic::Copy | Intrinsic::Fill | Intrinsic::Nothing) => Use::Local,
            Some(Intrinsic::PassesPointer) => Use::Derived,
            Some(Intrinsic::ThreadLocal | Intrinsic::Unknown) => Use::Leaves,
            None => passed_to(pointer, user),
        },
        _ => Use::Leaves,
    }
}

/// What a call does with a pointer among its arguments: nothing is known unless it is a library function that the
/// table says keeps no pointer.
fn passed_to<'m>(pointer: Value<'m>, call: Value<'m>) -> Use {
    if call.callee() == Some(pointer) {
        return Use::Leaves;
    }
    let callee = call.called_function().filter(|f| f.is_declaration()).map(|f| f.name());
    let mut derived = false;
    for (index, _) in (0..).zip(call.arguments()).filter(|(_, argument)| *argument == pointer) {
        if call.by_value_argument(index).is_some() {
            continue;
        }
        match callee.as_deref().map(|name| kept_by_library(name, index)) {
            Some(Use::Local) => {}
            Some(Use::Derived) => derived = true,
            Some(Use::Leaves) | None => return Use::Leaves,
        }
    }
    if derived { Use::Derived } else { Use::Local }
}

/// What the library function `name` does with its argument `index`.
fn kept_by_library(name: &str, index: u32) -> Use {
    let is = |argument: u8| u32::from(argument) == index;
    if library::atomics::lookup(name).is_some() {
        return Use::Local;
    }
    if let Some(function) = library::threads::lookup(name) {
        let leaves = match function.op {
            ThreadOp::Create { function, arg, .. } => is(function) || is(arg),
            ThreadOp::CxxStart { .. } | ThreadOp::ExitThread | ThreadOp::Unmodelled => true,
            ThreadOp::Once { function, .. } => is(function),
            ThreadOp::KeyCreate { destructor, .. } => is(destructor),
            ThreadOp::KeySet { value, .. } => is(value),
            _ => false,
        };
        return if leaves { Use::Leaves } else { Use::Local };
    }
    let Some(function) = library::lookup(name) else { return Use::Leaves };
    if matches!(function.role, Role::Throws) {
        return Use::Leaves;
    }
    let mut result = Use::Local;
    for effect in function.effects {
        match effect {
            Effect::Keeps(i) | Effect::KeepsIn(i, _) if is(*i) => return Use::Leaves,
            Effect::StoresPointer(_, i) if is(*i) => return Use::Leaves,
            Effect::Calls(_) | Effect::Opaque(_) | Effect::Unproved(_) => return Use::Leaves,
            Effect::Returns(i) if is(*i) => result = Use::Derived,
            _ => {}
        }
    }
    result
}

/// Whether `local` is a list of variable arguments.
fn is_argument_list(local: Value<'_>) -> bool {
    let starts = |user: &Value<'_>| {
        user.called_function()
            .is_some_and(|f| f.name().starts_with("llvm.va_start") || f.name().starts_with("llvm.va_copy"))
    };
    let mut pointers = local.users();
    pointers.extend(
        local.users().into_iter().filter(|u| u.opcode() == Some(LLVMOpcode::LLVMGetElementPtr)).flat_map(Value::users),
    );
    pointers.iter().any(starts)
}
