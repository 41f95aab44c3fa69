//! Semaphores.
//!
//! | function | semantics |
//! |---|---|
//! | `sem_init` | `Init` |
//! | `sem_destroy` | `Destroy` |
//! | `sem_wait` | `SemWait`; a cancellation point |
//! | `sem_trywait` | `SemTryWait` |
//! | `sem_timedwait`, `sem_clockwait` | `SemTryWait`: scheduled at zero, it has timed out, a few times in a row ([`crate::sync::limits`]); then `SemWait`. Cancellation points |
//! | `sem_post` | `SemPost` |
//! | `sem_getvalue` | `SemGet` |
//! | `sem_open`, `sem_close`, `sem_unlink` | a relaxed update of a cell that stands for all names; no other process has a semaphore with a name |

use alloc::vec::Vec;
use core::ffi::{c_char, c_int, c_uint};

use libc::{clockid_t, sem_t, timespec};
use wire::record::{flag, order};
use wire::{Record, Tag};

use super::cancel::{self, Outcome, cancellable};
use super::layout::Unusable;
use super::mutex::refuse;
use super::step::{Call, Wait, is_time, me, set_errno, unmodelled};
use crate::libc_models::clock;
use crate::sync::limits::WAITED_LONG;
use crate::sync::{Blocker, Model, Semaphore, SyncObjects, sem};
use crate::{interrupts, memory};

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
    let may_expire = wait == Wait::Timed && crate::sched::with_objects(|objects| objects.limits.begin(me()));
    let (step, blocker) = match wait {
        Wait::Timed if !may_expire => (call.step(Tag::SemWait, semaphore), Blocker::Sem { sem: semaphore }),
        Wait::Block => (call.step(Tag::SemWait, semaphore), Blocker::Sem { sem: semaphore }),
        _ => (call.step(Tag::SemTryWait, semaphore).flags(flag::SUCCESS), Blocker::None),
    };
    let taken = step.run_unless_interrupted(blocker, |objects, thread, step| {
        if wait != Wait::Try && cancel::act(objects, thread, step) {
            return Outcome::CANCELLED;
        }
        if get(objects, semaphore, "waits on").take() {
            return 0.into();
        }
        (step.tag, step.flags) = (Tag::SemTryWait, 0);
        fail(if wait == Wait::Timed { libc::ETIMEDOUT } else { libc::EAGAIN }).into()
    });
    if wait == Wait::Timed {
        let by_limit = taken.and_then(Outcome::value) == Some(-1);
        if crate::sched::with_objects(|objects| objects.end_limited(me(), by_limit)) {
            unmodelled(WAITED_LONG);
        }
    }
    taken.unwrap_or_else(cancel::interrupted)
}

fn take_timed(semaphore: *mut sem_t, limit: *const timespec) -> Outcome {
    if !is_time(limit) {
        return fail(libc::EINVAL).into();
    }
    if interrupts::interrupt_call() == Some(false) {
        return cancel::interrupted();
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
    /// Opens a semaphore by its name, or makes it. Variadic in C: mode and value are only there with `O_CREAT`.
    fn sem_open(name: *const c_char, flags: c_int, _mode: c_uint, value: c_uint) -> *mut sem_t {
        let opened = name_of(name).and_then(|name| {
            change_names(|objects| match objects.names.find(&name) {
                Some(_) if flags & libc::O_CREAT != 0 && flags & libc::O_EXCL != 0 => Err(libc::EEXIST),
                Some(address) => Ok(address),
                None if flags & libc::O_CREAT == 0 => Err(libc::ENOENT),
                None if value > sem::MAX => Err(libc::EINVAL),
                None => {
                    let address = crate::heap::block(size_of::<sem_t>()).ok_or(libc::ENOMEM)?;
                    memory::zero(address as *mut sem_t, 1);
                    memory::write(address as *mut u32, value);
                    objects.put(address, Semaphore { value });
                    objects.names.insert(name, address);
                    Ok(address)
                }
            })
        });
        match opened {
            Ok(address) => address as *mut sem_t,
            Err(error) => {
                set_errno(error);
                core::ptr::null_mut()
            }
        }
    }
    /// Closes a semaphore with a name, which stays.
    fn sem_close(semaphore: *mut sem_t) -> c_int {
        let semaphore = semaphore as u64;
        if crate::sched::with_objects(|objects| objects.names.is_named(semaphore)) {
            return 0;
        }
        super::step::misuse(semaphore, "closes a semaphore that was not opened by a name");
        fail(libc::EINVAL)
    }
    /// Removes a name; the semaphore stays for those who have it.
    fn sem_unlink(name: *const c_char) -> c_int {
        let removed = name_of(name).and_then(|name| {
            change_names(|objects| if objects.names.remove(&name) { Ok(()) } else { Err(libc::ENOENT) })
        });
        removed.map_or_else(fail, |()| 0)
    }
}

/// A name that the program gives to a semaphore.
fn name_of(name: *const c_char) -> Result<Vec<u8>, c_int> {
    let len = memory::string_len(name, libc::NAME_MAX as usize);
    if len == libc::NAME_MAX as usize {
        return Err(libc::ENAMETOOLONG);
    }
    let name = memory::bytes(name as u64, len);
    // The C library takes a name without the slash, too, and no other one.
    let name = name.strip_prefix(b"/").unwrap_or(&name);
    if name.is_empty() || name.contains(&b'/') { Err(libc::EINVAL) } else { Ok(name.to_vec()) }
}

/// The event of looking a name up and changing what it stands for. It orders nothing.
fn change_names<R>(change: impl FnOnce(&mut SyncObjects) -> R) -> R {
    let site = crate::sched::site();
    let record = Record::new(Tag::ReadModifyWrite, order::RELAXED, wire::SEMAPHORE_NAMES, site, 8);
    crate::sched::arrive(record, None, Blocker::None);
    let result = crate::sched::with_objects(change);
    crate::sched::commit(record, None);
    result
}
