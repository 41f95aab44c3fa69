//! Synchronisation objects that are known by name: globals at a constant offset.

use program::{FunctionId, GlobalId, Operand, Program};

use crate::values::{Root, Values};

/// A synchronisation object in a global, at a byte offset.
pub type Key = (GlobalId, i64);

/// The object an operand certainly names, if there is one.
pub fn exact(program: &Program, values: &Values, function: FunctionId, operand: &Operand) -> Option<Key> {
    let roots = values.of(function, operand);
    let mut roots = roots.into_iter();
    let (Root::Global(global), Some(offset)) = roots.next()? else { return None };
    (roots.next().is_none() && !program.globals[global].thread_local).then_some((global, offset))
}

/// Whether an operand may name the object.
pub fn may_name(values: &Values, function: FunctionId, operand: &Operand, key: Key) -> bool {
    let global = Root::Global(key.0);
    let roots = values.of(function, operand);
    match roots.get(&global) {
        Some(offset) if offset.is_none_or(|offset| offset == key.1) => true,
        _ => roots.contains_key(&Root::Unknown) && values.escaped.contains(&global),
    }
}
