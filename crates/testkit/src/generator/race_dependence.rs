//! Schedule-dependent races: a race that occurs only through an address, lock, loop or thread that depends on the
//! schedule.

use super::sketch::{Item, LockRef, Sketch};
use super::{Case, Feature};
use crate::oracle::Limits;

/// What a race may depend on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RaceDependence {
    /// An address that depends on shared data.
    Address,
    /// A lock that depends on shared data.
    LockPointer,
    /// The bound of a loop that depends on shared data.
    LoopBound,
    /// A thread that is created late, or by another one.
    LateThread,
}

impl RaceDependence {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Address, Self::LockPointer, Self::LoopBound, Self::LateThread];

    /// The sketch without it: such addresses are not accessed, all such locks are one, such loops are not entered, or
    /// such threads do nothing.
    fn removed_from(self, sketch: &Sketch) -> Sketch {
        let mut sketch = sketch.clone();
        if self == Self::LateThread {
            let late = [Feature::LateCreate, Feature::NestedCreate].iter().any(|f| f.occurs_in(&sketch));
            sketch.threads.iter_mut().skip(2).filter(|_| late).for_each(Vec::clear);
        }
        sketch.threads.iter_mut().for_each(|items| self.remove_from(items));
        sketch
    }

    fn remove_from(self, items: &mut Vec<Item>) {
        let hides = |item: &Item| match item {
            Item::ReadElement { .. } | Item::WriteElement { .. } => self == Self::Address,
            Item::RepeatUpTo { .. } => self == Self::LoopBound,
            _ => false,
        };
        items.retain(|item| !hides(item));
        for item in items {
            match item {
                Item::Lock(lock @ LockRef::Chosen(_)) | Item::Unlock(lock @ LockRef::Chosen(_))
                    if self == Self::LockPointer =>
                {
                    *lock = LockRef::Mutex(0);
                }
                Item::If { then: inner, .. }
                | Item::Repeat { body: inner, .. }
                | Item::RepeatUpTo { body: inner, .. }
                | Item::Section(inner) => self.remove_from(inner),
                _ => {}
            }
        }
    }
}

impl Case {
    /// Whether a race depends on this: there are fewer races without it.
    pub fn has_race_depending_on(&self, dependence: RaceDependence) -> bool {
        let without = dependence.removed_from(&self.sketch);
        let fewer = |truth: crate::Truth| truth.races.len() < self.truth.races.len();
        !self.truth.races.is_empty() && without != self.sketch && without.truth(Limits::default()).is_some_and(fewer)
    }
}
