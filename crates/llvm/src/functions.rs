//! Numbers for the functions of a module.

use inkwell::module::Module;
use model::IndexVec;
use program::FunctionId;
use rustc_hash::FxHashMap;

use crate::debug;
use crate::value::{self, Value};

/// The functions of a module in module order, without those LLVM itself defines.
pub struct Functions<'m> {
    /// The functions by number.
    pub table: IndexVec<FunctionId, Value<'m>>,
    of: FxHashMap<Value<'m>, FunctionId>,
}

impl<'m> Functions<'m> {
    /// Numbers the functions of `module` as it is now.
    pub fn number(module: &Module<'m>) -> Self {
        let table: IndexVec<FunctionId, _> =
            value::functions(module).into_iter().filter(|f| !f.is_intrinsic()).collect();
        let of = table.iter_enumerated().map(|(id, &function)| (function, id)).collect();
        Self { table, of }
    }

    /// The function's number; `None` for one that was not there when the functions were numbered.
    pub fn id(&self, function: Value<'m>) -> Option<FunctionId> {
        self.of.get(&function).copied()
    }

    /// The functions that have a body.
    pub fn defined(&self) -> impl Iterator<Item = (FunctionId, Value<'m>)> {
        self.table.iter_enumerated().map(|(id, &function)| (id, function)).filter(|(_, f)| !f.is_declaration())
    }
}

/// The function as the source names it: `worker`, `Queue::push`.
pub fn source_name(function: Value<'_>) -> String {
    debug::subprogram_of(function).and_then(debug::subprogram_name).unwrap_or_else(|| demangle(&function.name()))
}

/// The source's name for a linker symbol, without parameters and return type.
pub fn demangle(symbol: &str) -> String {
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    cpp_demangle::Symbol::new(symbol)
        .ok()
        .and_then(|parsed| parsed.demangle_with_options(&options).ok())
        .unwrap_or_else(|| symbol.to_owned())
}
