//! Semaphores.
//!
//! | function | semantics |
//! |---|---|
//! | `sem_init` | `Init` |
//! | `sem_destroy` | `Destroy` |
//! | `sem_wait` | `SemWait`; a cancellation point |
//! | `sem_trywait` | `SemTryWait` |
//! | `sem_timedwait`, `sem_clockwait` | `SemTryWait`: scheduled at zero, it has timed out; cancellation points |
//! | `sem_post` | `SemPost` |
//! | `sem_getvalue` | `SemGet` |
//! | `sem_open`, `sem_close`, `sem_unlink` | not modelled: semaphores with names are shared with other processes |

use core::ffi::{c_char, c_int, c_uint};

use libc::{clockid_t, sem_t, timespec};
use wire::Tag;
use wire::record::flag;

use super::cancel::{self, Outcome, cancellable};
use super::layout::Unusable;
use super::mutex::refuse;
use super::step::{Call, Wait, is_time, set_errno, unmodelled};
use crate::libc_models::clock;
use crate::memory;
use crate::sync::{Blocker, Model, Semaphore, SyncObjects, sem};

fn fail(error: c_int) -> c_int {
    set_errno(error);
    -1
}

/// The semaphore. Using one that is not there is a misuse; it has the value its memory holds then, as for the C library.
fn get<'s>(objects: &'s mut SyncObjects, semaphore: u64, verb: &str) -> &'s mut Semaphore {
    if objects.find::<Semaphore>(semaphore).is_none() {
        let destroyed = objects.destroyed(semaphore, Semaphore::NAME);
        refuse(
            semaphore,
            verb,
            Semaphore::NAME,
            if destroyed { Unusable::Destroyed } else { Unusable::NotInitialised },
        );
        objects.put(semaphore, Semaphore { value: memory::read(semaphore as *const u32) });
    }
    objects.find(semaphore).expect("raceproof bug: a semaphore just made is not there")
}

fn take(semaphore: *mut sem_t, wait: Wait) -> Outcome {
    let (call, semaphore) = (Call::here(), semaphore as u64);
    crate::sched::with_objects(|objects| {
        get(objects, semaphore, "waits on");
    });
    let (step, blocker) = match wait {
        Wait::Block => (call.step(Tag::SemWait, semaphore), Blocker::Sem { sem: semaphore }),
        _ => (call.step(Tag::SemTryWait, semaphore).flags(flag::SUCCESS), Blocker::None),
    };
    step.run(blocker, |objects, thread, step| {
        if wait != Wait::Try && cancel::act(objects, thread, step) {
            return Outcome::CANCELLED;
        }
        if get(objects, semaphore, "waits on").take() {
            return 0.into();
        }
        (step.tag, step.flags) = (Tag::SemTryWait, 0);
        fail(if wait == Wait::Timed { libc::ETIMEDOUT } else { libc::EAGAIN }).into()
    })
}

fn take_timed(semaphore: *mut sem_t, limit: *const timespec) -> Outcome {
    if !is_time(limit) {
        return fail(libc::EINVAL).into();
    }
    let outcome = take(semaphore, Wait::Timed);
    if outcome.value() == Some(-1) {
        // SAFETY: the program gave the limit to a function that reads it, and `is_time` has read it.
        unsafe { clock::reach(limit) };
    }
    outcome
}

cancellable! {
    /// Takes one.
    fn sem_wait(semaphore: *mut sem_t) {
        take(semaphore, Wait::Block)
    }
    /// Takes one or gives up.
    fn sem_timedwait(semaphore: *mut sem_t, limit: *const timespec) {
        take_timed(semaphore, limit)
    }
    /// Takes one or gives up.
    fn sem_clockwait(semaphore: *mut sem_t, _clock: clockid_t, limit: *const timespec) {
        take_timed(semaphore, limit)
    }
}

export! {
    /// Initialises a semaphore.
    fn sem_init(semaphore: *mut sem_t, _shared: c_int, value: c_uint) -> c_int {
        if value > sem::MAX {
            return fail(libc::EINVAL);
        }
        Call::here().step(Tag::Init, semaphore as u64).run(Blocker::None, |objects, _, _| {
            objects.put(semaphore as u64, Semaphore { value });
            memory::zero(semaphore, 1);
            memory::write(semaphore.cast(), value);
        });
        0
    }
    /// Destroys a semaphore.
    fn sem_destroy(semaphore: *mut sem_t) -> c_int {
        Call::here().step(Tag::Destroy, semaphore as u64).run(Blocker::None, |objects, _, _| {
            get(objects, semaphore as u64, "destroys");
            objects.destroy(semaphore as u64, Semaphore::NAME);
        });
        0
    }
    /// Takes one if there is one.
    fn sem_trywait(semaphore: *mut sem_t) -> c_int {
        take(semaphore, Wait::Try).value().unwrap_or(0)
    }
    /// Adds one.
    fn sem_post(semaphore: *mut sem_t) -> c_int {
        Call::here().step(Tag::SemPost, semaphore as u64).run(Blocker::None, |objects, _, _| {
            if get(objects, semaphore as u64, "posts to").post() {
                return 0;
            }
            super::step::misuse(semaphore as u64, "posts to a semaphore that is at its largest value");
            fail(libc::EOVERFLOW)
        })
    }
    /// The semaphore's value.
    fn sem_getvalue(semaphore: *mut sem_t, value: *mut c_int) -> c_int {
        Call::here().step(Tag::SemGet, semaphore as u64).run(Blocker::None, |objects, _, _| {
            memory::write(value, get(objects, semaphore as u64, "asks the value of").value as c_int);
        });
        0
    }
    /// Semaphores with names are not modelled.
    fn sem_open(_name: *const c_char, _flags: c_int) -> *mut sem_t {
        unmodelled("calls `sem_open`");
        set_errno(libc::ENOSYS);
        core::ptr::null_mut()
    }
    /// Semaphores with names are not modelled.
    fn sem_close(_semaphore: *mut sem_t) -> c_int {
        fail(libc::EINVAL)
    }
    /// Semaphores with names are not modelled.
    fn sem_unlink(_name: *const c_char) -> c_int {
        unmodelled("calls `sem_unlink`");
        fail(libc::ENOSYS)
    }
}
