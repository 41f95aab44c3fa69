//! A thread's life.
//!
//! | function | semantics |
//! |---|---|
//! | `pthread_create` | `Create`; of the attributes only the detach state counts |
//! | `pthread_join` | `Join`; a cancellation point |
//! | `pthread_tryjoin_np`, `_timedjoin_np`, `_clockjoin_np` | `TryJoin` |
//! | `pthread_detach` | `Detach` |
//! | `pthread_exit` | leaves all frames ([`super::unwind`]), then as at the start routine's return: destructors, `Exit` |
//! | `pthread_self`, `pthread_equal` | no event |
//! | `pthread_setname_np`, `_getname_np` | kept |
//! | `pthread_setaffinity_np`, `_setschedparam`, `_setschedprio` | accepted: schedules are chosen by the checker |
//! | `pthread_getaffinity_np`, `_getschedparam`, `_getcpuclockid` | those of the process |
//! | `pthread_getattr_np` | not modelled |

use core::ffi::{c_char, c_int, c_void};

use libc::{clockid_t, pthread_attr_t, pthread_t, sched_param, timespec};
use wire::Tag;
use wire::record::flag;

use super::cancel::{self, Outcome, cancellable};
use super::step::{Call, Wait, is_time, me, misuse, unmodelled};
use crate::sched::{self, SpawnError, StartRoutine, Thread};
use crate::sync::thread::{NAME_SIZE, Unjoinable};
use crate::sync::{Blocker, ThreadState};
use crate::text::text;

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attributes: *const pthread_attr_t, state: *mut c_int) -> c_int;
}

/// Rounds over a thread's values when it ends (`PTHREAD_DESTRUCTOR_ITERATIONS`).
const DESTRUCTOR_ROUNDS: u32 = 4;

/// Runs a start routine to its end. `Start` has been committed.
///
/// # Safety
/// `start` can be called with `arg`.
pub unsafe fn run(start: StartRoutine, arg: *mut c_void) -> ! {
    let result = unsafe { start(arg) };
    let thread = sched::state().threads.get_mut(me());
    thread.result = result as u64;
    thread.ending = true;
    finish()
}

/// Calls the destructors of the thread's C++ `thread_local` objects.
pub fn call_thread_destructors() {
    while let Some(destructor) = sched::state().handlers.next_thread_destructor(me()) {
        // Safety: registered by the program as a destructor of this object.
        unsafe {
            let function: unsafe extern "C" fn(*mut c_void) = core::mem::transmute(destructor.function as usize);
            function(destructor.object as *mut c_void);
        }
    }
}

fn call_key_destructors() {
    for _ in 0..DESTRUCTOR_ROUNDS {
        let (mut from, mut called) = (0, false);
        while let Some((key, destructor, value)) = sched::state().keys.next_destructor(me(), from) {
            // Safety: registered by the program as a destructor of the key's values.
            unsafe {
                let function: unsafe extern "C" fn(*mut c_void) = core::mem::transmute(destructor as usize);
                function(value as *mut c_void);
            }
            (from, called) = (key + 1, true);
        }
        if !called {
            break;
        }
    }
}

/// The thread's frames are left: destructors, then its last event. The last thread of all ends the process.
pub fn finish() -> ! {
    let call = Call::here();
    call_thread_destructors();
    call_key_destructors();
    if let Some((lock, name)) = sched::state().held_by(me()) {
        misuse(lock, text!("thread ends while it holds a {name}").as_str());
    }
    let ended = call.step(Tag::Exit, 0).try_run(|_| {
        let state = sched::state();
        if state.threads.is_last(me()) && !state.handlers.exit.is_empty() {
            return Err(());
        }
        state.threads.get_mut(me()).finished = true;
        Ok(())
    });
    if ended.is_err() {
        super::process::exit(0);
    }
    sched::exit_thread()
}

/// Creates a thread and stores its handle before it can run.
///
/// # Safety
/// `start` can be called with `arg`, and `handle` is writable.
pub unsafe fn create(handle: *mut pthread_t, start: StartRoutine, arg: *mut c_void, detached: bool) -> c_int {
    if !sched::running() {
        return libc::EAGAIN;
    }
    ensure_handle(0);
    let next = sched::state().threads.count();
    let step = Call::here().step(Tag::Create, 0).argument(next);
    let created = step.try_run(|step| {
        let child = sched::spawn(start, arg)?;
        step.argument = child;
        let handle_value = sched::slot_address(child) as u64;
        let blocked_signals = sched::state().threads.get(me()).blocked_signals;
        *sched::state().threads.get_mut(child) =
            ThreadState { handle: handle_value, detached, blocked_signals, ..ThreadState::default() };
        unsafe { *handle = handle_value };
        Ok(())
    });
    match created {
        Ok(()) => 0,
        Err(SpawnError::OutOfSlots) => {
            unmodelled("creates more threads than there is room for");
            libc::EAGAIN
        }
        Err(SpawnError::NoRun) => libc::EAGAIN,
    }
}

/// The initial thread has no creator to note its handle.
fn ensure_handle(thread: Thread) -> u64 {
    let entry = sched::state().threads.get_mut(thread);
    if entry.handle == 0 {
        entry.handle = sched::slot_address(thread) as u64;
    }
    entry.handle
}

/// The thread with this handle.
pub fn find(handle: pthread_t, verb: &str) -> Result<Thread, c_int> {
    ensure_handle(0);
    sched::state().threads.by_handle(handle).ok_or_else(|| {
        misuse(handle, text!("{verb} a thread that does not exist").as_str());
        libc::ESRCH
    })
}

fn refuse(handle: pthread_t, verb: &str, unjoinable: Unjoinable) -> c_int {
    let why = match unjoinable {
        Unjoinable::Detached => "is detached",
        Unjoinable::Joined => "was joined before",
    };
    misuse(handle, text!("{verb} a thread that {why}").as_str());
    libc::EINVAL
}

/// Joins a thread and stores its result.
///
/// # Safety
/// `result` is null or writable.
pub unsafe fn join(handle: pthread_t, result: *mut u64, wait: Wait) -> Outcome {
    let target = match find(handle, "joins") {
        Ok(target) => target,
        Err(error) => return error.into(),
    };
    if target == me() {
        misuse(handle, "joins itself");
        return libc::EDEADLK.into();
    }
    if let Err(unjoinable) = sched::state().threads.joinable(target) {
        return refuse(handle, "joins", unjoinable).into();
    }
    let call = Call::here();
    let (step, blocker) = match wait {
        Wait::Block => (call.step(Tag::Join, 0), Blocker::Join { thread: target }),
        _ => (call.step(Tag::TryJoin, 0).flags(flag::SUCCESS), Blocker::None),
    };
    step.argument(target).run(blocker, |state, thread, step| {
        if wait != Wait::Try && cancel::act(state, thread, step) {
            return Outcome::CANCELLED;
        }
        let child = state.threads.get_mut(target);
        if !child.finished {
            step.flags = 0;
            return wait.gave_up().into();
        }
        let value = child.result;
        // Another thread may have joined or detached it while this one was waiting.
        if let Err(unjoinable) = state.threads.joinable(target) {
            return refuse(handle, "joins", unjoinable).into();
        }
        state.threads.get_mut(target).joined = true;
        if !result.is_null() {
            unsafe { *result = value };
        }
        0.into()
    })
}

/// Detaches a thread.
pub fn detach(handle: pthread_t) -> c_int {
    let target = match find(handle, "detaches") {
        Ok(target) => target,
        Err(error) => return error,
    };
    Call::here().step(Tag::Detach, 0).argument(target).run(Blocker::None, |state, _, _| {
        if let Err(unjoinable) = state.threads.joinable(target) {
            return refuse(handle, "detaches", unjoinable);
        }
        state.threads.get_mut(target).detached = true;
        0
    })
}

cancellable! {
    /// Waits for a thread's end.
    unsafe fn pthread_join(handle: pthread_t, result: *mut u64) {
        unsafe { join(handle, result, Wait::Block) }
    }
    /// Waits for a thread's end or gives up.
    unsafe fn pthread_timedjoin_np(handle: pthread_t, result: *mut u64, limit: *const timespec) {
        if !limit.is_null() && !unsafe { is_time(limit) } {
            return libc::EINVAL.into();
        }
        if limit.is_null() {
            return unsafe { join(handle, result, Wait::Block) };
        }
        unsafe { join(handle, result, Wait::Timed).until(limit) }
    }
    /// Waits for a thread's end or gives up.
    unsafe fn pthread_clockjoin_np(handle: pthread_t, result: *mut u64, _clock: clockid_t, limit: *const timespec) {
        if !limit.is_null() && !unsafe { is_time(limit) } {
            return libc::EINVAL.into();
        }
        if limit.is_null() {
            return unsafe { join(handle, result, Wait::Block) };
        }
        unsafe { join(handle, result, Wait::Timed).until(limit) }
    }
}

export! {
    /// Creates a thread.
    unsafe fn pthread_create(
        handle: *mut pthread_t, attributes: *const pthread_attr_t, start: StartRoutine, arg: *mut c_void,
    ) -> c_int {
        let mut state = libc::PTHREAD_CREATE_JOINABLE;
        if !attributes.is_null() {
            unsafe { pthread_attr_getdetachstate(attributes, &mut state) };
        }
        unsafe { create(handle, start, arg, state == libc::PTHREAD_CREATE_DETACHED) }
    }
    /// Joins a thread if it has ended.
    unsafe fn pthread_tryjoin_np(handle: pthread_t, result: *mut u64) -> c_int {
        unsafe { join(handle, result, Wait::Try) }.value().unwrap_or(0)
    }
    /// Detaches a thread.
    unsafe fn pthread_detach(handle: pthread_t) -> c_int {
        detach(handle)
    }
    /// The calling thread's handle.
    unsafe fn pthread_self() -> pthread_t {
        if sched::running() { ensure_handle(me()) } else { 1 }
    }
    /// Whether two handles name the same thread.
    unsafe fn pthread_equal(left: pthread_t, right: pthread_t) -> c_int {
        (left == right).into()
    }
    /// Names a thread.
    unsafe fn pthread_setname_np(handle: pthread_t, name: *const c_char) -> c_int {
        let target = match find(handle, "names") {
            Ok(target) => target,
            Err(error) => return error,
        };
        let len = unsafe { libc::strnlen(name, NAME_SIZE) };
        if len == NAME_SIZE {
            return libc::ERANGE;
        }
        let kept = &mut sched::state().threads.get_mut(target).name;
        *kept = [0; NAME_SIZE];
        unsafe { kept.as_mut_ptr().copy_from(name.cast(), len) };
        0
    }
    /// A thread's name.
    unsafe fn pthread_getname_np(handle: pthread_t, name: *mut c_char, size: usize) -> c_int {
        match find(handle, "asks the name of") {
            Ok(_) if size < NAME_SIZE => libc::ERANGE,
            Ok(target) => {
                unsafe { name.copy_from(sched::state().threads.get(target).name.as_ptr().cast(), NAME_SIZE) };
                0
            }
            Err(error) => error,
        }
    }
    /// Which processors a thread runs on does not matter.
    unsafe fn pthread_setaffinity_np(_handle: pthread_t, _size: usize, _set: *const libc::cpu_set_t) -> c_int {
        0
    }
    /// Those of the process.
    unsafe fn pthread_getaffinity_np(_handle: pthread_t, size: usize, set: *mut libc::cpu_set_t) -> c_int {
        if unsafe { libc::sched_getaffinity(0, size, set) } == 0 { 0 } else { libc::EINVAL }
    }
    /// Priorities do not matter.
    unsafe fn pthread_setschedparam(_handle: pthread_t, _policy: c_int, _parameters: *const sched_param) -> c_int {
        0
    }
    /// Priorities do not matter.
    unsafe fn pthread_setschedprio(_handle: pthread_t, _priority: c_int) -> c_int {
        0
    }
    /// The usual policy without priority.
    unsafe fn pthread_getschedparam(_handle: pthread_t, policy: *mut c_int, parameters: *mut sched_param) -> c_int {
        unsafe {
            *policy = libc::SCHED_OTHER;
            (*parameters).sched_priority = 0;
        }
        0
    }
    /// The clock of the one operating-system thread.
    unsafe fn pthread_getcpuclockid(_handle: pthread_t, clock: *mut clockid_t) -> c_int {
        unsafe { *clock = libc::CLOCK_THREAD_CPUTIME_ID };
        0
    }
    /// A running thread's attributes are not known.
    unsafe fn pthread_getattr_np(_handle: pthread_t, _attributes: *mut pthread_attr_t) -> c_int {
        unmodelled("calls `pthread_getattr_np`");
        libc::ENOSYS
    }
}
