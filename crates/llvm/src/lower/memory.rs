//! Loads, stores, atomics, fences and locals in memory.

use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp};
use model::Order;
use program::library::CType;
use program::{Architecture, BinaryOp, Expr, Operand, RmwOp, Stmt, Unmodelled};

use super::body::Body;
use crate::ir::{Ty, Value};

/// Words of a `va_list`, by their offset: those that count what was taken from saved registers, and those that point to
/// saved registers or to arguments on the stack.
struct VaListWords {
    counts: &'static [i64],
    pointers: &'static [i64],
}

/// As the architecture's calling convention has them; `None` where they are not known.
fn va_list_words(architecture: Architecture) -> Option<VaListWords> {
    match architecture {
        Architecture::X86_64 => Some(VaListWords { counts: &[0], pointers: &[8, 16] }),
        Architecture::Aarch64 => Some(VaListWords { counts: &[24], pointers: &[0, 8, 16] }),
        Architecture::Other | Architecture::Other32 | Architecture::Other16 => None,
    }
}

/// The memory order of an atomic access; `None` for a plain one.
fn order(ordering: LLVMAtomicOrdering) -> Option<Order> {
    use LLVMAtomicOrdering::*;
    match ordering {
        LLVMAtomicOrderingNotAtomic => None,
        LLVMAtomicOrderingUnordered | LLVMAtomicOrderingMonotonic => Some(Order::Relaxed),
        LLVMAtomicOrderingAcquire => Some(Order::Acquire),
        LLVMAtomicOrderingRelease => Some(Order::Release),
        LLVMAtomicOrderingAcquireRelease => Some(Order::AcqRel),
        LLVMAtomicOrderingSequentiallyConsistent => Some(Order::SeqCst),
    }
}

/// The memory order of an operation that is atomic by nature.
fn atomic_order(ordering: LLVMAtomicOrdering) -> Order {
    order(ordering).unwrap_or(Order::Relaxed)
}

impl<'m> Body<'_, '_, 'm> {
    pub(super) fn size(&self, ty: Ty<'m>) -> u32 {
        u32::try_from(self.symbols().layout.store_size(ty)).unwrap_or(u32::MAX)
    }

    /// Notes an access to memory of another kind than that of variables.
    fn note_space(&mut self, pointer: Value<'m>) {
        if pointer.ty().address_space().is_some_and(|space| space != 0) {
            self.unmodelled(Unmodelled::SPECIAL_MEMORY, None);
        }
    }

    pub(super) fn load(&mut self, load: Value<'m>) {
        self.note_space(load.part(0));
        let (address, size) = (self.operand(load.part(0)), self.size(load.ty()));
        if size == 0 {
            return;
        }
        let atomic = order(load.ordering());
        match load.ty().int_bits() {
            // Memory holds whole bytes; the value has fewer bits.
            Some(bits) if bits <= 64 && bits != 8 * size => {
                let dst = self.fresh();
                self.emit(Stmt::Load { dst, address, size, atomic });
                let value = Operand::Local(dst);
                self.define(load, Expr::Truncate { value, bits: bits as u8, signed: bits > 1 });
            }
            _ => {
                let dst = self.result(load);
                self.emit(Stmt::Load { dst, address, size, atomic });
                self.load_parts(load, address);
                self.lose_loaded(load, address);
            }
        }
    }

    pub(super) fn store(&mut self, store: Value<'m>) {
        self.note_space(store.part(1));
        let value = store.part(0);
        let (address, size) = (self.operand(store.part(1)), self.size(value.ty()));
        if size > 0 {
            let whole = self.operand(value);
            self.emit(Stmt::Store { address, value: whole, size, atomic: order(store.ordering()) });
            self.store_parts(value, address);
        }
    }

    pub(super) fn read_modify_write(&mut self, instruction: Value<'m>) {
        use LLVMAtomicRMWBinOp::*;
        let op = match instruction.rmw_op() {
            LLVMAtomicRMWBinOpXchg => RmwOp::Exchange,
            LLVMAtomicRMWBinOpAdd => RmwOp::Add,
            LLVMAtomicRMWBinOpSub => RmwOp::Sub,
            LLVMAtomicRMWBinOpAnd => RmwOp::And,
            LLVMAtomicRMWBinOpOr => RmwOp::Or,
            LLVMAtomicRMWBinOpXor => RmwOp::Xor,
            LLVMAtomicRMWBinOpMax => RmwOp::Max,
            LLVMAtomicRMWBinOpMin => RmwOp::Min,
            LLVMAtomicRMWBinOpUMax => RmwOp::UMax,
            LLVMAtomicRMWBinOpUMin => RmwOp::UMin,
            _ => RmwOp::Other,
        };
        let value = instruction.part(1);
        let (address, size) = (self.operand(instruction.part(0)), self.size(value.ty()));
        let (dst, value) = (self.result(instruction), self.operand(value));
        self.emit(Stmt::Rmw { dst, op, address, value, size, order: atomic_order(instruction.ordering()) });
    }

    pub(super) fn compare_exchange(&mut self, instruction: Value<'m>) {
        let expected = instruction.part(1);
        let size = self.size(expected.ty());
        let (order, failure) = instruction.exchange_orderings();
        let (dst, success) = (self.part_result(instruction, 0), self.part_result(instruction, 1));
        let stmt = Stmt::CompareExchange {
            dst,
            success,
            address: self.operand(instruction.part(0)),
            expected: self.operand(expected),
            new: self.operand(instruction.part(2)),
            size,
            order: atomic_order(order),
            failure: atomic_order(failure),
        };
        self.emit(stmt);
    }

    pub(super) fn fence(&mut self, fence: Value<'m>) {
        // A fence against signal handlers only is nothing to other threads.
        if !fence.is_single_thread() {
            self.emit(Stmt::Fence(atomic_order(fence.ordering())));
        }
    }

    pub(super) fn alloca(&mut self, alloca: Value<'m>) {
        let stride = self.symbols().layout.stride(alloca.allocated()) as i64;
        let size = match self.operand(alloca.part(0)) {
            Operand::Const(count) => Operand::Const(count.wrapping_mul(stride)),
            count => {
                self.temporary(Expr::Binary { op: BinaryOp::Mul, bits: 64, left: count, right: Operand::Const(stride) })
            }
        };
        let variable = self.variables.at_address(alloca).cloned();
        let ty = variable.as_ref().and_then(|v| v.ty).map(|ty| self.lowering.types.of(ty));
        let dst = self.result(alloca);
        self.emit(Stmt::Alloca { dst, size, name: variable.map(|v| v.name), ty });
    }

    /// `va_start`: the list points to memory with the arguments, whose content is not known.
    pub(super) fn variadic_start(&mut self, list: Operand) {
        let arguments = self.fresh();
        self.emit(Stmt::Alloca { dst: arguments, size: Operand::Any, name: None, ty: None });
        let arguments = Operand::Local(arguments);
        self.emit(Stmt::Fill { to: arguments, value: Operand::Any, len: Operand::Any });
        let Some(words) = va_list_words(self.lowering.program.architecture) else {
            // Somewhere in the list there are pointers to them.
            self.emit(Stmt::Fill { to: list, value: Operand::Any, len: Operand::Any });
            let address = self.temporary(Expr::Offset { base: list, index: Operand::Any, scale: 1, offset: 0 });
            self.emit(Stmt::Store { address, value: arguments, size: self.word(), atomic: None });
            return;
        };
        let counts = words.counts.iter().map(|at| (*at, Operand::Any));
        let pointers = words.pointers.iter().map(|at| (*at, arguments));
        for (at, value) in counts.chain(pointers) {
            let address = match at {
                0 => list,
                _ => {
                    let expr = self.offset(list, at);
                    self.temporary(expr)
                }
            };
            self.emit(Stmt::Store { address, value, size: self.word(), atomic: None });
        }
    }

    /// `va_copy`.
    pub(super) fn variadic_copy(&mut self, to: Operand, from: Operand) {
        let size = CType::VaList.size(self.lowering.program.architecture);
        let len = size.map_or(Operand::Any, |bytes| Operand::Const(bytes as i64));
        self.emit(Stmt::Copy { to, from, len });
    }

    /// `va_arg` as an instruction: takes any value from the list, and moves on in it.
    pub(super) fn variadic_argument(&mut self, instruction: Value<'m>) {
        let address = self.operand(instruction.part(0));
        let dst = self.fresh();
        self.emit(Stmt::Load { dst, address, size: self.word(), atomic: None });
        self.emit(Stmt::Store { address, value: Operand::Any, size: self.word(), atomic: None });
        self.define(instruction, Expr::Use(Operand::Any));
    }
}
