//! Types, and how they are laid out in memory.

use std::marker::PhantomData;

use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMTypeRef};
use inkwell::llvm_sys::target::{
    LLVMABIAlignmentOfType, LLVMABISizeOfType, LLVMOffsetOfElement, LLVMPointerSize, LLVMStoreSizeOfType,
    LLVMTargetDataRef,
};

use super::{Value, require};

/// A type of a live module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Ty<'m>(LLVMTypeRef, PhantomData<&'m ()>);

/// Sizes and offsets of a module's types.
#[derive(Clone, Copy)]
pub(crate) struct Layout<'m>(LLVMTargetDataRef, PhantomData<&'m ()>);

impl<'m> Layout<'m> {
    /// The layout of a module.
    ///
    /// # Safety
    /// `raw` belongs to a module that lives for `'m`.
    pub(super) unsafe fn from_raw(raw: LLVMTargetDataRef) -> Self {
        Self(raw, PhantomData)
    }

    /// Bytes of a pointer.
    pub(crate) fn pointer_size(self) -> u32 {
        // SAFETY: a live layout.
        unsafe { LLVMPointerSize(self.0) }
    }

    /// Bytes that a load or store of the type touches; 0 for types without a size.
    pub(crate) fn store_size(self, ty: Ty<'m>) -> u64 {
        // SAFETY: a live layout and a type with a size.
        if ty.is_sized() { unsafe { LLVMStoreSizeOfType(self.0, ty.0) } } else { 0 }
    }

    /// Bytes from one array element of the type to the next; 0 for types without a size.
    pub(crate) fn stride(self, ty: Ty<'m>) -> u64 {
        // SAFETY: a live layout and a type with a size.
        if ty.is_sized() { unsafe { LLVMABISizeOfType(self.0, ty.0) } } else { 0 }
    }

    /// What addresses of the type are multiples of; 1 for types without a size.
    pub(crate) fn alignment(self, ty: Ty<'m>) -> u32 {
        // SAFETY: a live layout and a type with a size.
        if ty.is_sized() { unsafe { LLVMABIAlignmentOfType(self.0, ty.0) } } else { 1 }
    }

    /// Byte offset of a struct's element; 0 where there is none.
    pub(crate) fn element_offset(self, ty: Ty<'m>, index: u32) -> u64 {
        if !ty.is_sized() || ty.struct_len().is_none_or(|len| index >= len) {
            return 0;
        }
        // SAFETY: a live layout, and a struct with a size that has this element.
        unsafe { LLVMOffsetOfElement(self.0, ty.0, index) }
    }
}

impl<'m> Ty<'m> {
    /// The handle of a type.
    ///
    /// # Safety
    /// `raw` is a type of a context that lives for `'m`.
    pub(super) unsafe fn from_raw(raw: LLVMTypeRef) -> Self {
        Self(raw, PhantomData)
    }

    /// For calls to LLVM.
    pub(super) fn raw(self) -> LLVMTypeRef {
        self.0
    }

    /// The context it belongs to.
    pub(super) fn context(self) -> LLVMContextRef {
        // SAFETY: a live type.
        unsafe { LLVMGetTypeContext(self.0) }
    }

    /// What sort of type.
    pub(crate) fn kind(self) -> LLVMTypeKind {
        // SAFETY: a live type.
        unsafe { LLVMGetTypeKind(self.0) }
    }

    fn is_sized(self) -> bool {
        // SAFETY: a live type.
        unsafe { LLVMTypeIsSized(self.0) != 0 }
    }

    /// Width of an integer type.
    pub(crate) fn int_bits(self) -> Option<u32> {
        // SAFETY: an integer type.
        self.is_integer().then(|| unsafe { LLVMGetIntTypeWidth(self.0) })
    }

    /// Whether it is an integer type.
    pub(crate) fn is_integer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMIntegerTypeKind
    }

    /// Whether it is a floating-point type.
    pub(crate) fn is_float(self) -> bool {
        use LLVMTypeKind::*;
        let narrow = matches!(self.kind(), LLVMHalfTypeKind | LLVMBFloatTypeKind | LLVMFloatTypeKind);
        let wide = matches!(self.kind(), LLVMX86_FP80TypeKind | LLVMFP128TypeKind | LLVMPPC_FP128TypeKind);
        narrow || wide || self.kind() == LLVMDoubleTypeKind
    }

    /// Whether it is a pointer.
    pub(crate) fn is_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind
    }

    /// Whether it is the type of functions without result.
    pub(crate) fn is_void(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMVoidTypeKind
    }

    /// Whether it is a function's type.
    pub(super) fn is_function(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMFunctionTypeKind
    }

    /// A pointer type's address space; 0 is ordinary memory.
    pub(crate) fn address_space(self) -> Option<u32> {
        // SAFETY: a pointer type.
        self.is_pointer().then(|| unsafe { LLVMGetPointerAddressSpace(self.0) })
    }

    /// Whether it is an array.
    pub(crate) fn is_array(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMArrayTypeKind
    }

    /// The name of a struct type that has one.
    pub(crate) fn struct_name(self) -> Option<String> {
        if self.kind() != LLVMTypeKind::LLVMStructTypeKind {
            return None;
        }
        // SAFETY: a struct type; LLVM returns null for one without a name, else a string that lives as long as the type.
        unsafe {
            let name = LLVMGetStructName(self.0);
            (!name.is_null()).then(|| std::ffi::CStr::from_ptr(name).to_string_lossy().into_owned())
        }
    }

    fn struct_len(self) -> Option<u32> {
        // SAFETY: a struct type.
        (self.kind() == LLVMTypeKind::LLVMStructTypeKind).then(|| unsafe { LLVMCountStructElementTypes(self.0) })
    }

    /// A struct type's element types; `None` for other types.
    pub(crate) fn struct_elements(self) -> Option<Vec<Self>> {
        let mut elements = vec![std::ptr::null_mut(); self.struct_len()? as usize];
        // SAFETY: a struct type, and room for as many types as it has elements.
        unsafe { LLVMGetStructElementTypes(self.0, elements.as_mut_ptr()) };
        Some(elements.into_iter().map(|element| Self(element, PhantomData)).collect())
    }

    /// An array or vector type's element and length.
    pub(crate) fn sequence(self) -> Option<(Self, u64)> {
        // SAFETY: each call is made for a type of the kind it is for.
        let (element, len) = unsafe {
            match self.kind() {
                LLVMTypeKind::LLVMArrayTypeKind => (LLVMGetElementType(self.0), LLVMGetArrayLength2(self.0)),
                LLVMTypeKind::LLVMVectorTypeKind => (LLVMGetElementType(self.0), LLVMGetVectorSize(self.0).into()),
                _ => return None,
            }
        };
        Some((Self(element, PhantomData), len))
    }

    /// What a function of this type returns.
    pub(crate) fn result(self) -> Self {
        require(self.is_function(), "only functions have a result");
        // SAFETY: a function's type.
        Self(unsafe { LLVMGetReturnType(self.0) }, PhantomData)
    }

    /// Whether a function of this type takes further arguments of any type.
    pub(crate) fn is_variadic(self) -> bool {
        // SAFETY: a function's type.
        self.is_function() && unsafe { LLVMIsFunctionVarArg(self.0) != 0 }
    }

    /// The types of the parameters of functions of this type.
    pub(super) fn parameters(self) -> Vec<Self> {
        require(self.is_function(), "only functions have parameters");
        // SAFETY: a function's type, and room for as many types as it has parameters.
        let types = unsafe {
            let mut types = vec![std::ptr::null_mut(); LLVMCountParamTypes(self.0) as usize];
            LLVMGetParamTypes(self.0, types.as_mut_ptr());
            types
        };
        types.into_iter().map(|ty| Self(ty, PhantomData)).collect()
    }

    /// The type of functions with this result and these parameters.
    pub(crate) fn function(self, parameters: &[Self]) -> Self {
        let mut types: Vec<_> = parameters.iter().map(|ty| ty.0).collect();
        let valid = !self.is_function() && parameters.iter().all(|ty| !ty.is_function() && !ty.is_void());
        require(valid, "functions take and return values");
        // SAFETY: types of one context that values can have; LLVM copies the list.
        Self(unsafe { LLVMFunctionType(self.0, types.as_mut_ptr(), types.len() as u32, 0) }, PhantomData)
    }

    /// The type of arrays of this type.
    pub(crate) fn array(self, len: u64) -> Self {
        require(self.is_sized(), "elements of arrays have a size");
        // SAFETY: an element type with a size.
        Self(unsafe { LLVMArrayType2(self.0, len) }, PhantomData)
    }

    /// The constant of this type with all bits zero.
    pub(crate) fn zero(self) -> Value<'m> {
        require(self.is_sized(), "a constant's type has a size");
        // SAFETY: every type with a size has a null value.
        unsafe { Value::made(LLVMConstNull(self.0)) }
    }

    /// The integer constant of this type.
    pub(crate) fn number(self, number: u64) -> Value<'m> {
        require(self.is_integer(), "a number's type is an integer type");
        // SAFETY: an integer type.
        unsafe { Value::made(LLVMConstInt(self.0, number, 0)) }
    }

    /// The integer constant of this type with all bits one.
    pub(crate) fn all_ones(self) -> Value<'m> {
        require(self.is_integer(), "a number's type is an integer type");
        // SAFETY: an integer type.
        unsafe { Value::made(LLVMConstAllOnes(self.0)) }
    }

    /// The constant array of these elements of this type.
    pub(crate) fn const_array(self, elements: &[Value<'m>]) -> Value<'m> {
        let fits = elements.iter().all(|element| element.ty() == self && element.is_any_constant());
        require(fits, "elements of a constant array are constants of its type");
        let mut elements: Vec<_> = elements.iter().map(|element| element.raw()).collect();
        // SAFETY: constants of this type; LLVM copies the list.
        unsafe { Value::made(LLVMConstArray2(self.0, elements.as_mut_ptr(), elements.len() as u64)) }
    }
}
