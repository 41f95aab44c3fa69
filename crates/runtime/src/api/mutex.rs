//! Mutexes and spin locks.
//!
//! | function | semantics |
//! |---|---|
//! | `pthread_mutex_init` | `Init`; the type is taken from the attributes |
//! | `pthread_mutex_destroy` | `Destroy`; refused while held |
//! | `pthread_mutex_lock` | `Acquire`; a normal mutex taken again by its owner blocks for ever |
//! | `pthread_mutex_trylock` | `TryAcquire` |
//! | `pthread_mutex_timedlock`, `_clocklock` | `TryAcquire`: scheduled while the mutex is held, it has timed out |
//! | `pthread_mutex_unlock` | `Release` |
//! | `pthread_mutex_consistent` | no event: the owner alone looks at it |
//! | `pthread_mutex_getprioceiling`, `_setprioceiling` | refused: no mutex has a ceiling here |
//! | `pthread_spin_init`, `_destroy`, `_lock`, `_trylock`, `_unlock` | as for a normal mutex |
//!
//! A robust mutex whose owner ends is given back then; who takes it next is told (`EOWNERDEAD`) and repairs it, or nobody
//! can take it any more (`ENOTRECOVERABLE`). Priority protocols change nothing: every schedule is possible.

use core::ffi::c_int;

use libc::{clockid_t, pthread_mutex_t, pthread_mutexattr_t, pthread_spinlock_t, timespec};
use wire::Tag;
use wire::record::flag;

use super::layout::{MUTEX, Unusable};
use super::step::{Call, Wait, is_time, me, misuse, until};
use crate::sched::{self, Thread};
use crate::sync::{Blocker, Mode, Model, Mutex, Released, Repair, Spin, SyncObjects};
use crate::text::text;

unsafe extern "C" {
    fn pthread_mutexattr_gettype(attributes: *const pthread_mutexattr_t, kind: *mut c_int) -> c_int;
    fn pthread_mutexattr_getrobust(attributes: *const pthread_mutexattr_t, robust: *mut c_int) -> c_int;
}

/// What a mutex does when its owner takes it again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Blocks for ever.
    Normal,
    /// Counts.
    Recursive,
    /// Refuses, and refuses to be unlocked by others too.
    ErrorCheck,
}

impl Kind {
    fn from_word(word: u32) -> Self {
        match word as c_int & 3 {
            libc::PTHREAD_MUTEX_RECURSIVE => Self::Recursive,
            libc::PTHREAD_MUTEX_ERRORCHECK => Self::ErrorCheck,
            _ => Self::Normal,
        }
    }
    fn word(self) -> u32 {
        let kind = match self {
            Self::Normal => libc::PTHREAD_MUTEX_NORMAL,
            Self::Recursive => libc::PTHREAD_MUTEX_RECURSIVE,
            Self::ErrorCheck => libc::PTHREAD_MUTEX_ERRORCHECK,
        };
        kind as u32
    }
}

/// The bit of a robust mutex in the word with its kind, as the GNU C library has it.
const ROBUST: u32 = 0x10;

/// Whether the mutex is robust.
fn is_robust(mutex: u64) -> bool {
    MUTEX.kind(mutex).is_ok_and(|word| word & ROBUST != 0)
}

/// The mutex's kind; an unusable one is a misuse.
pub fn kind(mutex: u64, verb: &str) -> Result<Kind, c_int> {
    MUTEX.kind(mutex).map(Kind::from_word).map_err(|unusable| refuse(mutex, verb, MUTEX.name, unusable))
}

/// Reports the use of an object that is not there. Returns what the call returns.
pub fn refuse(object: u64, verb: &str, name: &str, unusable: Unusable) -> c_int {
    misuse(object, text!("{verb} a {name} {}", unusable.description()).as_str());
    libc::EINVAL
}

/// The event of taking a lock. `take` takes it, or says why it cannot be taken although it is free.
pub fn acquire(
    call: &Call,
    lock: u64,
    mode: Mode,
    wait: Wait,
    take: impl FnOnce(&mut SyncObjects, Thread) -> Result<(), c_int>,
) -> c_int {
    let shared = if mode == Mode::Shared { flag::SHARED } else { 0 };
    let (step, blocker) = match wait {
        Wait::Block => (call.step(Tag::Acquire, lock).flags(shared), Blocker::Lock { lock, mode }),
        _ => (call.step(Tag::TryAcquire, lock).flags(shared | flag::SUCCESS), Blocker::None),
    };
    step.run(blocker, |objects, thread, step| {
        let outcome = if objects.available(lock, mode) { take(objects, thread) } else { Err(wait.gave_up()) };
        if outcome.is_err() {
            (step.tag, step.flags) = (Tag::TryAcquire, shared);
        }
        outcome.err().unwrap_or(0)
    })
}

/// Initialises a mutex.
pub fn init(mutex: u64, kind: Kind) {
    init_with(mutex, kind.word());
}

/// Initialises a mutex with the word that its memory keeps.
fn init_with(mutex: u64, word: u32) {
    Call::here().step(Tag::Init, mutex).run(Blocker::None, |objects, _, _| {
        if let Some(what) = objects.in_use(mutex) {
            misuse(mutex, text!("initialises {what}").as_str());
        }
        objects.put(mutex, Mutex::default());
        MUTEX.init(mutex, word);
    });
}

/// Destroys a mutex.
pub fn destroy(mutex: u64) -> c_int {
    Call::here().step(Tag::Destroy, mutex).run(Blocker::None, |objects, _, _| {
        if let Err(unusable) = MUTEX.kind(mutex) {
            return refuse(mutex, "destroys", MUTEX.name, unusable);
        }
        if let Some(what) = objects.in_use(mutex) {
            misuse(mutex, text!("destroys {what}").as_str());
            return libc::EBUSY;
        }
        objects.remove(mutex);
        MUTEX.destroy(mutex);
        0
    })
}

/// Whether the calling thread holds the mutex.
pub fn is_mine(mutex: u64) -> bool {
    sched::with_objects(|objects| objects.ensure::<Mutex>(mutex).owner()) == Some(me())
}

/// Takes a mutex.
pub fn lock(call: &Call, mutex: u64, wait: Wait) -> c_int {
    let kind = match kind(mutex, "locks") {
        Ok(kind) => kind,
        Err(error) => return error,
    };
    if is_mine(mutex) {
        match kind {
            Kind::Recursive => return lock_again(call, mutex, wait),
            Kind::ErrorCheck if wait == Wait::Try => return libc::EBUSY,
            Kind::ErrorCheck => return libc::EDEADLK,
            Kind::Normal => {}
        }
    }
    let mut repair = Repair::None;
    let result = acquire(call, mutex, Mode::Exclusive, wait, |objects, thread| {
        // It may have been destroyed while this thread was waiting.
        self::kind(mutex, "locks")?;
        let found = objects.ensure::<Mutex>(mutex);
        repair = found.repair();
        found.acquire(thread);
        Ok(())
    });
    match repair {
        _ if result != 0 => result,
        Repair::None => 0,
        Repair::Needed => libc::EOWNERDEAD,
        // Others could not have come here in the meantime: the call waited as for any mutex, and gives it back.
        Repair::Impossible => {
            call.step(Tag::Release, mutex).run(Blocker::None, |objects, thread, _| {
                objects.ensure::<Mutex>(mutex).release(thread);
            });
            libc::ENOTRECOVERABLE
        }
    }
}

/// The thread ends: the robust mutexes that it holds are given back, to be repaired. Holding others is a misuse.
pub fn abandon_all(call: &Call) {
    while let Some((lock, name)) = sched::with_objects(|objects| objects.held_by(me())) {
        if name != MUTEX.name || !is_robust(lock) {
            misuse(lock, text!("thread ends while it holds a {name}").as_str());
            return;
        }
        call.step(Tag::Release, lock).run(Blocker::None, |objects, _, _| objects.ensure::<Mutex>(lock).abandon());
    }
}

fn lock_again(call: &Call, mutex: u64, wait: Wait) -> c_int {
    let step = match wait {
        Wait::Block => call.step(Tag::Acquire, mutex),
        _ => call.step(Tag::TryAcquire, mutex).flags(flag::SUCCESS),
    };
    step.run(Blocker::None, |objects, thread, _| objects.ensure::<Mutex>(mutex).acquire(thread));
    0
}

/// Gives a mutex back.
pub fn unlock(call: &Call, mutex: u64) -> c_int {
    let kind = match kind(mutex, "unlocks") {
        Ok(kind) => kind,
        Err(error) => return error,
    };
    let mine = is_mine(mutex);
    if !mine && is_robust(mutex) {
        return libc::EPERM;
    }
    if !mine && kind != Kind::Normal {
        // Asking is what an error-checking mutex is for.
        if kind == Kind::Recursive {
            misuse(mutex, "unlocks a mutex it does not hold");
        }
        return libc::EPERM;
    }
    call.step(Tag::Release, mutex).run(Blocker::None, |objects, thread, _| {
        report_release(mutex, MUTEX.name, objects.ensure::<Mutex>(mutex).release(thread));
    });
    0
}

/// Reports a release that should not have been made.
pub fn report_release(lock: u64, name: &str, released: Released) {
    match released {
        Released::Free | Released::StillHeld => {}
        Released::NotHeld => misuse(lock, text!("unlocks a {name} that is not locked").as_str()),
        Released::FromOther => misuse(lock, text!("unlocks a {name} that another thread holds").as_str()),
    }
}

export! {
    /// Initialises a mutex.
    fn pthread_mutex_init(mutex: *mut pthread_mutex_t, attributes: *const pthread_mutexattr_t) -> c_int {
        let mut word = libc::PTHREAD_MUTEX_NORMAL;
        let mut robust = libc::PTHREAD_MUTEX_STALLED;
        if !attributes.is_null() {
            // SAFETY: the program passes attributes that the C library initialised; `word` and `robust` are writable.
            unsafe {
                pthread_mutexattr_gettype(attributes, &mut word);
                pthread_mutexattr_getrobust(attributes, &mut robust);
            }
        }
        let robust = if robust == libc::PTHREAD_MUTEX_ROBUST { ROBUST } else { 0 };
        init_with(mutex as u64, Kind::from_word(word as u32).word() | robust);
        0
    }
    /// Destroys a mutex.
    fn pthread_mutex_destroy(mutex: *mut pthread_mutex_t) -> c_int {
        destroy(mutex as u64)
    }
    /// Takes a mutex.
    fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int {
        lock(&Call::here(), mutex as u64, Wait::Block)
    }
    /// Takes a mutex if it is free.
    fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> c_int {
        lock(&Call::here(), mutex as u64, Wait::Try)
    }
    /// Takes a mutex or gives up.
    fn pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, limit: *const timespec) -> c_int {
        if !is_time(limit) {
            return libc::EINVAL;
        }
        until(limit, lock(&Call::here(), mutex as u64, Wait::Timed))
    }
    /// Takes a mutex or gives up.
    fn pthread_mutex_clocklock(mutex: *mut pthread_mutex_t, _clock: clockid_t, limit: *const timespec) -> c_int {
        pthread_mutex_timedlock(mutex, limit)
    }
    /// Gives a mutex back.
    fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int {
        unlock(&Call::here(), mutex as u64)
    }
    /// The owner has repaired what a robust mutex protects.
    fn pthread_mutex_consistent(mutex: *mut pthread_mutex_t) -> c_int {
        let mutex = mutex as u64;
        sched::with_objects(|objects| {
            let found = objects.ensure::<Mutex>(mutex);
            if !is_robust(mutex) || found.owner() != Some(me()) || found.repair() != Repair::Needed {
                return libc::EINVAL;
            }
            found.repaired();
            0
        })
    }
    /// No mutex has a priority ceiling.
    fn pthread_mutex_getprioceiling(_mutex: *const pthread_mutex_t, _ceiling: *mut c_int) -> c_int {
        libc::EINVAL
    }
    /// No mutex has a priority ceiling.
    fn pthread_mutex_setprioceiling(_mutex: *mut pthread_mutex_t, _ceiling: c_int, _old: *mut c_int) -> c_int {
        libc::EINVAL
    }

    /// Initialises a spin lock.
    fn pthread_spin_init(lock: *mut pthread_spinlock_t, _shared: c_int) -> c_int {
        Call::here().step(Tag::Init, lock as u64).run(Blocker::None, |objects, _, _| {
            if let Some(what) = objects.in_use(lock as u64) {
                misuse(lock as u64, text!("initialises {what}").as_str());
            }
            objects.put(lock as u64, Spin::default());
        });
        0
    }
    /// Destroys a spin lock.
    fn pthread_spin_destroy(lock: *mut pthread_spinlock_t) -> c_int {
        Call::here().step(Tag::Destroy, lock as u64).run(Blocker::None, |objects, _, _| {
            if let Some(what) = objects.in_use(lock as u64) {
                misuse(lock as u64, text!("destroys {what}").as_str());
            }
            objects.destroy(lock as u64, Spin::NAME);
        });
        0
    }
    /// Takes a spin lock.
    fn pthread_spin_lock(lock: *mut pthread_spinlock_t) -> c_int {
        take_spin(lock as u64, Wait::Block)
    }
    /// Takes a spin lock if it is free.
    fn pthread_spin_trylock(lock: *mut pthread_spinlock_t) -> c_int {
        take_spin(lock as u64, Wait::Try)
    }
    /// Gives a spin lock back.
    fn pthread_spin_unlock(lock: *mut pthread_spinlock_t) -> c_int {
        Call::here().step(Tag::Release, lock as u64).run(Blocker::None, |objects, thread, _| {
            spin(objects, lock as u64, "unlocks");
            report_release(lock as u64, Spin::NAME, objects.ensure::<Spin>(lock as u64).0.release(thread));
        });
        0
    }
}

/// Reports the use of a spin lock that is not there; it is free then.
fn spin(objects: &mut SyncObjects, lock: u64, verb: &str) {
    if objects.find::<Spin>(lock).is_none() {
        let destroyed = objects.destroyed(lock, Spin::NAME);
        refuse(lock, verb, Spin::NAME, if destroyed { Unusable::Destroyed } else { Unusable::NotInitialised });
        objects.put(lock, Spin::default());
    }
}

fn take_spin(lock: u64, wait: Wait) -> c_int {
    acquire(&Call::here(), lock, Mode::Exclusive, wait, |objects, thread| {
        spin(objects, lock, "locks");
        objects.ensure::<Spin>(lock).0.acquire(thread);
        Ok(())
    })
}
