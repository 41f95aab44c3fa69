//! Constants: what they are and what they consist of.

use inkwell::llvm_sys::LLVMValueKind;
use inkwell::llvm_sys::core::*;

use super::Value;

impl<'m> Value<'m> {
    /// Whether it is the same in every run of the function: a number, or the address of a global or function.
    pub(crate) fn is_any_constant(self) -> bool {
        // SAFETY: a live value.
        unsafe { LLVMIsConstant(self.raw()) != 0 }
    }

    /// Whether the value is the null pointer or another constant of zeros.
    pub(crate) fn is_zero(self) -> bool {
        // SAFETY: a live value.
        unsafe { LLVMIsNull(self.raw()) != 0 }
    }

    /// Whether it has no fixed value.
    pub(crate) fn is_undefined(self) -> bool {
        matches!(self.kind(), LLVMValueKind::LLVMUndefValueValueKind | LLVMValueKind::LLVMPoisonValueKind)
    }

    /// The number, for an integer constant of at most 64 bits, sign-extended.
    pub(crate) fn as_integer(self) -> Option<i64> {
        let fits = self.kind() == LLVMValueKind::LLVMConstantIntValueKind
            && self.ty().int_bits().is_some_and(|bits| bits <= 64);
        // SAFETY: an integer constant that fits.
        fits.then(|| unsafe { LLVMConstIntGetSExtValue(self.raw()) })
    }

    /// An integer constant of at most 64 bits, sign-extended; the one-bit constants are 0 and 1.
    pub(crate) fn as_number(self) -> Option<i64> {
        let number = self.as_integer()?;
        Some(if self.ty().int_bits() == Some(1) { number & 1 } else { number })
    }

    /// The value of a `float` or `double` constant.
    pub(crate) fn as_float(self) -> Option<f64> {
        if self.kind() != LLVMValueKind::LLVMConstantFPValueKind {
            return None;
        }
        let mut lost = 0;
        // SAFETY: a floating-point constant.
        let value = unsafe { LLVMConstRealGetDouble(self.raw(), &mut lost) };
        (lost == 0).then_some(value)
    }

    /// An element of a constant struct, array or vector.
    pub(crate) fn element(self, index: u32) -> Option<Self> {
        if !self.is_any_constant() {
            return None;
        }
        // SAFETY: a constant; LLVM returns null for one without such an element.
        unsafe { Self::from_raw(LLVMGetAggregateElement(self.raw(), index)) }
    }

    /// The bytes of a constant array of bytes.
    pub(crate) fn as_bytes(self) -> Option<Vec<u8>> {
        if self.kind() != LLVMValueKind::LLVMConstantDataArrayValueKind {
            return None;
        }
        let mut len = 0;
        // SAFETY: an array of data, asked for its bytes only if its elements are bytes; they are copied at once.
        unsafe {
            if LLVMIsConstantString(self.raw()) == 0 {
                return None;
            }
            let start = LLVMGetAsString(self.raw(), &mut len);
            Some(std::slice::from_raw_parts(start.cast(), len).to_vec())
        }
    }
}
