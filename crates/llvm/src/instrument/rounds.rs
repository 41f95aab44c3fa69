//! Loops that wait for another thread: marks for the runtime where their rounds begin.
//!
//! Such a loop writes no plain memory but temporaries of a round: clang keeps the result of an atomic load of a pointer in a
//! local variable, as a number. It may read, lock and unlock, yield, and update atomically; the runtime finds out
//! whether a round really had no effect. The hook passes the values that are carried from round to round, and the
//! runtime compares them.
//!
//! The runtime leaves out rounds without effect. A plain read that does not happen in every round could then race
//! unnoticed, so a loop with such a read gets no hook, unless every round reads the same address. A loop that counts always has an effect and gets none either.

use std::collections::BTreeSet;

use inkwell::llvm_sys::LLVMOpcode;
use model::SiteId;
use program::library::threads::{self, ThreadOp};
use wire::Tag;

use super::Weaver;
use crate::assembly::{Assembly, Seen};
use crate::ir::{Block, Ty, Value};
use crate::loops::{Flow, Loop};

/// Values that may live on from round to round.
const CARRIED: usize = 4;
/// How many levels of calls in a loop are analysed.
const DEPTH: usize = 4;

/// A loop that waits.
pub(super) struct WaitingLoop<'m> {
    header: Block<'m>,
    /// The blocks from which another round begins.
    again: BTreeSet<Block<'m>>,
    /// Values that live on.
    carried: Vec<Value<'m>>,
    site: SiteId,
}

/// The values that a loop's header chooses by where it is entered from.
pub(super) fn phis<'m>(flow: &Flow<'m>, l: &Loop) -> impl Iterator<Item = Value<'m>> {
    let instructions = flow.blocks[l.header].instructions().into_iter();
    instructions.take_while(|instruction| instruction.opcode() == Some(LLVMOpcode::LLVMPHI))
}

/// The address that an instruction reads plainly, and the type of what it reads there.
fn plain_read<'m>(instruction: Value<'m>) -> Option<(Value<'m>, Ty<'m>)> {
    let is_plain = instruction.opcode() == Some(LLVMOpcode::LLVMLoad) && !instruction.is_atomic();
    instruction.address().filter(|_| is_plain).map(|address| (address, instruction.ty()))
}

/// Whether a call says where a local begins or ends to live.
fn is_about_lifetime(call: Value<'_>) -> bool {
    let name = call.called_function().map(Value::name).unwrap_or_default();
    name.starts_with("llvm.lifetime.") || name.starts_with("llvm.dbg.")
}

/// Whether a round with this inline assembly may have no effect.
fn assembly_may_be_idle<'m>(assembly: Value<'m>, call: Value<'m>, always: bool) -> bool {
    match Assembly::of(assembly, call) {
        // What an update does to memory is looked at when it has been executed.
        Assembly::Nothing | Assembly::Fence(_) | Assembly::Update => true,
        Assembly::Seen(Seen::Atomic(access)) => !access.writes,
        Assembly::Seen(Seen::Plain(accesses)) => always && accesses.iter().all(|access| access.tag == Tag::Read),
        Assembly::Operands | Assembly::Unknown => false,
    }
}

/// Whether such a value grows or shrinks from round to round; `again` are the blocks from which another one begins.
pub(super) fn counts<'m>(flow: &Flow<'m>, phi: Value<'m>, again: &[usize]) -> bool {
    phi.incoming().into_iter().any(|(from, next)| {
        let steps =
            matches!(next.opcode(), Some(LLVMOpcode::LLVMAdd | LLVMOpcode::LLVMSub | LLVMOpcode::LLVMGetElementPtr));
        steps && next.operands().any(|o| o == phi) && again.iter().any(|block| flow.blocks[*block] == from)
    })
}

impl<'m> WaitingLoop<'m> {
    /// Where its rounds begin.
    pub(super) fn header(&self) -> Block<'m> {
        self.header
    }
}

impl<'m> Weaver<'_, 'm> {
    /// The loops of a function that wait; before anything is inserted.
    pub(super) fn waiting_loops(&self, function: Value<'m>) -> Vec<WaitingLoop<'m>> {
        let flow = Flow::of(function);
        flow.loops().iter().filter_map(|l| self.waiting(&flow, l)).collect()
    }

    fn waiting(&self, flow: &Flow<'m>, l: &Loop) -> Option<WaitingLoop<'m>> {
        let again: Vec<usize> = flow.predecessors(l.header).iter().copied().filter(|b| l.blocks.contains(b)).collect();
        let leaves = |block: &usize| flow.successors(*block).iter().any(|to| !l.blocks.contains(to));
        let ends: Vec<usize> = l.blocks.iter().copied().filter(leaves).chain(again.iter().copied()).collect();
        let is_always = |block: usize| ends.iter().all(|end| flow.dominates(block, *end));
        let in_every_round = l.blocks.iter().filter(|block| is_always(**block));
        let instructions = in_every_round.flat_map(|block| flow.blocks[*block].instructions());
        let read: Vec<_> = instructions.filter_map(plain_read).collect();
        let mut sites = Vec::new();
        for block in &l.blocks {
            let always = is_always(*block);
            for instruction in flow.blocks[*block].instructions() {
                let may_be_idle = self.may_be_idle(instruction, always, DEPTH)
                    || plain_read(instruction).is_some_and(|one| read.contains(&one))
                    || self.writes_temporary(flow, l, instruction);
                if !may_be_idle {
                    return None;
                }
                let reads = instruction.address().is_some() || instruction.is_call();
                sites.extend(self.plan.sites.id(instruction).filter(|_| reads));
            }
        }
        let carried = self.carried(flow, l, &again)?;
        let again = again.iter().map(|block| flow.blocks[*block]).collect();
        Some(WaitingLoop { header: flow.blocks[l.header], again, carried, site: sites.into_iter().min()? })
    }

    /// Whether an instruction stores to a local variable that is nothing but a temporary of one round: only loads and stores
    /// of one size use it, and each load in the loop comes after a store of the same round, whichever way the round takes.
    /// What it holds when a round begins then decides nothing; and after rounds that read the same, it holds the same.
    fn writes_temporary(&self, flow: &Flow<'m>, l: &Loop, instruction: Value<'m>) -> bool {
        let stores = |i: Value<'m>| i.opcode() == Some(LLVMOpcode::LLVMStore);
        let Some(local) = instruction.address().filter(|_| stores(instruction)) else { return false };
        let layout = self.module.layout();
        let size = |i: Value<'m>| layout.stride(if stores(i) { i.part(0).ty() } else { i.ty() });
        let is_alloca = local.opcode() == Some(LLVMOpcode::LLVMAlloca) && self.plan.privacy.is_private_local(local);
        let users = local.users();
        let is_plain = |user: &Value<'m>| match user.opcode() {
            Some(LLVMOpcode::LLVMLoad) => true,
            Some(LLVMOpcode::LLVMStore) => user.address() == Some(local) && user.part(0) != local,
            _ => false,
        };
        // Inlining says where the locals of a function begin and end to live.
        let uses = || users.iter().copied().filter(|user| !is_about_lifetime(*user));
        if !is_alloca || !uses().all(|user| is_plain(&user) && size(user) == size(instruction)) {
            return false;
        }
        let in_block = |block: usize| {
            flow.blocks[block].instructions().into_iter().filter(|instruction| uses().any(|user| user == *instruction))
        };
        // The blocks at whose start it has been stored to in the same round.
        let mut stored: BTreeSet<usize> = l.blocks.iter().copied().filter(|block| *block != l.header).collect();
        loop {
            let after = |block: &usize| stored.contains(block) || in_block(*block).any(stores);
            let kept = stored.iter().copied().filter(|block| flow.predecessors(*block).iter().all(after));
            let kept: BTreeSet<usize> = kept.collect();
            if kept == stored {
                break;
            }
            stored = kept;
        }
        l.blocks.iter().all(|block| stored.contains(block) || in_block(*block).next().is_none_or(stores))
    }

    /// The values that live on to the next round; `None` when they cannot be compared, or when one always changes.
    fn carried(&self, flow: &Flow<'m>, l: &Loop, again: &[usize]) -> Option<Vec<Value<'m>>> {
        let mut carried = Vec::new();
        for phi in phis(flow, l) {
            let narrow = phi.ty().int_bits().is_some_and(|bits| bits <= 64);
            if !narrow && !phi.is_pointer() {
                return None;
            }
            if counts(flow, phi, again) {
                return None;
            }
            carried.push(phi);
        }
        (carried.len() <= CARRIED).then_some(carried)
    }

    /// Whether a round with this instruction may have no effect. `always`: it is executed in every round.
    fn may_be_idle(&self, instruction: Value<'m>, always: bool, depth: usize) -> bool {
        let Some(opcode) = instruction.opcode() else { return false };
        match opcode {
            LLVMOpcode::LLVMLoad => {
                // What no other thread can write cannot race; what the round writes of it is looked at by itself.
                let is_private = || instruction.address().is_some_and(|address| self.plan.privacy.is_private(address));
                always || instruction.is_atomic() || self.plan.sites.id(instruction).is_none() || is_private()
            }
            LLVMOpcode::LLVMCall => self.call_may_be_idle(instruction, always, depth),
            LLVMOpcode::LLVMStore
            | LLVMOpcode::LLVMInvoke
            | LLVMOpcode::LLVMCallBr
            | LLVMOpcode::LLVMAlloca
            | LLVMOpcode::LLVMVAArg
            | LLVMOpcode::LLVMLandingPad
            | LLVMOpcode::LLVMResume
            | LLVMOpcode::LLVMIndirectBr => false,
            _ => true,
        }
    }

    fn call_may_be_idle(&self, call: Value<'m>, always: bool, depth: usize) -> bool {
        let Some(function) = call.called_function() else {
            let assembly = call.callee().filter(|callee| callee.is_assembly());
            return assembly.is_some_and(|assembly| assembly_may_be_idle(assembly, call, always));
        };
        let name = function.name();
        if function.is_intrinsic() {
            return name.starts_with("llvm.dbg.") || name.starts_with("llvm.lifetime.");
        }
        if function.is_declaration() {
            let op = threads::lookup(&name).map(|f| f.op);
            return matches!(op, Some(ThreadOp::Lock { .. } | ThreadOp::Unlock { .. } | ThreadOp::Yield));
        }
        if depth == 0 {
            return false;
        }
        let flow = Flow::of(function);
        let ends: Vec<usize> = (0..flow.blocks.len()).filter(|b| flow.successors(*b).is_empty()).collect();
        flow.loops().is_empty()
            && flow.blocks.iter().enumerate().all(|(number, block)| {
                let always = always && ends.iter().all(|end| flow.dominates(number, *end));
                block.instructions().into_iter().all(|i| self.may_be_idle(i, always, depth - 1) || self.is_of_frame(i))
            })
    }

    /// Whether an instruction of a function that a round calls makes, fills or reads a local that nobody else can reach: it is
    /// gone when the function returns.
    fn is_of_frame(&self, instruction: Value<'m>) -> bool {
        let is_local = |local: Value<'m>| {
            local.opcode() == Some(LLVMOpcode::LLVMAlloca) && self.plan.privacy.is_private_local(local)
        };
        match instruction.opcode() {
            Some(LLVMOpcode::LLVMAlloca) => is_local(instruction),
            Some(LLVMOpcode::LLVMLoad | LLVMOpcode::LLVMStore) => instruction.address().is_some_and(is_local),
            _ => false,
        }
    }

    /// Inserts the hook that marks the beginning of a round.
    pub(super) fn round(&self, waiting: &WaitingLoop<'m>) {
        let WaitingLoop { header, again, carried, site } = waiting;
        let Some(phi) = self.is_again(*header, again) else { return };
        let mut arguments = vec![self.site(*site), phi];
        arguments.extend(carried.iter().map(|value| self.insert.widened(*value, false)));
        arguments.resize(2 + CARRIED, self.insert.const_i64(0));
        self.insert.hook("__rp_round", &arguments);
    }

    /// A number that says at the beginning of a loop's header whether another round begins, and goes there to insert.
    pub(super) fn is_again(&self, header: Block<'m>, again: &BTreeSet<Block<'m>>) -> Option<Value<'m>> {
        let first = header.instructions().first().copied()?;
        let body = header.first_insertion_point()?;
        self.insert.before(first);
        let phi = self.insert.phi(self.insert.i32);
        phi.set_name("again");
        for block in header.function().map(Value::blocks).unwrap_or_default() {
            for _ in block.successors().into_iter().filter(|successor| *successor == header) {
                phi.add_incoming(block, self.insert.const_i32(again.contains(&block).into()));
            }
        }
        self.insert.before(body);
        Some(phi)
    }
}
