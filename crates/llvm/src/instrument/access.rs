//! Plain and atomic loads and stores, copies and fills, and locals that other threads may see.

use inkwell::llvm_sys::LLVMOpcode;
use model::SiteId;
use wire::Tag;

use super::{Weaver, quiet};
use crate::intrinsics::Intrinsic;
use crate::ir::{Ty, Value};

impl<'m> Weaver<'_, 'm> {
    /// A load or store, plain (`volatile` is plain) or atomic.
    pub(super) fn access(&mut self, instruction: Value<'m>, site: SiteId) {
        let Some(address) = instruction.address() else { return };
        if !self.needs_hook(address) || !self.is_ordinary(address, site) {
            return;
        }
        let is_load = instruction.opcode() == Some(LLVMOpcode::LLVMLoad);
        let accessed = if is_load { Some(instruction) } else { instruction.operand(0) };
        let Some(size) = accessed.map(|value| self.size(value.ty())).filter(|size| *size > 0) else { return };
        if !instruction.is_atomic() {
            self.note_volatile(instruction, size, site);
            self.insert.before(instruction);
            if self.is_recorded() && self.log_access(instruction, address, size, site) {
                return;
            }
            let hook = match (self.is_recorded(), is_load) {
                (true, true) => "__rp_read",
                (true, false) => "__rp_write",
                (false, true) => quiet::READ,
                (false, false) => quiet::WRITE,
            };
            self.insert.hook(hook, &[address, self.insert.const_i32(size), self.site(site)]);
        } else {
            let tag = if is_load { Tag::Read } else { Tag::Write };
            self.atomic_access(instruction, address, size, tag, site);
        }
    }

    /// The number of bytes that an access of this type touches.
    pub(super) fn size(&self, ty: Ty<'m>) -> u32 {
        u32::try_from(self.module.layout().store_size(ty)).unwrap_or(u32::MAX)
    }

    /// A call to one of LLVM's own functions.
    pub(super) fn intrinsic(&mut self, call: Value<'m>, effect: Intrinsic, site: SiteId) {
        let name = call.called_function().map(Value::name).unwrap_or_default();
        match effect {
            Intrinsic::Copy => self.copy(call, site),
            Intrinsic::Fill => self.fill(call, site),
            Intrinsic::Unknown => self.unmodelled(Some(site), format!("uses the instruction `{name}`"), None),
            Intrinsic::Nothing | Intrinsic::PassesPointer | Intrinsic::ThreadLocal => {}
        }
    }

    fn copy(&mut self, call: Value<'m>, site: SiteId) {
        let (Some(to), Some(from), Some(len)) = (call.operand(0), call.operand(1), call.operand(2)) else { return };
        let ordinary = self.is_ordinary(to, site) && self.is_ordinary(from, site);
        if len.as_integer() == Some(0) || !ordinary {
            return;
        }
        self.insert.before(call);
        match (self.needs_hook(to), self.needs_hook(from)) {
            (false, false) => {}
            (true, true) => {
                let len = self.insert.widened(len, false);
                self.insert.hook("__rp_copy", &[to, from, len, self.site(site)]);
            }
            (true, false) => self.write_of(to, len, site),
            (false, true) => self.read_of(from, len, site),
        }
    }

    fn fill(&mut self, call: Value<'m>, site: SiteId) {
        let (Some(to), Some(len)) = (call.operand(0), call.operand(2)) else { return };
        if len.as_integer() != Some(0) && self.needs_hook(to) && self.is_ordinary(to, site) {
            self.insert.before(call);
            self.write_of(to, len, site);
        }
    }

    fn write_of(&mut self, to: Value<'m>, len: Value<'m>, site: SiteId) {
        if self.log_block(true, to, len, site) {
            return;
        }
        let len = self.insert.widened(len, false);
        self.insert.hook("__rp_set", &[to, len, self.site(site)]);
    }

    fn read_of(&mut self, from: Value<'m>, len: Value<'m>, site: SiteId) {
        if self.log_block(false, from, len, site) {
            return;
        }
        match len.as_integer().and_then(|len| u32::try_from(len).ok()) {
            Some(len) => self.insert.hook("__rp_read", &[from, self.insert.const_i32(len), self.site(site)]),
            None => {
                let len = self.insert.widened(len, false);
                self.insert.hook("__rp_call_begin", &[self.site(site)]);
                self.insert.hook("__rp_add", &[self.insert.const_i32(Tag::Read as u32), from, len]);
                self.insert.hook("__rp_call_end", &[]);
            }
        }
    }

    /// Arguments passed by value are copied by the call itself: a read of what is copied.
    pub(super) fn by_value_arguments(&mut self, call: Value<'m>, site: SiteId) {
        for (index, argument) in (0..).zip(call.arguments()) {
            let Some(ty) = call.by_value_argument(index) else { continue };
            if self.needs_hook(argument) && self.is_ordinary(argument, site) {
                self.insert.before(call);
                let size = self.insert.const_i32(self.size(ty));
                self.insert.hook("__rp_read", &[argument, size, self.site(site)]);
            }
        }
    }

    /// Announces the locals that other threads may see: those in the entry block after the last of them, the
    /// others (`alloca`, variable-length arrays) where they come into being. Copies in parameters have no site.
    pub(super) fn locals(&mut self, function: Value<'m>, visible: &[(Value<'m>, SiteId)]) {
        let Some(entry) = function.blocks().first().copied() else { return };
        let is_alloca = |i: &Value<'m>| i.opcode() == Some(LLVMOpcode::LLVMAlloca);
        let leading = entry.instructions().into_iter().take_while(is_alloca).collect::<Vec<_>>();
        let after_locals = entry.instructions().get(leading.len()).copied();
        for parameter in function.parameters() {
            let Some(ty) = parameter.by_value_parameter() else { continue };
            if let Some(at) = after_locals.filter(|_| self.needs_hook(parameter)) {
                self.insert.before(at);
                let size = self.insert.const_i64(u64::from(self.size(ty)));
                self.insert.hook("__rp_stack", &[parameter, size, self.insert.const_i32(wire::NO_SITE)]);
            }
        }
        for &(local, site) in visible.iter().filter(|(i, _)| is_alloca(i)) {
            match after_locals.filter(|_| leading.contains(&local)) {
                Some(at) => self.insert.before(at),
                None => self.insert.after(local),
            }
            let size = self.allocated_size(local);
            self.insert.hook("__rp_stack", &[local, size, self.site(site)]);
        }
    }

    /// The value of a register that was never written: the controlled runtime decides it, elsewhere it is zero. Only where
    /// it is read has it a place in the source.
    pub(super) fn unwritten(&self, value: Value<'m>, site: SiteId) {
        let decided = if self.is_recorded() {
            value.ty().zero()
        } else {
            self.insert.before(value);
            let is_read = self.insert.const_i32(value.location().is_some().into());
            let number = self.insert.asking_hook("__rp_unwritten", &[is_read, self.site(site)]);
            self.insert.number_as(number, value.ty())
        };
        value.replace_all_uses(decided);
        value.erase();
    }

    pub(super) fn allocated_size(&self, local: Value<'m>) -> Value<'m> {
        let element = self.module.layout().stride(local.allocated());
        match local.operand(0).map(|count| (count, count.as_integer())) {
            Some((_, Some(count))) => self.insert.const_i64(element.saturating_mul(count.max(0) as u64)),
            Some((count, None)) => {
                let count = self.insert.widened(count, false);
                self.insert.multiply(count, self.insert.const_i64(element))
            }
            None => self.insert.const_i64(element),
        }
    }
}
