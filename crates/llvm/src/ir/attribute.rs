//! Attributes of functions, calls and their parameters.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::LLVMAttributeRef;
use inkwell::llvm_sys::{LLVMAttributeFunctionIndex, LLVMAttributeReturnIndex, LLVMValueKind};

use super::{Ty, Value, require};

/// What an attribute is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AttributeOf {
    /// The function or call itself.
    Function,
    /// Its result.
    Result,
    /// A parameter or argument, from 0.
    Parameter(u32),
}

impl AttributeOf {
    fn index(self) -> u32 {
        match self {
            Self::Function => LLVMAttributeFunctionIndex,
            Self::Result => LLVMAttributeReturnIndex,
            Self::Parameter(number) => number + 1,
        }
    }
}

/// LLVM's number of an attribute.
fn kind(name: &str) -> u32 {
    // SAFETY: a string that LLVM looks up.
    let kind = unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) };
    require(kind != 0, "LLVM has an attribute of this name");
    kind
}

impl<'m> Value<'m> {
    fn attribute(self, of: AttributeOf, name: &str) -> Option<LLVMAttributeRef> {
        // SAFETY: a function or a call, and an attribute that LLVM has; LLVM returns null for one that is not there.
        let attribute = unsafe {
            if self.is_function() {
                LLVMGetEnumAttributeAtIndex(self.raw(), of.index(), kind(name))
            } else if self.is_call() {
                LLVMGetCallSiteEnumAttribute(self.raw(), of.index(), kind(name))
            } else {
                return None;
            }
        };
        (!attribute.is_null()).then_some(attribute)
    }

    /// The type of what is copied if argument `index` of a call is a copy that the call itself makes (`byval`).
    pub(crate) fn by_value_argument(self, index: u32) -> Option<Ty<'m>> {
        let attribute = self.attribute(AttributeOf::Parameter(index), "byval").filter(|_| self.is_call())?;
        // SAFETY: `byval` has a type, which lives as long as the context.
        Some(unsafe { Ty::from_raw(LLVMGetTypeAttributeValue(attribute)) })
    }

    /// The type of the memory that argument `index` of inline assembly points to, if the assembly touches it itself.
    pub(crate) fn assembly_operand(self, index: u32) -> Option<Ty<'m>> {
        let attribute = self.attribute(AttributeOf::Parameter(index), "elementtype").filter(|_| self.is_call())?;
        // SAFETY: `elementtype` has a type, which lives as long as the context.
        Some(unsafe { Ty::from_raw(LLVMGetTypeAttributeValue(attribute)) })
    }

    /// The type of a parameter that holds a copy made for the call: as good as a local.
    pub(crate) fn by_value_parameter(self) -> Option<Ty<'m>> {
        if self.kind() != LLVMValueKind::LLVMArgumentValueKind {
            return None;
        }
        let function = self.function()?;
        let index = function.parameters().iter().position(|parameter| *parameter == self)?;
        let attribute = function.attribute(AttributeOf::Parameter(index as u32), "byval")?;
        // SAFETY: `byval` has a type, which lives as long as the context.
        Some(unsafe { Ty::from_raw(LLVMGetTypeAttributeValue(attribute)) })
    }

    /// Whether a call of this function touches no memory.
    pub(crate) fn touches_no_memory(self) -> bool {
        let attribute = self.attribute(AttributeOf::Function, "memory").filter(|_| self.is_function());
        // SAFETY: `memory` has a number: 0 for no effect at all.
        attribute.is_some_and(|attribute| unsafe { LLVMGetEnumAttributeValue(attribute) } == 0)
    }

    /// Whether no exception leaves a function or call.
    pub(crate) fn never_unwinds(self) -> bool {
        self.attribute(AttributeOf::Function, "nounwind").is_some()
    }

    /// Removes an attribute of a function or call, if it is there.
    pub(crate) fn remove_attribute(self, of: AttributeOf, name: &str) {
        // SAFETY: a function or a call, and an attribute that LLVM has.
        unsafe {
            if self.is_function() {
                LLVMRemoveEnumAttributeAtIndex(self.raw(), of.index(), kind(name));
            } else if self.is_call() {
                LLVMRemoveCallSiteEnumAttribute(self.raw(), of.index(), kind(name));
            }
        }
    }

    /// Gives a function an attribute that LLVM knows, with a number.
    pub(crate) fn add_attribute(self, name: &str, number: u64) {
        require(self.is_function(), "only functions get attributes");
        // SAFETY: a function, and an attribute that LLVM has, made in its context.
        unsafe {
            let attribute = LLVMCreateEnumAttribute(self.ty().context(), kind(name), number);
            LLVMAddAttributeAtIndex(self.raw(), AttributeOf::Function.index(), attribute);
        }
    }

    /// Gives a function an attribute that is a pair of strings.
    pub(crate) fn add_string_attribute(self, name: &str, value: &str) {
        require(self.is_function(), "only functions get attributes");
        let (name_at, value_at) = (name.as_ptr().cast(), value.as_ptr().cast());
        // SAFETY: a function, and an attribute made in its context; LLVM copies the strings.
        unsafe {
            let attribute = LLVMCreateStringAttribute(
                self.ty().context(),
                name_at,
                name.len() as u32,
                value_at,
                value.len() as u32,
            );
            LLVMAddAttributeAtIndex(self.raw(), AttributeOf::Function.index(), attribute);
        }
    }

    /// Gives a function, or a call of it, all attributes that another function's result or parameter has.
    pub(crate) fn copy_attributes(self, from: Self, of: AttributeOf) {
        require(from.is_function() && (self.is_function() || self.is_call()), "functions and calls have attributes");
        // SAFETY: functions or calls of one context, and room for as many attributes as there are.
        unsafe {
            let count = LLVMGetAttributeCountAtIndex(from.raw(), of.index());
            let mut attributes = vec![std::ptr::null_mut(); count as usize];
            LLVMGetAttributesAtIndex(from.raw(), of.index(), attributes.as_mut_ptr());
            for attribute in attributes {
                if self.is_function() {
                    LLVMAddAttributeAtIndex(self.raw(), of.index(), attribute);
                } else {
                    LLVMAddCallSiteAttribute(self.raw(), of.index(), attribute);
                }
            }
        }
    }
}
