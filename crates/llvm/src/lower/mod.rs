//! From a module to a [`Program`].
//!
//! The module has its locals promoted to registers and is otherwise as the compiler wrote it. Every memory access
//! and thread operation of its code becomes a statement with the site of its instruction, or an entry of
//! [`Program::unmodelled`]; what has no expressible value is [`program::Operand::Any`].
//!
//! Assumed here: creating a thread and allocating memory succeed.

mod aggregate;
mod arithmetic;
mod blocks;
mod body;
mod call;
pub(crate) mod constant;
mod exceptions;
mod exit;
mod handler_jumps;
mod lost;
mod memory;
mod simd;
mod synthetic;
mod thread;
mod thread_end;
mod unwinding;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use model::IndexVec;
use program::{Function, FunctionId, Global, GlobalId, Operand, Program, Unmodelled};
use rustc_hash::FxHashMap;

use self::body::Body;
use self::constant::{Content, Symbols};
use self::exceptions::Exceptions;
use self::exit::ExitHandlers;
use self::thread_end::ThreadEnd;
use self::unwinding::Unwinding;
use crate::assembly::{self, Outside};
use crate::functions::{Functions, source_name};
use crate::ir::{Module, Value};
use crate::members;
use crate::names::{self, Types};
use crate::sites::Sites;

/// The symbol of `main` after instrumentation has renamed it, and before.
const MAIN: [&str; 2] = ["main", "__rp_user_main"];

/// Sections with functions that run before or after `main`.
pub(crate) const FUNCTION_SECTIONS: [&str; 3] = [".init_array", ".fini_array", ".preinit_array"];

/// Lowers a module. Functions and sites are numbered as in `functions` and `sites`; functions and sites that stand
/// for what libraries do come after them. Calls of the functions named in `assume_pure` have no effect.
pub(crate) fn lower<'m>(
    module: Module<'m>,
    functions: &Functions<'m>,
    sites: &Sites<'m>,
    assume_pure: &BTreeSet<String>,
) -> Program {
    let globals = module.globals();
    let lowering = Lowering {
        symbols: Symbols {
            layout: module.layout(),
            functions,
            globals: globals.iter().enumerate().map(|(i, &g)| (g, GlobalId(i as u32))).collect(),
            hidden: RefCell::default(),
        },
        sites,
        assume_pure,
        globals,
        types: Types::default(),
        exit: ExitHandlers::default(),
        thread_end: ThreadEnd::default(),
        synthetic: BTreeSet::new(),
        routines: BTreeMap::new(),
        results: FxHashMap::default(),
        errno: None,
        assembly: None,
        sections: None,
        unwinding: Unwinding::new(functions),
        lost: None,
        exceptions: Exceptions::new(functions),
        program: Program {
            architecture: module.architecture(),
            files: sites.files.clone(),
            sites: sites.table.clone(),
            ..Program::default()
        },
    };
    lowering.run(module)
}

/// A module being lowered.
pub(crate) struct Lowering<'a, 'm> {
    symbols: Symbols<'a, 'm>,
    sites: &'a Sites<'m>,
    assume_pure: &'a BTreeSet<String>,
    globals: Vec<Value<'m>>,
    types: Types<'m>,
    exit: ExitHandlers,
    thread_end: ThreadEnd,
    /// Library functions that have a body in the program.
    synthetic: BTreeSet<String>,
    /// What threads of `std::thread` run, by the virtual functions called.
    routines: BTreeMap<Option<(FunctionId, FunctionId)>, FunctionId>,
    /// The variables in which functions return structs.
    results: FxHashMap<Value<'m>, GlobalId>,
    errno: Option<GlobalId>,
    /// Stands for inline assembly whose effects are not known.
    assembly: Option<FunctionId>,
    sections: Option<GlobalId>,
    /// Holds the addresses that go where they cannot be followed.
    lost: Option<GlobalId>,
    unwinding: Unwinding<'m>,
    exceptions: Exceptions,
    program: Program,
}

impl<'m> Lowering<'_, 'm> {
    fn run(mut self, module: Module<'m>) -> Program {
        self.jumps_from_handlers();
        for global in self.globals.clone() {
            let global = self.global(global);
            self.program.globals.push(global);
        }
        let table = self.symbols.functions.table.clone();
        for &function in &table {
            let params = function.parameters().len() as u32;
            self.program.functions.push(Function {
                symbol: function.name(),
                name: source_name(function),
                params,
                locals: IndexVec::new(),
                blocks: IndexVec::new(),
            });
        }
        self.library_bodies();
        self.collect_exit_handlers();
        self.exit_functions();
        self.collect_thread_end();
        self.thread_end_function();
        for (id, &function) in table.iter_enumerated() {
            if self.synthetic.contains(&self.program.functions[id].symbol) {
                continue;
            }
            let lowered = Body::lower(&mut self, function);
            let target = &mut self.program.functions[id];
            (target.locals, target.blocks) = (lowered.locals, lowered.blocks);
        }
        let is_main = |f: &Value<'m>| MAIN.contains(&f.name().as_str()) && !f.is_declaration();
        let main = table.iter_enumerated().find(|(_, f)| is_main(f)).map(|(id, _)| id);
        self.program.main = main.map(|main| self.entry(main));
        self.hidden_functions();
        self.module_assembly(module);
        self.simd_loops();
        let wholes = names::annotate(&self.symbols, self.sites, &mut self.types, &mut self.program.sites);
        self.program.records =
            members::annotate(module, self.symbols.functions, self.sites, &wholes, &mut self.program.sites);
        if !names::has_strict_types(module) {
            self.program.sites.iter_mut().for_each(|site| (site.lvalue, site.source) = (None, None));
        }
        self.program.types = self.types.into_table();
        self.program
    }

    /// Assembly outside of functions. What its tables name is known to code that is not here.
    fn module_assembly(&mut self, module: Module<'m>) {
        match Outside::of(module) {
            Outside::Unknown => {
                let what = assembly::OUTSIDE.to_owned();
                self.program.unmodelled.push(Unmodelled { site: None, what, function: None });
            }
            Outside::Tables(names) if names.is_empty() => {}
            Outside::Tables(names) => {
                let word = u64::from(self.symbols.layout.pointer_size());
                let mut table = variable("tables in assembly", word * (names.len() as u64 + 1), false);
                let known = names.into_iter().map(|name| self.symbols.constant(name));
                let known = std::iter::once(Operand::Any).chain(known);
                table.relocations = (0..).zip(known).map(|(number, name)| (word * number, name)).collect();
                self.program.globals.push(table);
            }
        }
    }

    /// A variable with the functions whose addresses are computed with, so that an unknown pointer may mean them.
    fn hidden_functions(&mut self) {
        let hidden = self.symbols.hidden.take();
        if !hidden.is_empty() {
            let mut table = variable("computed addresses", 8 * hidden.len() as u64, false);
            let numbered = (0..).zip(hidden);
            table.relocations = numbered.map(|(n, function)| (8 * n, Operand::Function(function))).collect();
            self.program.globals.push(table);
        }
    }

    /// Jumps out of handlers of signals are edges, but for those that exceptions are mixed with.
    fn jumps_from_handlers(&mut self) {
        let Some(jumps) = self.unwinding.handler_jumps() else { return };
        let what =
            if jumps.are_followed() { Unmodelled::HANDLER_JUMPS } else { "jumps out of handlers, with exceptions" };
        self.program.unmodelled.push(Unmodelled { site: None, what: what.to_owned(), function: None });
    }

    fn global(&mut self, global: Value<'m>) -> Global {
        let described = names::global(global);
        let section = global.section();
        if FUNCTION_SECTIONS.iter().any(|prefix| section.starts_with(prefix)) {
            let what = format!("puts `{}` into the section `{section}`", global.name());
            self.program.unmodelled.push(Unmodelled { site: None, what, function: None });
        }
        let size = self.symbols.layout.stride(global.value_type());
        // What is defined elsewhere is of unknown content, at least one word of it.
        let (size, content) = match global.initializer() {
            Some(initializer) => (size, self.symbols.content(initializer)),
            None => {
                let word = u64::from(self.symbols.layout.pointer_size());
                (size.max(word), Content::unknown(size.max(word), word))
            }
        };
        if content.lost {
            let what = format!("the initial content of `{}` cannot be expressed", described.name);
            self.program.unmodelled.push(Unmodelled { site: None, what, function: None });
        }
        Global {
            symbol: global.name(),
            name: described.name,
            size,
            ty: described.ty.map(|ty| self.types.of(ty)),
            init: content.bytes,
            relocations: content.pointers,
            thread_local: global.is_thread_local(),
            constant: global.is_constant_global(),
        }
    }

    /// The function without a body that stands for inline assembly whose effects are not known.
    fn unknown_assembly(&mut self) -> FunctionId {
        let name = assembly::UNKNOWN.to_owned();
        let function =
            Function { symbol: name.clone(), name, params: 0, locals: IndexVec::new(), blocks: IndexVec::new() };
        *self.assembly.get_or_insert_with(|| self.program.functions.push(function))
    }

    /// The variable that `errno` stands for.
    fn errno(&mut self) -> GlobalId {
        *self.errno.get_or_insert_with(|| self.program.globals.push(variable("errno", 4, true)))
    }

    /// The lock that stands for sections that nothing interrupts.
    fn sections(&mut self) -> GlobalId {
        *self.sections.get_or_insert_with(|| self.program.globals.push(variable("atomic section", 40, false)))
    }
}

/// A variable that is not in the source.
fn variable(name: &str, size: u64, thread_local: bool) -> Global {
    Global {
        symbol: name.to_owned(),
        name: name.to_owned(),
        size,
        ty: None,
        init: Vec::new(),
        relocations: Vec::new(),
        thread_local,
        constant: false,
    }
}
