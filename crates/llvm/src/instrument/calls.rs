//! Calls of functions that are not the program's own, inline assembly, and addresses of external functions.

use inkwell::llvm_sys::{LLVMTailCallKind, LLVMValueKind};
use model::SiteId;
use program::Unmodelled;
use program::library::{self, LibraryFunction, Role};

use super::Weaver;
use super::atomics::code;
use crate::assembly::{self, Assembly, Len, Plain, Seen};
use crate::functions::demangle;
use crate::ir::Value;
use crate::openmp;
use crate::pointers::is_address_taken;
use crate::system_calls::system_call;

impl<'m> Weaver<'_, 'm> {
    /// A call that is not one of LLVM's own functions.
    pub(super) fn call(&mut self, call: Value<'m>, site: SiteId) {
        self.by_value_arguments(call, site);
        match call.called_function() {
            Some(function) if !function.is_declaration() => {}
            Some(function) => self.external_call(call, &function.name(), site),
            None => match call.callee() {
                Some(callee) if callee.is_assembly() => {
                    self.assembly(call, callee, site);
                }
                Some(callee) if callee.kind() == LLVMValueKind::LLVMGlobalIFuncValueKind => {
                    self.unmodelled(Some(site), "calls a function that is chosen when the program is loaded", None);
                }
                _ => self.store_site(call, site),
            },
        }
    }

    fn external_call(&mut self, call: Value<'m>, name: &str, site: SiteId) {
        self.unsafe_call(call, name, site);
        if let Some(atomic) = library::atomics::lookup(name) {
            self.atomic_call(call, &atomic, site);
        } else if let Some(function) =
            library::threads::lookup(name).or_else(|| system_call(self.module.architecture(), call))
        {
            self.thread_call(call, function, site);
            self.store_site(call, site);
        } else if let Some(function) = library::lookup(name) {
            self.allocation(call, function, site);
            self.library_call(call, function, name, site);
            if !function.is_pure() {
                self.store_site(call, site);
            }
        } else {
            let pure =
                self.plan.assume_pure.contains(name) || call.called_function().is_some_and(Value::touches_no_memory);
            if let Some(what) = openmp::unsupported(name) {
                self.unmodelled(Some(site), what, None);
            } else if !pure {
                let what = format!("calls `{}`, whose effect on memory is not known", demangle(name));
                self.unfollowed(call, site, what, name);
            }
            self.store_site(call, site);
        }
    }

    /// Notes a call that has no model, and lets a run say when it reaches it ([`Unmodelled::is_announced`]).
    pub(super) fn unfollowed(&mut self, call: Value<'m>, site: SiteId, what: String, name: &str) {
        self.unmodelled(Some(site), what, Some(name.to_owned()));
        if !self.is_recorded() {
            self.insert.before(call);
            self.insert.hook("__rp_unfollowed", &[self.site(site)]);
        }
    }

    /// Lets the runtime decide whether the program gets the memory it asks for, and what is in it.
    fn allocation(&self, call: Value<'m>, function: &LibraryFunction, site: SiteId) {
        let allocates = matches!(
            function.role,
            Role::Allocate { .. } | Role::Reallocate { .. } | Role::AllocateInto { .. } | Role::AllocateInside
        );
        if allocates && !self.is_recorded() {
            // Only of memory that other threads may reach every write is an event. What the library writes is none.
            let pointer = match function.role {
                Role::AllocateInto { pointer, .. } => call.argument(pointer),
                Role::AllocateInside => None,
                _ => Some(call),
            };
            let shared = pointer.is_some_and(|pointer| self.needs_hook(pointer));
            self.insert.before(call);
            self.insert.hook("__rp_allocation", &[self.site(site), self.insert.const_i32(shared.into())]);
        }
    }

    /// Stores the current site before a call that may enter the runtime. Volatile, because LLVM knows that some functions
    /// (`malloc`) do not read the program's memory and would move the store.
    pub(super) fn store_site(&self, call: Value<'m>, site: SiteId) {
        self.insert.before(call);
        let variable = if self.is_recorded() {
            self.thread_site()
        } else {
            self.insert.runtime_variable("__rp_site", self.insert.i32)
        };
        let store = self.insert.store(self.site(site), variable);
        store.set_volatile(true);
    }

    /// Makes room for instructions after a call that is to be the last of its function.
    pub(super) fn allow_code_after(&self, call: Value<'m>) {
        if call.next_instruction().is_some() {
            call.set_tail_call(LLVMTailCallKind::LLVMTailCallKindNone);
        }
    }

    fn assembly(&mut self, call: Value<'m>, assembly: Value<'m>, site: SiteId) {
        match Assembly::of(assembly, call) {
            Assembly::Nothing => {}
            Assembly::Update => assembly::operands(call).for_each(|(place, ty)| self.update(call, place, ty, site)),
            Assembly::Fence(order) => {
                self.insert.before(call);
                self.insert.hook("__rp_fence", &[self.insert.const_i32(code(order)), self.site(site)]);
            }
            Assembly::Seen(Seen::Atomic(access)) => self.assembly_access(call, access, site),
            Assembly::Seen(Seen::Plain(accesses)) => {
                let reported: Vec<_> = accesses.iter().filter(|access| self.needs_hook(access.place)).collect();
                self.insert.before(call);
                let of = |access: &&Plain<'m>| (access.tag, access.place, self.assembly_len(access.len));
                self.plain_event(&reported.iter().map(of).collect::<Vec<_>>(), site);
            }
            Assembly::Operands | Assembly::Unknown => {
                // It may order anything, so all of it is ordered: what races in spite of that is a race.
                let place = self.insert.to_pointer(self.insert.const_i64(wire::ASSEMBLY));
                self.insert.before(call);
                self.update_at(call, place, 1, site);
                self.unmodelled(Some(site), Unmodelled::UNSEEN_ASSEMBLY, None);
            }
        }
    }

    /// How many bytes an access of inline assembly touches.
    pub(super) fn assembly_len(&self, len: Len<'m>) -> Value<'m> {
        match len {
            Len::Bytes(bytes) => self.insert.const_i64(bytes.into()),
            Len::All(ty) => self.insert.const_i64(self.size(ty).into()),
            Len::Times(unit, count) => {
                self.insert.multiply(self.insert.widened(count, false), self.insert.const_i64(unit.into()))
            }
        }
    }

    /// External functions that are called through a pointer without a stand-in: what they touch goes unseen.
    pub(super) fn addresses_taken(&mut self) {
        let plan = self.plan;
        for &function in plan.functions.table.iter().filter(|f| f.is_declaration()) {
            let name = function.name();
            if is_address_taken(function) && !self.is_harmless_through_pointer(function, &name) {
                let what = format!("calls `{}` through a pointer, where what it touches is not seen", demangle(&name));
                self.unmodelled(None, what, Some(name));
            }
        }
    }

    fn is_harmless_through_pointer(&self, function: Value<'m>, name: &str) -> bool {
        library::lookup(name).is_some_and(|f| f.by_runtime || f.is_pure())
            || library::threads::lookup(name).is_some_and(|f| f.effects.is_empty())
            || self.plan.assume_pure.contains(name)
            || function.touches_no_memory()
    }
}
