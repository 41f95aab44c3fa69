//! OpenMP, made part of the program.
//!
//! Clang turns OpenMP's directives into calls of a runtime library. Ours is C over pthreads (`openmp/*.c`): it is
//! compiled and linked with the program, so that engines meet threads and locks they know and need not know OpenMP.
//! What is left to do here is what C cannot say: a region is started by a call with any number of arguments, which
//! becomes one with an array of them.
//!
//! The library's own memory is not visible: it synchronises what it shares, by construction, and no user wants to read
//! about it. Its locks, semaphores, threads and atomics are.

use std::collections::BTreeSet;
use std::path::PathBuf;

use inkwell::context::Context;
use inkwell::llvm_sys::LLVMLinkage;

use crate::Options;
use crate::debug::DebugLocation;
use crate::driver::Clang;
use crate::error::{Error, Stage};
use crate::ir::{Builder, Module, Value};
use crate::module::{self, Input};

/// The library's sources. The first one is compiled; it includes the others.
const SOURCES: [(&str, &str); 13] = [
    ("openmp.c", include_str!("../openmp/openmp.c")),
    ("openmp.h", include_str!("../openmp/openmp.h")),
    ("team.c", include_str!("../openmp/team.c")),
    ("loop.c", include_str!("../openmp/loop.c")),
    ("doacross.c", include_str!("../openmp/doacross.c")),
    ("lock.c", include_str!("../openmp/lock.c")),
    ("task.c", include_str!("../openmp/task.c")),
    ("depend.c", include_str!("../openmp/depend.c")),
    ("taskloop.c", include_str!("../openmp/taskloop.c")),
    ("task_reduction.c", include_str!("../openmp/task_reduction.c")),
    ("cancel.c", include_str!("../openmp/cancel.c")),
    ("device.c", include_str!("../openmp/device.c")),
    ("query.c", include_str!("../openmp/query.c")),
];
/// What its sources are called.
const NAME: &str = "<openmp>";
/// How the names end of functions that stand between it and the program.
const ADAPTER: &str = ".region";
/// How the names of functions start that a program with OpenMP calls.
const PREFIXES: [&str; 3] = ["__kmpc_", "__tgt_", "omp_"];
/// Functions that start a region, given source location, number of arguments, code, arguments; and those of the library
/// that are called instead: code that takes an array of arguments, that array.
const FORKS: [(&str, &str); 2] =
    [("__kmpc_fork_call", "raceproof_omp_parallel"), ("__kmpc_fork_teams", "raceproof_omp_teams")];
/// Makes an explicit task.
const TASK: &str = "__kmpc_omp_task_alloc";
/// Functions that begin to combine a reduction. Ours always let the caller do it, under a lock.
const REDUCE: [&str; 2] = ["__kmpc_reduce", "__kmpc_reduce_nowait"];
/// Functions of the library that do nothing, unless the program calls one of the functions beside them.
const HOOKS: [(&str, &[&str]); 6] = [
    ("raceproof_omp_join", &[TASK, "__kmpc_omp_target_task_alloc"]),
    ("raceproof_omp_begin_ordered", &["__kmpc_ordered"]),
    ("raceproof_omp_end_ordered", &["__kmpc_ordered"]),
    ("raceproof_omp_end_doacross", &["__kmpc_doacross_init"]),
    ("raceproof_omp_reduce", &["__kmpc_taskred_init", "__kmpc_taskred_modifier_init"]),
    ("raceproof_omp_is_cancelled", &["__kmpc_cancel"]),
];

/// Whether the code at a location is the library's.
pub(crate) fn is_own(at: DebugLocation<'_>) -> bool {
    at.file().is_some_and(|file| file.name.starts_with(NAME) || file.directory.starts_with(NAME))
}

/// Whether a function stands between the library and the code of a region.
pub(crate) fn is_adapter(function: Value<'_>) -> bool {
    function.name().ends_with(ADAPTER)
}

/// What people call a function that clang made of a directive.
pub(crate) fn readable(name: String) -> String {
    match name.split_once(".omp_") {
        None => name,
        Some(("", _)) => "task".to_owned(),
        Some((function, _)) => function.to_owned(),
    }
}

/// What a program uses of OpenMP.
#[derive(Clone, Default, Debug)]
pub(crate) struct OpenMp {
    /// Anything: the library is linked.
    pub(crate) used: bool,
    /// Both explicit tasks and thread-private variables: a task here has variables of its own.
    pub(crate) private_tasks: bool,
    /// Regions whose number of threads the program leaves open, or a question for that number.
    pub(crate) open_teams: bool,
    /// Functions that the program calls and the library does not have. A thread that calls one stays there.
    pub(crate) missing: Vec<String>,
}

impl OpenMp {
    /// Flags for the linker that let a thread stop at a call of a function that is missing.
    pub(crate) fn link_flags(&self) -> impl Iterator<Item = String> {
        self.missing.iter().map(|name| format!("-Wl,--defsym={name}={REFUSED}"))
    }
}

/// The runtime's stand-in for functions that are missing.
const REFUSED: &str = "__rp_refuse_call";

/// What is said of a call of one of OpenMP's functions that the library does not have: the directive, where the function
/// tells. `None` for other functions.
pub(crate) fn unsupported(name: &str) -> Option<String> {
    /// How the names of functions start, and the directive or clause that clang makes into calls of them.
    const DIRECTIVES: [(&str, &str); 3] = [
        ("__kmpc_threadprivate_", "`threadprivate` without thread-local storage (`-fnoopenmp-use-tls`)"),
        ("__tgt_interop_", "`interop`"),
        ("__tgt_", "`target` on another device"),
    ];
    if !PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        return None;
    }
    if let Some((directive, line)) = name.strip_prefix(WITHOUT_CODE).and_then(|rest| rest.get(1..)?.rsplit_once('.')) {
        let directive = directive.replace('_', " ");
        return Some(format!("OpenMP: `{directive}` (line {line}) is not supported: clang makes no code of it"));
    }
    let directive = DIRECTIVES.iter().find(|(prefix, _)| name.starts_with(prefix));
    let directive = directive.map_or_else(|| format!("`{name}`"), |(_, directive)| (*directive).to_owned());
    Some(format!("OpenMP: {directive} is not supported"))
}

/// How the names start of functions that stand for a directive without code.
const WITHOUT_CODE: &str = "omp_without_code";

/// Lets the program stop at once, since clang made no code of a directive: calls a function that nobody has.
fn refuse(module: Module<'_>, cc::Dropped { directive, line, .. }: &cc::Dropped) {
    let builder = Builder::new(module);
    let ty = builder.void.function(&[]);
    let name = format!("{WITHOUT_CODE}.{}.{line}", directive.replace(' ', "_"));
    let missing = module.function(&name).unwrap_or_else(|| module.add_function(&name, ty));
    let entries = match module.function("main") {
        Some(main) => vec![main],
        None => module.functions(),
    };
    for function in entries.into_iter().filter(|function| !function.is_declaration()) {
        let located = |instruction: &Value<'_>| DebugLocation::of(*instruction).is_some();
        if let Some(first) = function.instructions().into_iter().find(located) {
            builder.position_before(first);
            builder.set_location_of(first);
            builder.call(ty, missing, &[]);
        }
    }
}

/// Links the library where the program uses it.
pub(crate) fn complete<'c>(
    context: &'c Context,
    linked: &inkwell::module::Module<'c>,
    dropped: &[cc::Dropped],
    options: &Options,
) -> Result<OpenMp, Error> {
    let module = Module::of(linked);
    dropped.iter().for_each(|dropped| refuse(module, dropped));
    let unresolved = missing(module);
    // Our library is C for the machines that programs run on; on others, directives are calls of functions without a body.
    if unresolved.is_empty() || !options.architecture.runs(&module::triple(linked)) {
        return Ok(OpenMp { missing: unresolved, ..OpenMp::default() });
    }
    let thread_private = module.globals().into_iter().any(|global| global.is_thread_local());
    let private_tasks = thread_private && module.function(TASK).is_some();
    let library = module::load(context, &compile(options)?)?;
    let defined = |module: Module<'_>| -> BTreeSet<String> {
        module
            .functions()
            .iter()
            .filter(|function| !function.is_declaration())
            .map(|function| function.name())
            .collect()
    };
    // A program may bring functions of these names.
    for function in Module::of(&library).functions().into_iter().filter(|function| !function.is_declaration()) {
        function.set_linkage(LLVMLinkage::LLVMWeakAnyLinkage);
    }
    let names = &defined(Module::of(&library)) - &defined(module);
    let open_teams = leaves_teams_open(module);
    let is_called = |name: &&str| module.function(name).is_some_and(|function| !function.users().is_empty());
    let unneeded: Vec<&str> =
        HOOKS.into_iter().filter(|(_, users)| !users.iter().any(&is_called)).map(|(hook, _)| hook).collect();
    linked.link_in_module(library).map_err(|e| Error::Internal { stage: Stage::OpenMp, message: e.to_string() })?;
    FORKS.into_iter().for_each(|(fork, ours)| rewrite_regions(module, fork, ours));
    REDUCE.into_iter().filter_map(|name| module.function(name)).for_each(|reduce| say_result(module, reduce));
    unneeded.into_iter().filter_map(|hook| module.function(hook)).for_each(|hook| remove_calls(module, hook));
    let missing = missing(module);
    remove_unused(module, names);
    // What creates threads, so that these are created where the program's directive is.
    module::run(linked, "always-inline")?;
    Ok(OpenMp { used: true, private_tasks, open_teams, missing })
}

/// Whether regions have as many threads as the environment says: clang pushes a number before each region that has the
/// clause `num_threads`.
fn leaves_teams_open(module: Module<'_>) -> bool {
    let calls = |name: &str| module.function(name).map_or(0, |function| function.users().len());
    let (regions, pushed) = (calls("__kmpc_fork_call"), calls("__kmpc_push_num_threads"));
    let leagues = calls("__kmpc_fork_teams") > calls("__kmpc_push_num_teams") + calls("__kmpc_push_num_teams_51");
    let asks = ["omp_get_max_threads", "omp_get_num_procs"].into_iter().any(|name| calls(name) > 0);
    (regions > pushed || leagues || asks) && calls("omp_set_num_threads") == 0
}

/// OpenMP's functions that the program calls and nobody defines.
fn missing(module: Module<'_>) -> Vec<String> {
    let of_openmp = |name: &String| PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    module
        .functions()
        .into_iter()
        .filter(|function| function.is_declaration() && !function.users().is_empty())
        .map(|function| function.name())
        .filter(of_openmp)
        .collect()
}

/// Compiles the library in a folder of its own.
fn compile(options: &Options) -> Result<Input, Error> {
    let folder = options.work_dir.join("openmp");
    crate::create_dir(&folder)?;
    for (name, text) in SOURCES {
        let file = folder.join(name);
        std::fs::write(&file, text)
            .map_err(|cause| Error::Io { what: format!("cannot write `{}`", file.display()), cause })?;
    }
    let bitcode = folder.join("openmp.bc");
    let unit = folder.join(SOURCES[0].0);
    Clang::find(options.architecture, &options.budget)?.compile_own(&unit, &folder, NAME, &bitcode)?;
    Ok(Input { path: PathBuf::from(NAME), bitcode })
}

/// Removes what the program does not use of the library; the rest is no longer visible to anything linked later.
fn remove_unused(module: Module<'_>, mut names: BTreeSet<String>) {
    let own = |names: &BTreeSet<String>| -> Vec<_> {
        module.functions().into_iter().filter(|function| names.contains(&function.name())).collect()
    };
    loop {
        let unused: Vec<_> = own(&names).into_iter().filter(|function| function.users().is_empty()).collect();
        if unused.is_empty() {
            break;
        }
        for function in unused {
            names.remove(&function.name());
            function.delete();
        }
    }
    own(&names).into_iter().for_each(|function| function.set_linkage(LLVMLinkage::LLVMInternalLinkage));
}

/// Says what a function returns that always returns 1.
fn say_result(module: Module<'_>, function: Value<'_>) {
    let one = Builder::new(module).const_i32(1);
    let calls = function.users().into_iter().filter(|user| user.called_function() == Some(function));
    calls.for_each(|call| call.replace_all_uses(one));
}

/// Removes the calls of a function that has nothing to do; what it would return is 0.
fn remove_calls(module: Module<'_>, hook: Value<'_>) {
    let builder = Builder::new(module);
    for call in hook.users().into_iter().filter(|user| user.called_function() == Some(hook)) {
        if !call.ty().is_void() {
            call.replace_all_uses(builder.const_i32(0));
        }
        call.erase();
    }
}

/// Makes calls with an array out of the calls that start a region with any number of arguments.
fn rewrite_regions(module: Module<'_>, fork: &str, ours: &str) {
    let (Some(fork), Some(parallel)) = (module.function(fork), module.function(ours)) else { return };
    let builder = Builder::new(module);
    for call in fork.users() {
        let arguments: Vec<_> = call.arguments().collect();
        if let [_, _, code, given @ ..] = arguments.as_slice() {
            let adapter = adapter(&builder, *code, given);
            replace(&builder, call, parallel, adapter, given);
        }
    }
}

/// The address of an argument in the array. All of them are pointers, or numbers as large as pointers.
fn slot<'m>(builder: &Builder<'m>, array: Value<'m>, index: u64) -> Value<'m> {
    builder.element_address(builder.ptr, array, &[builder.const_i64(index)])
}

/// A function that takes the arguments from the array and calls the region's code.
fn adapter<'m>(builder: &Builder<'m>, code: Value<'m>, given: &[Value<'m>]) -> Value<'m> {
    let ty = builder.void.function(&[builder.ptr; 3]);
    let adapter = builder.module().add_function(&format!("{}{ADAPTER}", code.name()), ty);
    adapter.set_linkage(LLVMLinkage::LLVMInternalLinkage);
    builder.position_at_end(adapter.append_block("entry"));
    builder.set_no_location();
    let parameters = adapter.parameters();
    let mut values = vec![parameters[1], parameters[2]];
    for (index, argument) in (0..).zip(given) {
        values.push(builder.load(argument.ty(), slot(builder, parameters[0], index)));
    }
    let types: Vec<_> = values.iter().map(|value| value.ty()).collect();
    builder.call(builder.void.function(&types), code, &values);
    builder.ret(None);
    adapter
}

/// Replaces the call that starts a region by one of the library's function.
fn replace<'m>(builder: &Builder<'m>, call: Value<'m>, parallel: Value<'m>, adapter: Value<'m>, given: &[Value<'m>]) {
    let first = call.function().and_then(|f| f.blocks().first().and_then(|block| block.first_insertion_point()));
    builder.position_before(first.unwrap_or(call));
    let array = builder.array_alloca(builder.ptr, builder.const_i32(given.len().max(1) as u32));
    array.set_name(program::openmp::ARGUMENTS);
    builder.position_before(call);
    builder.set_location_of(call);
    for (index, argument) in (0..).zip(given) {
        builder.store(*argument, slot(builder, array, index));
    }
    builder.call(parallel.value_type(), parallel, &[adapter, array]);
    call.erase();
}
