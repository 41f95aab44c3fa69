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
use std::ffi::CString;
use std::path::PathBuf;

use inkwell::context::Context;
use inkwell::llvm_sys::LLVMLinkage;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::LLVMInstructionGetDebugLoc;
use inkwell::llvm_sys::prelude::{LLVMBuilderRef, LLVMContextRef, LLVMTypeRef, LLVMValueRef};
use inkwell::module::Module;

use crate::Options;
use crate::debug::DebugLocation;
use crate::driver::Clang;
use crate::error::Error;
use crate::module::{self, Input};
use crate::value::{self, Value};

/// The library's sources. The first one is compiled; it includes the others.
const SOURCES: [(&str, &str); 7] = [
    ("openmp.c", include_str!("../openmp/openmp.c")),
    ("openmp.h", include_str!("../openmp/openmp.h")),
    ("team.c", include_str!("../openmp/team.c")),
    ("loop.c", include_str!("../openmp/loop.c")),
    ("lock.c", include_str!("../openmp/lock.c")),
    ("task.c", include_str!("../openmp/task.c")),
    ("query.c", include_str!("../openmp/query.c")),
];
/// What its sources are called.
const NAME: &str = "<openmp>";
/// How the names end of functions that stand between it and the program.
const ADAPTER: &str = ".region";
/// How the names of functions start that a program with OpenMP calls.
const PREFIXES: [&str; 3] = ["__kmpc_", "__tgt_", "omp_"];
/// Starts a region: place, number of arguments, code, arguments.
const FORK: &str = "__kmpc_fork_call";
/// Makes an explicit task.
const TASK: &str = "__kmpc_omp_task_alloc";
/// The library's: code that takes an array of arguments, that array.
const PARALLEL: &str = "raceproof_omp_parallel";

/// Whether the code at a place is the library's.
pub(crate) fn is_own(place: DebugLocation<'_>) -> bool {
    place.file().is_some_and(|file| file.name.starts_with(NAME) || file.directory.starts_with(NAME))
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
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct OpenMp {
    /// Anything: the library is linked.
    pub(crate) used: bool,
    /// Both explicit tasks and thread-private variables: a task here has variables of its own.
    pub(crate) private_tasks: bool,
}

/// Links the library where the program uses it.
pub(crate) fn complete<'c>(context: &'c Context, module: &Module<'c>, options: &Options) -> Result<OpenMp, Error> {
    if missing(module).is_empty() {
        return Ok(OpenMp::default());
    }
    let thread_private = value::globals(module).into_iter().any(|global| global.is_thread_local());
    let private_tasks = thread_private && module.get_function(TASK).is_some();
    let library = module::load(context, &compile(options)?, options.architecture)?;
    let names: BTreeSet<String> = value::functions(&library)
        .into_iter()
        .filter(|function| !function.is_declaration())
        .map(|function| {
            // A program may bring functions of these names.
            unsafe { LLVMSetLinkage(function.raw(), LLVMLinkage::LLVMWeakAnyLinkage) };
            function.name()
        })
        .collect();
    let own = |module: &Module<'_>| -> BTreeSet<String> {
        let defined = value::functions(module).into_iter().filter(|function| !function.is_declaration());
        defined.map(|function| function.name()).filter(|name| names.contains(name)).collect()
    };
    let of_program = own(module);
    module
        .link_in_module(library)
        .map_err(|e| Error::Internal { stage: "with OpenMP's library", message: e.to_string() })?;
    Regions::new(module).rewrite();
    if let Some(function) = missing(module).into_iter().next() {
        return Err(Error::OpenMp { function });
    }
    remove_unused(module, &names - &of_program);
    // What creates threads, so that these are created where the program's directive is.
    module::run(module, "always-inline")?;
    Ok(OpenMp { used: true, private_tasks })
}

/// OpenMP's functions that the program calls and nobody defines.
fn missing(module: &Module<'_>) -> Vec<String> {
    let of_openmp = |name: &String| PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    value::functions(module)
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
    Clang::find(options.architecture, &options.stop)?.compile_own(&unit, &folder, NAME, &bitcode)?;
    Ok(Input { path: PathBuf::from(NAME), bitcode })
}

/// Removes what the program does not use of the library; the rest is no longer visible to anything linked later.
fn remove_unused(module: &Module<'_>, mut names: BTreeSet<String>) {
    loop {
        let unused: Vec<Value<'_>> = value::functions(module)
            .into_iter()
            .filter(|function| names.contains(&function.name()) && function.users().is_empty())
            .collect();
        if unused.is_empty() {
            break;
        }
        for function in unused {
            names.remove(&function.name());
            unsafe { LLVMDeleteFunction(function.raw()) };
        }
    }
    for function in value::functions(module).into_iter().filter(|function| names.contains(&function.name())) {
        unsafe { LLVMSetLinkage(function.raw(), LLVMLinkage::LLVMInternalLinkage) };
    }
}

/// Makes calls with an array out of calls with any number of arguments.
struct Regions<'a, 'm> {
    module: &'a Module<'m>,
    context: LLVMContextRef,
    builder: LLVMBuilderRef,
    pointer: LLVMTypeRef,
}

impl Drop for Regions<'_, '_> {
    fn drop(&mut self) {
        unsafe { LLVMDisposeBuilder(self.builder) };
    }
}

impl<'a, 'm> Regions<'a, 'm> {
    fn new(module: &'a Module<'m>) -> Self {
        unsafe {
            let context = LLVMGetModuleContext(module.as_mut_ptr());
            let builder = LLVMCreateBuilderInContext(context);
            Self { module, context, builder, pointer: LLVMPointerTypeInContext(context, 0) }
        }
    }

    fn rewrite(&self) {
        let (Some(fork), Some(parallel)) = (self.module.get_function(FORK), self.module.get_function(PARALLEL)) else {
            return;
        };
        for call in Value::of(fork).users() {
            let arguments: Vec<Value<'m>> = call.arguments().collect();
            if let [_, _, code, given @ ..] = arguments.as_slice() {
                let adapter = self.adapter(*code, given);
                self.replace(call, Value::of(parallel), adapter, given);
            }
        }
    }

    /// The place of an argument in the array. All of them are pointers, or numbers as large as pointers.
    unsafe fn slot(&self, array: LLVMValueRef, index: usize) -> LLVMValueRef {
        unsafe {
            let mut index = LLVMConstInt(LLVMInt64TypeInContext(self.context), index as u64, 0);
            LLVMBuildGEP2(self.builder, self.pointer, array, &mut index, 1, c"".as_ptr())
        }
    }

    /// A function that takes the arguments from the array and calls the region's code.
    fn adapter(&self, code: Value<'m>, given: &[Value<'m>]) -> LLVMValueRef {
        let name = CString::new(format!("{}{ADAPTER}", code.name())).unwrap_or_default();
        unsafe {
            let void = LLVMVoidTypeInContext(self.context);
            let mut types = [self.pointer; 3];
            let ty = LLVMFunctionType(void, types.as_mut_ptr(), 3, 0);
            let adapter = LLVMAddFunction(self.module.as_mut_ptr(), name.as_ptr(), ty);
            LLVMSetLinkage(adapter, LLVMLinkage::LLVMInternalLinkage);
            let entry = LLVMAppendBasicBlockInContext(self.context, adapter, c"entry".as_ptr());
            LLVMPositionBuilderAtEnd(self.builder, entry);
            LLVMSetCurrentDebugLocation2(self.builder, std::ptr::null_mut());
            let array = LLVMGetParam(adapter, 0);
            let mut values = vec![LLVMGetParam(adapter, 1), LLVMGetParam(adapter, 2)];
            for (index, argument) in given.iter().enumerate() {
                let slot = self.slot(array, index);
                values.push(LLVMBuildLoad2(self.builder, argument.ty(), slot, c"".as_ptr()));
            }
            let mut types: Vec<LLVMTypeRef> = values.iter().map(|value| LLVMTypeOf(*value)).collect();
            let ty = LLVMFunctionType(void, types.as_mut_ptr(), types.len() as u32, 0);
            LLVMBuildCall2(self.builder, ty, code.raw(), values.as_mut_ptr(), values.len() as u32, c"".as_ptr());
            LLVMBuildRetVoid(self.builder);
            adapter
        }
    }

    fn replace(&self, call: Value<'m>, parallel: Value<'m>, adapter: LLVMValueRef, given: &[Value<'m>]) {
        let first = call.function().and_then(|f| f.blocks().first().and_then(|block| block.first_insertion_point()));
        unsafe {
            LLVMPositionBuilderBefore(self.builder, first.unwrap_or(call).raw());
            let count = LLVMConstInt(LLVMInt32TypeInContext(self.context), given.len().max(1) as u64, 0);
            let array = LLVMBuildArrayAlloca(self.builder, self.pointer, count, c"arguments".as_ptr());
            LLVMPositionBuilderBefore(self.builder, call.raw());
            LLVMSetCurrentDebugLocation2(self.builder, LLVMInstructionGetDebugLoc(call.raw()));
            for (index, argument) in given.iter().enumerate() {
                LLVMBuildStore(self.builder, argument.raw(), self.slot(array, index));
            }
            let ty = LLVMGlobalGetValueType(parallel.raw());
            let mut values = [adapter, array];
            LLVMBuildCall2(self.builder, ty, parallel.raw(), values.as_mut_ptr(), 2, c"".as_ptr());
            LLVMInstructionEraseFromParent(call.raw());
        }
    }
}
