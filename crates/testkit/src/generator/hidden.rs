//! What a race may be hidden behind: it shows only through something that depends on the schedule.

use super::sketch::{Item, LockRef, Sketch};
use super::{Case, Feature};
use crate::oracle::Limits;

/// What a race may be hidden behind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Hidden {
    /// An address that depends on shared data.
    Address,
    /// A lock that depends on shared data.
    LockPointer,
    /// The bound of a loop that depends on shared data.
    LoopBound,
    /// A thread that is created late, or by another one.
    LateThread,
}

impl Hidden {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Address, Self::LockPointer, Self::LoopBound, Self::LateThread];

    /// The sketch without it: nothing is accessed at such addresses, all such locks are one, such loops are not entered,
    /// or such threads do nothing.
    fn taken_out_of(self, sketch: &Sketch) -> Sketch {
        let mut sketch = sketch.clone();
        if self == Self::LateThread {
            let late = [Feature::LateCreate, Feature::NestedCreate].iter().any(|f| f.occurs_in(&sketch));
            sketch.threads.iter_mut().skip(2).filter(|_| late).for_each(Vec::clear);
        }
        sketch.threads.iter_mut().for_each(|items| self.take_out(items));
        sketch
    }

    fn take_out(self, items: &mut Vec<Item>) {
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
                | Item::Section(inner) => self.take_out(inner),
                _ => {}
            }
        }
    }
}

impl Case {
    /// Whether a race shows only through this: there are fewer without it.
    pub fn hides_a_race_behind(&self, hidden: Hidden) -> bool {
        let without = hidden.taken_out_of(&self.sketch);
        let fewer = |truth: crate::Truth| truth.races.len() < self.truth.races.len();
        !self.truth.races.is_empty() && without != self.sketch && without.truth(Limits::default()).is_some_and(fewer)
    }
}
