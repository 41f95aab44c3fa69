//! Traces without the order that handing over through the kernel gives.

use model::{Access, Op, Order, Trace};

use crate::pseudo::{PseudoCell, pseudo_cell};

/// Makes every access that hands something over through the kernel a relaxed one, which orders nothing.
pub fn forget_handover(trace: &mut Trace) {
    for event in trace.events.iter_mut() {
        match &mut event.op {
            Op::Access(access) => forget(access),
            Op::Accesses(accesses) | Op::Section { accesses, .. } => accesses.iter_mut().for_each(forget),
            _ => {}
        }
    }
}

fn forget(access: &mut Access) {
    let cell = access.atomic.and_then(|_| pseudo_cell(access.cell.start));
    if matches!(cell, Some(PseudoCell::FileContent | PseudoCell::PendingSignals)) {
        access.atomic = Some(Order::Relaxed);
    }
}
