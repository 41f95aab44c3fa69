//! What runs when the program ends: functions that it registered for that, and destructors of globals.
//!
//! They run in the thread that calls `exit` or `quick_exit`, in the first thread after `main`, while other threads go on,
//! or in the last thread if the first ended by `pthread_exit`. Which of them were registered, and in which order, is not followed: any of them run, any number of times.

use std::collections::BTreeSet;

use program::library::threads;
use program::{BlockId, Callee, Expr, FunctionId, GlobalId, Operand, Stmt, Terminator};

use super::body::Body;
use super::synthetic::Draft;
use super::thread_end::registers_destructor;
use super::{Lowering, variable};
use crate::ir::Value;

/// How the program ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ending {
    Exit,
    QuickExit,
}

/// How a function registers handlers: for which ending, and which argument is the last one that they are called with.
fn registration(name: &str) -> Option<(Ending, Option<u8>)> {
    match name {
        "atexit" => Some((Ending::Exit, None)),
        "on_exit" | "__cxa_atexit" => Some((Ending::Exit, Some(1))),
        "at_quick_exit" => Some((Ending::QuickExit, None)),
        "__cxa_at_quick_exit" => Some((Ending::QuickExit, Some(1))),
        _ => None,
    }
}

/// A constant argument of a handler, in an order.
type Argument = (Option<GlobalId>, i64);

/// What is called.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Handler {
    /// This function, with this last argument; with an unknown one for `None`.
    Known(FunctionId, Option<Argument>),
    /// What was stored in these variables: the function, and its last argument.
    Stored(GlobalId, GlobalId),
}

/// What runs when the program ends.
#[derive(Default)]
pub(super) struct ExitHandlers {
    handlers: BTreeSet<(Ending, Handler)>,
    /// The variables for handlers that are not constant, by ending.
    variables: [Option<(GlobalId, GlobalId)>; 2],
    /// Calls those for `exit`; `None` when there are none.
    pub(super) function: Option<FunctionId>,
    /// Calls those for `quick_exit`.
    quick: Option<FunctionId>,
}

impl ExitHandlers {
    /// Whether the function registers an exit handler.
    pub(super) fn registers(&self, name: &str) -> bool {
        registration(name).is_some() || registers_destructor(name)
    }
}

impl<'m> Body<'_, '_, 'm> {
    /// Calls what runs before the program ends by a call of this function.
    pub(super) fn run_exit_handlers(&mut self, name: &str) {
        let handlers = match name {
            "_exit" | "_Exit" => return,
            "quick_exit" => self.lowering.exit.quick,
            _ => {
                if self.lowering.thread_end.runs_at_exit() {
                    self.end_thread();
                }
                self.lowering.exit.function
            }
        };
        if let Some(handlers) = handlers {
            self.emit(Stmt::Call { dst: None, callee: Callee::Direct(handlers), args: Vec::new() });
        }
    }

    /// A call that registers a handler. Constant ones were collected beforehand.
    pub(super) fn register_handler(&mut self, call: Value<'m>, name: &str, args: &[Operand]) {
        let handler = Self::arg(args, 0);
        if !matches!(handler, Operand::Function(_)) {
            let variables = registration(name).and_then(|(ending, argument)| {
                let (function, last) = self.lowering.exit.variables[ending as usize]?;
                Some([(function, handler), (last, argument.map_or(Operand::Any, |n| Self::arg(args, n)))])
            });
            match variables {
                Some(stores) => stores.into_iter().for_each(|(variable, value)| {
                    let address = Operand::Global(variable, 0);
                    self.emit_private(Stmt::Store { address, value, size: 8, atomic: None });
                }),
                None => self.unmodelled(&format!("calls `{name}` with a handler that is not constant"), None),
            }
        }
        self.define(call, Expr::Use(Operand::Const(0)));
    }
}

impl<'m> Lowering<'_, 'm> {
    /// Finds the handlers that the module registers.
    pub(super) fn collect_exit_handlers(&mut self) {
        for (_, function) in self.symbols.functions.defined().collect::<Vec<_>>() {
            for call in function.instructions() {
                let Some(callee) = call.called_function().filter(|f| f.is_declaration()) else { continue };
                let Some((ending, argument)) = registration(&callee.name()) else { continue };
                let constant = |position: u8| call.argument(position).map(|a| self.symbols.constant(a));
                let last = match argument.and_then(constant) {
                    Some(Operand::Global(global, offset)) => Some((Some(global), offset)),
                    Some(Operand::Const(number)) => Some((None, number)),
                    _ => None,
                };
                let handler = match constant(0) {
                    Some(Operand::Function(handler)) => Handler::Known(handler, last),
                    _ => {
                        let (function, last) = self.handler_variables(ending);
                        Handler::Stored(function, last)
                    }
                };
                self.exit.handlers.insert((ending, handler));
            }
        }
    }

    fn handler_variables(&mut self, ending: Ending) -> (GlobalId, GlobalId) {
        if let Some(known) = self.exit.variables[ending as usize] {
            return known;
        }
        let globals = &mut self.program.globals;
        let function = globals.push(variable("exit handler", 8, false));
        let variables = (function, globals.push(variable("argument of the exit handler", 8, false)));
        self.exit.variables[ending as usize] = Some(variables);
        variables
    }

    /// The functions that run handlers.
    pub(super) fn exit_functions(&mut self) {
        let destructors = self.listed_functions(c"llvm.global_dtors");
        self.exit.function = self.exit_function(Ending::Exit, destructors, "__rp_exit_handlers");
        self.exit.quick = self.exit_function(Ending::QuickExit, Vec::new(), "__rp_quick_exit_handlers");
    }

    /// The function that runs handlers: any of them, in any order, until it stops.
    fn exit_function(&mut self, ending: Ending, destructors: Vec<FunctionId>, symbol: &str) -> Option<FunctionId> {
        let all = self.exit.handlers.iter();
        let handlers: Vec<Handler> = all.filter(|(at, _)| *at == ending).map(|(_, handler)| *handler).collect();
        if handlers.is_empty() && destructors.is_empty() {
            return None;
        }
        let mut draft = self.draft("exit handlers", 0);
        let blocks = (1..=1 + handlers.len() as u32).map(BlockId).collect();
        draft.end(Terminator::Any(blocks));
        for handler in handlers {
            self.call_handler(&mut draft, handler);
            draft.end(Terminator::Goto(BlockId(0)));
        }
        for destructor in destructors {
            draft.call(&mut self.program.sites, Callee::Direct(destructor), Vec::new());
        }
        draft.end(Terminator::Return(None));
        Some(self.add(draft, symbol))
    }

    fn call_handler(&mut self, draft: &mut Draft, handler: Handler) {
        match handler {
            Handler::Known(handler, argument) => {
                let argument = match argument {
                    Some((Some(global), offset)) => Operand::Global(global, offset),
                    Some((None, number)) => Operand::Const(number),
                    None => Operand::Any,
                };
                let stmt = self.handler_call(handler, argument);
                draft.push(&mut self.program.sites, stmt);
            }
            Handler::Stored(function, argument) => {
                let sites = &mut self.program.sites;
                let function = draft.load_private(Operand::Global(function, 0));
                let argument = draft.load_private(Operand::Global(argument, 0));
                // `on_exit` passes the status first, `__cxa_atexit` the argument.
                draft.call(sites, Callee::Indirect(function), vec![argument, argument]);
            }
        }
    }

    /// The call of a handler with its last argument. It may be a library's function, such as the destructor of a
    /// library's class.
    pub(super) fn handler_call(&self, handler: FunctionId, argument: Operand) -> Stmt {
        use program::library::{self, Role};
        let function = &self.program.functions[handler];
        let args = match function.params {
            0 => Vec::new(),
            1 => vec![argument],
            _ => vec![Operand::Any, argument],
        };
        if self.symbols.functions.table[handler].is_declaration() {
            if let Some(threads::ThreadOp::CondDestroy { .. }) = threads::lookup(&function.symbol).map(|f| f.op) {
                return Stmt::Sync { dst: None, op: program::SyncOp::CondDestroy { cond: argument } };
            }
            match library::lookup(&function.symbol) {
                Some(row) if matches!(row.role, Role::Free(0)) => return Stmt::Free { address: argument },
                Some(row) => return Stmt::Library { dst: None, function: row.name.to_owned(), args },
                None => {}
            }
        }
        Stmt::Call { dst: None, callee: Callee::Direct(handler), args }
    }
}
