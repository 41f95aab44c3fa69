//! Building instructions.

use std::ffi::CStr;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::{LLVMBuilderRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMOpcode};

use super::{Block, Module, Ty, Value, require};

/// New instructions have no name unless they are given one.
const UNNAMED: *const std::ffi::c_char = c"".as_ptr();

/// Builds instructions of one module, at the insertion point that was set last.
pub(crate) struct Builder<'m> {
    raw: LLVMBuilderRef,
    module: Module<'m>,
    /// `void`.
    pub(crate) void: Ty<'m>,
    /// 8 bits.
    pub(crate) i8: Ty<'m>,
    /// 32 bits.
    pub(crate) i32: Ty<'m>,
    /// 64 bits.
    pub(crate) i64: Ty<'m>,
    /// A pointer.
    pub(crate) ptr: Ty<'m>,
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: the builder is ours, and nobody else has it.
        unsafe { LLVMDisposeBuilder(self.raw) };
    }
}

impl<'m> Builder<'m> {
    /// A builder without an insertion point yet.
    pub(crate) fn new(module: Module<'m>) -> Self {
        // SAFETY: a live context, which `'m` keeps alive.
        let raw = unsafe { LLVMCreateBuilderInContext(module.context()) };
        let [i8, i32, i64] = [8, 32, 64].map(|bits| module.integer(bits));
        Self { raw, module, void: module.void(), i8, i32, i64, ptr: module.pointer() }
    }

    /// The module that it builds in.
    pub(crate) fn module(&self) -> Module<'m> {
        self.module
    }

    /// The handle of the value that a call of LLVM's builder has made.
    ///
    /// # Safety
    /// `raw` was made by this builder.
    unsafe fn made(&self, raw: LLVMValueRef) -> Value<'m> {
        // SAFETY: a value of the builder's module.
        unsafe { Value::made(raw) }
    }

    /// The next instructions go before this one.
    pub(crate) fn position_before(&self, instruction: Value<'m>) {
        require(instruction.block().is_some(), "instructions are put before one that is in a block");
        // SAFETY: an instruction in a block.
        unsafe { LLVMPositionBuilderBefore(self.raw, instruction.raw()) };
    }

    /// The next instructions go to the end of this block.
    pub(crate) fn position_at_end(&self, block: Block<'m>) {
        // SAFETY: a live block.
        unsafe { LLVMPositionBuilderAtEnd(self.raw, block.raw()) };
    }

    /// The next instructions have the location of this one in the source; none if it has none.
    pub(crate) fn set_location_of(&self, instruction: Value<'m>) {
        let location = instruction.location().map_or(std::ptr::null_mut(), |location| location.as_location());
        // SAFETY: null, or a location of this context.
        unsafe { LLVMSetCurrentDebugLocation2(self.raw, location) };
    }

    /// The next instructions have no location in the source.
    pub(crate) fn set_no_location(&self) {
        // SAFETY: null stands for no location.
        unsafe { LLVMSetCurrentDebugLocation2(self.raw, std::ptr::null_mut()) };
    }

    /// Puts a new block before another one.
    pub(crate) fn block_before(&self, block: Block<'m>, name: &CStr) -> Block<'m> {
        // SAFETY: a live block and its context; LLVM copies the name.
        let made = unsafe {
            Block::from_raw(LLVMInsertBasicBlockInContext(self.module.context(), block.raw(), name.as_ptr()))
        };
        made.expect("raceproof bug: LLVM makes a block")
    }

    /// The 32-bit constant.
    pub(crate) fn const_i32(&self, number: u32) -> Value<'m> {
        self.i32.number(number.into())
    }

    /// The 64-bit constant.
    pub(crate) fn const_i64(&self, number: u64) -> Value<'m> {
        self.i64.number(number)
    }

    /// The integer extended or cut to an integer type; anything else as 0.
    fn int_cast(&self, value: Value<'m>, ty: Ty<'m>, signed: bool) -> Value<'m> {
        if !value.ty().is_integer() {
            return ty.number(0);
        }
        // SAFETY: an integer and an integer type, which `number` and the callers make sure of.
        unsafe { self.made(LLVMBuildIntCast2(self.raw, value.raw(), ty.raw(), signed.into(), UNNAMED)) }
    }

    /// The value as 64 bits: integers extended (`signed`) or cut, pointers as numbers, anything else as 0.
    pub(crate) fn widened(&self, value: Value<'m>, signed: bool) -> Value<'m> {
        if value.is_pointer() {
            // SAFETY: a pointer and an integer type.
            return unsafe { self.made(LLVMBuildPtrToInt(self.raw, value.raw(), self.i64.raw(), UNNAMED)) };
        }
        self.int_cast(value, self.i64, signed)
    }

    /// An integer extended without sign, or cut, to 32 bits; anything else as 0.
    pub(crate) fn to_i32(&self, value: Value<'m>) -> Value<'m> {
        self.int_cast(value, self.i32, false)
    }

    /// A 64-bit number as a pointer.
    pub(crate) fn to_pointer(&self, number: Value<'m>) -> Value<'m> {
        require(number.ty().is_integer(), "a pointer is made of a number");
        // SAFETY: an integer and a pointer type.
        unsafe { self.made(LLVMBuildIntToPtr(self.raw, number.raw(), self.ptr.raw(), UNNAMED)) }
    }

    /// An operation on two integers of one type.
    pub(crate) fn binary(&self, op: LLVMOpcode, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        use LLVMOpcode::*;
        let arithmetic = matches!(op, LLVMAdd | LLVMSub | LLVMMul | LLVMShl | LLVMLShr | LLVMAnd | LLVMOr | LLVMXor);
        let fits = arithmetic && left.ty().is_integer() && left.ty() == right.ty();
        require(fits, "arithmetic is on two integers of one type");
        // SAFETY: an operation on two integers of one type.
        unsafe { self.made(LLVMBuildBinOp(self.raw, op, left.raw(), right.raw(), UNNAMED)) }
    }

    /// The product of two integers of one type.
    pub(crate) fn multiply(&self, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        self.binary(LLVMOpcode::LLVMMul, left, right)
    }

    /// Whether a comparison of two integers or pointers of one type holds.
    pub(crate) fn compare(&self, predicate: LLVMIntPredicate, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        let comparable = left.ty().is_integer() || left.is_pointer();
        require(comparable && left.ty() == right.ty(), "a comparison is of two integers or pointers of one type");
        // SAFETY: two integers or pointers of one type.
        unsafe { self.made(LLVMBuildICmp(self.raw, predicate, left.raw(), right.raw(), UNNAMED)) }
    }

    /// `then` if the comparison of `sides` holds, else `otherwise`.
    pub(crate) fn select(
        &self,
        predicate: LLVMIntPredicate,
        sides: (Value<'m>, Value<'m>),
        then: Value<'m>,
        otherwise: Value<'m>,
    ) -> Value<'m> {
        require(then.ty() == otherwise.ty(), "a choice is between values of one type");
        let holds = self.compare(predicate, sides.0, sides.1);
        // SAFETY: a truth value and two values of one type.
        unsafe { self.made(LLVMBuildSelect(self.raw, holds.raw(), then.raw(), otherwise.raw(), UNNAMED)) }
    }

    /// The 64-bit number, or 0 if it is negative.
    pub(crate) fn not_negative(&self, number: Value<'m>) -> Value<'m> {
        let zero = self.const_i64(0);
        self.select(LLVMIntPredicate::LLVMIntSLT, (number, zero), zero, number)
    }

    /// The pointer moved along the parts of a type by these numbers.
    pub(crate) fn element_address(&self, ty: Ty<'m>, pointer: Value<'m>, indices: &[Value<'m>]) -> Value<'m> {
        let numbers = indices.iter().all(|index| index.ty().is_integer());
        require(pointer.is_pointer() && numbers, "an address is a pointer moved by numbers");
        let mut indices: Vec<_> = indices.iter().map(|index| index.raw()).collect();
        let (start, count) = (indices.as_mut_ptr(), indices.len() as u32);
        // SAFETY: a pointer and integers; LLVM copies the list.
        unsafe { self.made(LLVMBuildGEP2(self.raw, ty.raw(), pointer.raw(), start, count, UNNAMED)) }
    }

    /// The pointer moved by a number of bytes.
    pub(crate) fn offset(&self, pointer: Value<'m>, bytes: Value<'m>) -> Value<'m> {
        self.element_address(self.i8, pointer, &[bytes])
    }

    /// Loads a value of this type.
    pub(crate) fn load(&self, ty: Ty<'m>, pointer: Value<'m>) -> Value<'m> {
        require(pointer.is_pointer(), "a load is through a pointer");
        // SAFETY: a pointer, and the type of a value.
        unsafe { self.made(LLVMBuildLoad2(self.raw, ty.raw(), pointer.raw(), UNNAMED)) }
    }

    /// Stores a value.
    pub(crate) fn store(&self, value: Value<'m>, pointer: Value<'m>) -> Value<'m> {
        require(pointer.is_pointer(), "a store is through a pointer");
        // SAFETY: a value and a pointer.
        unsafe { self.made(LLVMBuildStore(self.raw, value.raw(), pointer.raw())) }
    }

    /// Copies bytes between places that may overlap.
    pub(crate) fn move_memory(&self, to: Value<'m>, from: Value<'m>, size: Value<'m>) {
        let fits = to.is_pointer() && from.is_pointer() && size.ty().is_integer();
        require(fits, "bytes are copied between pointers");
        // SAFETY: two pointers and an integer, at an insertion point in a function.
        unsafe { LLVMBuildMemMove(self.raw, to.raw(), 1, from.raw(), 1, size.raw()) };
    }

    /// An element of a struct value.
    pub(crate) fn extract(&self, aggregate: Value<'m>, index: u32) -> Value<'m> {
        let elements = aggregate.ty().struct_elements();
        require(elements.is_some_and(|elements| (index as usize) < elements.len()), "the struct has this element");
        // SAFETY: a struct that has the element.
        unsafe { self.made(LLVMBuildExtractValue(self.raw, aggregate.raw(), index, UNNAMED)) }
    }

    /// Some value of this type, the same for all its uses.
    pub(crate) fn frozen(&self, ty: Ty<'m>) -> Value<'m> {
        // SAFETY: the type of a value, which has an undefined one.
        unsafe { self.made(LLVMBuildFreeze(self.raw, LLVMGetUndef(ty.raw()), UNNAMED)) }
    }

    /// A number as a value of an integer or pointer type, with its sign; the zero of any other type.
    pub(crate) fn number_as(&self, number: Value<'m>, ty: Ty<'m>) -> Value<'m> {
        if ty.is_pointer() {
            return self.to_pointer(self.widened(number, true));
        }
        if ty.is_integer() { self.int_cast(number, ty, true) } else { ty.zero() }
    }

    /// Room for a value of this type in the frame.
    pub(crate) fn alloca(&self, ty: Ty<'m>) -> Value<'m> {
        // SAFETY: the type of a value.
        unsafe { self.made(LLVMBuildAlloca(self.raw, ty.raw(), UNNAMED)) }
    }

    /// Room for `count` values of this type in the frame.
    pub(crate) fn array_alloca(&self, ty: Ty<'m>, count: Value<'m>) -> Value<'m> {
        require(count.ty().is_integer(), "the length of an array is a number");
        // SAFETY: the type of a value and an integer.
        unsafe { self.made(LLVMBuildArrayAlloca(self.raw, ty.raw(), count.raw(), UNNAMED)) }
    }

    /// Calls a function, or what a pointer points to, as one of this type.
    pub(crate) fn call(&self, ty: Ty<'m>, callee: Value<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        let types = ty.parameters();
        let fits = types.len() == arguments.len() && types.iter().zip(arguments).all(|(ty, a)| a.ty() == *ty);
        require(fits && callee.is_pointer(), "a call passes what the function takes");
        let mut arguments: Vec<_> = arguments.iter().map(|argument| argument.raw()).collect();
        let (start, count) = (arguments.as_mut_ptr(), arguments.len() as u32);
        // SAFETY: a pointer, a function's type and arguments of its types; LLVM copies the list.
        unsafe { self.made(LLVMBuildCall2(self.raw, ty.raw(), callee.raw(), start, count, UNNAMED)) }
    }

    /// A phi without incoming values yet.
    pub(crate) fn phi(&self, ty: Ty<'m>) -> Value<'m> {
        // SAFETY: the type of a value.
        unsafe { self.made(LLVMBuildPhi(self.raw, ty.raw(), UNNAMED)) }
    }

    /// Goes on in a block.
    pub(crate) fn jump(&self, to: Block<'m>) -> Value<'m> {
        // SAFETY: a live block.
        unsafe { self.made(LLVMBuildBr(self.raw, to.raw())) }
    }

    /// Goes on in one of two blocks.
    pub(crate) fn branch(&self, condition: Value<'m>, then: Block<'m>, otherwise: Block<'m>) -> Value<'m> {
        require(condition.ty().int_bits() == Some(1), "a branch has a truth value");
        // SAFETY: a truth value and two live blocks.
        unsafe { self.made(LLVMBuildCondBr(self.raw, condition.raw(), then.raw(), otherwise.raw())) }
    }

    /// Returns from the function, with a value or none.
    pub(crate) fn ret(&self, value: Option<Value<'m>>) {
        // SAFETY: a live value, or none.
        unsafe {
            match value {
                Some(value) => LLVMBuildRet(self.raw, value.raw()),
                None => LLVMBuildRetVoid(self.raw),
            };
        }
    }
}
