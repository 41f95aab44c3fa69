//! Statements as constraints.

mod calls;
mod missing;
mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use model::index::IndexVec;
use model::{Budget, Spent};
use program::library::{self, Effect, LibraryState};
use program::{
    Callee, Expr, FunctionId, Global, LocalId, Lvalue, Operand, Program, Statement, Stmt, SyncOp, Terminator,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::passages::Passages;
use super::solver::{Node, Solver, Source, Task};
use super::types::Types;
use super::wrappers::{self, Wrappers};
use super::{Invoke, PointsTo, local_nodes};
use crate::Options;
use crate::address::{Addresses, Base};
use crate::formats::may_store_pointer;
use crate::invocations::{How, ProgramPoint};
use crate::spot::{ObjectId, Origin, Shift, Spot};

/// An invocation whose functions are found while solving.
struct Call<'p> {
    place: ProgramPoint,
    how: How,
    args: &'p [Operand],
    dst: Option<LocalId>,
    /// What functions that it runs are called with, if that is not its arguments.
    within: Option<Node>,
}

struct Generator<'p> {
    program: &'p Program,
    assume_pure: &'p BTreeSet<String>,
    addresses: Addresses,
    solver: Solver,
    ids: FxHashMap<Origin, ObjectId>,
    locals: IndexVec<FunctionId, Node>,
    returned: IndexVec<FunctionId, Node>,
    /// What thread functions return, for those who join.
    results: Node,
    outside: Node,
    /// A pointer of which nothing is known.
    unknown: Spot,
    /// The calls through such pointers.
    calls_unknown: FxHashSet<u32>,
    calls: Vec<Call<'p>>,
    /// The calls through pointers.
    through_pointers: Vec<u32>,
    entries: &'p [FunctionId],
    invokes: BTreeMap<ProgramPoint, Invoke>,
    bound: FxHashSet<(u32, FunctionId)>,
    wrappers: Wrappers,
    /// Calls that may return something else than a new block.
    returns_others: FxHashSet<ProgramPoint>,
    clones: FxHashMap<ObjectId, Vec<ObjectId>>,
    calls_outside: Vec<(String, ProgramPoint)>,
    by_outside: Vec<FunctionId>,
    passages: Passages,
    /// Whether the program may read pointers from text.
    scans_pointers: bool,
    /// Arguments of functions of the program beyond their parameters, by function.
    variadic: FxHashMap<FunctionId, Node>,
    /// What missing functions are given that keep nothing, call by call.
    given: Vec<Node>,
    /// The calls of any function whose address is used.
    calls_any: BTreeSet<u32>,
    /// What the functions of a library are given that share it, by library.
    libraries: BTreeMap<&'static str, Node>,
}

/// Whether a program may read pointers from text.
fn scans_pointers(program: &Program) -> bool {
    let statements = program.functions.iter().flat_map(|f| f.blocks.iter()).flat_map(|b| &b.statements);
    let formats = statements.filter_map(|statement| match &statement.stmt {
        Stmt::Library { function, args, .. } => Some((library::lookup(function)?, args)),
        _ => None,
    });
    formats.into_iter().any(|(row, args)| {
        row.effects.iter().any(|effect| match effect {
            Effect::Format(format) => {
                let text = args.get(usize::from(format.format)).copied().unwrap_or(Operand::Any);
                may_store_pointer(program, format, &text)
            }
            _ => false,
        })
    })
}

/// Whether a global is a constant without pointers in it.
fn is_text(global: &Global) -> bool {
    global.constant && global.relocations.is_empty()
}

/// A number of bytes that is known.
fn constant(len: &Operand) -> Option<u32> {
    if let Operand::Const(n) = len { u32::try_from(*n).ok() } else { None }
}

/// The number of the invocation by code without a body.
const OUTSIDE: u32 = u32::MAX;

pub(super) fn generate<'p>(
    program: &'p Program,
    options: &'p Options,
    budget: &Budget,
    types: Types,
) -> Result<PointsTo, Spent> {
    let mut solver = Solver::new(types, program.architecture);
    let unknown = solver.follow_unknown();
    let locals = local_nodes(program, &mut solver);
    let mut returned = IndexVec::new();
    for _ in &program.functions {
        returned.push(solver.node());
    }
    let (results, outside) = (solver.node(), solver.node());
    let mut generator = Generator {
        program,
        assume_pure: &options.assume_pure,
        addresses: Addresses::new(program),
        solver,
        ids: FxHashMap::default(),
        locals,
        returned,
        results,
        outside,
        unknown,
        calls_unknown: FxHashSet::default(),
        calls: Vec::new(),
        through_pointers: Vec::new(),
        entries: &options.entries,
        invokes: BTreeMap::new(),
        bound: FxHashSet::default(),
        wrappers: wrappers::find(program),
        returns_others: FxHashSet::default(),
        clones: FxHashMap::default(),
        calls_outside: Vec::new(),
        by_outside: Vec::new(),
        passages: Passages::default(),
        scans_pointers: scans_pointers(program),
        variadic: FxHashMap::default(),
        given: Vec::new(),
        libraries: BTreeMap::new(),
        calls_any: BTreeSet::new(),
    };
    generator.solver.any_function = Some(generator.object(Origin::AnyFunction));
    generator.run(&options.entries, budget)?;
    let Generator {
        addresses,
        mut solver,
        ids,
        locals,
        returned,
        outside,
        invokes,
        clones,
        calls_outside,
        mut by_outside,
        returns_others,
        given,
        libraries,
        ..
    } = generator;
    by_outside.sort_unstable();
    solver.settle();
    let clones = clones.keys().map(|made| (*made, names_of(*made, &clones))).collect();
    let stored = solver.objects.iter().map(|_| OnceLock::new()).collect();
    let objects_of = |nodes: &mut dyn Iterator<Item = Node>| {
        let objects: BTreeSet<ObjectId> = nodes.flat_map(|node| solver.of(node)).map(|spot| spot.object).collect();
        objects.into_iter().collect()
    };
    let shared = objects_of(&mut libraries.values().copied());
    let given = objects_of(&mut given.into_iter().chain(libraries.values().copied()));
    Ok(PointsTo {
        returns_others,
        given,
        shared,
        stored,
        addresses,
        ids,
        solver,
        unknown: unknown.object,
        locals,
        invokes: invokes.into_iter().collect(),
        clones,
        outside,
        calls_outside,
        by_outside,
        returned,
    })
}

/// All blocks that are known by other names to callers, and to the callers of those.
fn names_of(made: ObjectId, clones: &FxHashMap<ObjectId, Vec<ObjectId>>) -> Vec<ObjectId> {
    let (mut names, mut open) = (BTreeSet::new(), vec![made]);
    while let Some(object) = open.pop() {
        let of_callers = clones.get(&object).into_iter().flatten();
        open.extend(of_callers.filter(|clone| names.insert(**clone)));
    }
    names.into_iter().collect()
}

impl<'p> Generator<'p> {
    fn run(&mut self, entries: &[FunctionId], budget: &Budget) -> Result<(), Spent> {
        self.outside_world();
        entries.iter().for_each(|entry| self.entry(*entry));
        self.globals();
        let program = self.program;
        for (id, function) in program.functions.iter_enumerated() {
            for (block_id, block) in function.blocks.iter_enumerated() {
                let mut after_join = false;
                for (index, statement) in block.statements.iter().enumerate() {
                    let place = (id, block_id, index);
                    // The value that `pthread_join` stores is what the thread returned.
                    if let (true, Stmt::Store { address, value: Operand::Any, size, .. }) =
                        (after_join, &statement.stmt)
                        && program.architecture.may_hold_pointer(*size)
                    {
                        let (at, from) = (self.source(id, address), Source::Node(self.results, Shift::default()));
                        self.solver.task(
                            at,
                            Task::Store { shift: Shift::default(), size: self.solver.pointer(), lvalue: None, from },
                        );
                    } else {
                        self.statement(place, statement);
                    }
                    after_join = matches!(statement.stmt, Stmt::Sync { op: SyncOp::Join { .. }, .. });
                }
                if let Terminator::Return(Some(value)) = &block.terminator {
                    let from = self.source(id, value);
                    self.solver.flow(from, self.returned[id]);
                }
            }
        }
        loop {
            if !self.calls_unknown.is_empty() {
                self.bind_unknown();
            }
            self.bind_any();
            self.solver.solve(budget)?;
            let invoked = std::mem::take(&mut self.solver.invoked);
            let opened = self.passages.open(&mut self.solver);
            if invoked.is_empty() && !opened && !self.solver.spread_unknown() && !self.call_unresolved() {
                return Ok(());
            }
            for (number, spot) in invoked {
                match self.solver.objects[spot.object] {
                    Origin::Function(f) => self.bind(number, f),
                    Origin::AnyFunction => {
                        self.calls_any.insert(number);
                    }
                    // Most of what a library is given is no function.
                    _ if number != OUTSIDE && self.calls[number as usize].within.is_some() => {}
                    Origin::Outside if number != OUTSIDE => self.call_outside(number, None),
                    Origin::Unknown if number != OUTSIDE => self.call_unknown(number),
                    _ => {}
                }
            }
        }
    }

    fn object(&mut self, origin: Origin) -> ObjectId {
        if let Some(id) = self.ids.get(&origin) {
            return *id;
        }
        let id = self.solver.objects.push(origin);
        self.ids.insert(origin, id);
        id
    }
    fn start(&mut self, origin: Origin) -> Source {
        Source::Spot(Spot::start(self.object(origin)))
    }
    fn local(&self, function: FunctionId, local: LocalId) -> Node {
        self.locals[function] + local.0
    }
    fn source(&mut self, function: FunctionId, operand: &Operand) -> Source {
        let address = self.addresses.of(function, operand);
        match address.base {
            Base::Local(local) => Source::Node(self.local(function, local), address.shift()),
            Base::Global(global) if is_text(&self.program.globals[global]) => {
                let texts = self.object(Origin::Constants);
                self.solver.keep(texts);
                Source::Spot(Spot::new(texts, Shift::ANYWHERE))
            }
            Base::Global(global) => {
                let object = self.object(Origin::Global(global));
                Source::Spot(Spot::start(object).shifted(address.shift()))
            }
            Base::Function(f) => self.start(Origin::Function(f)),
            Base::Number => Source::Nothing,
            Base::Any => Source::Spot(self.unknown),
        }
    }
    /// The source, at any offset.
    fn anywhere(&mut self, function: FunctionId, operand: &Operand) -> Source {
        match self.source(function, operand) {
            Source::Node(node, _) => Source::Node(node, Shift::ANYWHERE),
            Source::Spot(spot) => Source::Spot(spot.shifted(Shift::ANYWHERE)),
            Source::Nothing => Source::Nothing,
        }
    }
    fn flow(&mut self, from: Source, function: FunctionId, to: LocalId) {
        let to = self.local(function, to);
        self.solver.flow(from, to);
    }

    /// Code without a body: what it is given it may read, write, call and keep.
    fn outside_world(&mut self) {
        let memory = self.object(Origin::Outside);
        let outside = self.outside;
        self.solver.flow(Source::Spot(Spot::new(memory, Shift::ANYWHERE)), outside);
        self.solver.task(Source::Node(outside, Shift::default()), Task::Leak { to: outside });
        self.solver.task(Source::Node(outside, Shift::default()), Task::Invoke(OUTSIDE));
        let Some(main) = self.program.main else { return };
        let whatever = Source::Spot(Spot::new(memory, Shift::ANYWHERE));
        match self.program.functions[main].params {
            count @ (2 | 3) => {
                let arguments = self.arguments();
                self.flow(arguments, main, LocalId(1));
                // The environment is the C library's, which stores pointers of the program there.
                (2..count).for_each(|parameter| self.flow(whatever, main, LocalId(parameter)));
            }
            count => (0..count).for_each(|parameter| self.flow(whatever, main, LocalId(parameter))),
        }
    }

    /// The arguments that the program is started with: an array of pointers to texts, known to nobody else.
    fn arguments(&mut self) -> Source {
        let (array, texts) = (self.object(Origin::Arguments), self.object(Origin::ArgumentTexts));
        let array = Source::Spot(Spot::new(array, Shift::ANYWHERE));
        let from = Source::Spot(Spot::new(texts, Shift::ANYWHERE));
        self.solver
            .task(array, Task::Store { shift: Shift::default(), size: self.solver.pointer(), lvalue: None, from });
        array
    }

    /// An entry's parameters point to the starts of objects that its callers keep, or into them where the function itself
    /// goes back from them to what they are part of.
    fn entry(&mut self, function: FunctionId) {
        let memory = self.object(Origin::Outside);
        let body = &self.program.functions[function];
        for parameter in (0..body.params).map(LocalId) {
            let goes_back = body.locals.ids().any(|local| {
                let address = self.addresses.of(function, &Operand::Local(local));
                address.base == Base::Local(parameter) && address.offset < 0
            });
            let at = if goes_back { Shift::ANYWHERE } else { Shift::default() };
            self.flow(Source::Spot(Spot::new(memory, at)), function, parameter);
        }
    }

    fn globals(&mut self) {
        for (id, global) in self.program.globals.iter_enumerated() {
            let object = self.object(Origin::Global(id));
            if global.constant {
                self.solver.keep(object);
            }
            // Variables of the C library: it uses them as its rows say, and nobody else knows them.
            if library::is_stream_variable(&global.symbol) && global.relocations == [(0, Operand::Any)] {
                let stream = self.start(Origin::Stream(id));
                let cell = self.solver.cell(Spot::start(object), self.solver.pointer());
                self.solver.flow(stream, cell);
                continue;
            }
            // `getopt` stores pointers to what it is given there, and numbers.
            if LibraryState::Getopt.has_variable(&global.symbol) && global.relocations == [(0, Operand::Any)] {
                continue;
            }
            let of_library = library::is_library_variable(&global.symbol);
            let elsewhere = !library::is_runtime_table(&global.symbol);
            for (offset, target) in &global.relocations {
                let at = Spot::start(object).shifted(Shift { offset: *offset as i64, stride: 0 });
                let mut from = self.source(FunctionId(0), target);
                // What is defined elsewhere is known there.
                if *target == Operand::Any {
                    from = Source::Nothing;
                    if elsewhere {
                        from = Source::Node(self.outside, Shift::default());
                        if !of_library {
                            self.solver.flow(Source::Spot(Spot::new(object, Shift::ANYWHERE)), self.outside);
                        }
                    }
                }
                let cell = self.solver.cell(at, self.solver.pointer());
                self.solver.flow(from, cell);
            }
        }
    }

    /// Loads so many bytes, as an lvalue if that is known.
    fn load(&mut self, f: FunctionId, address: &Operand, (size, lvalue): (Option<u32>, Option<Lvalue>), dst: LocalId) {
        let (at, to) = (self.source(f, address), self.local(f, dst));
        self.solver.task(at, Task::Load { shift: Shift::default(), size, lvalue, to });
    }
    fn store(&mut self, f: FunctionId, address: &Operand, (size, lvalue): (Option<u32>, Option<Lvalue>), from: Source) {
        // A value that is not known is a pointer only if it has the size of one.
        let is_number = from == Source::Spot(self.unknown)
            && size.is_some_and(|size| !self.program.architecture.may_hold_pointer(size));
        if from != Source::Nothing && !is_number {
            let at = self.source(f, address);
            self.solver.task(at, Task::Store { shift: Shift::default(), size, lvalue, from });
        }
    }

    fn statement(&mut self, place: ProgramPoint, statement: &'p Statement) {
        let f = place.0;
        let stmt = &statement.stmt;
        let lvalue = statement.site.and_then(|site| self.program.sites[site].lvalue);
        match stmt {
            Stmt::Assign { dst, expr } => self.assign(f, *dst, expr),
            Stmt::Load { dst, address, size, .. } => self.load(f, address, (Some(*size), lvalue), *dst),
            Stmt::Store { address, value, size, .. } => {
                let from = self.source(f, value);
                self.store(f, address, (Some(*size), lvalue), from);
            }
            Stmt::Rmw { dst, address, value, size, .. } => {
                let from = self.anywhere_unless_exchange(f, stmt, value);
                self.store(f, address, (Some(*size), lvalue), from);
                self.load(f, address, (Some(*size), lvalue), *dst);
            }
            Stmt::CompareExchange { dst, address, new, size, .. } => {
                let from = self.source(f, new);
                self.store(f, address, (Some(*size), lvalue), from);
                self.load(f, address, (Some(*size), lvalue), *dst);
            }
            Stmt::Copy { to, from, len } => {
                self.copy(place, to, from, constant(len), Shift::default());
            }
            Stmt::Alloca { dst, .. } => {
                let from = self.start(Origin::Stack(f, *dst));
                self.flow(from, f, *dst);
            }
            Stmt::Alloc { dst, .. } => {
                let from = self.start(Origin::Heap(place));
                self.flow(from, f, *dst);
            }
            Stmt::Call { dst, callee, args } => {
                if let Callee::Direct(callee) = callee
                    && let Some(reach) = self.reach_of(*callee)
                {
                    self.reach(place, &self.program.functions[*callee].name, args, *dst, reach);
                    if !self.invokes.contains_key(&place) {
                        self.call(place, How::Call, args, *dst);
                    }
                    self.invokes.entry(place).and_modify(|invoke| {
                        invoke.without_body.insert(*callee);
                    });
                    return;
                }
                let number = self.call(place, How::Call, args, *dst);
                match callee {
                    Callee::Direct(callee) => self.bind(number, *callee),
                    Callee::Indirect(pointer) => self.invoke(f, pointer, number),
                }
            }
            Stmt::Library { dst, function, args } => self.library(place, *dst, function, args),
            Stmt::Sync { dst, op: SyncOp::Create { function, arg } } => {
                if let Some(dst) = dst {
                    let from = self.start(Origin::Thread(place));
                    self.flow(from, f, *dst);
                }
                let number = self.call(place, How::Create, std::slice::from_ref(arg), None);
                self.invoke(f, function, number);
            }
            Stmt::Sync { op: SyncOp::Once { function, .. }, .. } => {
                let number = self.call(place, How::Once, &[], None);
                self.invoke(f, function, number);
            }
            // Memory that is filled with what is not known has a function's arguments beyond its parameters.
            Stmt::Fill { to, value: Operand::Any, .. } => {
                let (at, from) = (self.source(f, to), Source::Node(self.variadic(f), Shift::default()));
                self.solver.task(at, Task::Store { shift: Shift::ANYWHERE, size: None, lvalue: None, from });
            }
            Stmt::Sync { .. }
            | Stmt::Fill { .. }
            | Stmt::Fence(_)
            | Stmt::Free { .. }
            | Stmt::Assert { .. }
            | Stmt::Exit { .. } => {}
        }
    }

    fn anywhere_unless_exchange(&mut self, f: FunctionId, stmt: &Stmt, value: &Operand) -> Source {
        match stmt {
            Stmt::Rmw { op: program::RmwOp::Exchange, .. } => self.source(f, value),
            _ => self.anywhere(f, value),
        }
    }

    fn assign(&mut self, f: FunctionId, dst: LocalId, expr: &Expr) {
        // What is made of one base is no set of its own.
        if self.addresses.of(f, &Operand::Local(dst)).base != Base::Local(dst) {
            return;
        }
        let mut parts: Vec<Source> = Vec::new();
        match expr {
            Expr::Use(value) => parts.push(self.source(f, value)),
            Expr::Compare { .. } => {}
            Expr::Truncate { value, .. } => parts.push(self.anywhere(f, value)),
            Expr::Binary { left, right, .. } => {
                parts.extend([self.anywhere(f, left), self.anywhere(f, right)]);
            }
            Expr::Offset { base, index, scale, offset } => {
                let moved = match self.addresses.of(f, index).base {
                    Base::Number => Shift::ANYWHERE,
                    _ => Shift { offset: *offset, stride: scale.unsigned_abs().max(1) },
                };
                parts.push(match self.source(f, base) {
                    Source::Node(node, shift) => Source::Node(node, shift.then(moved)),
                    Source::Spot(spot) => Source::Spot(spot.shifted(moved)),
                    Source::Nothing => Source::Nothing,
                });
                // An integer that is used as a base may be made of a pointer in the index.
                if self.addresses.of(f, base).base == Base::Number {
                    parts.push(self.anywhere(f, index));
                }
            }
            Expr::Select { then, otherwise, .. } => parts.extend([self.source(f, then), self.source(f, otherwise)]),
            Expr::Phi(sources) => {
                for (_, value) in sources {
                    parts.push(self.source(f, value));
                }
            }
        }
        parts.into_iter().for_each(|part| self.flow(part, f, dst));
    }

    /// Copies bytes, `len` of them where that is known, to a place as far behind `to` as `shift` says.
    fn copy(&mut self, place: ProgramPoint, to: &Operand, from: &Operand, len: Option<u32>, shift: Shift) {
        let transfer = self.object(Origin::Transfer(place));
        let (to, from) = (self.source(place.0, to), self.source(place.0, from));
        self.solver.task(from, Task::CopyOut { shift: Shift::default(), len, to: transfer });
        self.solver.task(to, Task::CopyIn { shift, from: transfer });
    }
}
