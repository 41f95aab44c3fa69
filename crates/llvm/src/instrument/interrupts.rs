//! What the runtime has to know of handlers that interrupt threads (decision 58): whether the program may have any, and
//! which accesses are volatile ones of a `sig_atomic_t`, which the standards allow in handlers.

use model::SiteId;
use program::library;

use super::Weaver;
use crate::ir::{Module, Value};

/// Bytes of a `sig_atomic_t`, on both architectures.
const SIG_ATOMIC: u32 = 4;

impl<'m> Weaver<'_, 'm> {
    /// Notes the site of a volatile access to a `sig_atomic_t`.
    pub(super) fn note_volatile(&mut self, access: Value<'m>, size: u32, site: SiteId) {
        if access.is_volatile() && size == SIG_ATOMIC {
            self.volatile.push(site);
        }
    }

    /// Announces a call that a handler must not make in the middle of another one (decision 99).
    pub(super) fn unsafe_call(&self, call: Value<'m>, name: &str, site: SiteId) {
        if self.may_interrupt && !self.is_recorded() && library::handlers::is_unsafe_in_handlers(name) {
            self.insert.before(call);
            self.insert.hook("__rp_unsafe_call", &[self.site(site)]);
        }
    }
}

/// Whether threads of the program may interrupt each other.
pub(super) fn may_be(module: Module<'_>) -> bool {
    library::may_interrupt(|name| module.function(name).is_some_and(Value::is_declaration))
}

/// Defines the constants; to be called when all accesses have their hooks.
pub(super) fn define(weaver: &Weaver<'_, '_>) {
    let (module, insert) = (weaver.module, &weaver.insert);
    let define = |name, value| module.define_global(name, value).set_constant_global();
    define("__rp_interrupts", insert.const_i32(weaver.may_interrupt.into()));
    let mut sites: Vec<u32> = weaver.volatile.iter().map(|site| site.0).collect();
    sites.sort_unstable();
    define("__rp_volatiles", insert.const_i64(sites.len() as u64));
    // An array has to have a place, also without elements.
    sites.push(wire::NO_SITE);
    let sites: Vec<Value<'_>> = sites.into_iter().map(|site| insert.const_i32(site)).collect();
    define("__rp_volatile", insert.i32.const_array(&sites));
}
