//! Calls of functions that are not the program's own, inline assembly, and addresses of external functions.

use std::ffi::c_char;

use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::{LLVMTailCallKind, LLVMValueKind};
use model::SiteId;
use program::library;
use wire::record::order;

use super::Weaver;
use crate::functions::demangle;
use crate::value::Value;

/// Assembly that does nothing but wait a moment or keep the compiler from moving accesses.
const IDLE_ASSEMBLY: [&str; 6] = ["", "nop", "pause", "rep nop", "rep; nop", "rep ; nop"];

impl<'m> Weaver<'_, 'm> {
    /// A call that is not one of LLVM's own functions.
    pub(super) fn call(&mut self, call: Value<'m>, site: SiteId) {
        self.by_value_arguments(call, site);
        match call.called_function() {
            Some(function) if !function.is_declaration() => {}
            Some(function) => self.external_call(call, &function.name(), site),
            None if call.callee().is_some_and(|c| c.kind() == LLVMValueKind::LLVMInlineAsmValueKind) => {
                self.assembly(call, site);
            }
            None => self.store_site(call, site),
        }
    }

    fn external_call(&mut self, call: Value<'m>, name: &str, site: SiteId) {
        if let Some(atomic) = library::atomics::lookup(name) {
            self.atomic_call(call, &atomic, site);
        } else if let Some(function) = library::threads::lookup(name) {
            self.thread_call(call, function, site);
            self.store_site(call, site);
        } else if let Some(function) = library::lookup(name) {
            self.library_call(call, function, name, site);
            if !function.is_pure() {
                self.store_site(call, site);
            }
        } else {
            if !self.plan.assume_pure.contains(name) {
                let what = format!("calls `{}`, whose effect on memory is not known", demangle(name));
                self.unmodelled(Some(site), what, Some(name.to_owned()));
            }
            self.store_site(call, site);
        }
    }

    /// Tells the runtime where the program is before a call that may get there. Volatile, because LLVM knows of
    /// some functions (`malloc`) that they do not read the program's memory and would move the store.
    fn store_site(&self, call: Value<'m>, site: SiteId) {
        self.insert.before(call);
        let variable = self.insert.runtime_variable("__rp_site", self.insert.i32);
        let store = self.insert.store(self.site(site), variable);
        unsafe { LLVMSetVolatile(store.raw(), 1) };
    }

    /// Makes room for instructions after a call that is to be the last of its function.
    pub(super) fn allow_code_after(&self, call: Value<'m>) {
        if call.next_instruction().is_some() {
            unsafe { LLVMSetTailCallKind(call.raw(), LLVMTailCallKind::LLVMTailCallKindNone) };
        }
    }

    fn assembly(&mut self, call: Value<'m>, site: SiteId) {
        let Some(assembly) = call.callee() else { return };
        let text = unsafe {
            let mut len = 0;
            let start: *const c_char = LLVMGetInlineAsmAsmString(assembly.raw(), &mut len);
            String::from_utf8_lossy(std::slice::from_raw_parts(start.cast::<u8>(), len)).trim().to_owned()
        };
        let text = text.trim_end_matches(';').trim_end();
        if text == "mfence" {
            self.insert.before(call);
            self.insert.hook("__rp_fence", &[self.insert.const_i32(u32::from(order::SEQ_CST)), self.site(site)]);
        } else if !IDLE_ASSEMBLY.contains(&text) {
            self.unmodelled(Some(site), "inline assembly", None);
        }
    }

    /// External functions whose address is taken: a call through a pointer has no hooks, so what such a function
    /// touches would go unseen.
    pub(super) fn addresses_taken(&mut self) {
        let plan = self.plan;
        for &function in plan.functions.table.iter().filter(|f| f.is_declaration()) {
            let name = function.name();
            if is_address_taken(function) && !self.is_harmless_through_pointer(&name) {
                let what = format!("calls `{}` through a pointer, where what it touches is not seen", demangle(&name));
                self.unmodelled(None, what, Some(name));
            }
        }
    }

    fn is_harmless_through_pointer(&self, name: &str) -> bool {
        let of_runtime = library::lookup(name).is_some_and(|f| f.by_runtime || f.is_pure());
        let threads = library::threads::lookup(name).is_some_and(|f| f.effects.is_empty());
        of_runtime || threads || self.plan.assume_pure.contains(name)
    }
}

/// Whether a function is used other than by calling it. A personality function is called by the unwinder alone.
fn is_address_taken(function: Value<'_>) -> bool {
    function.users().into_iter().any(|user| {
        let called_only = user.called_function() == Some(function) && !user.arguments().any(|a| a == function);
        !called_only && !user.is_function()
    })
}
