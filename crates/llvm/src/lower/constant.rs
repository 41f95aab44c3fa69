//! Constants: as operands, and as the initial bytes of globals.

use std::cell::RefCell;
use std::collections::BTreeSet;

use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind, LLVMValueKind};
use program::{FunctionId, GlobalId, Operand};
use rustc_hash::FxHashMap;

use crate::functions::Functions;
use crate::ir::Value;
use crate::ir::{Layout, Ty};

/// What the addresses in constants refer to.
pub(crate) struct Symbols<'a, 'm> {
    pub(crate) layout: Layout<'m>,
    pub(crate) functions: &'a Functions<'m>,
    pub(crate) globals: FxHashMap<Value<'m>, GlobalId>,
    /// Functions in constants that have no fixed value: their addresses are used, in a way that is not known.
    pub(crate) hidden: RefCell<BTreeSet<FunctionId>>,
}

/// Whether the linker defines the global as the start or the end of a section.
fn is_section_bound(global: Value<'_>) -> bool {
    let name = global.name();
    global.is_declaration() && ["__start_", "__stop_"].iter().any(|prefix| name.starts_with(prefix))
}

/// The initial content of a global.
#[derive(Default)]
pub(crate) struct Content {
    /// The bytes; pointers and unknown words are zero here.
    pub(crate) bytes: Vec<u8>,
    /// The pointers, and `Any` for unknown words, by byte offset.
    pub(crate) pointers: Vec<(u64, Operand)>,
    /// Whether something smaller than a word is not known, so that its bytes are wrong.
    pub(crate) lost: bool,
}

impl<'m> Symbols<'_, 'm> {
    /// The operand that a constant is; [`Operand::Any`] for what has no fixed 64-bit value.
    pub(crate) fn constant(&self, value: Value<'m>) -> Operand {
        let value = value.resolved();
        match value.kind() {
            LLVMValueKind::LLVMConstantIntValueKind => value.as_number().map_or(Operand::Any, Operand::Const),
            LLVMValueKind::LLVMConstantPointerNullValueKind => Operand::Const(0),
            LLVMValueKind::LLVMFunctionValueKind => self.functions.id(value).map_or(Operand::Any, Operand::Function),
            // The linker's names for all objects in a section.
            LLVMValueKind::LLVMGlobalVariableValueKind if is_section_bound(value) => Operand::Any,
            LLVMValueKind::LLVMGlobalVariableValueKind => {
                self.globals.get(&value).map_or(Operand::Any, |&global| Operand::Global(global, 0))
            }
            LLVMValueKind::LLVMConstantExprValueKind => self.expression(value),
            _ => Operand::Any,
        }
    }

    fn expression(&self, value: Value<'m>) -> Operand {
        match value.operation() {
            Some(LLVMOpcode::LLVMGetElementPtr) => {
                let Some(offset) = self.constant_offset(value) else { return Operand::Any };
                match self.constant(value.part(0)) {
                    Operand::Const(base) => Operand::Const(base.wrapping_add(offset)),
                    Operand::Global(global, base) => Operand::Global(global, base.wrapping_add(offset)),
                    base if offset == 0 => base,
                    _ => Operand::Any,
                }
            }
            Some(LLVMOpcode::LLVMBitCast | LLVMOpcode::LLVMAddrSpaceCast | LLVMOpcode::LLVMIntToPtr) => {
                self.constant(value.part(0))
            }
            Some(LLVMOpcode::LLVMPtrToInt) if self.is_as_wide_as_pointers(value) => self.constant(value.part(0)),
            Some(operation @ (LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub)) if self.is_as_wide_as_pointers(value) => {
                let parts = (self.constant(value.part(0)), self.constant(value.part(1)));
                match (operation, parts) {
                    (LLVMOpcode::LLVMAdd, (Operand::Global(a, x), Operand::Const(y)))
                    | (LLVMOpcode::LLVMAdd, (Operand::Const(y), Operand::Global(a, x))) => {
                        Operand::Global(a, x.wrapping_add(y))
                    }
                    (LLVMOpcode::LLVMSub, (Operand::Global(a, x), Operand::Const(y))) => {
                        Operand::Global(a, x.wrapping_sub(y))
                    }
                    (LLVMOpcode::LLVMSub, (Operand::Global(a, x), Operand::Global(b, y))) if a == b => {
                        Operand::Const(x.wrapping_sub(y))
                    }
                    _ => self.hidden_in(value),
                }
            }
            _ => self.hidden_in(value),
        }
    }

    /// Whether an integer has the width of a pointer.
    fn is_as_wide_as_pointers(&self, value: Value<'m>) -> bool {
        value.ty().int_bits() == Some(8 * self.layout.pointer_size())
    }

    /// A constant that has no fixed value.
    fn hidden_in(&self, value: Value<'m>) -> Operand {
        self.hide(value);
        Operand::Any
    }

    /// Remembers the functions in a constant.
    fn hide(&self, constant: Value<'m>) {
        for part in constant.operands() {
            match part.kind() {
                LLVMValueKind::LLVMFunctionValueKind => self.hidden.borrow_mut().extend(self.functions.id(part)),
                LLVMValueKind::LLVMConstantExprValueKind => self.hide(part),
                _ => {}
            }
        }
    }

    /// The number of bytes an address computation adds, if all its indices are constant.
    pub(crate) fn constant_offset(&self, gep: Value<'m>) -> Option<i64> {
        self.steps(gep).into_iter().try_fold(0i64, |sum, step| match step {
            Step::Bytes(bytes) => Some(sum.wrapping_add(bytes)),
            Step::Index { .. } => None,
        })
    }

    /// What an address computation adds to its base, in order. Vector computations give no steps a caller may
    /// use; their result is not a scalar.
    pub(crate) fn steps(&self, gep: Value<'m>) -> Vec<Step<'m>> {
        let mut steps = Vec::new();
        let Some(mut ty) = gep.gep_source() else { return steps };
        for (position, index) in gep.operands().skip(1).enumerate() {
            if position > 0 {
                if let Some(elements) = ty.struct_elements() {
                    let field = index.as_number().unwrap_or(0).clamp(0, elements.len() as i64 - 1) as u32;
                    steps.push(Step::Bytes(self.layout.element_offset(ty, field) as i64));
                    ty = elements[field as usize];
                    continue;
                }
                if let Some((element, _)) = ty.sequence() {
                    ty = element;
                }
            }
            let scale = self.layout.stride(ty) as i64;
            match index.as_number() {
                Some(index) => steps.push(Step::Bytes(index.wrapping_mul(scale))),
                None => steps.push(Step::Index { index, scale }),
            }
        }
        steps
    }

    /// The content of an initialiser.
    pub(crate) fn content(&self, initializer: Value<'m>) -> Content {
        let mut content = Content::default();
        self.fill(&mut content, initializer, 0);
        while content.bytes.last() == Some(&0) {
            content.bytes.pop();
        }
        content
    }

    fn fill(&self, content: &mut Content, value: Value<'m>, offset: u64) {
        let ty = value.ty();
        if value.is_zero() || value.is_undefined() {
            return;
        }
        if let Some(bytes) = value.as_bytes() {
            return content.put(offset, &bytes);
        }
        match ty.kind() {
            LLVMTypeKind::LLVMIntegerTypeKind => match self.constant(value) {
                Operand::Const(number) => content.put(offset, &number.to_le_bytes()[..self.bytes_of(ty)]),
                Operand::Any => self.unknown(content, ty, offset),
                pointer => content.pointers.push((offset, pointer)),
            },
            LLVMTypeKind::LLVMPointerTypeKind => match self.constant(value) {
                Operand::Const(number) => content.put(offset, &number.to_le_bytes()[..self.bytes_of(ty)]),
                Operand::Any => self.unknown(content, ty, offset),
                pointer => content.pointers.push((offset, pointer)),
            },
            LLVMTypeKind::LLVMFloatTypeKind => match value.as_float() {
                Some(number) => content.put(offset, &(number as f32).to_le_bytes()),
                None => self.unknown(content, ty, offset),
            },
            LLVMTypeKind::LLVMDoubleTypeKind => match value.as_float() {
                Some(number) => content.put(offset, &number.to_le_bytes()),
                None => self.unknown(content, ty, offset),
            },
            LLVMTypeKind::LLVMStructTypeKind => {
                for index in 0..ty.struct_elements().map_or(0, |e| e.len()) as u32 {
                    if let Some(element) = value.element(index) {
                        self.fill(content, element, offset + self.layout.element_offset(ty, index));
                    }
                }
            }
            LLVMTypeKind::LLVMArrayTypeKind | LLVMTypeKind::LLVMVectorTypeKind => {
                let Some((element_type, count)) = ty.sequence() else { return };
                let stride = self.layout.stride(element_type);
                for index in 0..count {
                    if let Some(element) = value.element(index as u32) {
                        self.fill(content, element, offset + index * stride);
                    }
                }
            }
            _ => self.unknown(content, ty, offset),
        }
    }

    fn bytes_of(&self, ty: Ty<'m>) -> usize {
        self.layout.store_size(ty).min(8) as usize
    }

    fn unknown(&self, content: &mut Content, ty: Ty<'m>, offset: u64) {
        content.forget(offset, self.layout.stride(ty), self.layout.pointer_size().into());
    }
}

impl Content {
    /// The content of `size` bytes that are not known; pointers have `word` bytes.
    pub(crate) fn unknown(size: u64, word: u64) -> Self {
        let mut content = Self::default();
        content.forget(0, size, word);
        content
    }
    fn forget(&mut self, offset: u64, size: u64, word: u64) {
        let Some(last) = size.checked_sub(word) else {
            self.lost = true;
            return;
        };
        let whole = (0..size / word).map(|number| word * number);
        let words = whole.chain((!size.is_multiple_of(word)).then_some(last));
        self.pointers.extend(words.map(|at| (offset + at, Operand::Any)));
    }
    fn put(&mut self, offset: u64, bytes: &[u8]) {
        let (start, end) = (offset as usize, offset as usize + bytes.len());
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[start..end].copy_from_slice(bytes);
    }
}

/// One step of an address computation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step<'m> {
    /// Adds a constant.
    Bytes(i64),
    /// Adds an index times a constant.
    Index {
        /// The index.
        index: Value<'m>,
        /// The constant.
        scale: i64,
    },
}
