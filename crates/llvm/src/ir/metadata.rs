//! Metadata: debug information, and what is attached to instructions and globals.
//!
//! The C interface answers only some questions about debug nodes; the rest is read from their operands, whose places
//! are fixed by LLVM 19's `DebugInfoMetadata.h`.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr::NonNull;

use inkwell::llvm_sys::LLVMOpaqueMetadata;
use inkwell::llvm_sys::LLVMValueKind;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::debuginfo::*;
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMMetadataRef, LLVMValueRef};

use super::{Module, Value, require, text};

pub(crate) use inkwell::llvm_sys::debuginfo::LLVMMetadataKind as MetadataKind;

/// A node of metadata.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Node<'m> {
    raw: NonNull<LLVMOpaqueMetadata>,
    context: LLVMContextRef,
    module: PhantomData<&'m ()>,
}

impl<'m> Node<'m> {
    /// The handle of a node; `None` for null.
    ///
    /// # Safety
    /// `raw` is null or metadata of `context`, which lives for `'m`.
    unsafe fn from_raw(raw: LLVMMetadataRef, context: LLVMContextRef) -> Option<Self> {
        NonNull::new(raw).map(|raw| Self { raw, context, module: PhantomData })
    }

    /// The metadata that a value wraps, as in the operands of debug intrinsics; `None` for other values.
    pub(crate) fn of(value: Value<'m>) -> Option<Self> {
        if value.kind() != LLVMValueKind::LLVMMetadataAsValueValueKind {
            return None;
        }
        // SAFETY: a value that wraps metadata of its context.
        unsafe { Self::from_raw(LLVMValueAsMetadata(value.raw()), value.ty().context()) }
    }

    /// A constant as metadata.
    pub(crate) fn constant(value: Value<'m>) -> Self {
        require(value.is_any_constant(), "only constants become metadata");
        // SAFETY: a constant, which LLVM wraps.
        let node = unsafe { Self::from_raw(LLVMValueAsMetadata(value.raw()), value.ty().context()) };
        node.expect("raceproof bug: LLVM wraps a constant")
    }

    /// A string as metadata.
    pub(crate) fn string_of(module: Module<'m>, string: &str) -> Self {
        let context = module.context();
        // SAFETY: a live context; LLVM copies the bytes.
        let node =
            unsafe { Self::from_raw(LLVMMDStringInContext2(context, string.as_ptr().cast(), string.len()), context) };
        node.expect("raceproof bug: LLVM makes a string")
    }

    /// A node with these operands.
    pub(crate) fn tuple(module: Module<'m>, operands: &[Self]) -> Self {
        let context = module.context();
        let mut operands: Vec<_> = operands.iter().map(|operand| operand.raw()).collect();
        // SAFETY: a live context and metadata of it; LLVM copies the list.
        let node =
            unsafe { Self::from_raw(LLVMMDNodeInContext2(context, operands.as_mut_ptr(), operands.len()), context) };
        node.expect("raceproof bug: LLVM makes a node")
    }

    fn raw(self) -> LLVMMetadataRef {
        self.raw.as_ptr()
    }

    /// What kind of node this is.
    pub(crate) fn kind(self) -> MetadataKind {
        // SAFETY: live metadata.
        unsafe { LLVMGetMetadataKind(self.raw()) }
    }

    fn as_value(self) -> LLVMValueRef {
        // SAFETY: live metadata and its context.
        unsafe { LLVMMetadataAsValue(self.context, self.raw()) }
    }

    /// Whether this is a node with operands, as opposed to a string or a value.
    fn has_operands(self) -> bool {
        use MetadataKind::*;
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
    pub(crate) fn operands(self) -> Vec<Option<Self>> {
        if !self.has_operands() {
            return Vec::new();
        }
        // SAFETY: a node with operands, and room for as many as it has. An operand is null, a constant or a value that
        // wraps metadata; both can be had as metadata of the same context.
        unsafe {
            let value = self.as_value();
            let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(value) as usize];
            LLVMGetMDNodeOperands(value, operands.as_mut_ptr());
            let node = |operand: LLVMValueRef| Self::from_raw(LLVMValueAsMetadata(operand), self.context);
            operands.into_iter().map(|operand| if operand.is_null() { None } else { node(operand) }).collect()
        }
    }

    /// Puts another node in the place of operand `index`, which is there.
    pub(crate) fn set_operand(self, index: usize, operand: Self) {
        require(self.operands().len() > index, "only operands that are there are replaced");
        // SAFETY: a node with operands, more than `index` of them, and metadata of the same context.
        unsafe { LLVMReplaceMDNodeOperandWith(self.as_value(), index as u32, operand.raw()) };
    }

    /// Operand `index`, if it is there.
    pub(crate) fn operand(self, index: usize) -> Option<Self> {
        self.operands().get(index).copied().flatten()
    }

    /// Operand `index`, if it is a string that is not empty.
    pub(crate) fn string(self, index: usize) -> Option<String> {
        let operand = self.operand(index)?;
        if !matches!(operand.kind(), MetadataKind::LLVMMDStringMetadataKind) {
            return None;
        }
        let mut len = 0;
        // SAFETY: a string; LLVM returns its start and sets its length, and it is copied at once.
        let string = unsafe {
            let start = LLVMGetMDString(operand.as_value(), &mut len);
            text(start, len as usize)
        };
        Some(string).filter(|string| !string.is_empty())
    }

    /// The value that this metadata wraps, if it wraps one.
    pub(crate) fn value(self) -> Option<Value<'m>> {
        use MetadataKind::{LLVMConstantAsMetadataMetadataKind, LLVMLocalAsMetadataMetadataKind};
        if !matches!(self.kind(), LLVMConstantAsMetadataMetadataKind | LLVMLocalAsMetadataMetadataKind) {
            return None;
        }
        let mut value = std::ptr::null_mut();
        // SAFETY: metadata that wraps a value, which is its only operand.
        unsafe {
            LLVMGetMDNodeOperands(self.as_value(), &mut value);
            Value::from_raw(value)
        }
    }

    /// The node as LLVM prints it.
    pub(crate) fn text(self) -> String {
        // SAFETY: a value of the context, which lives for `'m`.
        unsafe { Value::made(self.as_value()) }.text()
    }

    fn is_type(self) -> bool {
        use MetadataKind::*;
        matches!(
            self.kind(),
            LLVMDIBasicTypeMetadataKind
                | LLVMDIDerivedTypeMetadataKind
                | LLVMDICompositeTypeMetadataKind
                | LLVMDISubroutineTypeMetadataKind
        )
    }

    /// A type's DWARF tag.
    pub(crate) fn type_tag(self) -> u16 {
        require(self.is_type(), "a tag is asked of types");
        // SAFETY: a type.
        unsafe { LLVMGetDINodeTag(self.raw()) }
    }

    /// A type's size in bits.
    pub(crate) fn type_bits(self) -> u64 {
        require(self.is_type(), "a size is asked of types");
        // SAFETY: a type.
        unsafe { LLVMDITypeGetSizeInBits(self.raw()) }
    }

    /// Where a member starts in its struct, in bits.
    pub(crate) fn type_offset_bits(self) -> u64 {
        require(self.is_type(), "an offset is asked of types");
        // SAFETY: a type.
        unsafe { LLVMDITypeGetOffsetInBits(self.raw()) }
    }

    /// A type's flags.
    pub(crate) fn type_flags(self) -> i32 {
        require(self.is_type(), "flags are asked of types");
        // SAFETY: a type.
        unsafe { LLVMDITypeGetFlags(self.raw()) }
    }

    fn is_location(self) -> bool {
        matches!(self.kind(), MetadataKind::LLVMDILocationMetadataKind)
    }

    /// The line and column of a location; 0 where the compiler gave none.
    pub(crate) fn line_and_column(self) -> (u32, u32) {
        require(self.is_location(), "lines are asked of locations");
        // SAFETY: a location.
        unsafe { (LLVMDILocationGetLine(self.raw()), LLVMDILocationGetColumn(self.raw())) }
    }

    /// The innermost scope of a location.
    pub(crate) fn location_scope(self) -> Option<Self> {
        // SAFETY: a location, whose scope is metadata of the same context.
        self.is_location().then(|| unsafe { Self::from_raw(LLVMDILocationGetScope(self.raw()), self.context) })?
    }

    /// The location that a location was inlined to.
    pub(crate) fn inlined_at(self) -> Option<Self> {
        // SAFETY: a location; LLVM returns null or another one.
        self.is_location().then(|| unsafe { Self::from_raw(LLVMDILocationGetInlinedAt(self.raw()), self.context) })?
    }

    /// Whether this is a block of a function's source.
    pub(crate) fn is_lexical_block(self) -> bool {
        use MetadataKind::{LLVMDILexicalBlockFileMetadataKind, LLVMDILexicalBlockMetadataKind};
        matches!(self.kind(), LLVMDILexicalBlockMetadataKind | LLVMDILexicalBlockFileMetadataKind)
    }

    fn is_scope(self) -> bool {
        use MetadataKind::*;
        self.is_type()
            || matches!(
                self.kind(),
                LLVMDIFileMetadataKind
                    | LLVMDICompileUnitMetadataKind
                    | LLVMDISubprogramMetadataKind
                    | LLVMDILexicalBlockMetadataKind
                    | LLVMDILexicalBlockFileMetadataKind
                    | LLVMDINamespaceMetadataKind
                    | LLVMDIModuleMetadataKind
                    | LLVMDICommonBlockMetadataKind
            )
    }

    /// The directory and name of a scope's file.
    pub(crate) fn scope_file(self) -> Option<(String, String)> {
        if !self.is_scope() {
            return None;
        }
        // SAFETY: a scope, then its file; LLVM returns starts and sets lengths of strings that are copied at once.
        unsafe {
            let file = LLVMDIScopeGetFile(self.raw());
            if file.is_null() {
                return None;
            }
            let mut len = 0;
            let start = LLVMDIFileGetFilename(file, &mut len);
            let name = text(start, len as usize);
            let start = LLVMDIFileGetDirectory(file, &mut len);
            let directory = text(start, len as usize);
            Some((directory, name))
        }
    }
}

impl<'m> Value<'m> {
    /// The location of an instruction in the source.
    pub(crate) fn location(self) -> Option<Node<'m>> {
        self.opcode()?;
        // SAFETY: an instruction; LLVM returns null for one without a location.
        unsafe { Node::from_raw(LLVMInstructionGetDebugLoc(self.raw()), self.ty().context()) }
    }

    /// The debug information of a function.
    pub(crate) fn subprogram(self) -> Option<Node<'m>> {
        if !self.is_function() {
            return None;
        }
        // SAFETY: a function; LLVM returns null for one without debug information.
        unsafe { Node::from_raw(LLVMGetSubprogram(self.raw()), self.ty().context()) }
    }

    /// The metadata attached to a global or, its location aside, to an instruction.
    pub(crate) fn attached(self) -> Vec<Node<'m>> {
        if !self.is_global() && self.opcode().is_none() {
            return Vec::new();
        }
        let mut nodes = Vec::new();
        // SAFETY: a global or an instruction; LLVM makes a list of as many entries as it says, to be given back.
        unsafe {
            let (context, mut count) = (self.ty().context(), 0);
            let entries = match self.opcode() {
                Some(_) => LLVMInstructionGetAllMetadataOtherThanDebugLoc(self.raw(), &mut count),
                None => LLVMGlobalCopyAllMetadata(self.raw(), &mut count),
            };
            for index in 0..count {
                nodes.extend(Node::from_raw(LLVMValueMetadataEntriesGetMetadata(entries, index as u32), context));
            }
            LLVMDisposeValueMetadataEntries(entries);
        }
        nodes
    }

    /// The node that is attached to an instruction under a name that LLVM knows.
    pub(crate) fn node(self, name: &CStr) -> Option<Node<'m>> {
        self.opcode()?;
        let (context, len) = (self.ty().context(), name.to_bytes().len() as u32);
        // SAFETY: an instruction; LLVM returns null or metadata of its context as a value.
        unsafe {
            let node = LLVMGetMetadata(self.raw(), LLVMGetMDKindIDInContext(context, name.as_ptr(), len));
            if node.is_null() { None } else { Node::from_raw(LLVMValueAsMetadata(node), context) }
        }
    }

    /// Attaches a node to an instruction, under a name that LLVM knows.
    pub(crate) fn attach(self, name: &CStr, node: Node<'m>) {
        require(self.opcode().is_some() && node.has_operands(), "nodes are attached to instructions");
        let len = name.to_bytes().len() as u32;
        // SAFETY: an instruction and a node of its context.
        unsafe {
            let kind = LLVMGetMDKindIDInContext(node.context, name.as_ptr(), len);
            LLVMSetMetadata(self.raw(), kind, node.as_value());
        }
    }
}

impl<'m> Node<'m> {
    /// For the builder, which takes a location.
    pub(super) fn as_location(self) -> LLVMMetadataRef {
        require(self.is_location(), "instructions have a location");
        self.raw()
    }
}
