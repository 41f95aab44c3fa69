//! What runs when a thread ends: destructors of thread-specific values and of C++ thread-local variables.
//!
//! The values of a key lie in a thread-local variable of ours where the key itself lies in a global variable that is
//! used for nothing else; the values of other keys are not known.

use std::collections::{BTreeMap, BTreeSet};

use inkwell::llvm_sys::LLVMOpcode;
use model::Order;
use program::library::threads::{self, ThreadOp};
use program::{BlockId, Callee, FunctionId, Global, GlobalId, LocalId, Operand, RmwOp, Stmt, SyncOp, Terminator};

use super::body::Body;
use super::{Lowering, variable};
use crate::intrinsics::{self, Intrinsic};
use crate::ir::Value;

/// A destructor that runs when a thread ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Handler {
    /// Called with the thread's value of a key, in this variable, unless it is null.
    Key(FunctionId, Option<GlobalId>),
    /// Called with the address of a thread-local variable.
    Variable(FunctionId, Option<GlobalId>),
    /// Called with a value that is not known; this variable has the destructor's address.
    Stored(GlobalId),
}

/// The destructors that run when a thread ends.
#[derive(Default)]
pub(super) struct ThreadEnd {
    handlers: BTreeSet<Handler>,
    /// Calls any of them, any number of times; `None` when there are none.
    pub(super) function: Option<FunctionId>,
    /// Start routines followed by the destructors, by start routine.
    routines: BTreeMap<FunctionId, FunctionId>,
    /// The variables that hold the values of keys, by key.
    cells: BTreeMap<GlobalId, GlobalId>,
    /// The variable that holds the destructors of keys that are not constant.
    stored: Option<GlobalId>,
    /// The variable that stands for which keys are in use.
    in_use: Option<GlobalId>,
}

impl ThreadEnd {
    /// Whether some of it also runs when the whole program ends.
    pub(super) fn runs_at_exit(&self) -> bool {
        self.handlers.iter().any(|handler| matches!(handler, Handler::Variable(..)))
    }
}

/// Whether the function registers the destructor of a thread-local variable.
pub(super) fn registers_destructor(name: &str) -> bool {
    matches!(name, "__cxa_thread_atexit" | "__cxa_thread_atexit_impl")
}

fn thread_op(call: Value<'_>) -> Option<ThreadOp> {
    let function = call.called_function().filter(|f| f.is_declaration())?;
    threads::lookup(&function.name()).map(|row| row.op)
}

/// Whether the global holds a key and nothing else is done with it.
fn holds_only_a_key(global: Value<'_>) -> bool {
    let is_key_use = |user: Value<'_>| {
        matches!(thread_op(user), Some(ThreadOp::KeyGet { .. } | ThreadOp::KeySet { .. } | ThreadOp::KeyDelete { .. }))
    };
    global.is_global_variable()
        && global.users().into_iter().all(|user| match user.opcode() {
            Some(LLVMOpcode::LLVMLoad) => user.users().into_iter().all(is_key_use),
            _ => matches!(thread_op(user), Some(ThreadOp::KeyCreate { .. })),
        })
}

impl<'m> Body<'_, '_, 'm> {
    /// The variable with the calling thread's value of the key that is this argument.
    pub(super) fn key_cell(&mut self, call: Value<'m>, key: u8) -> Option<GlobalId> {
        let key = call.arguments().nth(usize::from(key)).filter(|k| k.opcode() == Some(LLVMOpcode::LLVMLoad))?;
        self.lowering.key_cell(key.part(0))
    }

    /// Changes which keys are in use: an update on which the results of other such changes depend.
    pub(super) fn change_keys(&mut self) {
        let lowering = &mut *self.lowering;
        let new = || lowering.program.globals.push(variable("the keys of thread-specific data", 8, false));
        let keys = *lowering.thread_end.in_use.get_or_insert_with(new);
        let (dst, address, value) = (self.fresh(), Operand::Global(keys, 0), Operand::Any);
        self.emit(Stmt::Rmw { dst, op: RmwOp::Exchange, address, value, size: 8, order: Order::Relaxed });
    }

    /// Keeps the destructor of a key that is not constant.
    pub(super) fn keep_destructor(&mut self, destructor: Operand) {
        if let Some(variable) = self.lowering.thread_end.stored {
            let address = Operand::Global(variable, 0);
            self.emit_private(Stmt::Store { address, value: destructor, size: 8, atomic: None });
        }
    }

    /// The start routine of a new thread together with what runs when the thread ends. Where the routine is not constant,
    /// a thread of its own, which nobody waits for, runs the destructors: at any time, which includes the right one.
    pub(super) fn start_routine(&mut self, routine: Operand) -> Operand {
        let Some(end) = self.lowering.thread_end.function else { return routine };
        match routine {
            Operand::Function(function) => Operand::Function(self.lowering.routine_with_end(function, end)),
            other => {
                let (function, arg) = (Operand::Function(end), Operand::Const(0));
                self.emit(Stmt::Sync { dst: None, op: SyncOp::Create { function, arg } });
                other
            }
        }
    }

    /// Calls what runs when a thread ends.
    pub(super) fn end_thread(&mut self) {
        if let Some(end) = self.lowering.thread_end.function {
            self.emit(Stmt::Call { dst: None, callee: Callee::Direct(end), args: Vec::new() });
        }
    }
}

impl<'m> Lowering<'_, 'm> {
    fn key_cell(&mut self, key: Value<'m>) -> Option<GlobalId> {
        let &id = self.symbols.globals.get(&key)?;
        if !holds_only_a_key(key) {
            return None;
        }
        if let Some(&cell) = self.thread_end.cells.get(&id) {
            return Some(cell);
        }
        let key = &self.program.globals[id];
        let cell = Global {
            symbol: format!("{}.value", key.symbol),
            name: format!("value of {}", key.name),
            size: 8,
            ty: None,
            init: Vec::new(),
            relocations: Vec::new(),
            thread_local: true,
            constant: false,
        };
        let cell = self.program.globals.push(cell);
        self.thread_end.cells.insert(id, cell);
        Some(cell)
    }

    fn stored_destructor(&mut self) -> GlobalId {
        let globals = &mut self.program.globals;
        *self.thread_end.stored.get_or_insert_with(|| globals.push(variable("destructor of a key", 8, false)))
    }

    /// Finds the destructors that the module registers.
    pub(super) fn collect_thread_end(&mut self) {
        for (_, function) in self.symbols.functions.defined().collect::<Vec<_>>() {
            for call in function.instructions() {
                let argument = |position: u8| call.arguments().nth(usize::from(position));
                let constant = |lowering: &Self, position| argument(position).map(|a| lowering.symbols.constant(a));
                let handler = match thread_op(call) {
                    Some(ThreadOp::KeyCreate { key, destructor }) => match constant(self, destructor) {
                        Some(Operand::Function(destructor)) => {
                            let cell = argument(key).and_then(|key| self.key_cell(key));
                            Handler::Key(destructor, cell)
                        }
                        Some(Operand::Const(0)) => continue,
                        _ => Handler::Stored(self.stored_destructor()),
                    },
                    _ if call.called_function().is_some_and(|f| registers_destructor(&f.name())) => {
                        let Some(Operand::Function(destructor)) = constant(self, 0) else { continue };
                        let variable = argument(1).map(|a| match intrinsics::of_call(a) {
                            Some(Intrinsic::ThreadLocal) => a.part(0),
                            _ => a,
                        });
                        Handler::Variable(destructor, variable.and_then(|v| self.symbols.globals.get(&v).copied()))
                    }
                    _ => continue,
                };
                self.thread_end.handlers.insert(handler);
            }
        }
    }

    /// The function that runs the destructors: any of them, in any order, until it stops.
    pub(super) fn thread_end_function(&mut self) {
        if self.thread_end.handlers.is_empty() {
            return;
        }
        let mut draft = self.draft("thread end", 0);
        let handlers: Vec<_> = self.thread_end.handlers.iter().copied().collect();
        // Two blocks for each: is there something to destroy, and its destruction.
        let block = |handler: usize| BlockId(1 + 2 * handler as u32);
        draft.end(Terminator::Any((0..=handlers.len()).map(block).collect()));
        for (index, handler) in handlers.iter().enumerate() {
            let destroy = BlockId(block(index).0 + 1);
            let (destructor, object) = match *handler {
                Handler::Key(destructor, cell) => {
                    let value = match cell {
                        Some(cell) => draft.load(&mut self.program.sites, Operand::Global(cell, 0)),
                        None => Operand::Any,
                    };
                    draft.end(Terminator::Branch { condition: value, then: destroy, otherwise: BlockId(0) });
                    if let Some(cell) = cell {
                        let (address, value) = (Operand::Global(cell, 0), Operand::Const(0));
                        draft.push(&mut self.program.sites, Stmt::Store { address, value, size: 8, atomic: None });
                    }
                    (Operand::Function(destructor), value)
                }
                Handler::Variable(destructor, variable) => {
                    draft.end(Terminator::Goto(destroy));
                    (Operand::Function(destructor), variable.map_or(Operand::Any, |v| Operand::Global(v, 0)))
                }
                Handler::Stored(variable) => {
                    let destructor = draft.load_private(Operand::Global(variable, 0));
                    draft.end(Terminator::Branch { condition: destructor, then: destroy, otherwise: BlockId(0) });
                    (destructor, Operand::Any)
                }
            };
            let stmt = match destructor {
                Operand::Function(destructor) => self.handler_call(destructor, object),
                stored => Stmt::Call { dst: None, callee: Callee::Indirect(stored), args: vec![object] },
            };
            draft.push(&mut self.program.sites, stmt);
            draft.end(Terminator::Goto(BlockId(0)));
        }
        draft.end(Terminator::Return(None));
        self.thread_end.function = Some(self.add(draft, "__rp_thread_end"));
    }

    fn routine_with_end(&mut self, routine: FunctionId, end: FunctionId) -> FunctionId {
        if let Some(&known) = self.thread_end.routines.get(&routine) {
            return known;
        }
        let function = &self.program.functions[routine];
        let (symbol, name) = (format!("__rp_thread.{}", function.symbol), function.name.clone());
        let mut draft = self.draft(&name, 1);
        let result = draft.local();
        let args = vec![Operand::Local(LocalId(0))];
        draft.push(&mut self.program.sites, Stmt::Call { dst: Some(result), callee: Callee::Direct(routine), args });
        if self.may_be_left(routine) {
            // By `pthread_exit`, after the stack was unwound.
            draft.end(Terminator::Invoke { then: BlockId(2), handler: BlockId(1) });
            draft.call(&mut self.program.sites, Callee::Direct(end), Vec::new());
            draft.end(Terminator::Resume);
        }
        draft.call(&mut self.program.sites, Callee::Direct(end), Vec::new());
        draft.end(Terminator::Return(Some(Operand::Local(result))));
        let id = self.add(draft, &symbol);
        self.thread_end.routines.insert(routine, id);
        id
    }
}
