//! `simd` loops: marks for the runtime where their iterations begin and what these touch, which the runtime compares.
//!
//! Calls of library functions tell what they touch by the hooks that they have anyway.

use std::collections::{BTreeMap, BTreeSet};

use inkwell::llvm_sys::LLVMOpcode;
use model::SiteId;
use wire::Tag;
use wire::record::order;

use super::{Plan, Weaver};
use crate::assembly::{self, Assembly, Seen};
use crate::escape;
use crate::intrinsics::{self, Intrinsic};
use crate::ir::Value;
use crate::lanes::{self, LaneLoop};

/// The loops of a program for the controlled runtime, and what their lanes execute. Found before anything is inserted.
pub(super) struct Watched<'m> {
    loops: BTreeMap<Value<'m>, Vec<LaneLoop<'m>>>,
    executed: BTreeSet<Value<'m>>,
}

impl<'m> Watched<'m> {
    pub(super) fn of(plan: &Plan<'_, 'm>) -> Self {
        let is_controlled = plan.recorded_without.is_none();
        let functions: Vec<_> = plan.functions.defined().map(|(_, function)| function).collect();
        let of = |f: &Value<'m>| Some((*f, lanes::loops(*f))).filter(|(_, loops)| is_controlled && !loops.is_empty());
        let loops: BTreeMap<_, _> = functions.iter().filter_map(of).collect();
        let executed = loops.values().flat_map(|loops| lanes::executed(loops, &functions)).collect();
        Self { loops, executed }
    }
}

impl<'m> Weaver<'_, 'm> {
    /// A plain or atomic access, a copy or a fill that a lane makes, before the hooks that it has besides.
    pub(super) fn lane_access(&mut self, instruction: Value<'m>, site: SiteId) {
        if !self.watched.executed.contains(&instruction) {
            return;
        }
        match instruction.opcode() {
            Some(LLVMOpcode::LLVMLoad) => self.touch(instruction, Tag::Read, instruction, site),
            Some(LLVMOpcode::LLVMStore) => self.touch(instruction, Tag::Write, instruction.part(0), site),
            Some(LLVMOpcode::LLVMAtomicRMW) => self.touch(instruction, Tag::ReadModifyWrite, instruction.part(1), site),
            Some(LLVMOpcode::LLVMAtomicCmpXchg) => {
                self.touch(instruction, Tag::ReadModifyWrite, instruction.part(1), site)
            }
            Some(LLVMOpcode::LLVMCall) => match intrinsics::of_call(instruction) {
                Some(Intrinsic::Copy) => {
                    self.touch_range(instruction, Tag::Read, 1, site);
                    self.touch_range(instruction, Tag::Write, 0, site);
                }
                Some(Intrinsic::Fill) => self.touch_range(instruction, Tag::Write, 0, site),
                Some(_) => {}
                None => match instruction.callee().filter(|callee| callee.is_assembly()) {
                    Some(assembly) => self.touch_by_assembly(instruction, Assembly::of(assembly, instruction), site),
                    None => self.in_order(instruction),
                },
            },
            _ => {}
        }
    }

    fn touch(&self, instruction: Value<'m>, tag: Tag, value: Value<'m>, site: SiteId) {
        let Some(address) = instruction.address().filter(|address| is_ordinary(*address)) else { return };
        let size = self.insert.const_i64(self.size(value.ty()).into());
        let order = if instruction.is_atomic() || tag == Tag::ReadModifyWrite { order::RELAXED } else { order::PLAIN };
        self.insert.before(instruction);
        self.lane_hook(address, size, tag, order, site);
    }

    fn touch_range(&self, call: Value<'m>, tag: Tag, pointer: u32, site: SiteId) {
        let (Some(address), Some(len)) = (call.operand(pointer), call.operand(2)) else { return };
        if escape::roots(address).iter().all(|root| lanes::is_own_local(*root)) || !is_ordinary(address) {
            return;
        }
        self.insert.before(call);
        let len = self.insert.widened(len, false);
        self.lane_hook(address, len, tag, order::PLAIN, site);
    }

    /// What is not known of assembly makes the answer unknown elsewhere.
    fn touch_by_assembly(&self, call: Value<'m>, effect: Assembly<'m>, site: SiteId) {
        self.insert.before(call);
        match effect {
            Assembly::Update => {
                for (place, ty) in assembly::operands(call) {
                    let size = self.insert.const_i64(self.size(ty).into());
                    self.lane_hook(place, size, Tag::ReadModifyWrite, order::RELAXED, site);
                }
            }
            Assembly::Seen(Seen::Atomic(access)) => {
                let tag = if access.writes { Tag::Write } else { Tag::Read };
                let size = self.insert.const_i64(access.bytes.into());
                self.lane_hook(access.place, size, tag, order::RELAXED, site);
            }
            Assembly::Seen(Seen::Plain(accesses)) => {
                for access in accesses {
                    self.lane_hook(access.place, self.assembly_len(access.len), access.tag, order::PLAIN, site);
                }
            }
            Assembly::Nothing | Assembly::Fence(_) | Assembly::Operands | Assembly::Unknown => {}
        }
    }

    fn lane_hook(&self, address: Value<'m>, size: Value<'m>, tag: Tag, order: u8, site: SiteId) {
        let kind = self.insert.const_i32(tag as u32 | u32::from(order) << 8);
        self.insert.hook("__rp_lane_access", &[address, size, kind, self.site(site)]);
    }

    /// A call of the body of `ordered simd`, which lanes execute in turn.
    fn in_order(&self, call: Value<'m>) {
        let is_in_order = |f: Value<'m>| f.name().starts_with(program::openmp::IN_ORDER);
        if call.called_function().is_some_and(is_in_order) {
            self.insert.before(call);
            self.insert.hook("__rp_lane_order", &[self.insert.const_i32(1)]);
            self.insert.after(call);
            self.insert.hook("__rp_lane_order", &[self.insert.const_i32(0)]);
        }
    }

    /// The address of the current function's frame.
    fn frame(&self) -> Value<'m> {
        self.own_function("llvm.frameaddress", &[self.insert.const_i32(0)])
    }

    /// Calls one of LLVM's own functions that gives a pointer.
    fn own_function(&self, name: &str, arguments: &[Value<'m>]) -> Value<'m> {
        let function = self.module.intrinsic(name, self.insert.ptr);
        self.insert.call(function.value_type(), function, arguments)
    }

    /// Inserts the hooks that mark the iterations of a function's loops.
    pub(super) fn lanes(&self, function: Value<'m>) {
        let loops = self.watched.loops.get(&function).into_iter().flatten();
        for (number, LaneLoop { header, again, exits, together, blocks, own }) in (0..).zip(loops) {
            let number = self.insert.const_i32(number);
            for exit in exits {
                if let Some(first) = exit.first_insertion_point() {
                    self.insert.before(first);
                    let frame = self.frame();
                    self.insert.hook("__rp_lanes_end", &[number, frame]);
                }
            }
            let Some(phi) = self.is_again(*header, again) else { continue };
            let together = self.insert.const_i32(together.unwrap_or(0));
            let frame = self.frame();
            let stack = self.own_function("llvm.stacksave", &[]);
            self.insert.hook("__rp_lane", &[number, together, phi, frame, stack]);
            let (inside, before): (Vec<Value<'m>>, Vec<_>) =
                own.iter().copied().partition(|local| local.block().is_some_and(|block| blocks.contains(&block)));
            for local in before {
                self.insert.hook("__rp_lane_own", &[local, self.allocated_size(local)]);
            }
            for local in inside {
                self.insert.after(local);
                self.insert.hook("__rp_lane_own", &[local, self.allocated_size(local)]);
            }
        }
    }
}

fn is_ordinary(pointer: Value<'_>) -> bool {
    pointer.ty().address_space().is_none_or(|space| space == 0)
}
