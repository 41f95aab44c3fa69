//! A module: its functions and globals, and the types and constants that are made in it.

use std::ffi::{CStr, CString};
use std::marker::PhantomData;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMContextRef, LLVMModuleRef};
use inkwell::llvm_sys::target::LLVMGetModuleDataLayout;

use program::Architecture;

use super::{Layout, Node, Ty, Value, require, text};

/// A live module.
#[derive(Clone, Copy)]
pub(crate) struct Module<'m> {
    raw: LLVMModuleRef,
    module: PhantomData<&'m ()>,
}

impl<'m> Module<'m> {
    /// The handle of a module, which it borrows.
    pub(crate) fn of(module: &'m inkwell::module::Module<'_>) -> Self {
        Self { raw: module.as_mut_ptr(), module: PhantomData }
    }

    /// The context it belongs to.
    pub(super) fn context(self) -> LLVMContextRef {
        // SAFETY: a live module.
        unsafe { LLVMGetModuleContext(self.raw) }
    }

    /// What it was compiled for.
    pub(crate) fn architecture(self) -> Architecture {
        // SAFETY: a live module, which owns the string.
        let triple = unsafe { CStr::from_ptr(LLVMGetTarget(self.raw)) };
        Architecture::of_triple(&triple.to_string_lossy(), self.layout().pointer_size())
    }

    /// Sizes and offsets of its types.
    pub(crate) fn layout(self) -> Layout<'m> {
        // SAFETY: a live module, which owns its layout.
        unsafe { Layout::from_raw(LLVMGetModuleDataLayout(self.raw)) }
    }

    /// The functions in the module's order.
    pub(crate) fn functions(self) -> Vec<Value<'m>> {
        // SAFETY: a live module; LLVM returns null if it has no function.
        let first = unsafe { Value::from_raw(LLVMGetFirstFunction(self.raw)) };
        // SAFETY: a function of the module; LLVM returns null after the last.
        let next = |function: &Value<'m>| unsafe { Value::from_raw(LLVMGetNextFunction(function.raw())) };
        std::iter::successors(first, next).collect()
    }

    /// The global variables in the module's order.
    pub(crate) fn globals(self) -> Vec<Value<'m>> {
        // SAFETY: a live module; LLVM returns null if it has no variable.
        let first = unsafe { Value::from_raw(LLVMGetFirstGlobal(self.raw)) };
        // SAFETY: a global variable of the module; LLVM returns null after the last.
        let next = |global: &Value<'m>| unsafe { Value::from_raw(LLVMGetNextGlobal(global.raw())) };
        std::iter::successors(first, next).collect()
    }

    /// The other names of functions and variables, in the module's order.
    pub(crate) fn aliases(self) -> Vec<Value<'m>> {
        // SAFETY: a live module; LLVM returns null if it has no alias.
        let first = unsafe { Value::from_raw(LLVMGetFirstGlobalAlias(self.raw)) };
        // SAFETY: an alias of the module; LLVM returns null after the last.
        let next = |alias: &Value<'m>| unsafe { Value::from_raw(LLVMGetNextGlobalAlias(alias.raw())) };
        std::iter::successors(first, next).collect()
    }

    /// The function with this name.
    pub(crate) fn function(self, name: &str) -> Option<Value<'m>> {
        let name = CString::new(name).ok()?;
        // SAFETY: a live module and a string; LLVM returns null for no function.
        unsafe { Value::from_raw(LLVMGetNamedFunction(self.raw, name.as_ptr())) }
    }

    /// The global variable with this name.
    pub(crate) fn global(self, name: &str) -> Option<Value<'m>> {
        let name = CString::new(name).ok()?;
        // SAFETY: a live module and a string; LLVM returns null for no variable.
        unsafe { Value::from_raw(LLVMGetNamedGlobal(self.raw, name.as_ptr())) }
    }

    /// Adds a function without a body; LLVM adds a number where the name is taken.
    pub(crate) fn add_function(self, name: &str, ty: Ty<'m>) -> Value<'m> {
        require(ty.is_function(), "a function has a function's type");
        // SAFETY: a live module and a function's type.
        let function = unsafe { Value::made(LLVMAddFunction(self.raw, c"".as_ptr(), ty.raw())) };
        function.set_name(name);
        function
    }

    /// Adds a global variable without content; LLVM adds a number where the name is taken.
    pub(crate) fn add_global(self, name: &str, ty: Ty<'m>) -> Value<'m> {
        require(!ty.is_function() && !ty.is_void(), "a variable has the type of a value");
        // SAFETY: a live module and the type of a value.
        let global = unsafe { Value::made(LLVMAddGlobal(self.raw, ty.raw(), c"".as_ptr())) };
        global.set_name(name);
        global
    }

    /// The function with this name, declared if it is not there.
    pub(crate) fn declared_function(self, name: &str, ty: Ty<'m>) -> Value<'m> {
        self.function(name).unwrap_or_else(|| self.add_function(name, ty))
    }

    /// One of LLVM's own functions, for values of this type.
    pub(crate) fn intrinsic(self, name: &str, overload: Ty<'m>) -> Value<'m> {
        // SAFETY: a string that LLVM looks up.
        let id = unsafe { LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len()) };
        require(id != 0, "LLVM has an intrinsic of this name");
        // SAFETY: a live module, an intrinsic that LLVM knows, and a list of one type, which LLVM copies.
        unsafe { Value::made(LLVMGetIntrinsicDeclaration(self.raw, id, &mut overload.raw(), 1)) }
    }

    /// The assembly outside of functions.
    pub(crate) fn assembly(self) -> String {
        let mut len = 0;
        // SAFETY: a live module; LLVM returns the start and sets the length of its text, which is copied at once.
        unsafe {
            let start = LLVMGetModuleInlineAsm(self.raw, &mut len);
            text(start, len)
        }
    }

    /// Adds assembly outside of functions.
    pub(crate) fn append_assembly(self, text: &str) {
        // SAFETY: a live module; LLVM copies the bytes.
        unsafe { LLVMAppendModuleInlineAsm(self.raw, text.as_ptr().cast(), text.len()) };
    }

    /// Turns debug records into calls of debug intrinsics, which can be walked as instructions.
    pub(crate) fn use_debug_intrinsics(self) {
        // SAFETY: a live module.
        unsafe { LLVMSetIsNewDbgInfoFormat(self.raw, 0) };
    }

    /// The compile units of its debug information.
    pub(crate) fn compile_units(self) -> Vec<Node<'m>> {
        const NAME: &CStr = c"llvm.dbg.cu";
        // SAFETY: a live module, and room for as many operands as the named metadata has.
        let units = unsafe {
            let count = LLVMGetNamedMetadataNumOperands(self.raw, NAME.as_ptr());
            let mut units = vec![std::ptr::null_mut(); count as usize];
            LLVMGetNamedMetadataOperands(self.raw, NAME.as_ptr(), units.as_mut_ptr());
            units
        };
        // SAFETY: values that LLVM returned for this module.
        units.into_iter().filter_map(|unit| Node::of(unsafe { Value::from_raw(unit) }?)).collect()
    }

    /// The type of functions without result.
    pub(crate) fn void(self) -> Ty<'m> {
        // SAFETY: a live context.
        unsafe { Ty::from_raw(LLVMVoidTypeInContext(self.context())) }
    }

    /// The type of integers of this many bits.
    pub(crate) fn integer(self, bits: u32) -> Ty<'m> {
        require((1..=1 << 16).contains(&bits), "an integer has some bits");
        // SAFETY: a live context and a width that LLVM has.
        unsafe { Ty::from_raw(LLVMIntTypeInContext(self.context(), bits)) }
    }

    /// The type of pointers to ordinary memory.
    pub(crate) fn pointer(self) -> Ty<'m> {
        // SAFETY: a live context.
        unsafe { Ty::from_raw(LLVMPointerTypeInContext(self.context(), 0)) }
    }

    /// The type of structs of these elements.
    pub(crate) fn struct_type(self, elements: &[Ty<'m>]) -> Ty<'m> {
        require(elements.iter().all(|ty| !ty.is_function() && !ty.is_void()), "a struct consists of values");
        let mut elements: Vec<_> = elements.iter().map(|element| element.raw()).collect();
        let (start, count) = (elements.as_mut_ptr(), elements.len() as u32);
        // SAFETY: a live context and types of it that values can have; LLVM copies the list.
        unsafe { Ty::from_raw(LLVMStructTypeInContext(self.context(), start, count, 0)) }
    }

    /// The constant struct of these elements; `packed` without gaps between them.
    pub(crate) fn const_struct(self, elements: &[Value<'m>], packed: bool) -> Value<'m> {
        require(elements.iter().all(|element| element.is_any_constant()), "a constant struct consists of constants");
        let mut elements: Vec<_> = elements.iter().map(|element| element.raw()).collect();
        let (start, count) = (elements.as_mut_ptr(), elements.len() as u32);
        // SAFETY: a live context and constants of it; LLVM copies the list.
        unsafe { Value::made(LLVMConstStructInContext(self.context(), start, count, packed.into())) }
    }
}
