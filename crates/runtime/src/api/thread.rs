//! A thread's life.
//!
//! | function | semantics |
//! |---|---|
//! | `pthread_create` | `Create`, unless the environment refuses it; of the attributes only the detach state and the blocked signals count |
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

use libc::{clockid_t, pthread_attr_t, pthread_t, sched_param, sigset_t, timespec};
use wire::Tag;
use wire::layout::environment;
use wire::record::flag;

use super::cancel::{self, Outcome, cancellable};
use super::handlers;
use super::signal::blockable;
use super::step::{Call, Wait, is_time, me, misuse, unmodelled};
use crate::sched::{self, SpawnError, StartRoutine, Thread};
use crate::sync::signal::SignalSet;
use crate::sync::thread::{NAME_SIZE, Unjoinable};
use crate::sync::{Blocker, ThreadState};
use crate::text::text;
use crate::{choice, memory, serial};

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attributes: *const pthread_attr_t, state: *mut c_int) -> c_int;
}

/// Rounds over a thread's values when it ends (`PTHREAD_DESTRUCTOR_ITERATIONS`).
const DESTRUCTOR_ROUNDS: u32 = 4;

/// Runs a start routine to its end. `Start` has been committed.
pub fn run(start: StartRoutine, arg: *mut c_void) -> ! {
    // SAFETY: the program asked for a thread that calls this function with this argument.
    let result = unsafe { start(arg) };
    start_end(result as u64);
    finish()
}

/// From here on the thread acts on no cancellation request.
pub fn start_end(result: u64) {
    sched::with_objects(|objects| {
        let thread = objects.threads.get_mut(me());
        thread.result = result;
        thread.ending = true;
    });
}

/// Calls a function `void (*)(void *)` that the program registered with this argument: a destructor or a handler.
pub fn call_with(function: u64, object: u64) {
    // SAFETY: the C interfaces that register such functions take this type and this argument, and the thread is where they
    // promise to make the call.
    unsafe {
        let function: unsafe extern "C" fn(*mut c_void) = core::mem::transmute(function as usize);
        function(object as *mut c_void);
    }
}

/// Calls the destructors of the thread's C++ `thread_local` objects.
pub fn call_thread_destructors() {
    let next = || sched::with_objects(|objects| objects.handlers.next_thread_destructor(me()));
    while let Some(destructor) = next() {
        call_with(destructor.function, destructor.object);
    }
}

fn call_key_destructors() {
    for _ in 0..DESTRUCTOR_ROUNDS {
        let (mut from, mut called) = (0, false);
        let next = |from| sched::with_objects(|objects| objects.keys.next_destructor(me(), from));
        while let Some((key, destructor, value)) = next(from) {
            call_with(destructor, value);
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
    super::mutex::abandon_all(&call);
    let ended = call.step(Tag::Exit, 0).try_run(|_| {
        sched::with_objects(|objects| {
            if objects.threads.is_last(me()) && !objects.handlers.exit.is_empty() {
                return Err(());
            }
            objects.threads.get_mut(me()).finished = true;
            Ok(())
        })
    });
    if ended.is_err() {
        outlive_all(&call);
        super::process::exit(0);
    }
    sched::exit_thread()
}

/// The process ends after its last thread has, as POSIX says of `pthread_exit`: what the others did happens before.
fn outlive_all(call: &Call) {
    while let Some(other) = sched::with_objects(|objects| objects.threads.unjoined_but(me())) {
        call.step(Tag::Join, 0).argument(other).run(Blocker::None, |objects, _, _| {
            objects.threads.get_mut(other).joined = true;
        });
    }
}

/// What the attributes of a new thread say that matters here.
#[derive(Clone, Copy, Default)]
pub struct Attributes {
    detached: bool,
    /// The signals it blocks, unless those of its creator.
    blocked_signals: Option<SignalSet>,
}

impl Attributes {
    /// Those of an attribute object; the defaults without one.
    fn of(attributes: *const pthread_attr_t) -> Self {
        if attributes.is_null() {
            return Self::default();
        }
        let mut state = libc::PTHREAD_CREATE_JOINABLE;
        // SAFETY: the program passes attributes that the C library initialised; `state` is writable.
        unsafe { pthread_attr_getdetachstate(attributes, &mut state) };
        Self { detached: state == libc::PTHREAD_CREATE_DETACHED, blocked_signals: Self::signal_mask(attributes) }
    }

    /// What `pthread_attr_setsigmask_np` stored. Before version 2.32 the GNU C library did not have it.
    fn signal_mask(attributes: *const pthread_attr_t) -> Option<SignalSet> {
        type Get = unsafe extern "C" fn(*const pthread_attr_t, *mut sigset_t) -> c_int;
        // SAFETY: the name ends with a zero byte. The C library's function has this type, and a missing one is `None`. The
        // program passes attributes that the C library initialised; `set` is writable, and all zero is a value of it.
        unsafe {
            let found = libc::dlsym(libc::RTLD_DEFAULT, c"pthread_attr_getsigmask_np".as_ptr());
            let get: Option<Get> = core::mem::transmute(found);
            let mut set: sigset_t = core::mem::zeroed();
            (get?(attributes, &mut set) == 0).then(|| blockable(&set))
        }
    }
}

/// Creates a thread and stores its handle before it can run.
pub fn create(handle: *mut pthread_t, start: StartRoutine, arg: *mut c_void, attributes: Attributes) -> c_int {
    if !sched::running() {
        return libc::EAGAIN;
    }
    if sched::may(environment::CREATION) && choice::choose(0, 1) == 1 {
        return libc::EAGAIN;
    }
    create_surely(handle, start, arg, attributes)
}

/// Creates a thread that the environment does not refuse.
fn create_surely(handle: *mut pthread_t, start: StartRoutine, arg: *mut c_void, attributes: Attributes) -> c_int {
    handlers::refuse_if_left();
    ensure_handle(0);
    let next = sched::with_objects(|objects| objects.threads.count());
    let step = Call::here().step(Tag::Create, 0).argument(next);
    let created = step.try_run(|step| {
        let child = sched::spawn(start, arg)?;
        step.argument = child;
        let handle_value = sched::slot_address(child) as u64;
        sched::with_objects(|objects| {
            let inherited = objects.threads.get(me()).blocked_signals;
            *objects.threads.get_mut(child) = ThreadState {
                handle: handle_value,
                detached: attributes.detached,
                blocked_signals: attributes.blocked_signals.unwrap_or(inherited),
                ..ThreadState::default()
            };
        });
        memory::write(handle, handle_value);
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

/// Creates a thread that is not the program's: nobody joins it, and it gets no signals.
pub fn create_outside(start: StartRoutine, arg: *mut c_void) {
    let mut handle: pthread_t = 0;
    create_surely(&raw mut handle, start, arg, Attributes { detached: true, blocked_signals: Some(SignalSet::MAX) });
}

/// The initial thread has no creator to note its handle.
fn ensure_handle(thread: Thread) -> u64 {
    sched::with_objects(|objects| {
        let entry = objects.threads.get_mut(thread);
        if entry.handle == 0 {
            entry.handle = sched::slot_address(thread) as u64;
        }
        entry.handle
    })
}

/// The thread with this handle.
pub fn find(handle: pthread_t, verb: &str) -> Result<Thread, c_int> {
    ensure_handle(0);
    sched::with_objects(|objects| objects.threads.by_handle(handle)).ok_or_else(|| {
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
pub fn join(handle: pthread_t, result: *mut u64, wait: Wait) -> Outcome {
    let target = match find(handle, "joins") {
        Ok(target) => target,
        Err(error) => return error.into(),
    };
    if target == me() {
        misuse(handle, "joins itself");
        return libc::EDEADLK.into();
    }
    if let Err(unjoinable) = sched::with_objects(|objects| objects.threads.joinable(target)) {
        return refuse(handle, "joins", unjoinable).into();
    }
    let call = Call::here();
    let (step, blocker) = match wait {
        Wait::Block => (call.step(Tag::Join, 0), Blocker::Join { thread: target }),
        _ => (call.step(Tag::TryJoin, 0).flags(flag::SUCCESS), Blocker::None),
    };
    let outcome = step.argument(target).run(blocker, |objects, thread, step| {
        if wait != Wait::Try && cancel::act(objects, thread, step) {
            return Outcome::CANCELLED;
        }
        let child = objects.threads.get_mut(target);
        if !child.finished {
            step.flags = 0;
            return wait.gave_up().into();
        }
        let value = child.result;
        // Another thread may have joined or detached it while this one was waiting.
        if let Err(unjoinable) = objects.threads.joinable(target) {
            return refuse(handle, "joins", unjoinable).into();
        }
        objects.threads.get_mut(target).joined = true;
        memory::write_if_wanted(result, value);
        0.into()
    });
    if sched::with_objects(|objects| objects.threads.is_alone(me())) {
        serial::begin();
        crate::interrupts::note_left();
    }
    outcome
}

/// Detaches a thread.
pub fn detach(handle: pthread_t) -> c_int {
    let target = match find(handle, "detaches") {
        Ok(target) => target,
        Err(error) => return error,
    };
    Call::here().step(Tag::Detach, 0).argument(target).run(Blocker::None, |objects, _, _| {
        if let Err(unjoinable) = objects.threads.joinable(target) {
            return refuse(handle, "detaches", unjoinable);
        }
        objects.threads.get_mut(target).detached = true;
        0
    })
}

cancellable! {
    /// Waits for a thread's end.
    fn pthread_join(handle: pthread_t, result: *mut u64) {
        join(handle, result, Wait::Block)
    }
    /// Waits for a thread's end or gives up.
    fn pthread_timedjoin_np(handle: pthread_t, result: *mut u64, limit: *const timespec) {
        if !limit.is_null() && !is_time(limit) {
            return libc::EINVAL.into();
        }
        if limit.is_null() {
            return join(handle, result, Wait::Block);
        }
        join(handle, result, Wait::Timed).until(limit)
    }
    /// Waits for a thread's end or gives up.
    fn pthread_clockjoin_np(handle: pthread_t, result: *mut u64, _clock: clockid_t, limit: *const timespec) {
        if !limit.is_null() && !is_time(limit) {
            return libc::EINVAL.into();
        }
        if limit.is_null() {
            return join(handle, result, Wait::Block);
        }
        join(handle, result, Wait::Timed).until(limit)
    }
}

export! {
    /// Creates a thread.
    fn pthread_create(
        handle: *mut pthread_t, attributes: *const pthread_attr_t, start: StartRoutine, arg: *mut c_void,
    ) -> c_int {
        create(handle, start, arg, Attributes::of(attributes))
    }
    /// Joins a thread if it has ended.
    fn pthread_tryjoin_np(handle: pthread_t, result: *mut u64) -> c_int {
        join(handle, result, Wait::Try).value().unwrap_or(0)
    }
    /// Detaches a thread.
    fn pthread_detach(handle: pthread_t) -> c_int {
        detach(handle)
    }
    /// The calling thread's handle.
    fn pthread_self() -> pthread_t {
        if sched::running() { ensure_handle(me()) } else { 1 }
    }
    /// Whether two handles name the same thread.
    fn pthread_equal(left: pthread_t, right: pthread_t) -> c_int {
        (left == right).into()
    }
    /// Names a thread.
    fn pthread_setname_np(handle: pthread_t, name: *const c_char) -> c_int {
        let target = match find(handle, "names") {
            Ok(target) => target,
            Err(error) => return error,
        };
        let len = memory::string_len(name, NAME_SIZE);
        if len == NAME_SIZE {
            return libc::ERANGE;
        }
        let mut kept = [0; NAME_SIZE];
        kept[..len].copy_from_slice(&memory::bytes(name as u64, len));
        sched::with_objects(|objects| objects.threads.get_mut(target).name = kept);
        0
    }
    /// A thread's name.
    fn pthread_getname_np(handle: pthread_t, name: *mut c_char, size: usize) -> c_int {
        match find(handle, "asks the name of") {
            Ok(_) if size < NAME_SIZE => libc::ERANGE,
            Ok(target) => {
                let kept = sched::with_objects(|objects| objects.threads.get(target).name);
                memory::write_bytes(name as u64, &kept);
                0
            }
            Err(error) => error,
        }
    }
    /// Which processors a thread runs on does not matter.
    fn pthread_setaffinity_np(_handle: pthread_t, _size: usize, _set: *const libc::cpu_set_t) -> c_int {
        0
    }
    /// Those of the process.
    fn pthread_getaffinity_np(_handle: pthread_t, size: usize, set: *mut libc::cpu_set_t) -> c_int {
        // SAFETY: the program says that the set has that size; a wrong address is an error of the system call.
        if unsafe { libc::sched_getaffinity(0, size, set) } == 0 { 0 } else { libc::EINVAL }
    }
    /// Priorities do not matter.
    fn pthread_setschedparam(_handle: pthread_t, _policy: c_int, _parameters: *const sched_param) -> c_int {
        0
    }
    /// Priorities do not matter.
    fn pthread_setschedprio(_handle: pthread_t, _priority: c_int) -> c_int {
        0
    }
    /// The usual policy without priority.
    fn pthread_getschedparam(_handle: pthread_t, policy: *mut c_int, parameters: *mut sched_param) -> c_int {
        memory::write(policy, libc::SCHED_OTHER);
        memory::write(parameters, sched_param { sched_priority: 0 });
        0
    }
    /// The clock of the one operating-system thread.
    fn pthread_getcpuclockid(_handle: pthread_t, clock: *mut clockid_t) -> c_int {
        memory::write(clock, libc::CLOCK_THREAD_CPUTIME_ID);
        0
    }
    /// A running thread's attributes are not known.
    fn pthread_getattr_np(_handle: pthread_t, _attributes: *mut pthread_attr_t) -> c_int {
        unmodelled("calls `pthread_getattr_np`");
        libc::ENOSYS
    }
}
