//! What lowering and naming ask about values and types, beyond [`crate::value`].

use std::marker::PhantomData;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMTypeKind, LLVMValueKind};
use inkwell::module::Module;

use crate::value::Value;

/// A type of a live module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Ty<'m>(LLVMTypeRef, PhantomData<&'m ()>);

/// Sizes and offsets of a module's types.
#[derive(Clone, Copy)]
pub(crate) struct Layout<'m>(LLVMTargetDataRef, PhantomData<&'m ()>);

impl<'m> Layout<'m> {
    /// The layout the module was compiled for.
    pub(crate) fn of(module: &Module<'m>) -> Self {
        Self(unsafe { LLVMGetModuleDataLayout(module.as_mut_ptr()) }, PhantomData)
    }
    /// Bytes that a load or store of the type touches.
    pub(crate) fn store_size(self, ty: Ty<'m>) -> u64 {
        if ty.is_sized() { unsafe { LLVMStoreSizeOfType(self.0, ty.0) } } else { 0 }
    }
    /// Bytes from one array element of the type to the next.
    pub(crate) fn stride(self, ty: Ty<'m>) -> u64 {
        if ty.is_sized() { unsafe { LLVMABISizeOfType(self.0, ty.0) } } else { 0 }
    }
    /// Byte offset of a struct's element.
    pub(crate) fn element_offset(self, ty: Ty<'m>, index: u32) -> u64 {
        unsafe { LLVMOffsetOfElement(self.0, ty.0, index) }
    }
}

impl<'m> Ty<'m> {
    /// What sort of type.
    pub(crate) fn kind(self) -> LLVMTypeKind {
        unsafe { LLVMGetTypeKind(self.0) }
    }
    fn is_sized(self) -> bool {
        unsafe { LLVMTypeIsSized(self.0) != 0 }
    }
    /// Width of an integer type.
    pub(crate) fn int_bits(self) -> Option<u32> {
        (self.kind() == LLVMTypeKind::LLVMIntegerTypeKind).then(|| unsafe { LLVMGetIntTypeWidth(self.0) })
    }
    /// Whether it is a pointer.
    pub(crate) fn is_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind
    }
    /// A struct type's element types; `None` for other types.
    pub(crate) fn struct_elements(self) -> Option<Vec<Ty<'m>>> {
        if self.kind() != LLVMTypeKind::LLVMStructTypeKind {
            return None;
        }
        unsafe {
            let mut elements = vec![std::ptr::null_mut(); LLVMCountStructElementTypes(self.0) as usize];
            LLVMGetStructElementTypes(self.0, elements.as_mut_ptr());
            Some(elements.into_iter().map(|e| Ty(e, PhantomData)).collect())
        }
    }
    /// What a function of this type returns.
    pub(crate) fn result(self) -> Ty<'m> {
        Ty(unsafe { LLVMGetReturnType(self.0) }, PhantomData)
    }
    /// An array or vector type's element and length.
    pub(crate) fn sequence(self) -> Option<(Ty<'m>, u64)> {
        unsafe {
            match self.kind() {
                LLVMTypeKind::LLVMArrayTypeKind => {
                    Some((Ty(LLVMGetElementType(self.0), PhantomData), LLVMGetArrayLength2(self.0)))
                }
                LLVMTypeKind::LLVMVectorTypeKind => {
                    Some((Ty(LLVMGetElementType(self.0), PhantomData), u64::from(LLVMGetVectorSize(self.0))))
                }
                _ => None,
            }
        }
    }
}

impl<'m> Value<'m> {
    /// An operand that the value's kind guarantees.
    pub(crate) fn part(self, index: u32) -> Self {
        self.operand(index).expect("raceproof bug: a verified instruction lacks an operand")
    }
    /// Its type.
    pub(crate) fn type_(self) -> Ty<'m> {
        Ty(self.ty(), PhantomData)
    }
    /// An integer constant of at most 64 bits, sign-extended; the one-bit constants are 0 and 1.
    pub(crate) fn as_number(self) -> Option<i64> {
        let number = self.as_integer()?;
        Some(if self.type_().int_bits() == Some(1) { number & 1 } else { number })
    }
    /// Whether it is a constant of all zero bytes.
    pub(crate) fn is_zero(self) -> bool {
        unsafe { LLVMIsNull(self.raw()) != 0 }
    }
    /// Whether it is the same in every run of the function: a number, or the address of a global or function.
    pub(crate) fn is_any_constant(self) -> bool {
        unsafe { LLVMIsConstant(self.raw()) != 0 }
    }
    /// Whether it has no fixed value.
    pub(crate) fn is_undefined(self) -> bool {
        matches!(self.kind(), LLVMValueKind::LLVMUndefValueValueKind | LLVMValueKind::LLVMPoisonValueKind)
    }
    /// What an alias stands for, through all aliases; other values stand for themselves.
    pub(crate) fn resolved(self) -> Self {
        let mut at = self;
        while at.kind() == LLVMValueKind::LLVMGlobalAliasValueKind {
            match unsafe { Self::from_raw(LLVMAliasGetAliasee(at.raw())) } {
                Some(aliasee) => at = aliasee,
                None => break,
            }
        }
        at
    }
    /// An element of a constant struct, array or vector.
    pub(crate) fn element(self, index: u32) -> Option<Self> {
        unsafe {
            if LLVMIsConstant(self.raw()) == 0 {
                return None;
            }
            Self::from_raw(LLVMGetAggregateElement(self.raw(), index))
        }
    }
    /// The bytes of a constant array of bytes.
    pub(crate) fn as_bytes(self) -> Option<Vec<u8>> {
        if self.kind() != LLVMValueKind::LLVMConstantDataArrayValueKind {
            return None;
        }
        let mut len = 0;
        unsafe {
            if LLVMIsConstantString(self.raw()) == 0 {
                return None;
            }
            let text = LLVMGetAsString(self.raw(), &mut len);
            Some(std::slice::from_raw_parts(text.cast(), len).to_vec())
        }
    }
    /// The value of a `float` or `double` constant.
    pub(crate) fn as_float(self) -> Option<f64> {
        if self.kind() != LLVMValueKind::LLVMConstantFPValueKind {
            return None;
        }
        let mut lost = 0;
        let value = unsafe { LLVMConstRealGetDouble(self.raw(), &mut lost) };
        (lost == 0).then_some(value)
    }

    /// The type of a global's content, or of a function.
    pub(crate) fn value_type(self) -> Ty<'m> {
        Ty(unsafe { LLVMGlobalGetValueType(self.raw()) }, PhantomData)
    }
    /// A global's initial content.
    pub(crate) fn initializer(self) -> Option<Self> {
        unsafe { Self::from_raw(LLVMGetInitializer(self.raw())) }
    }

    /// The blocks a terminator may go to.
    pub(crate) fn successors(self) -> Vec<LLVMBasicBlockRef> {
        (0..unsafe { LLVMGetNumSuccessors(self.raw()) }).map(|i| unsafe { LLVMGetSuccessor(self.raw(), i) }).collect()
    }
    /// Whether a branch has a condition.
    pub(crate) fn is_conditional(self) -> bool {
        unsafe { LLVMIsConditional(self.raw()) != 0 }
    }
    /// A phi's values by predecessor.
    pub(crate) fn incoming(self) -> Vec<(LLVMBasicBlockRef, Self)> {
        (0..unsafe { LLVMCountIncoming(self.raw()) })
            .filter_map(|i| unsafe {
                Some((LLVMGetIncomingBlock(self.raw(), i), Self::from_raw(LLVMGetIncomingValue(self.raw(), i))?))
            })
            .collect()
    }
    /// The predicate of an integer comparison.
    pub(crate) fn predicate(self) -> LLVMIntPredicate {
        unsafe { LLVMGetICmpPredicate(self.raw()) }
    }
    /// The type an address computation starts from.
    pub(crate) fn gep_source(self) -> Ty<'m> {
        Ty(unsafe { LLVMGetGEPSourceElementType(self.raw()) }, PhantomData)
    }
    /// The indices of an `extractvalue` or `insertvalue`.
    pub(crate) fn indices(self) -> Vec<u32> {
        unsafe {
            let count = LLVMGetNumIndices(self.raw()) as usize;
            if count == 0 { Vec::new() } else { std::slice::from_raw_parts(LLVMGetIndices(self.raw()), count).to_vec() }
        }
    }
    /// The type of an `alloca`'s element.
    pub(crate) fn allocated(self) -> Ty<'m> {
        Ty(unsafe { LLVMGetAllocatedType(self.raw()) }, PhantomData)
    }
    /// The order of an atomic load, store, read-modify-write or fence; `NotAtomic` for plain accesses.
    pub(crate) fn ordering(self) -> LLVMAtomicOrdering {
        unsafe { LLVMGetOrdering(self.raw()) }
    }
    /// The orders of a compare-exchange: on success, on failure.
    pub(crate) fn exchange_orderings(self) -> (LLVMAtomicOrdering, LLVMAtomicOrdering) {
        unsafe { (LLVMGetCmpXchgSuccessOrdering(self.raw()), LLVMGetCmpXchgFailureOrdering(self.raw())) }
    }
    /// Whether an atomic only orders against signal handlers of its own thread.
    pub(crate) fn is_single_thread(self) -> bool {
        unsafe { LLVMIsAtomicSingleThread(self.raw()) != 0 }
    }
    /// What an `atomicrmw` does.
    pub(crate) fn rmw_op(self) -> LLVMAtomicRMWBinOp {
        unsafe { LLVMGetAtomicRMWBinOp(self.raw()) }
    }
    /// The type of a `byval` argument of a call: the callee gets a copy of what the pointer points to.
    pub(crate) fn byval(self, arg: u32) -> Option<Ty<'m>> {
        const NAME: &str = "byval";
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(NAME.as_ptr().cast(), NAME.len());
            let attribute = LLVMGetCallSiteEnumAttribute(self.raw(), arg + 1, kind);
            (!attribute.is_null()).then(|| Ty(LLVMGetTypeAttributeValue(attribute), PhantomData))
        }
    }
    /// The text of inline assembly.
    pub(crate) fn assembly_text(self) -> String {
        let mut len = 0;
        unsafe {
            let text = LLVMGetInlineAsmAsmString(self.raw(), &mut len);
            if text.is_null() || len == 0 {
                return String::new();
            }
            String::from_utf8_lossy(std::slice::from_raw_parts(text.cast(), len)).into_owned()
        }
    }
    /// Whether a call of this function touches no memory.
    pub(crate) fn touches_no_memory(self) -> bool {
        const NAME: &str = "memory";
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(NAME.as_ptr().cast(), NAME.len());
            let attribute =
                LLVMGetEnumAttributeAtIndex(self.raw(), inkwell::llvm_sys::LLVMAttributeFunctionIndex, kind);
            !attribute.is_null() && LLVMGetEnumAttributeValue(attribute) == 0
        }
    }
}
