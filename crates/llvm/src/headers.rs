//! Code of system headers that is compiled into the program: templates and inline functions of the C++ library above all.
//!
//! It becomes part of the user's functions that call it, so that each of its accesses belongs to one line of the user's own:
//! two calls of `push_back` have sites of their own, for the analyses and for people. So do functions that the compiler makes
//! for classes of the user's own, such as copy constructors: nobody wrote a line of them. What is recursive or would grow
//! too much stays a function.

use std::collections::BTreeMap;

use crate::debug::{self, SourceFile};
use crate::error::Error;
use crate::instrument::{tries_again, tries_once};
use crate::ir::{AttributeOf, Module, Value};
use crate::module;

/// Instructions of a function with all that is inlined into it, above which it is not inlined itself.
const LARGEST: usize = 1_500;

/// Beginnings of names of functions that lowering looks for: they tell which function a new thread runs.
const KEPT: [&str; 2] = ["_ZNSt6threadC", "_ZNSt6thread11_State_implI"];

/// Inlines functions of system headers where they are called.
pub(crate) fn dissolve(linked: &inkwell::module::Module<'_>) -> Result<(), Error> {
    let module = Module::of(linked);
    let functions: Vec<Value<'_>> = module.functions().into_iter().filter(|f| is_of_header(*f)).collect();
    let mut sizes = Sizes { known: BTreeMap::new(), of: functions.iter().map(|f| (f.name(), *f)).collect() };
    let small: Vec<Value<'_>> = functions.into_iter().filter(|f| sizes.of_function(*f).is_some()).collect();
    if small.is_empty() {
        return Ok(());
    }
    for function in small {
        function.remove_attribute(AttributeOf::Function, "noinline");
        function.remove_attribute(AttributeOf::Function, "optnone");
        function.add_attribute("alwaysinline", 0);
    }
    module::run(linked, "always-inline")
}

/// Whether a function is code of a system header, or of nobody, that nothing looks for by its name. Loops that try again are
/// found by their function's name.
fn is_of_header(function: Value<'_>) -> bool {
    let name = function.name();
    let is_kept = KEPT.iter().any(|kept| name.starts_with(kept)) || tries_again(function) || tries_once(function);
    let is_foreign = |file: SourceFile| model::is_foreign(&file.absolute().to_string_lossy());
    let nobody_wrote_it =
        |subprogram| debug::subprogram_file(subprogram).is_some_and(is_foreign) || debug::is_implicit(subprogram);
    !function.is_declaration() && !is_kept && function.subprogram().is_some_and(nobody_wrote_it)
}

/// How large functions get.
struct Sizes<'m> {
    /// `None` for what is too large, recursive, or being looked at.
    known: BTreeMap<String, Option<usize>>,
    /// The functions of headers.
    of: BTreeMap<String, Value<'m>>,
}

impl<'m> Sizes<'m> {
    /// Instructions of a function with what is inlined into it; `None` if it is not to be inlined itself.
    fn of_function(&mut self, function: Value<'m>) -> Option<usize> {
        let name = function.name();
        if let Some(known) = self.known.get(&name) {
            return *known;
        }
        self.known.insert(name.clone(), None);
        let instructions = function.instructions();
        let mut size = instructions.len();
        for callee in instructions.into_iter().filter_map(Value::called_function) {
            if callee.name() == name {
                return None;
            }
            if let Some(inner) = self.of.get(&callee.name()).copied() {
                size += self.of_function(inner).unwrap_or(1);
            }
        }
        let size = (size <= LARGEST).then_some(size);
        self.known.insert(name, size);
        size
    }
}
