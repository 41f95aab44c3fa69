//! Condition variables.
//!
//! | function | semantics |
//! |---|---|
//! | `pthread_cond_init` | `Init` |
//! | `pthread_cond_destroy` | `Destroy`; a misuse while a thread waits that no signal has reached |
//! | `pthread_cond_wait` | `WaitBegin` (releases the mutex), `WaitEnd`, `Acquire` of the mutex |
//! | `pthread_cond_timedwait`, `_clockwait` | the same; `WaitEnd` is enabled and times out unless signalled, a few times in a row ([`crate::sync::limits`]) |
//! | `pthread_cond_signal` | `Signal`: any one thread that waits now may wake |
//! | `pthread_cond_broadcast` | `Broadcast` |
//!
//! Where wake-ups without a cause are asked for, a wait may end so, at most once per thread and condition variable until
//! a signal wakes the thread there; the policy lets it happen only when nothing else can.
//!
//! Waits are cancellation points: a cancelled wait ends as such, takes the mutex again and then acts on the request.

use core::ffi::c_int;

use libc::{clockid_t, pthread_cond_t, pthread_condattr_t, pthread_mutex_t, timespec};
use wire::Tag;
use wire::record::wake;

use super::cancel::{self, Outcome, cancellable};
use super::layout::COND;
use super::mutex::{self, Kind, refuse};
use super::step::{Call, Wait, is_time, me, misuse, unmodelled};
use crate::sched::{self, Thread};
use crate::sync::limits::WAITED_LONG;
use crate::sync::{Blocker, Mutex, SyncObjects, Wake};
use crate::text::text;

/// Waits on a condition variable.
pub fn wait(cond: u64, lock: u64, wait: Wait) -> Outcome {
    let call = Call::here();
    if let Err(unusable) = COND.kind(cond) {
        return refuse(cond, "waits on", COND.name, unusable).into();
    }
    let kind = match mutex::kind(lock, "waits with") {
        Ok(kind) => kind,
        Err(error) => return error.into(),
    };
    let mine = mutex::is_mine(lock);
    if !mine && kind == Kind::ErrorCheck {
        return libc::EPERM.into();
    }
    if !mine {
        misuse(lock, "waits on a condition variable without holding the mutex");
        if kind == Kind::Recursive {
            return libc::EPERM.into();
        }
    }
    let began = call.step(Tag::WaitBegin, cond).extra(lock).run(Blocker::None, |objects, thread, step| {
        if cancel::act(objects, thread, step) {
            return false;
        }
        if objects.waits.other_lock(cond, lock).is_some() {
            misuse(cond, "waits on a condition variable that others wait on with another mutex");
        }
        if mine {
            objects.ensure::<Mutex>(lock).release(thread);
        }
        objects.waits.begin(cond, thread, lock);
        true
    });
    if !began {
        return Outcome::CANCELLED;
    }
    let wake = end_wait(&call, cond, wait, SyncObjects::end_wait);
    // A mutex it did not hold it does not get: one misuse shall not look like two.
    let error = if mine { mutex::lock(&call, lock, Wait::Block) } else { 0 };
    match wake {
        Wake::Cancelled => cancel::point(&call),
        _ if error != 0 => error.into(),
        Wake::TimedOut => libc::ETIMEDOUT.into(),
        Wake::Signalled | Wake::Spurious => 0.into(),
    }
}

/// The event that ends a wait on a condition variable or a futex word, which the thread has begun; `end` says why.
pub fn end_wait(call: &Call, cond: u64, wait: Wait, end: fn(&mut SyncObjects, Thread, Wake) -> Wake) -> Wake {
    let is_limited = wait == Wait::Timed;
    let timed = is_limited && sched::with_objects(|objects| objects.limits.begin(me()));
    let blocker = Blocker::Wait { cond, timed, spurious: sched::may_be_spurious(cond) };
    let step = call.step(Tag::WaitEnd, cond).flags(wake::SIGNALLED);
    let (wake, waited_long) = step.run(blocker, |objects, thread, step| {
        let wake = end(objects, thread, if is_limited { Wake::TimedOut } else { Wake::Spurious });
        step.flags = wake as u8;
        (wake, is_limited && objects.end_limited(thread, wake == Wake::TimedOut))
    });
    if waited_long {
        unmodelled(WAITED_LONG);
    }
    wake
}

/// Wakes up to `most` waiters.
pub fn wake(cond: u64, tag: Tag, most: usize) -> c_int {
    let verb = if tag == Tag::Signal { "signals" } else { "broadcasts to" };
    Call::here().step(tag, cond).run(Blocker::None, |objects, _, _| {
        if let Err(unusable) = COND.kind(cond) {
            return refuse(cond, verb, COND.name, unusable);
        }
        objects.waits.signal(cond, most);
        0
    })
}

/// Initialises a condition variable.
pub fn init(cond: u64) {
    Call::here().step(Tag::Init, cond).run(Blocker::None, |objects, _, _| {
        if let Some(what) = objects.in_use(cond) {
            misuse(cond, text!("initialises {what}").as_str());
        }
        objects.remove(cond);
        COND.init(cond, 0);
    });
}

/// Destroys a condition variable.
pub fn destroy(cond: u64) -> c_int {
    Call::here().step(Tag::Destroy, cond).run(Blocker::None, |objects, _, _| {
        if let Err(unusable) = COND.kind(cond) {
            return refuse(cond, "destroys", COND.name, unusable);
        }
        if objects.waits.waited_on(cond) {
            misuse(cond, "destroys a condition variable that threads wait on");
        }
        COND.destroy(cond);
        0
    })
}

cancellable! {
    /// Waits for a signal.
    fn pthread_cond_wait(cond: *mut pthread_cond_t, lock: *mut pthread_mutex_t) {
        wait(cond as u64, lock as u64, Wait::Block)
    }
    /// Waits for a signal or gives up.
    fn pthread_cond_timedwait(cond: *mut pthread_cond_t, lock: *mut pthread_mutex_t, limit: *const timespec) {
        if !is_time(limit) {
            return libc::EINVAL.into();
        }
        wait(cond as u64, lock as u64, Wait::Timed).until(limit)
    }
    /// Waits for a signal or gives up.
    fn pthread_cond_clockwait(
        cond: *mut pthread_cond_t, lock: *mut pthread_mutex_t, _clock: clockid_t, limit: *const timespec,
    ) {
        if !is_time(limit) {
            return libc::EINVAL.into();
        }
        wait(cond as u64, lock as u64, Wait::Timed).until(limit)
    }
}

export! {
    /// Initialises a condition variable.
    fn pthread_cond_init(cond: *mut pthread_cond_t, _attributes: *const pthread_condattr_t) -> c_int {
        init(cond as u64);
        0
    }
    /// Destroys a condition variable.
    fn pthread_cond_destroy(cond: *mut pthread_cond_t) -> c_int {
        destroy(cond as u64)
    }
    /// Wakes one waiter.
    fn pthread_cond_signal(cond: *mut pthread_cond_t) -> c_int {
        wake(cond as u64, Tag::Signal, 1)
    }
    /// Wakes all waiters.
    fn pthread_cond_broadcast(cond: *mut pthread_cond_t) -> c_int {
        wake(cond as u64, Tag::Broadcast, usize::MAX)
    }
}
