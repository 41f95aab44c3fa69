//! What values may point to, for the whole program at once.
//!
//! Flow- and context-insensitive: each local has a set of objects it may point into, computed to a fixed point over
//! assignments, calls, returns and thread creation. Memory is not followed: a loaded value is [`Root::Unknown`], which
//! stands for every object whose address was ever stored (*escaped*). An object that never escapes is reached only
//! through the locals that name it.
//!
//! Can be missed: pointers hidden from the language, inside vectors or floating-point values. Never claimed wrongly: a
//! local points to nothing outside its set, if pointer arithmetic stays inside objects, as C demands.

use std::collections::{BTreeMap, BTreeSet};

use program::library::{self, Effect, LibraryState, Role};
use program::{Callee, Expr, FunctionId, GlobalId, LocalId, Operand, Program, Stmt, SyncOp, Terminator};

/// What a value may point to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Root {
    /// A global.
    Global(GlobalId),
    /// A local variable in memory, by the local that holds its address.
    Stack(FunctionId, LocalId),
    /// A heap block, by the local that was given its address.
    Heap(FunctionId, LocalId),
    /// A function.
    Function(FunctionId),
    /// Memory of the library.
    Library(LibraryState),
    /// Any escaped object.
    Unknown,
}

/// Objects with the byte offset into them, `None` for any.
pub type Roots = BTreeMap<Root, Option<i64>>;

/// The result of the analysis.
#[derive(Default)]
pub struct Values {
    locals: BTreeMap<(FunctionId, LocalId), Roots>,
    returns: BTreeMap<FunctionId, Roots>,
    /// Objects whose address is somewhere in memory.
    pub escaped: BTreeSet<Root>,
    /// Objects whose address is handed to a new thread.
    pub handed_over: BTreeSet<Root>,
    /// Functions whose address is used as a value.
    pub address_taken: BTreeSet<FunctionId>,
}

impl Values {
    /// Runs the analysis.
    pub fn new(program: &Program) -> Self {
        let mut values = Self::default();
        for global in &program.globals {
            for (_, target) in &global.relocations {
                values.escape(FunctionId(0), target);
            }
        }
        for (id, function) in program.functions.iter_enumerated() {
            let statements = function.blocks.iter().flat_map(|b| &b.statements);
            let used = statements.flat_map(|s| used_as_values(&s.stmt));
            let returned = function.blocks.iter().flat_map(|b| b.terminator.operands());
            let functions =
                used.chain(returned).filter_map(|o| if let Operand::Function(f) = o { Some(f) } else { None });
            values.address_taken.extend(functions);
            if Some(id) == program.main {
                for parameter in 0..function.params {
                    values.flow((id, LocalId(parameter)), Roots::from([(Root::Unknown, None)]));
                }
            }
        }
        for root in values.escaped.clone() {
            if let Root::Function(f) = root {
                values.address_taken.insert(f);
            }
        }
        while (Pass { program, values: &mut values, changed: false }).run() {}
        values
    }

    /// What an operand of a function may point to.
    pub fn of(&self, function: FunctionId, operand: &Operand) -> Roots {
        match operand {
            Operand::Const(0) => Roots::new(),
            Operand::Const(_) | Operand::Any => Roots::from([(Root::Unknown, None)]),
            Operand::Local(local) => self.locals.get(&(function, *local)).cloned().unwrap_or_default(),
            Operand::Global(global, offset) => Roots::from([(Root::Global(*global), Some(*offset))]),
            Operand::Function(f) => Roots::from([(Root::Function(*f), Some(0))]),
        }
    }

    /// The functions a pointer with so many arguments may call; a function without a body is among them too.
    pub fn functions(&self, program: &Program, in_: FunctionId, pointer: &Operand, args: u32) -> Vec<FunctionId> {
        let roots = self.of(in_, pointer);
        let mut functions: BTreeSet<FunctionId> =
            roots.keys().filter_map(|r| if let Root::Function(f) = r { Some(*f) } else { None }).collect();
        if roots.contains_key(&Root::Unknown) {
            functions.extend(self.address_taken.iter().filter(|f| program.functions[**f].params <= args));
        }
        functions.into_iter().collect()
    }

    fn flow(&mut self, to: (FunctionId, LocalId), roots: Roots) -> bool {
        join(self.locals.entry(to).or_default(), roots)
    }
    fn escape(&mut self, function: FunctionId, operand: &Operand) -> bool {
        let before = self.escaped.len();
        self.escaped.extend(self.of(function, operand).into_keys().filter(|r| *r != Root::Unknown));
        self.escaped.len() > before
    }
}

/// The operands of a statement, but for a function that is started or run once by its name.
fn used_as_values(stmt: &Stmt) -> Vec<Operand> {
    match stmt {
        Stmt::Sync { op: SyncOp::Create { function: Operand::Function(_), arg }, .. } => vec![*arg],
        Stmt::Sync { op: SyncOp::Once { control, function: Operand::Function(_) }, .. } => vec![*control],
        _ => stmt.operands(),
    }
}

/// Adds roots; whether something changed.
fn join(into: &mut Roots, from: Roots) -> bool {
    let mut changed = false;
    for (root, offset) in from {
        match into.get_mut(&root) {
            None => {
                into.insert(root, offset);
                changed = true;
            }
            Some(known) if *known != offset && known.is_some() => {
                *known = None;
                changed = true;
            }
            Some(_) => {}
        }
    }
    changed
}

/// The same objects, at any offset.
fn anywhere(roots: Roots) -> Roots {
    roots.into_keys().map(|root| (root, None)).collect()
}

/// One pass over the program.
struct Pass<'a> {
    program: &'a Program,
    values: &'a mut Values,
    changed: bool,
}

impl Pass<'_> {
    fn run(mut self) -> bool {
        let program = self.program;
        for (id, function) in program.functions.iter_enumerated() {
            for block in &function.blocks {
                for statement in &block.statements {
                    self.statement(id, &statement.stmt);
                }
                if let Terminator::Return(Some(value)) = &block.terminator {
                    let roots = self.values.of(id, value);
                    self.changed |= join(self.values.returns.entry(id).or_default(), roots);
                }
            }
        }
        self.changed
    }

    fn set(&mut self, function: FunctionId, dst: LocalId, roots: Roots) {
        self.changed |= self.values.flow((function, dst), roots);
    }
    fn unknown(&mut self, function: FunctionId, dst: LocalId) {
        self.set(function, dst, Roots::from([(Root::Unknown, None)]));
    }
    fn escape(&mut self, function: FunctionId, operand: &Operand) {
        self.changed |= self.values.escape(function, operand);
    }

    fn statement(&mut self, f: FunctionId, stmt: &Stmt) {
        match stmt {
            Stmt::Assign { dst, expr } => {
                let roots = self.expression(f, expr);
                self.set(f, *dst, roots);
            }
            Stmt::Load { dst, .. } => self.unknown(f, *dst),
            Stmt::Store { value, .. } => self.escape(f, value),
            Stmt::Rmw { dst, value, .. } => {
                self.escape(f, value);
                self.unknown(f, *dst);
            }
            Stmt::CompareExchange { dst, new, .. } => {
                self.escape(f, new);
                self.unknown(f, *dst);
            }
            Stmt::Alloca { dst, .. } => self.set(f, *dst, Roots::from([(Root::Stack(f, *dst), Some(0))])),
            Stmt::Alloc { dst, .. } => self.set(f, *dst, Roots::from([(Root::Heap(f, *dst), Some(0))])),
            Stmt::Call { dst, callee, args } => self.call(f, *dst, callee, args),
            Stmt::Library { dst, function, args } => self.library(f, *dst, function, args),
            Stmt::Sync { op: SyncOp::Create { function, arg }, .. } => {
                let handed: Vec<Root> = self.values.of(f, arg).into_keys().collect();
                let before = self.values.handed_over.len();
                self.values.handed_over.extend(handed);
                self.changed |= self.values.handed_over.len() > before;
                for child in self.values.functions(self.program, f, function, 1) {
                    self.invoke(f, child, &[*arg]);
                    self.escape_result(child);
                }
            }
            Stmt::Sync { op: SyncOp::Once { function, .. }, .. } => {
                for routine in self.values.functions(self.program, f, function, 0) {
                    self.invoke(f, routine, &[]);
                }
            }
            Stmt::Sync { .. }
            | Stmt::Fence(_)
            | Stmt::Copy { .. }
            | Stmt::Fill { .. }
            | Stmt::Free { .. }
            | Stmt::Assert { .. }
            | Stmt::Exit { .. } => {}
        }
    }

    fn expression(&self, f: FunctionId, expr: &Expr) -> Roots {
        let of = |operand: &Operand| self.values.of(f, operand);
        let mut roots = Roots::new();
        match expr {
            Expr::Use(value) => roots = of(value),
            Expr::Compare { .. } => {}
            Expr::Truncate { value, .. } => roots = anywhere(of(value)),
            Expr::Binary { left, right, .. } => {
                for side in [left, right] {
                    if !matches!(side, Operand::Const(_)) {
                        join(&mut roots, anywhere(of(side)));
                    }
                }
            }
            Expr::Offset { base, index, scale, offset } => {
                let fixed = match index {
                    Operand::Const(index) => index.checked_mul(*scale).and_then(|bytes| bytes.checked_add(*offset)),
                    _ => None,
                };
                let moved = |at: Option<i64>| at.and_then(|at| at.checked_add(fixed?));
                roots = of(base).into_iter().map(|(root, at)| (root, moved(at))).collect();
                // An integer that is used as a base may be made of a pointer in the index.
                if *base == Operand::Const(0) {
                    roots = anywhere(of(index));
                }
            }
            Expr::Select { then, otherwise, .. } => {
                roots = of(then);
                join(&mut roots, of(otherwise));
            }
            Expr::Phi(sources) => {
                for (_, value) in sources {
                    join(&mut roots, of(value));
                }
            }
        }
        roots
    }

    /// Binds arguments to parameters; parameters without an argument may be anything.
    fn invoke(&mut self, f: FunctionId, callee: FunctionId, args: &[Operand]) {
        for parameter in 0..self.program.functions[callee].params {
            let roots = match args.get(parameter as usize) {
                Some(arg) => self.values.of(f, arg),
                None => Roots::from([(Root::Unknown, None)]),
            };
            self.set(callee, LocalId(parameter), roots);
        }
        // Variadic arguments are found through memory.
        for arg in args.iter().skip(self.program.functions[callee].params as usize) {
            self.escape(f, arg);
        }
    }
    /// What a function returns to somebody who is not in the program.
    fn escape_result(&mut self, function: FunctionId) {
        let returned: Vec<Root> =
            self.values.returns.get(&function).into_iter().flat_map(|r| r.keys().copied()).collect();
        let before = self.values.escaped.len();
        self.values.escaped.extend(returned.into_iter().filter(|r| *r != Root::Unknown));
        self.changed |= self.values.escaped.len() > before;
    }

    fn call(&mut self, f: FunctionId, dst: Option<LocalId>, callee: &Callee, args: &[Operand]) {
        let callees = match callee {
            Callee::Direct(callee) => vec![*callee],
            Callee::Indirect(pointer) => self.values.functions(self.program, f, pointer, args.len() as u32),
        };
        for callee in callees {
            if self.program.functions[callee].blocks.is_empty() {
                args.iter().for_each(|arg| self.escape(f, arg));
                if let Some(dst) = dst {
                    self.unknown(f, dst);
                }
                continue;
            }
            self.invoke(f, callee, args);
            if let (Some(dst), Some(returned)) = (dst, self.values.returns.get(&callee).cloned()) {
                self.set(f, dst, returned);
            }
        }
    }

    fn library(&mut self, f: FunctionId, dst: Option<LocalId>, name: &str, args: &[Operand]) {
        let arg = |n: u8| args.get(usize::from(n)).copied().unwrap_or(Operand::Any);
        let Some(row) = library::lookup(name) else {
            args.iter().for_each(|arg| self.escape(f, arg));
            if let Some(dst) = dst {
                self.unknown(f, dst);
            }
            return;
        };
        let mut result = Roots::new();
        for effect in row.effects {
            match effect {
                Effect::Returns(n) => {
                    join(&mut result, anywhere(self.values.of(f, &arg(*n))));
                }
                Effect::ReturnsState(state) => {
                    result.insert(Root::Library(*state), None);
                }
                Effect::StoresPointer(_, n) | Effect::Keeps(n) => self.escape(f, &arg(*n)),
                Effect::Calls(n) => {
                    // A callback is called with pointers into what the library was given.
                    args.iter().for_each(|arg| self.escape(f, arg));
                    for callback in self.values.functions(self.program, f, &arg(*n), u32::MAX) {
                        self.invoke(f, callback, &[]);
                        self.escape_result(callback);
                    }
                }
                _ => {}
            }
        }
        let Some(dst) = dst else { return };
        match row.role {
            Role::Allocate { .. } | Role::AllocateInside | Role::Reallocate { .. } => {
                result.insert(Root::Heap(f, dst), Some(0));
            }
            _ if result.is_empty() => {
                result.insert(Root::Unknown, None);
            }
            _ => {}
        }
        self.set(f, dst, result);
    }
}
