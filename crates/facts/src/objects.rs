//! Objects that are known by name: globals, and memory that is allocated at most once, at a constant offset.

use std::collections::BTreeSet;

use program::{FunctionId, LocalId, Operand, Program, naming};

use crate::invocations::Invocations;
use crate::points_to::PointsTo;
use crate::spot::{ObjectId, Origin};
use crate::touches::site_of_alloca;
use crate::values::{Root, Values};

/// An object inside of one piece of memory, by its byte offset: a whole global or block, a field, an element.
pub type Key = (Root, i64);

/// Whether an abstract location stands for one object only: a global, or memory of a function's locals or of the heap
/// whose allocation is executed at most once.
pub(crate) fn is_unique(program: &Program, points_to: &PointsTo, invocations: &Invocations, object: ObjectId) -> bool {
    match points_to.origin(object) {
        Origin::Global(global) => !program.globals[global].thread_local,
        Origin::Stack(function, local) => {
            let at = points_to.addresses.defined_at(function, local);
            at.is_some_and(|(block, index)| invocations.at_most_once((function, block, index as usize)))
        }
        Origin::Heap(point) => invocations.at_most_once(point),
        _ => false,
    }
}

/// The pieces of memory that have a name of their own.
pub struct Objects<'f> {
    values: Values<'f>,
    /// Pieces of memory of which there is at most one in a run.
    single: BTreeSet<Root>,
}

impl<'f> Objects<'f> {
    pub(crate) fn new(program: &Program, values: Values<'f>, invocations: &Invocations) -> Self {
        let points_to = values.points_to;
        let mut single = BTreeSet::new();
        for (object, origin) in points_to.objects().iter_enumerated() {
            if is_unique(program, points_to, invocations, object) {
                single.extend(match origin {
                    Origin::Global(global) => Some(Root::Global(*global)),
                    Origin::Stack(function, local) => Some(Root::Stack(*function, *local)),
                    Origin::Heap(point) => Some(Root::Heap(*point)),
                    _ => None,
                });
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
            _ => roots.contains_key(&Root::Unknown) && self.values.is_escaped(key.0),
        }
    }
}

/// What a person calls `len` bytes of memory at an object.
pub fn name(program: &Program, (root, offset): Key, len: u64) -> String {
    let at = |function: FunctionId, local: LocalId| site_of_alloca(program, function, local);
    let start = u64::try_from(offset).unwrap_or(0);
    match root {
        Root::Global(global) => naming::name_global(program, global, start, len),
        Root::Stack(function, local) => naming::name_stack(program, at(function, local), start, len),
        Root::Heap((function, block, index)) => {
            let statement = program.functions[function].blocks[block].statements.get(index);
            naming::name_heap(program, statement.and_then(|s| s.site), start, len)
        }
        Root::Function(function) => program.functions[function].name.clone(),
        Root::Library(state) => state.name().replace('`', ""),
        Root::Stream(global) => format!("the stream of {}", program.globals[global].name),
        Root::Errno => "errno".to_owned(),
        Root::Outside => "memory outside of the program".to_owned(),
        Root::Unknown => "unnamed memory".to_owned(),
    }
}
