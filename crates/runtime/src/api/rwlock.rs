//! Reader-writer locks.
//!
//! | function | semantics |
//! |---|---|
//! | `pthread_rwlock_init` | `Init`; the preference is taken from the attributes |
//! | `pthread_rwlock_destroy` | `Destroy`; refused while held |
//! | `pthread_rwlock_rdlock`, `_wrlock` | `Acquire`, shared or exclusive; refused if the caller holds it exclusively |
//! | `pthread_rwlock_tryrdlock`, `_trywrlock` | `TryAcquire` |
//! | `pthread_rwlock_timedrdlock`, `_timedwrlock`, `_clockrdlock`, `_clockwrlock` | `TryAcquire` |
//! | `pthread_rwlock_unlock` | `Release`, in the mode held |
//!
//! Usually neither readers nor writers are preferred: whoever can take the lock may be scheduled. For a lock of the kind
//! `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`, `wrlock` first makes a relaxed update of the lock: from then on the
//! writer waits, and no further reader gets the lock.

use core::ffi::c_int;

use libc::{clockid_t, pthread_rwlock_t, pthread_rwlockattr_t, timespec};
use wire::record::{flag, order};
use wire::{Record, Tag};

use super::layout::RWLOCK;
use super::mutex::{acquire, refuse, report_release};
use super::step::{Call, Wait, is_time, me, misuse, until};
use crate::sched;
use crate::sync::{Blocker, Mode, Rwlock};
use crate::text::text;

unsafe extern "C" {
    fn pthread_rwlockattr_getkind_np(attributes: *const pthread_rwlockattr_t, kind: *mut c_int) -> c_int;
}

fn take(lock: *mut pthread_rwlock_t, mode: Mode, wait: Wait) -> c_int {
    let lock = lock as u64;
    let usable = move || RWLOCK.kind(lock).map_err(|unusable| refuse(lock, "locks", RWLOCK.name, unusable));
    if let Err(error) = usable() {
        return error;
    }
    let writer = || sched::with_objects(|objects| objects.ensure::<Rwlock>(lock).writer());
    if wait != Wait::Try && writer() == Some(me()) {
        return libc::EDEADLK;
    }
    let announced = mode == Mode::Exclusive && wait == Wait::Block && prefers_writers(lock);
    if announced {
        announce_writer(lock);
    }
    acquire(&Call::here(), lock, mode, wait, |objects, thread| {
        usable()?;
        if announced {
            objects.ensure::<Rwlock>(lock).retract_writer();
        }
        objects.acquire_rwlock(lock, thread, mode);
        Ok(())
    })
}

/// Whether a writer that waits keeps readers out.
fn prefers_writers(lock: u64) -> bool {
    /// `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`.
    const PREFERS_WRITERS: u32 = 2;
    RWLOCK.kind(lock) == Ok(PREFERS_WRITERS)
}

/// A writer begins to wait: an event, since it changes what readers can do.
fn announce_writer(lock: u64) {
    let record = Record::new(Tag::ReadModifyWrite, order::RELAXED, lock, sched::site(), 1);
    sched::arrive(record, None, Blocker::None);
    sched::with_objects(|objects| objects.ensure::<Rwlock>(lock).announce_writer());
    sched::commit(record, None);
}

fn take_timed(lock: *mut pthread_rwlock_t, mode: Mode, limit: *const timespec) -> c_int {
    if !is_time(limit) {
        return libc::EINVAL;
    }
    until(limit, take(lock, mode, Wait::Timed))
}

export! {
    /// Initialises a reader-writer lock.
    fn pthread_rwlock_init(lock: *mut pthread_rwlock_t, attributes: *const pthread_rwlockattr_t) -> c_int {
        let lock = lock as u64;
        let mut kind = 0;
        if !attributes.is_null() {
            // SAFETY: the program passes attributes that the C library initialised; `kind` is writable.
            unsafe { pthread_rwlockattr_getkind_np(attributes, &mut kind) };
        }
        Call::here().step(Tag::Init, lock).run(Blocker::None, |objects, _, _| {
            if let Some(what) = objects.in_use(lock) {
                misuse(lock, text!("initialises {what}").as_str());
            }
            objects.put(lock, Rwlock::default());
            RWLOCK.init(lock, kind as u32);
        });
        0
    }
    /// Destroys a reader-writer lock.
    fn pthread_rwlock_destroy(lock: *mut pthread_rwlock_t) -> c_int {
        let lock = lock as u64;
        Call::here().step(Tag::Destroy, lock).run(Blocker::None, |objects, _, _| {
            if let Err(unusable) = RWLOCK.kind(lock) {
                return refuse(lock, "destroys", RWLOCK.name, unusable);
            }
            if let Some(what) = objects.in_use(lock) {
                misuse(lock, text!("destroys {what}").as_str());
                return libc::EBUSY;
            }
            objects.remove(lock);
            RWLOCK.destroy(lock);
            0
        })
    }
    /// Takes the lock shared.
    fn pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t) -> c_int {
        take(lock, Mode::Shared, Wait::Block)
    }
    /// Takes the lock exclusively.
    fn pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t) -> c_int {
        take(lock, Mode::Exclusive, Wait::Block)
    }
    /// Takes the lock shared if that is possible at once.
    fn pthread_rwlock_tryrdlock(lock: *mut pthread_rwlock_t) -> c_int {
        take(lock, Mode::Shared, Wait::Try)
    }
    /// Takes the lock exclusively if that is possible at once.
    fn pthread_rwlock_trywrlock(lock: *mut pthread_rwlock_t) -> c_int {
        take(lock, Mode::Exclusive, Wait::Try)
    }
    /// Takes the lock shared or gives up.
    fn pthread_rwlock_timedrdlock(lock: *mut pthread_rwlock_t, limit: *const timespec) -> c_int {
        take_timed(lock, Mode::Shared, limit)
    }
    /// Takes the lock exclusively or gives up.
    fn pthread_rwlock_timedwrlock(lock: *mut pthread_rwlock_t, limit: *const timespec) -> c_int {
        take_timed(lock, Mode::Exclusive, limit)
    }
    /// Takes the lock shared or gives up.
    fn pthread_rwlock_clockrdlock(lock: *mut pthread_rwlock_t, _clock: clockid_t, limit: *const timespec) -> c_int {
        take_timed(lock, Mode::Shared, limit)
    }
    /// Takes the lock exclusively or gives up.
    fn pthread_rwlock_clockwrlock(lock: *mut pthread_rwlock_t, _clock: clockid_t, limit: *const timespec) -> c_int {
        take_timed(lock, Mode::Exclusive, limit)
    }
    /// Gives the lock back.
    fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) -> c_int {
        let lock = lock as u64;
        if let Err(unusable) = RWLOCK.kind(lock) {
            return refuse(lock, "unlocks", RWLOCK.name, unusable);
        }
        let shared = sched::with_objects(|objects| objects.rwlock_mode(lock, me())) == Some(Mode::Shared);
        let step = Call::here().step(Tag::Release, lock).flags(if shared { flag::SHARED } else { 0 });
        step.run(Blocker::None, |objects, thread, _| {
            report_release(lock, RWLOCK.name, objects.release_rwlock(lock, thread));
        });
        0
    }
}
