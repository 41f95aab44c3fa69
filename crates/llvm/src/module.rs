//! Modules: reading, linking, promoting locals to registers, verifying.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{CodeModel, InitializationConfig, RelocMode, Target, TargetMachine};

use crate::error::{Error, Stage};
use crate::{Architecture, LLVM_VERSION, debug, ir};

/// A module to be linked, with the input it stands for.
#[derive(Debug)]
pub(crate) struct Input {
    /// As the user spelled it.
    pub(crate) path: PathBuf,
    /// Bitcode or textual LLVM: the input itself, or what the compiler made of it.
    pub(crate) bitcode: PathBuf,
}

/// Reads a `.bc` or `.ll` file. `input` is what messages call it.
pub(crate) fn load<'c>(context: &'c Context, input: &Input) -> Result<Module<'c>, Error> {
    let bitcode = |message: String| Error::Bitcode {
        path: input.path.clone(),
        version: LLVM_VERSION,
        message: one_line(&message),
    };
    std::fs::metadata(&input.bitcode).map_err(|cause| Error::Unreadable { path: input.path.clone(), cause })?;
    let buffer = MemoryBuffer::create_from_file(&input.bitcode).map_err(|e| bitcode(e.to_string()))?;
    let module = context.create_module_from_ir(buffer).map_err(|e| bitcode(e.to_string()))?;
    if ir::Module::of(&module).compile_units().is_empty() {
        return Err(Error::NoDebugInfo { path: input.path.clone() });
    }
    Ok(module)
}

/// The target of a module, as clang spells it.
pub(crate) fn triple(module: &Module<'_>) -> String {
    module.get_triple().as_str().to_string_lossy().into_owned()
}

/// Reads all inputs and links them into one module. If it is to run, all have to be for that architecture, otherwise all for
/// one and the same.
pub(crate) fn load_all<'c>(
    context: &'c Context,
    inputs: &[Input],
    runs_on: Option<Architecture>,
) -> Result<Module<'c>, Error> {
    let mut defined: BTreeMap<String, &Path> = BTreeMap::new();
    let mut linked: Option<Module<'c>> = None;
    for input in inputs {
        let module = load(context, input)?;
        let target = triple(&module);
        if let Some(architecture) = runs_on.filter(|architecture| !architecture.runs(&target)) {
            return Err(Error::Target { path: input.path.clone(), triple: target, architecture });
        }
        if let Some(whole) =
            linked.as_ref().filter(|whole| whole.get_data_layout().as_str() != module.get_data_layout().as_str())
        {
            let (first, second) = (inputs[0].path.clone(), input.path.clone());
            return Err(Error::Targets { first, second, triples: [triple(whole), target] });
        }
        for symbol in strong_definitions(&module) {
            if let Some(first) = defined.insert(symbol.clone(), &input.path) {
                let symbol = crate::functions::demangle(&symbol);
                return Err(Error::Duplicate { symbol, first: first.to_owned(), second: input.path.clone() });
            }
        }
        match &linked {
            None => linked = Some(module),
            Some(whole) => whole
                .link_in_module(module)
                .map_err(|e| Error::Link { path: input.path.clone(), message: one_line(&e.to_string()) })?,
        }
    }
    let linked = linked.ok_or(Error::NoInput)?;
    if let (Some(main), None) = (linked.get_function(cc::OTHER_MAIN), linked.get_function("main")) {
        main.as_global_value().set_name("main");
        let whole = ir::Module::of(&linked);
        let described = whole.function("main").and_then(ir::Value::subprogram);
        described.into_iter().for_each(|node| debug::set_subprogram_name(node, ir::Node::string_of(whole, "main")));
    }
    Ok(linked)
}

/// Names that only one module may define.
fn strong_definitions(module: &Module<'_>) -> Vec<String> {
    let module = ir::Module::of(module);
    let strong = |v: &ir::Value<'_>| !v.is_declaration() && v.linkage() == LLVMLinkage::LLVMExternalLinkage;
    module.functions().into_iter().chain(module.globals()).filter(strong).map(|v| v.name()).collect()
}

/// Turns locals whose address is never taken into registers, and nothing else: any other optimisation could
/// merge or remove accesses. Afterwards debug variables are instructions that can be walked.
pub(crate) fn promote_locals(module: &Module<'_>) -> Result<(), Error> {
    run(module, "mem2reg")?;
    ir::Module::of(module).use_debug_intrinsics();
    Ok(())
}

/// Runs a pass of LLVM.
pub(crate) fn run(module: &Module<'_>, pass: &str) -> Result<(), Error> {
    let internal = |message: String| Error::Internal { stage: Stage::BeforeInstrumentation, message };
    let machine = target_machine(module)?;
    module.run_passes(pass, &machine, PassBuilderOptions::create()).map_err(|e| internal(e.to_string()))
}

/// The code generator of a module's target, which knows the target's features.
fn target_machine(module: &Module<'_>) -> Result<TargetMachine, Error> {
    Target::initialize_x86(&InitializationConfig::default());
    Target::initialize_aarch64(&InitializationConfig::default());
    let unnamed = module.get_triple().as_str().is_empty();
    let triple = if unnamed { TargetMachine::get_default_triple() } else { module.get_triple() };
    let found = Target::from_triple(&triple).or_else(|_| {
        Target::initialize_all(&InitializationConfig::default());
        Target::from_triple(&triple)
    });
    let machine = found.ok().and_then(|target| {
        target.create_target_machine(&triple, "", "", OptimizationLevel::None, RelocMode::PIC, CodeModel::Default)
    });
    machine.ok_or_else(|| Error::UnknownTarget { triple: self::triple(module), version: LLVM_VERSION })
}

/// Asks LLVM whether the module is well formed.
pub(crate) fn verify(module: &Module<'_>, stage: Stage) -> Result<(), Error> {
    module.verify().map_err(|e| Error::Internal { stage, message: e.to_string() })
}

fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
