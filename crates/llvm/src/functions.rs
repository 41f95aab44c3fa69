//! Numbers for the functions of a module.

use model::IndexVec;
use program::FunctionId;
use rustc_hash::FxHashMap;

use crate::debug;
use crate::ir::{Module, Value};

/// The functions of a module in module order, without those LLVM itself defines.
pub(crate) struct Functions<'m> {
    /// The functions by number.
    pub(crate) table: IndexVec<FunctionId, Value<'m>>,
    of: FxHashMap<Value<'m>, FunctionId>,
}

impl<'m> Functions<'m> {
    /// Numbers the functions of `module` as it is now.
    pub(crate) fn number(module: Module<'m>) -> Self {
        let table: IndexVec<FunctionId, _> = module.functions().into_iter().filter(|f| !f.is_intrinsic()).collect();
        let of = table.iter_enumerated().map(|(id, &function)| (function, id)).collect();
        Self { table, of }
    }

    /// The function's number; `None` for one that was not there when the functions were numbered.
    pub(crate) fn id(&self, function: Value<'m>) -> Option<FunctionId> {
        self.of.get(&function).copied()
    }

    /// The functions that have a body.
    pub(crate) fn defined(&self) -> impl Iterator<Item = (FunctionId, Value<'m>)> {
        self.table.iter_enumerated().map(|(id, &function)| (id, function)).filter(|(_, f)| !f.is_declaration())
    }
}

/// The function as the source names it: `worker`, `Queue::push`.
pub(crate) fn source_name(function: Value<'_>) -> String {
    function.subprogram().and_then(debug::subprogram_name).unwrap_or_else(|| demangle(&function.name()))
}

/// The source's name for a linker symbol, without parameters and return type.
pub(crate) fn demangle(symbol: &str) -> String {
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    cpp_demangle::Symbol::new(symbol)
        .ok()
        .and_then(|parsed| parsed.demangle_with_options(&options).ok())
        .map(|name| program::template_names::shortened(&name))
        .unwrap_or_else(|| symbol.to_owned())
}
