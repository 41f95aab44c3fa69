//! Locks that may have been released.

use facts::Solved;
use facts::order::Context;
use facts::spot::{Origin, Spot};

use crate::lock::{Lock, may_be_same};

/// What may have been released.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Released {
    /// This lock.
    Named(Lock),
    /// A lock at one of these.
    Among(Vec<Spot>),
    /// Any lock that code without a body may know.
    Outside,
}

/// Whether what was released may be this lock of the context's.
pub(crate) fn may_release(facts: &Solved<'_>, context: &Context, released: &Released, lock: &Lock) -> bool {
    // Posting a semaphore is giving it back.
    let lock = if let Lock::NotPosted(spot) = lock { &Lock::At(*spot) } else { lock };
    match released {
        Released::Named(named) => may_be_same(facts, context.function, Some(context), named, lock),
        Released::Among(spots) => {
            let own = match lock {
                Lock::At(spot) => vec![*spot],
                Lock::Symbol(address) => facts.spots(context, address),
                _ => return false,
            };
            own.is_empty() || facts.points_to.meet(&own, spots)
        }
        Released::Outside => {
            let known = |spot: &Spot| {
                facts.points_to.is_known_outside(spot.object) || facts.points_to.origin(spot.object) == Origin::Outside
            };
            match lock {
                Lock::At(spot) => known(spot),
                Lock::Symbol(address) => {
                    let spots = facts.spots(context, address);
                    spots.is_empty() || spots.iter().any(known)
                }
                _ => false,
            }
        }
    }
}
