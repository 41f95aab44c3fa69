//! Numbers for the points of a module that do something visible.
//!
//! A site is given to every load, store, atomic operation, fence, intrinsic that accesses memory, call, and to
//! every local whose address may reach another thread, in module order. The numbers depend on nothing but the
//! module, so the same sources have the same sites.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use inkwell::llvm_sys::LLVMOpcode;
use model::{IndexVec, SiteId};
use program::{FileId, Frame, FunctionId, Location, Site};
use rustc_hash::FxHashMap;

use crate::debug::{self, DebugLocation, SourceFile, normalized};
use crate::escape::Privacy;
use crate::functions::{Functions, source_name};
use crate::intrinsics;
use crate::ir::{Node, Value};
use crate::openmp;
use crate::unwritten;

/// How the user spelled the files that debug information names.
#[derive(Clone, Default, Debug)]
pub(crate) struct Spelling {
    /// Where the user is.
    directory: PathBuf,
    inputs: BTreeMap<PathBuf, String>,
}

impl Spelling {
    /// The spelling of these inputs; relative ones are relative to `directory`.
    pub(crate) fn new<'a>(directory: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Self {
        let spelled = |path: &'a Path| (normalized(&directory.join(path)), path.display().to_string());
        Self { directory: normalized(directory), inputs: inputs.into_iter().map(spelled).collect() }
    }

    /// The file as the user spelled it; a file that is no input is named so that it is found from here, without detours:
    /// the system's compiler finds its headers by the way of its own folder.
    pub(crate) fn of(&self, file: &SourceFile) -> String {
        let absolute = file.absolute();
        if let Some(spelled) = self.inputs.get(&absolute) {
            return spelled.clone();
        }
        let is_absolute = Path::new(&file.name).is_absolute();
        if is_absolute && absolute.exists() {
            return absolute.display().to_string();
        }
        if is_absolute || normalized(Path::new(&file.directory)) == self.directory {
            return file.name.clone();
        }
        absolute.strip_prefix(&self.directory).unwrap_or(&absolute).display().to_string()
    }
}

/// The sites of a module and the source files they are in.
pub(crate) struct Sites<'m> {
    /// The sites by number.
    pub(crate) table: IndexVec<SiteId, Site>,
    /// The files by number, in order of first appearance.
    pub(crate) files: IndexVec<FileId, String>,
    of: FxHashMap<Value<'m>, SiteId>,
    file_ids: BTreeMap<String, FileId>,
    spelling: Spelling,
    /// Functions, and whether the compiler made them.
    implicit: FxHashMap<Node<'m>, bool>,
}

impl<'m> Sites<'m> {
    /// Numbers the sites of the functions. With `openmp`, some of them are of the library that we brought.
    pub(crate) fn assign(functions: &Functions<'m>, privacy: &Privacy<'m>, spelling: Spelling, openmp: bool) -> Self {
        let mut sites = Self {
            table: IndexVec::new(),
            files: IndexVec::new(),
            of: FxHashMap::default(),
            file_ids: BTreeMap::new(),
            spelling,
            implicit: FxHashMap::default(),
        };
        for (id, function) in functions.defined() {
            let name = source_name(function);
            let hidden = |i: Value<'m>| openmp && is_access(i) && is_own(function, i);
            for instruction in function.instructions().into_iter().filter(|&i| is_visible(i, privacy) && !hidden(i)) {
                let site = sites.site(id, &name, instruction);
                let site = sites.table.push(site);
                sites.of.insert(instruction, site);
            }
        }
        sites
    }

    /// The site of an instruction; `None` if it does nothing visible or was inserted after the sites were numbered.
    pub(crate) fn id(&self, instruction: Value<'m>) -> Option<SiteId> {
        self.of.get(&instruction).copied()
    }

    /// The number of a file that debug information names.
    pub(crate) fn file(&mut self, file: &SourceFile) -> FileId {
        let name = self.spelling.of(file);
        *self.file_ids.entry(name.clone()).or_insert_with(|| self.files.push(name))
    }

    /// Whether a place is in code that no source has.
    fn is_of_nobody(&mut self, at: DebugLocation<'m>) -> bool {
        let mut is_implicit =
            |subprogram| *self.implicit.entry(subprogram).or_insert_with(|| debug::is_implicit(subprogram));
        openmp::is_own(at) || at.subprogram().is_some_and(&mut is_implicit)
    }

    fn site(&mut self, function: FunctionId, name: &str, instruction: Value<'m>) -> Site {
        // What the library does for a directive is done where that is, and what nobody wrote where it is called.
        let mut at = DebugLocation::of(instruction);
        while let Some(outer) = at.filter(|at| self.is_of_nobody(*at)).and_then(DebugLocation::inlined_at) {
            at = Some(outer);
        }
        let source_function = at.and_then(DebugLocation::function).unwrap_or_else(|| name.to_owned());
        let location = at.and_then(|at| self.location(at));
        let mut inlined_at = Vec::new();
        let mut next = at.and_then(DebugLocation::inlined_at);
        while let Some(at) = next {
            if at.inlined_at().is_none() || !self.is_of_nobody(at) {
                let function = at.function().unwrap_or_else(|| name.to_owned());
                inlined_at.push(Frame { function, location: self.location(at) });
            }
            next = at.inlined_at();
        }
        Site {
            function,
            source_function,
            location,
            inlined_at,
            expression: None,
            allocates: None,
            lvalue: None,
            source: None,
        }
    }

    fn location(&mut self, at: DebugLocation<'m>) -> Option<Location> {
        let file = self.file(&at.file()?);
        Some(Location { file, line: at.line(), column: at.column() })
    }
}

/// Whether the instruction accesses memory without synchronising.
fn is_access(instruction: Value<'_>) -> bool {
    match instruction.opcode() {
        Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore) => !instruction.is_atomic(),
        Some(LLVMOpcode::LLVMCall) => intrinsics::of_call(instruction).is_some(),
        _ => false,
    }
}

/// Whether an instruction of a function is one of the library that we brought.
fn is_own(function: Value<'_>, instruction: Value<'_>) -> bool {
    openmp::is_adapter(function) || DebugLocation::of(instruction).is_some_and(openmp::is_own)
}

/// Whether the instruction does something visible.
fn is_visible<'m>(instruction: Value<'m>, privacy: &Privacy<'m>) -> bool {
    match instruction.opcode() {
        Some(
            LLVMOpcode::LLVMLoad
            | LLVMOpcode::LLVMStore
            | LLVMOpcode::LLVMAtomicRMW
            | LLVMOpcode::LLVMAtomicCmpXchg
            | LLVMOpcode::LLVMFence,
        ) => true,
        Some(LLVMOpcode::LLVMAlloca) => !privacy.is_private_local(instruction),
        Some(LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr) => {
            intrinsics::is_visible_call(instruction)
        }
        Some(LLVMOpcode::LLVMFreeze) => unwritten::is_value(instruction),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_spelled_as_the_user_spelled_them() {
        let spelling = Spelling::new(Path::new("/home/p"), [Path::new("./src/../a.c"), Path::new("/home/q/b.c")]);
        let file = |directory: &str, name: &str| SourceFile { directory: directory.into(), name: name.into() };
        assert_eq!(spelling.of(&file("/home/p", "a.c")), "./src/../a.c");
        assert_eq!(spelling.of(&file("/home", "q/b.c")), "/home/q/b.c");
        assert_eq!(spelling.of(&file("/home/p", "src/list.h")), "src/list.h");
        assert_eq!(spelling.of(&file("", "/usr/include/stdio.h")), "/usr/include/stdio.h");
        assert_eq!(spelling.of(&file("", "/usr/lib/../include/errno.h")), "/usr/include/errno.h");
        assert_eq!(spelling.of(&file("", "/usr/none/../no.h")), "/usr/none/../no.h", "what is not there is left alone");
        assert_eq!(spelling.of(&file("/home/p/lib", "../lib/c.c")), "lib/c.c");
        assert_eq!(spelling.of(&file("/home/r", "c.c")), "/home/r/c.c");
    }
}
