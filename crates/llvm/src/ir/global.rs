//! Global variables and functions.

use std::ffi::{CStr, CString};

use inkwell::llvm_sys::comdat::LLVMSetComdat;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{LLVMLinkage, LLVMThreadLocalMode, LLVMValueKind};

use super::{Block, Module, Ty, Value, require};

impl<'m> Value<'m> {
    /// Whether this is a global variable.
    pub(crate) fn is_global_variable(self) -> bool {
        self.kind() == LLVMValueKind::LLVMGlobalVariableValueKind
    }

    /// Whether this is a function.
    pub(crate) fn is_function(self) -> bool {
        self.kind() == LLVMValueKind::LLVMFunctionValueKind
    }

    /// Whether this has a name that other modules can refer to: a variable, function, alias or indirect function.
    pub(super) fn is_global(self) -> bool {
        use LLVMValueKind::*;
        self.is_function()
            || self.is_global_variable()
            || matches!(self.kind(), LLVMGlobalAliasValueKind | LLVMGlobalIFuncValueKind)
    }

    /// Whether this is a global variable that is never written.
    pub(crate) fn is_constant_global(self) -> bool {
        // SAFETY: a global variable.
        self.is_global_variable() && unsafe { LLVMIsGlobalConstant(self.raw()) } != 0
    }

    /// Says that a global variable is never written.
    pub(crate) fn set_constant_global(self) {
        require(self.is_global_variable(), "only a global variable can be constant");
        // SAFETY: a global variable.
        unsafe { LLVMSetGlobalConstant(self.raw(), 1) };
    }

    /// Whether this is a global variable of which each thread has its own.
    pub(crate) fn is_thread_local(self) -> bool {
        // SAFETY: a global variable.
        self.is_global_variable() && unsafe { LLVMIsThreadLocal(self.raw()) } != 0
    }

    /// Gives each thread its own of a global variable.
    pub(crate) fn set_thread_local(self, mode: LLVMThreadLocalMode) {
        require(self.is_global_variable(), "only a global variable can be thread-local");
        // SAFETY: a global variable.
        unsafe { LLVMSetThreadLocalMode(self.raw(), mode) };
    }

    /// Whether this function or global has no definition here.
    pub(crate) fn is_declaration(self) -> bool {
        // SAFETY: a global.
        self.is_global() && unsafe { LLVMIsDeclaration(self.raw()) != 0 }
    }

    /// Whether this is a function that LLVM itself defines.
    pub(crate) fn is_intrinsic(self) -> bool {
        // SAFETY: a function.
        self.is_function() && unsafe { LLVMGetIntrinsicID(self.raw()) != 0 }
    }

    /// Who can refer to a function or global by its name.
    pub(crate) fn linkage(self) -> LLVMLinkage {
        require(self.is_global(), "only globals have a linkage");
        // SAFETY: a global.
        unsafe { LLVMGetLinkage(self.raw()) }
    }

    /// Decides who can refer to a function or global by its name.
    pub(crate) fn set_linkage(self, linkage: LLVMLinkage) {
        require(self.is_global(), "only globals have a linkage");
        // SAFETY: a global.
        unsafe { LLVMSetLinkage(self.raw(), linkage) };
    }

    /// The type of a global's content, or of a function.
    pub(crate) fn value_type(self) -> Ty<'m> {
        require(self.is_global(), "only globals have content");
        // SAFETY: a global.
        unsafe { Ty::from_raw(LLVMGlobalGetValueType(self.raw())) }
    }

    /// A global variable's initial content.
    pub(crate) fn initializer(self) -> Option<Self> {
        if !self.is_global_variable() {
            return None;
        }
        // SAFETY: a global variable.
        unsafe { Self::from_raw(LLVMGetInitializer(self.raw())) }
    }

    /// Gives a global variable its initial content.
    pub(crate) fn set_initializer(self, content: Self) {
        let fits = self.is_global_variable() && content.is_any_constant() && content.ty() == self.value_type();
        require(fits, "a global variable is initialised by a constant of its type");
        // SAFETY: a global variable and a constant of its type.
        unsafe { LLVMSetInitializer(self.raw(), content.raw()) };
    }

    /// A global variable's alignment, if it asks for one; else 0.
    pub(crate) fn alignment(self) -> u32 {
        require(self.is_global_variable(), "alignment is asked of global variables");
        // SAFETY: a global variable.
        unsafe { LLVMGetAlignment(self.raw()) }
    }

    /// Aligns a global variable to a power of two.
    pub(crate) fn set_alignment(self, alignment: u32) {
        require(self.is_global_variable() && alignment.is_power_of_two(), "an alignment is a power of two");
        // SAFETY: a global variable and a power of two.
        unsafe { LLVMSetAlignment(self.raw(), alignment) };
    }

    /// The section a global asks for; empty if any will do.
    pub(crate) fn section(self) -> String {
        require(self.is_global(), "only globals are in sections");
        // SAFETY: a global; LLVM returns null or a string that is copied at once.
        unsafe {
            let name = LLVMGetSection(self.raw());
            if name.is_null() { String::new() } else { CStr::from_ptr(name).to_string_lossy().into_owned() }
        }
    }

    /// Puts a global variable into a section; it is no longer merged with others of its name.
    pub(crate) fn set_section(self, section: &CStr) {
        require(self.is_global_variable(), "only global variables are put into sections");
        // SAFETY: a global variable; null takes it out of its group; LLVM copies the string.
        unsafe {
            LLVMSetComdat(self.raw(), std::ptr::null_mut());
            LLVMSetSection(self.raw(), section.as_ptr());
        }
    }

    /// The parameters of a function.
    pub(crate) fn parameters(self) -> Vec<Self> {
        if !self.is_function() {
            return Vec::new();
        }
        // SAFETY: a function, asked for as many parameters as it has.
        (0..unsafe { LLVMCountParams(self.raw()) })
            // SAFETY: the same.
            .filter_map(|i| unsafe { Self::from_raw(LLVMGetParam(self.raw(), i)) })
            .collect()
    }

    /// The block in which a function starts.
    pub(crate) fn entry(self) -> Option<Block<'m>> {
        if !self.is_function() {
            return None;
        }
        // SAFETY: a function; LLVM returns null for one without blocks.
        unsafe { Block::from_raw(LLVMGetFirstBasicBlock(self.raw())) }
    }

    /// The blocks of a function, entry first.
    pub(crate) fn blocks(self) -> Vec<Block<'m>> {
        std::iter::successors(self.entry(), |block| block.next()).collect()
    }

    /// The instructions of a function in order.
    pub(crate) fn instructions(self) -> Vec<Self> {
        self.blocks().into_iter().flat_map(Block::instructions).collect()
    }

    /// Adds a block at the end of a function.
    pub(crate) fn append_block(self, name: &str) -> Block<'m> {
        require(self.is_function(), "only functions have blocks");
        let name = CString::new(name).expect("raceproof bug: our names have no zero byte");
        // SAFETY: a function, and the context it belongs to; LLVM copies the name.
        unsafe {
            let block = LLVMAppendBasicBlockInContext(self.ty().context(), self.raw(), name.as_ptr());
            Block::from_raw(block).expect("raceproof bug: LLVM makes a block")
        }
    }

    /// Removes a function or global variable that nothing uses. No handle of it, or of what is in it, may be used any more.
    pub(crate) fn delete(self) {
        require(self.users().is_empty(), "what is still used cannot be deleted");
        // SAFETY: a function or variable without uses; that nobody keeps its handle is the caller's duty (see `ir`).
        unsafe {
            if self.is_function() {
                LLVMDeleteFunction(self.raw());
            } else {
                require(self.is_global_variable(), "only functions and variables are deleted");
                LLVMDeleteGlobal(self.raw());
            }
        }
    }
}

impl<'m> Module<'m> {
    /// Defines a global variable with this content.
    pub(crate) fn define_global(self, name: &str, content: Value<'m>) -> Value<'m> {
        let global = self.add_global(name, content.ty());
        global.set_initializer(content);
        global
    }
}
