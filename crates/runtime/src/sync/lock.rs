//! Mutexes and spin locks: one owner, counted when taken again.

use crate::sched::Thread;

use super::{Model, Object};

/// What giving a lock back came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Released {
    /// It is free now.
    Free,
    /// The owner took it more than once and still holds it.
    StillHeld,
    /// It was not held at all.
    NotHeld,
    /// Another thread held it; it is free now, as with the GNU C library.
    FromOther,
}

/// Whether what a robust mutex protects is as its owners leave it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Repair {
    /// It is; so it is of every other mutex.
    #[default]
    None,
    /// An owner ended, and nobody has said since that the data is consistent.
    Needed,
    /// It was given back in need of repair: nobody can take it any more.
    Impossible,
}

/// A mutex. Whether its owner may take it again is the caller's concern.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mutex {
    owner: Option<Thread>,
    /// How often the owner has taken it; 0 without an owner.
    depth: u32,
    repair: Repair,
}

impl Mutex {
    /// Who holds it.
    pub fn owner(&self) -> Option<Thread> {
        self.owner
    }

    /// Whether it is in need of repair.
    pub fn repair(&self) -> Repair {
        self.repair
    }

    /// The owner says that what it protects is consistent again.
    pub fn repaired(&mut self) {
        self.repair = Repair::None;
    }

    /// The owner of a robust mutex ends: the next owner is told.
    pub fn abandon(&mut self) {
        *self = Self { repair: Repair::Needed, ..Self::default() };
    }

    /// `thread` takes it: it is free, or `thread` holds it already.
    pub fn acquire(&mut self, thread: Thread) {
        debug_assert!(self.owner.is_none_or(|owner| owner == thread));
        self.owner = Some(thread);
        self.depth += 1;
    }

    /// `thread` gives it back.
    pub fn release(&mut self, thread: Thread) -> Released {
        match self.owner {
            None => Released::NotHeld,
            Some(owner) if owner == thread && self.depth > 1 => {
                self.depth -= 1;
                Released::StillHeld
            }
            Some(owner) => {
                let repair = if self.repair == Repair::None { Repair::None } else { Repair::Impossible };
                *self = Self { repair, ..Self::default() };
                if owner == thread { Released::Free } else { Released::FromOther }
            }
        }
    }
}

/// A spin lock: a mutex that must be initialised before use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spin(pub Mutex);

impl Model for Mutex {
    const NAME: &'static str = "mutex";
    fn wrap(self) -> Object {
        Object::Mutex(self)
    }
    fn of(object: &mut Object) -> Option<&mut Self> {
        if let Object::Mutex(mutex) = object { Some(mutex) } else { None }
    }
}

impl Model for Spin {
    const NAME: &'static str = "spin lock";
    fn wrap(self) -> Object {
        Object::Spin(self)
    }
    fn of(object: &mut Object) -> Option<&mut Self> {
        if let Object::Spin(spin) = object { Some(spin) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_outermost_release_frees() {
        let mut mutex = Mutex::default();
        mutex.acquire(1);
        mutex.acquire(1);
        assert_eq!(mutex.release(1), Released::StillHeld);
        assert_eq!(mutex.owner(), Some(1));
        assert_eq!(mutex.release(1), Released::Free);
        assert_eq!(mutex.release(1), Released::NotHeld);
    }

    #[test]
    fn a_robust_mutex_has_to_be_repaired() {
        let mut mutex = Mutex::default();
        mutex.acquire(1);
        mutex.abandon();
        assert_eq!((mutex.owner(), mutex.repair()), (None, Repair::Needed));
        mutex.acquire(2);
        mutex.repaired();
        assert_eq!((mutex.release(2), mutex.repair()), (Released::Free, Repair::None));
        mutex.acquire(1);
        mutex.abandon();
        mutex.acquire(2);
        assert_eq!((mutex.release(2), mutex.repair()), (Released::Free, Repair::Impossible));
    }

    #[test]
    fn another_threads_release_frees_at_once() {
        let mut mutex = Mutex::default();
        mutex.acquire(1);
        mutex.acquire(1);
        assert_eq!(mutex.release(2), Released::FromOther);
        assert_eq!(mutex.owner(), None);
    }
}
