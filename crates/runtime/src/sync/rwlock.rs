//! Reader-writer locks: one writer or any number of readers. Where writers are preferred, one that waits keeps further
//! readers out.

use alloc::vec::Vec;

use crate::sched::Thread;

use super::{Mode, Model, Object, Released, SyncObjects};

/// A reader-writer lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rwlock {
    writer: Option<Thread>,
    /// Shared holds, counted as often as taken; who has them is in [`SharedHolds`].
    readers: u32,
    /// Writers that are preferred and wait.
    waiting: u32,
}

impl Rwlock {
    /// Who holds it alone.
    pub fn writer(&self) -> Option<Thread> {
        self.writer
    }
    /// Whether it can be taken so.
    pub fn available(&self, mode: Mode) -> bool {
        self.writer.is_none()
            && match mode {
                Mode::Shared => self.waiting == 0,
                Mode::Exclusive => self.readers == 0,
            }
    }

    /// A writer that is preferred waits from now on.
    pub fn announce_writer(&mut self) {
        self.waiting += 1;
    }

    /// A writer that waited does no more.
    pub fn retract_writer(&mut self) {
        self.waiting -= 1;
    }
    /// Whether anybody holds it.
    pub fn held(&self) -> bool {
        !self.available(Mode::Exclusive)
    }
}

impl Model for Rwlock {
    const NAME: &'static str = "reader-writer lock";
    fn wrap(self) -> Object {
        Object::Rwlock(self)
    }
    fn of(object: &mut Object) -> Option<&mut Self> {
        if let Object::Rwlock(lock) = object { Some(lock) } else { None }
    }
}

/// Who holds reader-writer locks shared: one entry per hold, in order of taking. Short at any time.
#[derive(Clone, Debug, Default)]
pub struct SharedHolds(Vec<(u64, Thread)>);

impl SharedHolds {
    /// No holds.
    pub const fn new() -> Self {
        Self(Vec::new())
    }
    /// The smallest lock that `thread` holds shared.
    pub fn first_of(&self, thread: Thread) -> Option<u64> {
        self.0.iter().filter(|(_, holder)| *holder == thread).map(|(lock, _)| *lock).min()
    }
    /// Forgets the holds of a lock that is no more.
    pub fn forget(&mut self, lock: u64) {
        self.0.retain(|(held, _)| *held != lock);
    }
}

impl SyncObjects {
    /// `thread` takes the lock, which is available in this mode.
    pub fn acquire_rwlock(&mut self, lock: u64, thread: Thread, mode: Mode) {
        let object = self.ensure::<Rwlock>(lock);
        debug_assert!(object.available(mode));
        match mode {
            Mode::Exclusive => object.writer = Some(thread),
            Mode::Shared => {
                object.readers += 1;
                self.shared.0.push((lock, thread));
            }
        }
    }

    /// How `thread` holds the lock.
    pub fn rwlock_mode(&mut self, lock: u64, thread: Thread) -> Option<Mode> {
        if self.ensure::<Rwlock>(lock).writer == Some(thread) {
            return Some(Mode::Exclusive);
        }
        self.shared.0.contains(&(lock, thread)).then_some(Mode::Shared)
    }

    /// `thread` gives the lock back, however it holds it. A hold of another thread stays.
    pub fn release_rwlock(&mut self, lock: u64, thread: Thread) -> Released {
        match self.rwlock_mode(lock, thread) {
            Some(Mode::Exclusive) => self.ensure::<Rwlock>(lock).writer = None,
            Some(Mode::Shared) => {
                self.ensure::<Rwlock>(lock).readers -= 1;
                let last = self.shared.0.iter().rposition(|hold| *hold == (lock, thread));
                self.shared.0.remove(last.expect("raceproof bug: a shared hold without an entry"));
            }
            None if self.ensure::<Rwlock>(lock).held() => return Released::FromOther,
            None => return Released::NotHeld,
        }
        if self.ensure::<Rwlock>(lock).held() { Released::StillHeld } else { Released::Free }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::Blocker;

    const L: u64 = 0x1000;

    fn blocked(objects: &SyncObjects, mode: Mode) -> bool {
        objects.blocked(9, &Blocker::Lock { lock: L, mode })
    }

    #[test]
    fn a_preferred_writer_keeps_readers_out() {
        let mut objects = SyncObjects::new();
        objects.acquire_rwlock(L, 1, Mode::Shared);
        objects.ensure::<Rwlock>(L).announce_writer();
        assert!(blocked(&objects, Mode::Shared) && blocked(&objects, Mode::Exclusive));
        assert_eq!(objects.release_rwlock(L, 1), Released::Free);
        objects.ensure::<Rwlock>(L).retract_writer();
        objects.acquire_rwlock(L, 2, Mode::Exclusive);
        assert_eq!(objects.release_rwlock(L, 2), Released::Free);
        assert!(!blocked(&objects, Mode::Shared));
    }

    #[test]
    fn readers_share_and_writers_do_not() {
        let mut objects = SyncObjects::new();
        assert!(!blocked(&objects, Mode::Shared) && !blocked(&objects, Mode::Exclusive));
        objects.acquire_rwlock(L, 1, Mode::Shared);
        objects.acquire_rwlock(L, 2, Mode::Shared);
        objects.acquire_rwlock(L, 1, Mode::Shared);
        assert!(!blocked(&objects, Mode::Shared) && blocked(&objects, Mode::Exclusive));
        assert_eq!(objects.release_rwlock(L, 1), Released::StillHeld);
        assert_eq!(objects.rwlock_mode(L, 1), Some(Mode::Shared));
        assert_eq!(objects.release_rwlock(L, 2), Released::StillHeld);
        assert_eq!(objects.release_rwlock(L, 2), Released::FromOther);
        assert_eq!(objects.release_rwlock(L, 1), Released::Free);
        assert_eq!(objects.release_rwlock(L, 1), Released::NotHeld);
        objects.acquire_rwlock(L, 3, Mode::Exclusive);
        assert!(blocked(&objects, Mode::Shared) && blocked(&objects, Mode::Exclusive));
        assert_eq!(objects.release_rwlock(L, 1), Released::FromOther);
        assert_eq!(objects.release_rwlock(L, 3), Released::Free);
    }
}
