//! Reading debug information.
//!
//! The C interface answers only some questions about debug nodes; the rest is read from their operands, whose
//! places are fixed by LLVM 19's `DebugInfoMetadata.h`: a scope's file is operand 0, a lexical block's parent
//! operand 1, a subprogram's name and linkage name operands 2 and 3.

use std::ffi::CStr;
use std::marker::PhantomData;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::*;
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMMetadataRef, LLVMValueRef};
use inkwell::module::Module;

use crate::functions::demangle;
use crate::openmp;
use crate::value::Value;

/// A node of debug information.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Node<'m> {
    raw: LLVMMetadataRef,
    context: LLVMContextRef,
    module: PhantomData<&'m ()>,
}

impl<'m> Node<'m> {
    /// The handle of a node of a live module; `None` for null.
    ///
    /// # Safety
    /// `raw` is null or metadata of `context`, which lives for `'m`.
    pub unsafe fn from_raw(raw: LLVMMetadataRef, context: LLVMContextRef) -> Option<Self> {
        (!raw.is_null()).then_some(Self { raw, context, module: PhantomData })
    }
    /// The metadata that a value wraps, as in the operands of debug intrinsics.
    pub fn of(value: Value<'m>) -> Option<Self> {
        unsafe { Self::from_raw(LLVMValueAsMetadata(value.raw()), LLVMGetTypeContext(value.ty())) }
    }
    /// For calls to LLVM.
    pub fn raw(self) -> LLVMMetadataRef {
        self.raw
    }
    /// What kind of node this is.
    pub fn kind(self) -> LLVMMetadataKind {
        unsafe { LLVMGetMetadataKind(self.raw) }
    }
    fn as_value(self) -> LLVMValueRef {
        unsafe { LLVMMetadataAsValue(self.context, self.raw) }
    }
    /// Whether this is a node with operands, as opposed to a string or a value.
    fn has_operands(self) -> bool {
        use LLVMMetadataKind::*;
        !matches!(
            self.kind(),
            LLVMMDStringMetadataKind
                | LLVMConstantAsMetadataMetadataKind
                | LLVMLocalAsMetadataMetadataKind
                | LLVMDIArgListMetadataKind
                | LLVMDistinctMDOperandPlaceholderMetadataKind
        )
    }
    /// All operands; a missing one is `None`.
    pub fn operands(self) -> Vec<Option<Self>> {
        self.operand_values()
            .into_iter()
            .map(|v| (!v.is_null()).then(|| unsafe { Self::from_raw(LLVMValueAsMetadata(v), self.context) }).flatten())
            .collect()
    }
    fn operand_values(self) -> Vec<LLVMValueRef> {
        if !self.has_operands() {
            return Vec::new();
        }
        unsafe {
            let value = self.as_value();
            let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(value) as usize];
            LLVMGetMDNodeOperands(value, operands.as_mut_ptr());
            operands
        }
    }
    /// Operand `index`, if it is there.
    pub fn operand(self, index: usize) -> Option<Self> {
        self.operands().get(index).copied().flatten()
    }
    /// Operand `index`, if it is a string that is not empty.
    pub fn string(self, index: usize) -> Option<String> {
        let operand = self.operand(index)?;
        if !matches!(operand.kind(), LLVMMetadataKind::LLVMMDStringMetadataKind) {
            return None;
        }
        unsafe {
            let mut len = 0;
            let start = LLVMGetMDString(operand.as_value(), &mut len);
            (!start.is_null() && len > 0).then(|| text(start, len as usize))
        }
    }
    /// The value that this metadata wraps, if it wraps one.
    pub fn value(self) -> Option<Value<'m>> {
        use LLVMMetadataKind::{LLVMConstantAsMetadataMetadataKind, LLVMLocalAsMetadataMetadataKind};
        if !matches!(self.kind(), LLVMConstantAsMetadataMetadataKind | LLVMLocalAsMetadataMetadataKind) {
            return None;
        }
        let mut value = std::ptr::null_mut();
        unsafe {
            LLVMGetMDNodeOperands(self.as_value(), &mut value);
            Value::from_raw(value)
        }
    }
    /// The node as LLVM prints it.
    pub fn text(self) -> String {
        unsafe {
            let printed = LLVMPrintValueToString(self.as_value());
            let owned = CStr::from_ptr(printed).to_string_lossy().into_owned();
            LLVMDisposeMessage(printed);
            owned
        }
    }
}

unsafe fn text(start: *const std::ffi::c_char, len: usize) -> String {
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len) }).into_owned()
}

/// A place in the source as debug information has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DebugLocation<'m> {
    node: Node<'m>,
}

impl<'m> DebugLocation<'m> {
    /// The place of an instruction.
    pub fn of(instruction: Value<'m>) -> Option<Self> {
        instruction.opcode()?;
        let context = unsafe { LLVMGetTypeContext(instruction.ty()) };
        let node = unsafe { Node::from_raw(LLVMInstructionGetDebugLoc(instruction.raw()), context) }?;
        Some(Self { node })
    }
    /// From 1; 0 when the compiler gave none.
    pub fn line(self) -> u32 {
        unsafe { LLVMDILocationGetLine(self.node.raw()) }
    }
    /// From 1; 0 when the compiler gave none.
    pub fn column(self) -> u32 {
        unsafe { LLVMDILocationGetColumn(self.node.raw()) }
    }
    /// The innermost scope.
    pub fn scope(self) -> Option<Node<'m>> {
        unsafe { Node::from_raw(LLVMDILocationGetScope(self.node.raw()), self.node.context) }
    }
    /// Where this was inlined to.
    pub fn inlined_at(self) -> Option<Self> {
        let node = unsafe { Node::from_raw(LLVMDILocationGetInlinedAt(self.node.raw()), self.node.context) }?;
        Some(Self { node })
    }
    /// The source file.
    pub fn file(self) -> Option<SourceFile> {
        self.scope().and_then(file_of_scope)
    }
    /// The function as the source names it.
    pub fn function(self) -> Option<String> {
        let mut scope = self.scope()?;
        while !matches!(scope.kind(), LLVMMetadataKind::LLVMDISubprogramMetadataKind) {
            scope = scope.operand(1)?;
        }
        subprogram_name(scope)
    }
}

/// A source file as debug information has it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SourceFile {
    /// Where the compiler ran; may be empty when `name` is absolute.
    pub directory: String,
    /// Absolute, or relative to `directory`.
    pub name: String,
}

/// The file of a scope, or of any node whose first operand is a file.
pub fn file_of_scope(scope: Node<'_>) -> Option<SourceFile> {
    unsafe {
        let file = LLVMDIScopeGetFile(scope.raw());
        if file.is_null() {
            return None;
        }
        let mut len = 0;
        let start = LLVMDIFileGetFilename(file, &mut len);
        let name = if start.is_null() { String::new() } else { text(start, len as usize) };
        let start = LLVMDIFileGetDirectory(file, &mut len);
        let directory = if start.is_null() { String::new() } else { text(start, len as usize) };
        Some(SourceFile { directory, name })
    }
}

/// The debug information of a function.
pub fn subprogram_of<'m>(function: Value<'m>) -> Option<Node<'m>> {
    if !function.is_function() {
        return None;
    }
    unsafe { Node::from_raw(LLVMGetSubprogram(function.raw()), LLVMGetTypeContext(function.ty())) }
}

/// A subprogram's name: its linkage name demangled (so with its class and namespace), or its plain name.
pub fn subprogram_name(subprogram: Node<'_>) -> Option<String> {
    let name = match subprogram.string(3) {
        Some(linkage_name) => Some(demangle(&linkage_name)),
        None => subprogram.string(2),
    };
    name.map(openmp::readable)
}

/// The compile units of a module.
pub fn compile_units<'m>(module: &Module<'m>) -> Vec<Node<'m>> {
    const NAME: &CStr = c"llvm.dbg.cu";
    unsafe {
        let count = LLVMGetNamedMetadataNumOperands(module.as_mut_ptr(), NAME.as_ptr());
        let mut units = vec![std::ptr::null_mut(); count as usize];
        LLVMGetNamedMetadataOperands(module.as_mut_ptr(), NAME.as_ptr(), units.as_mut_ptr());
        units.into_iter().filter_map(|unit| Node::of(Value::from_raw(unit)?)).collect()
    }
}

/// Whether the unit's code went through an optimiser, which merges and removes accesses.
pub fn is_optimized(compile_unit: Node<'_>) -> bool {
    compile_unit.text().contains("isOptimized: true")
}

/// Whether the unit was written in C++.
pub fn is_cplusplus(compile_unit: Node<'_>) -> bool {
    compile_unit.text().contains("language: DW_LANG_C_plus_plus")
}
