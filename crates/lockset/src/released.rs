//! Locks that may have been released.

use std::collections::BTreeSet;
use std::sync::Arc;

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
    Among(Arc<[Spot]>),
    /// Any lock that code without a body may know.
    Outside,
    /// Any lock.
    Anything,
}

/// Most spots of locks that are told apart where there is no name for them.
const MOST_SPOTS: usize = 64;

/// All that may have been released. What is not known by name is kept as one set of spots: functions that call each other
/// through pointers release very many.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ReleasedLocks {
    named: BTreeSet<Lock>,
    /// Sorted.
    among: Option<Arc<[Spot]>>,
    outside: bool,
    anything: bool,
}

impl ReleasedLocks {
    /// Adds one.
    pub(crate) fn insert(&mut self, released: Released) {
        match released {
            _ if self.anything => {}
            Released::Named(lock) => {
                self.named.insert(lock);
            }
            Released::Among(spots) => self.add(&spots),
            Released::Outside => self.outside = true,
            Released::Anything => *self = Self { anything: true, ..Self::default() },
        }
    }
    fn add(&mut self, spots: &Arc<[Spot]>) {
        if self.anything {
            return;
        }
        let Some(known) = &self.among else {
            self.among = Some(Arc::clone(spots));
            return;
        };
        if Arc::ptr_eq(known, spots) || spots.iter().all(|spot| known.binary_search(spot).is_ok()) {
            return;
        }
        let mut all: Vec<Spot> = known.iter().chain(spots.iter()).copied().collect();
        all.sort_unstable();
        all.dedup();
        if all.len() > MOST_SPOTS {
            self.insert(Released::Anything);
        } else {
            self.among = Some(all.into());
        }
    }
    /// Adds all of the other.
    pub(crate) fn extend(&mut self, other: &Self) {
        self.named.extend(other.named.iter().copied());
        other.among.iter().for_each(|spots| self.add(spots));
        self.outside |= other.outside;
        if self.anything || other.anything {
            self.insert(Released::Anything);
        }
    }
    /// Takes out the names for which this holds.
    pub(crate) fn take(&mut self, which: impl Fn(&Lock) -> bool) -> Vec<Lock> {
        let taken: Vec<Lock> = self.named.iter().copied().filter(|lock| which(lock)).collect();
        taken.iter().for_each(|lock| {
            self.named.remove(lock);
        });
        taken
    }
    /// Grows whenever something is added.
    pub(crate) fn size(&self) -> usize {
        if self.anything {
            return usize::MAX;
        }
        self.named.len() + self.among.as_ref().map_or(0, |spots| spots.len()) + usize::from(self.outside)
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.size() == 0
    }
    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Released> + '_ {
        let named = self.named.iter().map(|lock| Released::Named(*lock));
        let among = self.among.iter().map(|spots| Released::Among(Arc::clone(spots)));
        let rest = [self.outside.then_some(Released::Outside), self.anything.then_some(Released::Anything)];
        named.chain(among).chain(rest.into_iter().flatten())
    }
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
        Released::Anything => true,
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
