//! Functions that are not in the module: what the C and C++ libraries run around the program's own code.
//!
//! - what is done before and after `main`: constructors and destructors of globals, exit handlers;
//! - what `std::thread` runs in a new thread;
//! - the guard of a function's static variable.
//!
//! They are written in the language itself, so that every engine sees what they do.

use std::collections::BTreeSet;

use model::{IndexVec, LockMode, Order, SiteId};
use program::library::Role;
use program::{
    Block, BlockId, Callee, Function, FunctionId, Local, LocalId, Operand, Site, Statement, Stmt, SyncOp, Terminator,
    TryMode, library,
};

use super::Lowering;
use crate::ir::Value;

/// Library functions that get a body here.
const GUARD_ACQUIRE: &str = "__cxa_guard_acquire";
const GUARD_RELEASE: &str = "__cxa_guard_release";
const GUARD_ABORT: &str = "__cxa_guard_abort";

/// Virtual functions of `std::thread::_State`, from where an object's table pointer points to.
const STATE_DELETE: i64 = 8;
const STATE_RUN: i64 = 16;

/// A function in the making.
pub(super) struct Draft {
    id: FunctionId,
    name: String,
    params: u32,
    locals: IndexVec<LocalId, Local>,
    blocks: IndexVec<BlockId, Block>,
    statements: Vec<Statement>,
}

impl Draft {
    fn new(id: FunctionId, name: &str, params: u32) -> Self {
        Self {
            id,
            name: name.to_owned(),
            params,
            locals: IndexVec::filled(params as usize, Local::default()),
            blocks: IndexVec::new(),
            statements: Vec::new(),
        }
    }
    pub(super) fn local(&mut self) -> LocalId {
        self.locals.push(Local::default())
    }
    /// Adds a statement; what is visible gets a site of its own.
    pub(super) fn push(&mut self, sites: &mut IndexVec<SiteId, Site>, stmt: Stmt) {
        let site = sites.push(Site {
            function: self.id,
            source_function: self.name.clone(),
            location: None,
            inlined_at: Vec::new(),
            expression: None,
            allocates: None,
            lvalue: None,
            source: None,
        });
        self.statements.push(Statement { site: Some(site), stmt });
    }
    pub(super) fn call(&mut self, sites: &mut IndexVec<SiteId, Site>, callee: Callee, args: Vec<Operand>) {
        self.push(sites, Stmt::Call { dst: None, callee, args });
    }
    pub(super) fn load(&mut self, sites: &mut IndexVec<SiteId, Site>, address: Operand) -> Operand {
        let dst = self.local();
        self.push(sites, Stmt::Load { dst, address, size: 8, atomic: None });
        Operand::Local(dst)
    }
    /// A load that no other thread can notice.
    pub(super) fn load_private(&mut self, address: Operand) -> Operand {
        let dst = self.local();
        self.statements.push(Statement { site: None, stmt: Stmt::Load { dst, address, size: 8, atomic: None } });
        Operand::Local(dst)
    }
    pub(super) fn end(&mut self, terminator: Terminator) {
        let statements = std::mem::take(&mut self.statements);
        self.blocks.push(Block { statements, terminator });
    }
    fn finish(self, symbol: String) -> Function {
        Function { symbol, name: self.name, params: self.params, locals: self.locals, blocks: self.blocks }
    }
}

const PARAM: Operand = Operand::Local(LocalId(0));

impl<'m> Lowering<'_, 'm> {
    pub(super) fn add(&mut self, draft: Draft, symbol: &str) -> FunctionId {
        self.program.functions.push(draft.finish(symbol.to_owned()))
    }

    pub(super) fn draft(&self, name: &str, params: u32) -> Draft {
        Draft::new(self.program.functions.next_id(), name, params)
    }

    /// Whether a call of the function may be left by an exception or a jump.
    pub(super) fn may_be_left(&self, function: FunctionId) -> bool {
        self.symbols.functions.table.get(function).is_some_and(|f| self.unwinding.leaves(*f))
    }

    /// Where the initial thread starts: `main` itself, or a function that does what belongs around it.
    pub(super) fn entry(&mut self, main: FunctionId) -> FunctionId {
        let constructors = self.listed_functions(c"llvm.global_ctors");
        let thread_end = self.thread_end.function.filter(|_| self.thread_end.runs_at_exit());
        if constructors.is_empty() && self.exit.function.is_none() && thread_end.is_none() {
            return main;
        }
        let last = self.handlers_in_last_thread(main);
        let params = self.program.functions[main].params;
        let mut draft = self.draft("start", params);
        let status = draft.local();
        for constructor in constructors {
            draft.call(&mut self.program.sites, Callee::Direct(constructor), Vec::new());
        }
        if let Some(routine) = last {
            let (function, arg) = (Operand::Function(routine), Operand::Const(0));
            draft.push(&mut self.program.sites, Stmt::Sync { dst: None, op: SyncOp::Create { function, arg } });
        }
        let args = (0..params).map(|p| Operand::Local(LocalId(p))).collect();
        draft.push(&mut self.program.sites, Stmt::Call { dst: Some(status), callee: Callee::Direct(main), args });
        if self.may_be_left(main) {
            // `pthread_exit` in the first thread: the other threads go on.
            draft.end(Terminator::Invoke { then: BlockId(2), handler: BlockId(1) });
            if let Some(end) = thread_end {
                draft.call(&mut self.program.sites, Callee::Direct(end), Vec::new());
            }
            draft.end(Terminator::Resume);
        }
        for handlers in thread_end.into_iter().chain(self.exit.function) {
            draft.call(&mut self.program.sites, Callee::Direct(handlers), Vec::new());
        }
        draft.end(Terminator::Return(Some(Operand::Local(status))));
        self.add(draft, "__rp_start")
    }

    /// A thread that runs the exit handlers at any time, if the first thread may end by `pthread_exit`: then the last thread
    /// runs them, whichever that is. They run after all other threads have ended (decision 3), which is not used here.
    fn handlers_in_last_thread(&mut self, main: FunctionId) -> Option<FunctionId> {
        let handlers = self.exit.function?;
        let ends = |f: &Value<'_>| matches!(f.name().as_str(), "pthread_exit" | "thrd_exit") && !f.users().is_empty();
        if !self.may_be_left(main) || !self.symbols.functions.table.iter().any(ends) {
            return None;
        }
        let mut draft = self.draft("last thread", 1);
        draft.call(&mut self.program.sites, Callee::Direct(handlers), Vec::new());
        draft.end(Terminator::Return(None));
        Some(self.add(draft, "__rp_last_thread"))
    }

    /// The functions of `llvm.global_ctors` or `llvm.global_dtors`, by priority.
    pub(super) fn listed_functions(&self, name: &std::ffi::CStr) -> Vec<FunctionId> {
        let list = self.globals.iter().find(|g| g.name().as_bytes() == name.to_bytes()).and_then(|g| g.initializer());
        let Some(list) = list else { return Vec::new() };
        let mut entries = Vec::new();
        for entry in (0..).map_while(|i| list.element(i)) {
            let priority = entry.element(0).and_then(Value::as_number).unwrap_or(65535);
            if let Some(Operand::Function(function)) = entry.element(1).map(|f| self.symbols.constant(f)) {
                entries.push((priority, function));
            }
        }
        entries.sort_by_key(|&(priority, _)| priority);
        entries.into_iter().map(|(_, function)| function).collect()
    }

    /// Gives bodies to the library functions that have one here.
    pub(super) fn library_bodies(&mut self) {
        for (id, function) in self.symbols.functions.table.iter_enumerated().map(|(i, &f)| (i, f)).collect::<Vec<_>>() {
            let symbol = function.name();
            if !function.is_declaration() {
                continue;
            }
            let mut draft = Draft::new(id, &symbol, self.program.functions[id].params);
            match symbol.as_str() {
                GUARD_ACQUIRE => self.guard_acquire(&mut draft),
                GUARD_RELEASE => self.guard_leave(&mut draft, true),
                GUARD_ABORT => self.guard_leave(&mut draft, false),
                // For calls through pointers.
                name if library::lookup(name).is_some_and(|row| row.role == Role::LongJump) => {
                    draft.end(Terminator::Resume);
                }
                _ => continue,
            }
            self.program.functions[id] = draft.finish(symbol.clone());
            self.synthetic.insert(symbol);
        }
    }

    /// Takes the guard as a lock, and keeps it if the variable is still to be initialised.
    fn guard_acquire(&mut self, draft: &mut Draft) {
        let sites = &mut self.program.sites;
        let lock = SyncOp::Lock { lock: PARAM, mode: LockMode::Exclusive, wait: TryMode::Wait };
        draft.push(sites, Stmt::Sync { dst: None, op: lock });
        let done = draft.local();
        draft.push(sites, Stmt::Load { dst: done, address: PARAM, size: 1, atomic: Some(Order::Acquire) });
        draft.end(Terminator::Branch { condition: Operand::Local(done), then: BlockId(1), otherwise: BlockId(2) });
        draft.push(sites, Stmt::Sync { dst: None, op: SyncOp::Unlock { lock: PARAM } });
        draft.end(Terminator::Return(Some(Operand::Const(0))));
        draft.end(Terminator::Return(Some(Operand::Const(1))));
    }

    fn guard_leave(&mut self, draft: &mut Draft, done: bool) {
        let sites = &mut self.program.sites;
        if done {
            let (value, atomic) = (Operand::Const(1), Some(Order::Release));
            draft.push(sites, Stmt::Store { address: PARAM, value, size: 1, atomic });
        }
        draft.push(sites, Stmt::Sync { dst: None, op: SyncOp::Unlock { lock: PARAM } });
        draft.end(Terminator::Return(None));
    }

    /// What a thread started by `std::thread` in `creator` runs: the state's `_M_run`, then its deletion. Where
    /// the creator makes exactly one class of state the two are known, otherwise they are read from the state.
    pub(super) fn thread_routine(&mut self, creator: Value<'m>) -> FunctionId {
        let virtuals = self.state_functions(creator);
        if let Some(&known) = self.routines.get(&virtuals) {
            return known;
        }
        let mut draft = self.draft("thread routine", 1);
        let callees = match virtuals {
            Some((run, delete)) => [Callee::Direct(run), Callee::Direct(delete)],
            None => {
                let table = draft.load(&mut self.program.sites, PARAM);
                [STATE_RUN, STATE_DELETE].map(|offset| {
                    let at = draft.local();
                    let expr = program::Expr::Offset { base: table, index: Operand::Const(0), scale: 0, offset };
                    draft.statements.push(Statement { site: None, stmt: Stmt::Assign { dst: at, expr } });
                    Callee::Indirect(draft.load(&mut self.program.sites, Operand::Local(at)))
                })
            }
        };
        let [run, delete] = callees;
        draft.call(&mut self.program.sites, run, vec![PARAM]);
        if virtuals.is_none_or(|(run, _)| self.may_be_left(run)) {
            draft.end(Terminator::Invoke { then: BlockId(2), handler: BlockId(1) });
            draft.call(&mut self.program.sites, delete, vec![PARAM]);
            if let Some(end) = self.thread_end.function {
                draft.call(&mut self.program.sites, Callee::Direct(end), Vec::new());
            }
            draft.end(Terminator::Resume);
        }
        draft.call(&mut self.program.sites, delete, vec![PARAM]);
        if let Some(end) = self.thread_end.function {
            draft.call(&mut self.program.sites, Callee::Direct(end), Vec::new());
        }
        draft.end(Terminator::Return(Some(Operand::Const(0))));
        let symbol = format!("__rp_thread_routine.{}", self.routines.len());
        let id = self.add(draft, &symbol);
        self.routines.insert(virtuals, id);
        id
    }

    /// `_M_run` and the deleting destructor of the one class of state whose constructor `creator` calls.
    fn state_functions(&self, creator: Value<'m>) -> Option<(FunctionId, FunctionId)> {
        let constructors = creator.instructions().into_iter().filter_map(Value::called_function);
        let tables: BTreeSet<_> = constructors
            .filter(|f| f.name().starts_with("_ZNSt6thread11_State_implI"))
            .flat_map(|f| f.instructions())
            .filter_map(|i| i.address().and(i.operand(0)))
            .filter_map(|stored| match self.symbols.constant(stored) {
                Operand::Global(global, offset) => Some((global, offset)),
                _ => None,
            })
            .filter(|(global, _)| self.program.globals[*global].symbol.starts_with("_ZTVNSt6thread11_State_implI"))
            .collect();
        let mut tables = tables.into_iter();
        let ((table, start), None) = (tables.next()?, tables.next()) else { return None };
        let entry = |offset: i64| {
            let relocations = &self.program.globals[table].relocations;
            relocations.iter().find(|(at, _)| *at as i64 == start + offset).and_then(|(_, to)| match to {
                Operand::Function(function) => Some(*function),
                _ => None,
            })
        };
        Some((entry(STATE_RUN)?, entry(STATE_DELETE)?))
    }
}
