//! Atomic instructions and fences, and the library calls that stand for them.

use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMIntPredicate, LLVMOpcode};
use model::{Order, SiteId};
use program::library::atomics::{AtomicCall, AtomicOp, AtomicOrder, AtomicSize, AtomicValue};
use wire::Tag;
use wire::record::order;

use super::Weaver;
use crate::assembly::Atomic;
use crate::debug;
use crate::ir::{Ty, Value};

/// The wire's code of an instruction's order.
fn wire_order(ordering: LLVMAtomicOrdering) -> u32 {
    u32::from(match ordering {
        LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic => order::PLAIN,
        LLVMAtomicOrdering::LLVMAtomicOrderingUnordered | LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic => {
            order::RELAXED
        }
        LLVMAtomicOrdering::LLVMAtomicOrderingAcquire => order::ACQUIRE,
        LLVMAtomicOrdering::LLVMAtomicOrderingRelease => order::RELEASE,
        LLVMAtomicOrdering::LLVMAtomicOrderingAcquireRelease => order::ACQ_REL,
        LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent => order::SEQ_CST,
    })
}

/// The wire's code of an order.
pub(super) fn code(o: Order) -> u32 {
    u32::from(match o {
        Order::Relaxed => order::RELAXED,
        Order::Continuing => order::CONTINUING,
        Order::Acquire => order::ACQUIRE,
        Order::Release => order::RELEASE,
        Order::AcqRel => order::ACQ_REL,
        Order::SeqCst => order::SEQ_CST,
    })
}

/// Whether an instruction's function was written in C, where a store continues its thread's release sequences.
fn is_in_c(instruction: Value<'_>) -> bool {
    let unit = instruction.function().and_then(Value::subprogram).and_then(debug::compile_unit);
    unit.is_some_and(|unit| debug::is_c(unit))
}

const ORDER_SHIFT: u32 = 8;
const FAILURE_SHIFT: u32 = 16;

impl<'m> Weaver<'_, 'm> {
    /// An atomic load or store.
    pub(super) fn atomic_access(
        &mut self,
        instruction: Value<'m>,
        address: Value<'m>,
        size: u32,
        tag: Tag,
        site: SiteId,
    ) {
        let mut ordering = wire_order(instruction.ordering());
        if tag == Tag::Write && ordering == u32::from(order::RELAXED) && is_in_c(instruction) {
            ordering = order::CONTINUING.into();
        }
        self.insert.before(instruction);
        self.atomic_hook(address, size, tag as u32 | ordering << ORDER_SHIFT, site);
        self.atomic_end(instruction);
    }

    /// The recorder has to know when an atomic access has happened.
    fn atomic_end(&self, instruction: Value<'m>) {
        if self.is_recorded() {
            self.insert.after(instruction);
            self.insert.hook("__rp_atomic_end", &[]);
        }
    }

    fn atomic_hook(&self, address: Value<'m>, size: u32, kind_order: u32, site: SiteId) {
        let (size, kind_order) = (self.insert.const_i32(size), self.insert.const_i32(kind_order));
        self.insert.hook("__rp_atomic", &[address, size, kind_order, self.site(site)]);
    }

    /// A read-modify-write or compare-exchange.
    pub(super) fn atomic_update(&mut self, instruction: Value<'m>, site: SiteId) {
        let (Some(address), Some(value)) = (instruction.address(), instruction.operand(1)) else { return };
        if !self.needs_hook(address) || !self.is_ordinary(address, site) {
            return;
        }
        let size = self.size(value.ty());
        let tag = Tag::ReadModifyWrite as u32;
        self.insert.before(instruction);
        if instruction.opcode() == Some(LLVMOpcode::LLVMAtomicRMW) {
            let ordering = wire_order(instruction.ordering());
            self.atomic_hook(address, size, tag | ordering << ORDER_SHIFT, site);
            return self.atomic_end(instruction);
        }
        let (success, failure) = instruction.exchange_orderings();
        let (success, failure) = (wire_order(success), wire_order(failure));
        let holds = self.may_fail(instruction, address, site);
        self.atomic_hook(address, size, tag | success << ORDER_SHIFT | failure << FAILURE_SHIFT, site);
        let results: Vec<_> = instruction.users().into_iter().filter(|user| user.indices() == [1]).collect();
        self.insert.after(instruction);
        let mut succeeded = self.insert.extract(instruction, 1);
        if let Some(holds) = holds {
            succeeded = self.insert.binary(LLVMOpcode::LLVMAnd, succeeded, holds);
            results.into_iter().for_each(|result| result.replace_all_uses(succeeded));
        }
        self.insert.hook("__rp_cas_result", &[self.insert.to_i32(succeeded)]);
    }

    /// Lets the runtime decide whether a weak compare-exchange fails without a cause: then it stores what is there. Returns
    /// whether it counts. `None` for a strong one, or one whose result is not taken apart at once.
    fn may_fail(&self, instruction: Value<'m>, address: Value<'m>, site: SiteId) -> Option<Value<'m>> {
        let apart = |user: &Value<'m>| user.opcode() == Some(LLVMOpcode::LLVMExtractValue);
        if self.is_recorded() || !instruction.is_weak() || !instruction.users().iter().all(apart) {
            return None;
        }
        let (expected, new) = (instruction.operand(1)?, instruction.operand(2)?);
        let fails = self.insert.asking_hook("__rp_weak", &[address, self.site(site)]);
        let none = (fails, self.insert.const_i32(0));
        instruction.set_operand(2, self.insert.select(LLVMIntPredicate::LLVMIntEQ, none, new, expected));
        Some(self.insert.compare(LLVMIntPredicate::LLVMIntEQ, none.0, none.1))
    }

    /// Inline assembly updates memory in one instruction.
    pub(super) fn update(&self, call: Value<'m>, place: Value<'m>, ty: Ty<'m>, site: SiteId) {
        if self.needs_hook(place) {
            self.insert.before(call);
            self.update_at(call, place, self.size(ty), site);
        }
    }

    /// An update that synchronises like any sequentially consistent one.
    pub(super) fn update_at(&self, call: Value<'m>, place: Value<'m>, size: u32, site: SiteId) {
        let order = u32::from(order::SEQ_CST);
        self.atomic_hook(place, size, Tag::ReadModifyWrite as u32 | order << ORDER_SHIFT, site);
        self.atomic_end(call);
    }

    /// A single load or store of inline assembly.
    pub(super) fn assembly_access(&self, call: Value<'m>, access: Atomic<'m>, site: SiteId) {
        let Atomic { place, bytes, writes, order } = access;
        if self.needs_hook(place) {
            let tag = if writes { Tag::Write } else { Tag::Read };
            self.insert.before(call);
            self.atomic_hook(place, bytes, tag as u32 | code(order) << ORDER_SHIFT, site);
            self.atomic_end(call);
        }
    }

    /// A fence; one for a signal handler of the same thread orders nothing between threads.
    pub(super) fn fence(&mut self, instruction: Value<'m>, site: SiteId) {
        if instruction.is_single_thread() {
            return;
        }
        let ordering = wire_order(instruction.ordering());
        self.insert.before(instruction);
        self.insert.hook("__rp_fence", &[self.insert.const_i32(ordering), self.site(site)]);
    }

    /// An atomic operation that is a call. Plain memory it reads or writes besides is touched in events of its own.
    pub(super) fn atomic_call(&mut self, call: Value<'m>, atomic: &AtomicCall, site: SiteId) {
        let argument = |index: u8| call.arguments().nth(usize::from(index));
        self.insert.before(call);
        let ordering = self.call_order(call, atomic.order);
        if atomic.op == AtomicOp::Fence {
            return self.insert.hook("__rp_fence", &[ordering, self.site(site)]);
        }
        let Some(address) = argument(atomic.address) else { return };
        let size = match atomic.size {
            AtomicSize::Bytes(bytes) => self.insert.const_i64(u64::from(bytes)),
            AtomicSize::Arg(index) => match argument(index) {
                Some(size) => self.insert.widened(size, false),
                None => return,
            },
        };
        let memory = |value: AtomicValue| match value {
            AtomicValue::Memory(index) => argument(index),
            _ => None,
        };
        let (tag, read, written, failure) = match atomic.op {
            AtomicOp::Fence => return,
            AtomicOp::Load { to } => (Tag::Read, [None, None], memory(to), None),
            AtomicOp::Store { value } => (Tag::Write, [memory(value), None], None, None),
            AtomicOp::Rmw { value, old, .. } => (Tag::ReadModifyWrite, [memory(value), None], memory(old), None),
            AtomicOp::CompareExchange { expected, new, failure, .. } => {
                (Tag::ReadModifyWrite, [memory(expected), memory(new)], memory(expected), Some(failure))
            }
        };
        self.plain_accesses(Tag::Read, read.into_iter().flatten(), size, site);
        let mut kind_order = self.shifted(ordering, ORDER_SHIFT, tag as u32);
        if let Some(failure) = failure {
            let failure = self.call_order(call, failure);
            kind_order = self.or(kind_order, self.shifted(failure, FAILURE_SHIFT, 0));
        }
        if self.needs_hook(address) {
            let size = self.insert.to_i32(size);
            self.insert.hook("__rp_atomic", &[address, size, kind_order, self.site(site)]);
        }
        self.insert.after(call);
        let AtomicOp::CompareExchange { expected, returns_old, .. } = atomic.op else {
            if self.is_recorded() && self.needs_hook(address) {
                self.insert.hook("__rp_atomic_end", &[]);
            }
            return self.plain_accesses(Tag::Write, written.into_iter(), size, site);
        };
        let succeeded = match (returns_old, expected) {
            (true, AtomicValue::Arg(index)) => argument(index).map(|expected| self.equal(call, expected)),
            _ => Some(self.insert.to_i32(call)),
        };
        let Some(succeeded) = succeeded else { return };
        if self.needs_hook(address) {
            self.insert.hook("__rp_cas_result", &[succeeded]);
        }
        // Only a failure writes the old value back.
        let size = self.insert.multiply(size, self.insert.widened(self.negated(succeeded), false));
        self.plain_accesses(Tag::Write, written.into_iter(), size, site);
    }

    /// One event with a plain access to each of these pointers that needs one.
    fn plain_accesses(&self, tag: Tag, pointers: impl Iterator<Item = Value<'m>>, size: Value<'m>, site: SiteId) {
        let accesses: Vec<_> = pointers.filter(|p| self.needs_hook(*p)).map(|pointer| (tag, pointer, size)).collect();
        self.plain_event(&accesses, site);
    }

    /// One event with plain accesses: how, where and to how many bytes.
    pub(super) fn plain_event(&self, accesses: &[(Tag, Value<'m>, Value<'m>)], site: SiteId) {
        if accesses.is_empty() {
            return;
        }
        self.insert.hook("__rp_call_begin", &[self.site(site)]);
        for &(tag, pointer, size) in accesses {
            self.insert.hook("__rp_add", &[self.insert.const_i32(tag as u32), pointer, size]);
        }
        self.insert.hook("__rp_call_end", &[]);
    }

    /// The wire's code of a call's order, which may be known only at run time: C counts relaxed 0, consume 1,
    /// acquire 2 and so on; the wire has relaxed 1 and no consume.
    fn call_order(&self, call: Value<'m>, given: AtomicOrder) -> Value<'m> {
        let c_order = match given {
            AtomicOrder::Fixed(fixed) => return self.insert.const_i32(code(fixed)),
            AtomicOrder::Arg(index) => call.arguments().nth(usize::from(index)),
        };
        let Some(c_order) = c_order else { return self.insert.const_i32(u32::from(order::SEQ_CST)) };
        let c_order = self.insert.to_i32(c_order);
        let two = self.insert.const_i32(2);
        let shifted = self.plus_one(c_order);
        self.insert.select(LLVMIntPredicate::LLVMIntULT, (c_order, two), shifted, c_order)
    }

    fn plus_one(&self, number: Value<'m>) -> Value<'m> {
        self.insert.binary(LLVMOpcode::LLVMAdd, number, self.insert.const_i32(1))
    }
    fn or(&self, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        self.insert.binary(LLVMOpcode::LLVMOr, left, right)
    }
    fn shifted(&self, number: Value<'m>, by: u32, or: u32) -> Value<'m> {
        let shifted = self.insert.binary(LLVMOpcode::LLVMShl, number, self.insert.const_i32(by));
        self.or(shifted, self.insert.const_i32(or))
    }
    /// 1 if the two are equal, else 0.
    fn equal(&self, left: Value<'m>, right: Value<'m>) -> Value<'m> {
        let (one, zero) = (self.insert.const_i32(1), self.insert.const_i32(0));
        // A declaration of the program's own may have types that do not fit.
        let sides = if left.ty() == right.ty() {
            (left, right)
        } else {
            (self.insert.widened(left, false), self.insert.widened(right, false))
        };
        self.insert.select(LLVMIntPredicate::LLVMIntEQ, sides, one, zero)
    }
    /// 1 for 0, else 0.
    fn negated(&self, truth: Value<'m>) -> Value<'m> {
        self.equal(truth, self.insert.const_i32(0))
    }
}
