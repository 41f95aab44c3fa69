//! Accesses of a thread that is alone need no hook (decision 49).
//!
//! Each site has a byte in `__rp_quiet`. A plain load or store calls its hook only while its site's byte is 0, which the
//! runtime changes. The functions that look are always inlined, and the site is a constant there: where the hook is not
//! needed, an access costs a comparison and a jump.

use inkwell::llvm_sys::{LLVMIntPredicate, LLVMLinkage};

use super::Weaver;
use super::recording::{function, mark_unlikely};
use crate::ir::{Module, Value};

/// Calls `__rp_read` unless the site is quiet.
pub(super) const READ: &str = "__rp_read_unless_quiet";
/// Calls `__rp_write` unless the site is quiet.
pub(super) const WRITE: &str = "__rp_write_unless_quiet";

/// Events of a serial stretch that are recorded before it is quiet.
const RECORDED: u64 = 10_000;

/// A constant of the program that replaces [`RECORDED`]: tests make short stretches quiet with it.
const RECORDED_BY_PROGRAM: &str = "__raceproof_serial_events";

/// Defines the functions and the bytes; to be called when all accesses have their hooks.
pub(super) fn define(weaver: &Weaver<'_, '_>) {
    let (module, insert) = (weaver.module, &weaver.insert);
    let sites = weaver.plan.sites.table.len() as u64;
    module.define_global("__rp_sites", insert.const_i64(sites)).set_constant_global();
    let recorded = recorded_by(module).unwrap_or(RECORDED);
    module.define_global("__rp_serial_events", insert.const_i64(recorded)).set_constant_global();
    let bytes = module.define_global("__rp_quiet", insert.i8.array(sites.max(1)).zero());
    for (name, hook) in [(READ, "__rp_read"), (WRITE, "__rp_write")] {
        define_access(weaver, name, hook, bytes);
    }
}

/// The program's own number of recorded events.
fn recorded_by(module: Module<'_>) -> Option<u64> {
    let content = module.global(RECORDED_BY_PROGRAM).filter(|global| global.is_constant_global())?.initializer()?;
    content.as_integer()?.try_into().ok()
}

/// `void NAME(void *p, uint32_t size, uint32_t site)`.
fn define_access<'m>(weaver: &Weaver<'_, 'm>, name: &str, hook: &'static str, bytes: Value<'m>) {
    let insert = &weaver.insert;
    let (access, _) = function(weaver, name, insert.void, &[insert.ptr, insert.i32, insert.i32]);
    access.set_linkage(LLVMLinkage::LLVMInternalLinkage);
    access.add_attribute("alwaysinline", 0);
    let parameters = access.parameters();
    let Some(site) = parameters.last().copied() else { return };
    let [ask, done] = ["ask", "done"].map(|name| access.append_block(name));
    let byte = insert.load(insert.i8, insert.offset(bytes, insert.widened(site, false)));
    let is_loud = insert.compare(LLVMIntPredicate::LLVMIntEQ, byte, insert.i8.zero());
    // Where other threads are, hooks are called all the time; it is the long stretches of one thread that have to be fast.
    mark_unlikely(weaver, insert.branch(is_loud, ask, done));

    insert.position_at_end(ask);
    insert.hook(hook, &parameters);
    insert.jump(done);

    insert.position_at_end(done);
    insert.ret(None);
}
