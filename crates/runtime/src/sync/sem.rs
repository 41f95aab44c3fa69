//! Semaphores.

use alloc::vec::Vec;

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

/// Semaphores with names. One that lost its name stays in use.
#[derive(Clone, Debug, Default)]
pub struct Names(Vec<(Option<Vec<u8>>, u64)>);

impl Names {
    /// No names.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The semaphore with this name.
    pub fn find(&self, name: &[u8]) -> Option<u64> {
        self.0.iter().find(|(known, _)| known.as_deref() == Some(name)).map(|(_, semaphore)| *semaphore)
    }

    /// Names a semaphore.
    pub fn insert(&mut self, name: Vec<u8>, semaphore: u64) {
        self.0.push((Some(name), semaphore));
    }

    /// Takes a name away; says whether there was one.
    pub fn remove(&mut self, name: &[u8]) -> bool {
        let found = self.0.iter_mut().find(|(known, _)| known.as_deref() == Some(name));
        found.is_some_and(|(known, _)| known.take().is_some())
    }

    /// Whether the semaphore has or had a name.
    pub fn is_named(&self, semaphore: u64) -> bool {
        self.0.iter().any(|(_, known)| *known == semaphore)
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
