//! Instructions: what each kind of them says beyond its operands.

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{
    LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMIntPredicate, LLVMOpcode, LLVMTailCallKind, LLVMValueKind,
};

use super::{Block, Ty, Value, require};

impl<'m> Value<'m> {
    /// The instruction's operation; `None` if it is not an instruction.
    pub(crate) fn opcode(self) -> Option<LLVMOpcode> {
        (self.kind() == LLVMValueKind::LLVMInstructionValueKind)
            // SAFETY: an instruction.
            .then(|| unsafe { LLVMGetInstructionOpcode(self.raw()) })
    }

    fn is(self, opcode: LLVMOpcode) -> bool {
        self.opcode() == Some(opcode)
    }

    /// Whether this is an instruction that ends a block.
    fn is_terminator(self) -> bool {
        // SAFETY: an instruction; LLVM returns null for one that ends no block.
        self.opcode().is_some() && unsafe { !LLVMIsATerminatorInst(self.raw()).is_null() }
    }

    /// The block an instruction is in.
    pub(crate) fn block(self) -> Option<Block<'m>> {
        self.opcode()?;
        // SAFETY: an instruction; LLVM returns null for one that is in no block.
        unsafe { Block::from_raw(LLVMGetInstructionParent(self.raw())) }
    }

    /// The instruction before this one in the same block.
    pub(crate) fn previous_instruction(self) -> Option<Self> {
        self.block()?;
        // SAFETY: an instruction in a block.
        unsafe { Self::from_raw(LLVMGetPreviousInstruction(self.raw())) }
    }

    /// The next instruction of the same block.
    pub(crate) fn next_instruction(self) -> Option<Self> {
        self.block()?;
        // SAFETY: an instruction in a block.
        unsafe { Self::from_raw(LLVMGetNextInstruction(self.raw())) }
    }

    /// Removes an instruction whose result nothing uses. No handle of it may be used any more.
    pub(crate) fn erase(self) {
        require(self.block().is_some() && self.users().is_empty(), "an erased instruction is in a block and unused");
        // SAFETY: an instruction in a block, without uses; that nobody keeps its handle is the caller's duty (see `ir`).
        unsafe { LLVMInstructionEraseFromParent(self.raw()) };
    }

    /// Whether this is a call of any form (`call`, `invoke`, `callbr`).
    pub(crate) fn is_call(self) -> bool {
        matches!(self.opcode(), Some(LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMCallBr))
    }

    /// The value that a call calls, seen through casts and aliases.
    pub(crate) fn callee(self) -> Option<Self> {
        if !self.is_call() {
            return None;
        }
        // SAFETY: a call.
        let mut callee = unsafe { Self::from_raw(LLVMGetCalledValue(self.raw())) }?;
        loop {
            let is_cast = matches!(callee.operation(), Some(LLVMOpcode::LLVMBitCast | LLVMOpcode::LLVMAddrSpaceCast));
            callee = match callee.kind() {
                LLVMValueKind::LLVMGlobalAliasValueKind => callee.aliasee()?,
                LLVMValueKind::LLVMConstantExprValueKind if is_cast => callee.operand(0)?,
                _ => return Some(callee),
            };
        }
    }

    /// The function that a call calls, where it is known.
    pub(crate) fn called_function(self) -> Option<Self> {
        self.callee().filter(|callee| callee.is_function())
    }

    fn argument_count(self) -> u32 {
        // SAFETY: a call.
        if self.is_call() { unsafe { LLVMGetNumArgOperands(self.raw()) } } else { 0 }
    }

    /// The arguments of a call.
    pub(crate) fn arguments(self) -> impl Iterator<Item = Self> {
        (0..self.argument_count()).filter_map(move |i| self.operand(i))
    }

    /// Argument `index` of a call, if it has one.
    pub(crate) fn argument(self, index: u8) -> Option<Self> {
        (u32::from(index) < self.argument_count()).then(|| self.operand(index.into())).flatten()
    }

    /// Decides whether a call may, must or must not reuse its caller's frame.
    pub(crate) fn set_tail_call(self, kind: LLVMTailCallKind) {
        if self.is(LLVMOpcode::LLVMCall) {
            // SAFETY: a `call`, the only form that can be in tail position.
            unsafe { LLVMSetTailCallKind(self.raw(), kind) };
        }
    }

    /// The address that a load, store or atomic operation accesses.
    pub(crate) fn address(self) -> Option<Self> {
        match self.opcode()? {
            LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMAtomicCmpXchg => self.operand(0),
            LLVMOpcode::LLVMStore => self.operand(1),
            _ => None,
        }
    }

    /// Keeps LLVM from removing, adding or moving a load or store; or allows it again.
    pub(crate) fn set_volatile(self, volatile: bool) {
        let accesses = matches!(self.opcode(), Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore));
        require(accesses, "only accesses are volatile");
        // SAFETY: a load or store.
        unsafe { LLVMSetVolatile(self.raw(), volatile.into()) };
    }

    /// Whether LLVM may not remove, add or move a load or store.
    pub(crate) fn is_volatile(self) -> bool {
        let accesses = matches!(self.opcode(), Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore));
        // SAFETY: a load or store.
        accesses && unsafe { LLVMGetVolatile(self.raw()) != 0 }
    }

    /// The order of an atomic load, store, read-modify-write or fence; `NotAtomic` for plain accesses and all else.
    pub(crate) fn ordering(self) -> LLVMAtomicOrdering {
        match self.opcode() {
            Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore | LLVMOpcode::LLVMAtomicRMW | LLVMOpcode::LLVMFence) => {
                // SAFETY: an instruction with one order.
                unsafe { LLVMGetOrdering(self.raw()) }
            }
            _ => LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic,
        }
    }

    /// Whether this load or store is atomic.
    pub(crate) fn is_atomic(self) -> bool {
        self.ordering() != LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
    }

    /// The orders of a compare-exchange: on success, on failure.
    pub(crate) fn exchange_orderings(self) -> (LLVMAtomicOrdering, LLVMAtomicOrdering) {
        require(self.is(LLVMOpcode::LLVMAtomicCmpXchg), "only a compare-exchange has two orders");
        // SAFETY: a compare-exchange.
        unsafe { (LLVMGetCmpXchgSuccessOrdering(self.raw()), LLVMGetCmpXchgFailureOrdering(self.raw())) }
    }

    /// Whether a compare-exchange may fail although the values are equal.
    pub(crate) fn is_weak(self) -> bool {
        // SAFETY: a compare-exchange.
        self.is(LLVMOpcode::LLVMAtomicCmpXchg) && unsafe { LLVMGetWeak(self.raw()) != 0 }
    }

    /// Whether an atomic only orders against signal handlers of its own thread.
    pub(crate) fn is_single_thread(self) -> bool {
        let atomic = self.is_atomic() || self.is(LLVMOpcode::LLVMAtomicCmpXchg);
        // SAFETY: an atomic instruction.
        atomic && unsafe { LLVMIsAtomicSingleThread(self.raw()) != 0 }
    }

    /// What an `atomicrmw` does.
    pub(crate) fn rmw_op(self) -> LLVMAtomicRMWBinOp {
        require(self.is(LLVMOpcode::LLVMAtomicRMW), "only a read-modify-write has an operation");
        // SAFETY: an `atomicrmw`.
        unsafe { LLVMGetAtomicRMWBinOp(self.raw()) }
    }

    /// The blocks a terminator may go to, one entry per edge; none for other instructions.
    pub(crate) fn successors(self) -> Vec<Block<'m>> {
        if !self.is_terminator() {
            return Vec::new();
        }
        // SAFETY: a terminator, asked for as many successors as it has.
        (0..unsafe { LLVMGetNumSuccessors(self.raw()) })
            // SAFETY: the same.
            .filter_map(|i| unsafe { Block::from_raw(LLVMGetSuccessor(self.raw(), i)) })
            .collect()
    }

    /// Whether a branch has a condition.
    pub(crate) fn is_conditional(self) -> bool {
        // SAFETY: a branch.
        self.is(LLVMOpcode::LLVMBr) && unsafe { LLVMIsConditional(self.raw()) != 0 }
    }

    /// Where an invoke goes on when the call returns.
    pub(crate) fn normal_successor(self) -> Option<Block<'m>> {
        // SAFETY: an `invoke`.
        self.is(LLVMOpcode::LLVMInvoke).then(|| unsafe { Block::from_raw(LLVMGetNormalDest(self.raw())) }).flatten()
    }

    /// Lets an invoke go on in another block when the call returns.
    pub(crate) fn set_normal_successor(self, block: Block<'m>) {
        require(self.is(LLVMOpcode::LLVMInvoke), "only an invoke returns to a block");
        // SAFETY: an `invoke`.
        unsafe { LLVMSetNormalDest(self.raw(), block.raw()) };
    }

    /// A phi's values by predecessor, in the order of its operands.
    pub(crate) fn incoming(self) -> Vec<(Block<'m>, Self)> {
        if !self.is(LLVMOpcode::LLVMPHI) {
            return Vec::new();
        }
        // SAFETY: a phi, asked for as many incoming values as it has.
        (0..unsafe { LLVMCountIncoming(self.raw()) })
            // SAFETY: the same.
            .filter_map(|i| unsafe {
                let block = Block::from_raw(LLVMGetIncomingBlock(self.raw(), i))?;
                Some((block, Self::from_raw(LLVMGetIncomingValue(self.raw(), i))?))
            })
            .collect()
    }

    /// Adds a value to a phi, for an edge from a block.
    pub(crate) fn add_incoming(self, block: Block<'m>, value: Self) {
        require(self.is(LLVMOpcode::LLVMPHI) && value.ty() == self.ty(), "a phi takes values of its type");
        // SAFETY: a phi and a value of its type; LLVM copies the two lists of one entry.
        unsafe { LLVMAddIncoming(self.raw(), &mut value.raw(), &mut block.raw(), 1) };
    }

    /// The predicate of an integer comparison.
    pub(crate) fn predicate(self) -> LLVMIntPredicate {
        require(self.operation() == Some(LLVMOpcode::LLVMICmp), "only comparisons have a predicate");
        // SAFETY: a comparison of integers.
        unsafe { LLVMGetICmpPredicate(self.raw()) }
    }

    /// The type that an address computation counts in; `None` for other values.
    pub(crate) fn gep_source(self) -> Option<Ty<'m>> {
        (self.operation() == Some(LLVMOpcode::LLVMGetElementPtr))
            // SAFETY: an address computation, as an instruction or a constant.
            .then(|| unsafe { Ty::from_raw(LLVMGetGEPSourceElementType(self.raw())) })
    }

    /// The indices of an `extractvalue` or `insertvalue`.
    pub(crate) fn indices(self) -> Vec<u32> {
        if !matches!(self.opcode(), Some(LLVMOpcode::LLVMExtractValue | LLVMOpcode::LLVMInsertValue)) {
            return Vec::new();
        }
        // SAFETY: an instruction with indices; the list is copied at once.
        unsafe {
            let count = LLVMGetNumIndices(self.raw()) as usize;
            if count == 0 { Vec::new() } else { std::slice::from_raw_parts(LLVMGetIndices(self.raw()), count).to_vec() }
        }
    }

    /// The type of an `alloca`'s element.
    pub(crate) fn allocated(self) -> Ty<'m> {
        require(self.is(LLVMOpcode::LLVMAlloca), "only an `alloca` allocates");
        // SAFETY: an `alloca`.
        unsafe { Ty::from_raw(LLVMGetAllocatedType(self.raw())) }
    }
}
