//! Atomic accesses and fences: operation and record under the lock of the address, so that who reads from whom is exact.

use core::ffi::c_void;
use core::sync::atomic::Ordering;

use wire::Tag;
use wire::record::order;

use crate::log::{append, event, number};
use crate::stripes;
use crate::thread::{local, state};

/// The current atomic operation, and the last read that was logged.
#[derive(Clone, Copy)]
pub struct Pending {
    address: u64,
    size: u32,
    kind_order: u32,
    site: u32,
    /// Whether there is one.
    open: bool,
    /// Address, site, writes under the lock so far and place in the buffer of the last read.
    last_read: (u64, u32, u32, usize),
}

/// An atomic access starts; `kind_order` as in `docs/runtime-abi.md`.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_atomic(p: *mut c_void, size: u32, kind_order: u32, site: u32) {
    let pending = &state().atomic;
    let Pending { open, last_read, .. } = pending.get();
    if open {
        // A signal's handler came between; what was open stays as it is.
        return;
    }
    pending.set(Pending { address: p as u64, size, kind_order, site, open: true, last_read });
    stripes::of(p as u64).lock();
}

/// The atomic access has happened.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_atomic_end() {
    finish(true);
}

/// The compare-exchange has happened; one that failed is a read.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_cas_result(success: u32) {
    finish(success != 0);
}

fn finish(success: bool) {
    let under_way = &state().atomic;
    let pending = under_way.get();
    if !pending.open {
        return;
    }
    let Pending { address, size, kind_order, site, last_read, .. } = pending;
    let stripe = stripes::of(address);
    let (tag, flags) = if success {
        let tag = match kind_order as u8 {
            1 => Tag::Read,
            2 => Tag::Write,
            _ => Tag::ReadModifyWrite,
        };
        (tag, (kind_order >> 8) as u8 & order::MASK)
    } else {
        (Tag::Read, (kind_order >> 16) as u8 & order::MASK)
    };
    let cursor = || local().cursor.get();
    let writes = stripe.writes.load(Ordering::Relaxed);
    let mut last = (0, 0, 0, 0);
    if tag == Tag::Read {
        // Waiting in a loop for another value, without doing anything else, is one read.
        if last_read == (address, site, writes, cursor()) {
            stripe.unlock();
            under_way.set(Pending { open: false, ..pending });
            return;
        }
    } else {
        stripe.writes.store(writes.wrapping_add(1), Ordering::Relaxed);
    }
    append(tag as u8, flags, address, site, size, [number(), 0]);
    if tag == Tag::Read {
        last = (address, site, writes, cursor());
    }
    stripe.unlock();
    under_way.set(Pending { open: false, last_read: last, ..pending });
}

/// A fence.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_fence(order: u32, site: u32) {
    event(Tag::Fence, order as u8 & wire::record::order::MASK, 0, site, 0);
}
