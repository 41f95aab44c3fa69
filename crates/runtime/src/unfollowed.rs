//! Calls that runs do not follow: functions without a body whose effect is not known. Instrumentation announces each, and
//! the trace says which ones a run reached, once for each place.

use alloc::vec::Vec;

use crate::cell::Global;
use crate::sched;

/// The places that this run has reached.
static REACHED: Global<Vec<u32>> = Global::new(Vec::new());

/// The program is about to make such a call.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_unfollowed(site: u32) {
    if !sched::running() {
        return;
    }
    let is_new = REACHED.with(|reached| {
        let at = reached.binary_search(&site).err();
        at.map(|at| reached.insert(at, site)).is_some()
    });
    if is_new {
        crate::hooks::set_site(site);
        sched::unmodelled(wire::UNFOLLOWED);
    }
}
