//! Locks in an array that protect the elements of another: `locks[i]` for `data[i]`.
//!
//! Two accesses to `data[i].f` and `data[j].g`, each within an element, that touch the same byte have `i = j`, as
//! elements do not overlap. If the one holds the lock at `l + i·t + u` and the other the one at `l + j·t + u`, with the
//! same `l`, `t` and `u`, both hold the same lock. That the index of the access and of the lock is one value is seen by
//! its being one local, which is not assigned while the name of the lock is kept.

use facts::Solved;
use facts::address::{Address, Base};
use facts::order::Context;
use facts::spot::Spot;
use model::LockMode;

use crate::events::Way;
use crate::reasons::Cause;

/// A held lock that is chosen by the index of the accessed element.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Stripe {
    /// The first element, an object that exists once.
    data: Spot,
    /// From one element to the next.
    size: i64,
    /// Where in the element the access starts.
    within: i64,
    /// The array of locks, an object that exists once.
    locks: Spot,
    /// From one lock to the next.
    step: i64,
    /// From the element of `locks` with the same index to the lock.
    offset: i64,
    mode: LockMode,
}

impl Stripe {
    /// A lock and an access with the same index.
    pub(crate) fn new(
        facts: &Solved<'_>,
        context: &Context,
        access: &Address,
        lock: &Address,
        mode: LockMode,
    ) -> Option<Self> {
        let ((index, size), (lock_index, step)) = (access.index?, lock.index?);
        if index != lock_index || size <= 0 {
            return None;
        }
        let base = |base: Base| {
            let spots = facts.spots(context, &Address { base, index: None, offset: 0 });
            let [spot] = spots[..] else { return None };
            (spot.stride == 0 && facts.is_unique(spot.object)).then_some(spot)
        };
        // The element may be so many further than the index says.
        let further = access.offset.div_euclid(size);
        let offset = lock.offset.checked_sub(further.checked_mul(step)?)?;
        let (data, locks) = (base(access.base)?, base(lock.base)?);
        Some(Self { data, size, within: access.offset.rem_euclid(size), locks, step, offset, mode })
    }

    /// Whether an access of so many bytes stays in its element.
    fn holds(&self, len: u64) -> bool {
        i64::try_from(len).ok().and_then(|len| self.within.checked_add(len)).is_some_and(|end| end <= self.size)
    }
}

/// A lock that both hold if they touch the same element.
pub(crate) fn same_index(one: &Way, other: &Way) -> Option<Cause> {
    let (len, other_len) = (one.len?, other.len?);
    let found = one.stripes.iter().filter(|a| a.holds(len)).find(|a| {
        other.stripes.iter().filter(|b| b.holds(other_len)).any(|b| {
            let same = (a.data, a.size, a.locks, a.step, a.offset) == (b.data, b.size, b.locks, b.step, b.offset);
            same && (a.mode == LockMode::Exclusive || b.mode == LockMode::Exclusive)
        })
    });
    found.map(|stripe| Cause::SameIndex(stripe.locks))
}
