//! Objects that are known by name: globals, and memory that is allocated at most once, at a constant offset.

use std::collections::BTreeSet;

use program::{FunctionId, LocalId, Operand, Program, Stmt, naming};

use crate::invocations::{Invocations, ProgramPoint};
use crate::touches::origin;
use crate::values::{Root, Values};

/// An object inside of one piece of memory, by its byte offset: a whole global or block, a field, an element.
pub type Key = (Root, i64);

/// The pieces of memory that have a name of their own.
pub struct Objects<'a> {
    values: &'a Values,
    /// Pieces of memory of which there is at most one in a run.
    single: BTreeSet<Root>,
}

impl<'a> Objects<'a> {
    /// Looks for them. Memory of a function's locals or of the heap is one piece only if its allocation is executed at
    /// most once.
    pub fn new(program: &Program, values: &'a Values, invocations: &Invocations<'_>) -> Self {
        let globals = program.globals.iter_enumerated().filter(|(_, global)| !global.thread_local);
        let mut single: BTreeSet<Root> = globals.map(|(id, _)| Root::Global(id)).collect();
        for function in invocations.reachable() {
            for (place, stmt) in allocations(program, function) {
                if invocations.at_most_once(place) {
                    let locals = stmt.assigns().into_iter();
                    single.extend(locals.flat_map(|l| [Root::Stack(function, l), Root::Heap(function, l)]));
                }
            }
        }
        Self { values, single }
    }

    /// The object an operand certainly names, if there is one.
    pub fn exact(&self, function: FunctionId, operand: &Operand) -> Option<Key> {
        let mut roots = self.values.of(function, operand).into_iter();
        let (root, offset) = roots.next().filter(|_| roots.next().is_none())?;
        self.single.contains(&root).then_some((root, offset?))
    }

    /// Whether an operand may name the object.
    pub fn may_name(&self, function: FunctionId, operand: &Operand, key: Key) -> bool {
        let roots = self.values.of(function, operand);
        match roots.get(&key.0) {
            Some(offset) if offset.is_none_or(|offset| offset == key.1) => true,
            _ => roots.contains_key(&Root::Unknown) && self.values.escaped.contains(&key.0),
        }
    }
}

/// The statements of a function that may allocate memory.
fn allocations(program: &Program, function: FunctionId) -> impl Iterator<Item = (ProgramPoint, &Stmt)> {
    program.functions[function].blocks.iter_enumerated().flat_map(move |(block, body)| {
        let placed = body.statements.iter().enumerate().map(move |(index, s)| ((function, block, index), &s.stmt));
        placed.filter(|(_, stmt)| matches!(stmt, Stmt::Alloca { .. } | Stmt::Alloc { .. } | Stmt::Library { .. }))
    })
}

/// What a person calls `len` bytes of memory at an object.
pub fn name(program: &Program, (root, offset): Key, len: u64) -> String {
    let at = |function: FunctionId, local: LocalId| origin(program, function, local);
    let start = u64::try_from(offset).unwrap_or(0);
    match root {
        Root::Global(global) => naming::name_global(program, global, start, len),
        Root::Stack(function, local) => naming::name_stack(program, at(function, local), start, len),
        Root::Heap(function, local) => naming::name_heap(program, at(function, local), start, len),
        Root::Function(function) => program.functions[function].name.clone(),
        Root::Library(state) => state.name().replace('`', ""),
        Root::Unknown => "unnamed memory".to_owned(),
    }
}
