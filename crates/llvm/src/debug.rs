//! Debug information: locations, files and names in the source.
//!
//! Operands of nodes, as LLVM 19's `DebugInfoMetadata.h` fixes them: a lexical block's parent is operand 1, a
//! subprogram's name and linkage name are operands 2 and 3.

use std::path::{Component, Path, PathBuf};

use crate::functions::demangle;
use crate::ir::{MetadataKind, Node, Value};
use crate::openmp;

/// A location in the source as debug information has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct DebugLocation<'m> {
    node: Node<'m>,
}

impl<'m> DebugLocation<'m> {
    /// The location of an instruction.
    pub(crate) fn of(instruction: Value<'m>) -> Option<Self> {
        Some(Self { node: instruction.location()? })
    }
    /// From 1; 0 when the compiler gave none.
    pub(crate) fn line(self) -> u32 {
        self.node.line_and_column().0
    }
    /// From 1; 0 when the compiler gave none.
    pub(crate) fn column(self) -> u32 {
        self.node.line_and_column().1
    }
    /// Where this was inlined to.
    pub(crate) fn inlined_at(self) -> Option<Self> {
        Some(Self { node: self.node.inlined_at()? })
    }
    /// The source file.
    pub(crate) fn file(self) -> Option<SourceFile> {
        let (directory, name) = self.node.location_scope()?.scope_file()?;
        Some(SourceFile { directory, name })
    }
    /// The function as the source names it.
    pub(crate) fn function(self) -> Option<String> {
        subprogram_name(self.subprogram()?)
    }
    /// The function as the linker names it, where that differs from the source.
    pub(crate) fn symbol(self) -> Option<String> {
        self.subprogram()?.string(3)
    }

    pub(crate) fn subprogram(self) -> Option<Node<'m>> {
        let mut scope = self.node.location_scope()?;
        while !matches!(scope.kind(), MetadataKind::LLVMDISubprogramMetadataKind) {
            scope = scope.operand(1)?;
        }
        Some(scope)
    }
}

/// A source file as debug information has it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct SourceFile {
    /// Where the compiler ran; may be empty when `name` is absolute.
    pub(crate) directory: String,
    /// Absolute, or relative to `directory`.
    pub(crate) name: String,
}

impl SourceFile {
    /// Its whole name, without detours.
    pub(crate) fn absolute(&self) -> PathBuf {
        normalized(&Path::new(&self.directory).join(&self.name))
    }
}

/// The path without `.` and with each `..` taken back where something precedes it.
pub(crate) fn normalized(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(result.components().next_back(), Some(Component::Normal(_))) => {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}

/// The file that a subprogram is in.
pub(crate) fn subprogram_file(subprogram: Node<'_>) -> Option<SourceFile> {
    let (directory, name) = subprogram.scope_file()?;
    Some(SourceFile { directory, name })
}

/// A subprogram's name: its linkage name demangled (so with its class and namespace), or its plain name.
pub(crate) fn subprogram_name(subprogram: Node<'_>) -> Option<String> {
    let name = match subprogram.string(3).map(|linkage_name| (demangle(&linkage_name), linkage_name)) {
        // Not every way to mangle a name is known.
        Some((name, linkage_name)) if name == linkage_name && name.starts_with("_Z") => qualified_name(subprogram),
        Some((name, _)) => Some(name),
        None => subprogram.string(2),
    };
    name.map(openmp::readable)
}

/// A subprogram's plain name with those of its class and namespaces.
fn qualified_name(subprogram: Node<'_>) -> Option<String> {
    let mut name = subprogram.string(2)?;
    let mut scope = subprogram.operand(1);
    while let Some(outer) = scope {
        use MetadataKind::{LLVMDICompositeTypeMetadataKind, LLVMDINamespaceMetadataKind};
        if matches!(outer.kind(), LLVMDICompositeTypeMetadataKind | LLVMDINamespaceMetadataKind) {
            // Inline namespaces of the library are no part of the names that people write.
            let outer_name = outer.string(2).filter(|outer| outer != "__cxx11");
            name = outer_name.map_or(name.clone(), |outer| format!("{outer}::{name}"));
        }
        scope = outer.operand(1);
    }
    Some(program::template_names::shortened(&name))
}

/// Whether the compiler made a function that the source does not have: a constructor, destructor or assignment of a class
/// that leaves it out.
pub(crate) fn is_implicit(subprogram: Node<'_>) -> bool {
    // What is outlined for a directive of OpenMP has the flag, too, and is the user's own code.
    let is_member = |scope: Node<'_>| matches!(scope.kind(), MetadataKind::LLVMDICompositeTypeMetadataKind);
    subprogram.operand(1).is_some_and(is_member) && subprogram.text().contains("DIFlagArtificial")
}

/// Gives a subprogram another plain name.
pub(crate) fn set_subprogram_name<'m>(subprogram: Node<'m>, name: Node<'m>) {
    subprogram.set_operand(2, name);
}

/// Whether the unit's code went through an optimiser, which merges and removes accesses.
pub(crate) fn is_optimized(compile_unit: Node<'_>) -> bool {
    compile_unit.text().contains("isOptimized: true")
}

/// Whether the unit was written in C++.
pub(crate) fn is_cplusplus(compile_unit: Node<'_>) -> bool {
    compile_unit.text().contains("language: DW_LANG_C_plus_plus")
}

/// Whether the unit was written in C.
pub(crate) fn is_c(compile_unit: Node<'_>) -> bool {
    let text = compile_unit.text();
    let language = text.split("language: ").nth(1).and_then(|rest| rest.split([',', ')']).next());
    language.is_some_and(|name| {
        let version = name.strip_prefix("DW_LANG_C");
        version.is_some_and(|version| version.bytes().all(|b| b.is_ascii_digit()))
    })
}

/// The unit of a subprogram.
pub(crate) fn compile_unit(subprogram: Node<'_>) -> Option<Node<'_>> {
    let is_unit = |node: &Node<'_>| matches!(node.kind(), MetadataKind::LLVMDICompileUnitMetadataKind);
    subprogram.operands().into_iter().flatten().find(is_unit)
}
