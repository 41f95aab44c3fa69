//! Semaphores.

use super::{Model, Object};

/// The largest value (`SEM_VALUE_MAX`).
pub const MAX: u32 = i32::MAX as u32;

/// A semaphore.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Semaphore {
    /// How often it can be taken without waiting.
    pub value: u32,
}

impl Semaphore {
    /// Takes one, if there is one.
    pub fn take(&mut self) -> bool {
        let had = self.value > 0;
        self.value -= u32::from(had);
        had
    }
    /// Adds one; `false` when it is at its largest.
    pub fn post(&mut self) -> bool {
        let fits = self.value < MAX;
        self.value += u32::from(fits);
        fits
    }
}

impl Model for Semaphore {
    const NAME: &'static str = "semaphore";
    fn wrap(self) -> Object {
        Object::Semaphore(self)
    }
    fn of(object: &mut Object) -> Option<&mut Self> {
        if let Object::Semaphore(semaphore) = object { Some(semaphore) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{Blocker, SyncObjects};

    #[test]
    fn blocks_at_zero_and_stops_at_the_largest_value() {
        let mut objects = SyncObjects::new();
        objects.put(8, Semaphore { value: 1 });
        let blocked = |objects: &SyncObjects| objects.blocked(0, &Blocker::Sem { sem: 8 });
        assert!(!blocked(&objects));
        let sem = objects.find::<Semaphore>(8).unwrap();
        assert!(sem.take() && !sem.take());
        assert!(blocked(&objects));
        assert!(objects.find::<Semaphore>(8).unwrap().post() && !blocked(&objects));
        assert!(!Semaphore { value: MAX }.post());
    }
}
