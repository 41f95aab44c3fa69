//! Signals between threads, where they are blocked and waited for.
//!
//! | function | semantics |
//! |---|---|
//! | `pthread_sigmask`, `sigprocmask` | each thread has its own set, as it should; the set is the model's |
//! | `pthread_kill`, `pthread_sigqueue` | signal 0 looks whether the thread has ended (a failed `TryJoin`); one that the thread blocks becomes pending; one that it ignores is gone, one that it does not handle ends the process; handlers run in the calling thread ([`super::handlers`]), those of other threads are not modelled |
//! | `sigwait`, `sigwaitinfo` | waits for a pending signal; cancellation points |
//! | `sigtimedwait` | the same; scheduled while there is none, it has timed out |
//! | `sigpending` | the set |
//! | `pause`, `sigsuspend` | wait for a handler to run: for ever, but for signals that are pending; cancellation points |
//!
//! All of them are relaxed atomic accesses to one cell, in two parts as calls on what the library keeps are
//! ([`operate`]): their order matters, some may have to wait, and they order nothing else. No standard says that sending a
//! signal synchronises with the one who waits for it.

use alloc::vec::Vec;
use core::ffi::c_int;

use libc::{pthread_t, siginfo_t, sigset_t, timespec};
use wire::Tag;
use wire::record::order;

use super::cancel::{self, Outcome, cancellable};
use super::handlers;
use super::sleep::length;
use super::step::{Call, is_time, me, set_errno, unmodelled};
use super::thread::find;
use crate::libc_models::event::{Access, handed_over, operate};
use crate::libc_models::{clock, signal_files};
use crate::sched::{self, Thread};
use crate::sync::signal::{SignalSet, only};
use crate::sync::timer::{Expired, INTERVAL_TIMERS, REPEATED_OFTEN};
use crate::sync::{Blocker, SyncObjects};
use crate::{choice, interrupts, memory};

/// Signals that nobody can block.
pub const UNBLOCKABLE: SignalSet = 1 << (libc::SIGKILL - 1) | 1 << (libc::SIGSTOP - 1);

/// The event of one of these calls, with what it hands over, if it does. `None`: the waiting ended because the thread is to
/// be cancelled.
fn event<R>(
    tag: Tag,
    blocker: Blocker,
    act: impl FnOnce(&mut SyncObjects, Thread) -> R,
    hands_over: impl FnOnce(&R) -> Vec<Access>,
) -> Option<R> {
    handlers::refuse_if_left();
    let part = |offset| Access { tag, order: order::RELAXED, at: wire::PENDING_SIGNALS + offset, len: 4 };
    operate(&[part(0), part(4)], blocker, |add| {
        let result = sched::with_objects(|objects| act(objects, me()));
        hands_over(&result).into_iter().for_each(add);
        result
    })
}

/// The access that orders what was done before a signal was sent to a thread before what that thread does after it has
/// waited for it (assumption A15).
fn handover(tag: Tag, order: u8, to: Thread) -> Access {
    Access { tag, order: handed_over(order), at: wire::PENDING_SIGNALS + 8 * (1 + u64::from(to)), len: 4 }
}

/// The same for a call that does not wait.
pub fn at_once<R>(tag: Tag, act: impl FnOnce(&mut SyncObjects, Thread) -> R) -> R {
    event(tag, Blocker::None, act, |_| Vec::new()).expect("raceproof bug: a call that does not wait was cancelled")
}

/// The signals of a set that a thread can block.
pub fn blockable(set: &sigset_t) -> SignalSet {
    get(set) & !UNBLOCKABLE
}

/// What the C library keeps of a set at its start.
fn get(set: *const sigset_t) -> SignalSet {
    memory::read(set.cast::<SignalSet>())
}

fn put(set: *mut sigset_t, signals: SignalSet) {
    memory::zero(set, 1);
    memory::write(set.cast::<SignalSet>(), signals);
}

/// Changes the calling thread's set of blocked signals; an error number if it cannot.
fn mask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int {
    handlers::refuse_if_left();
    let change = (!set.is_null()).then(|| get(set));
    if change.is_some() && ![libc::SIG_BLOCK, libc::SIG_UNBLOCK, libc::SIG_SETMASK].contains(&how) {
        return libc::EINVAL;
    }
    let update = |objects: &mut SyncObjects, number: Thread| {
        let thread = objects.threads.get_mut(number);
        let before = thread.blocked_signals;
        let after = match (change, how) {
            (None, _) => before,
            (Some(set), libc::SIG_BLOCK) => before | set,
            (Some(set), libc::SIG_UNBLOCK) => before & !set,
            (Some(set), _) => set,
        };
        thread.blocked_signals = after & !UNBLOCKABLE;
        let blocked = thread.blocked_signals;
        (before, objects.pending_for(number) & !blocked != 0)
    };
    if let Some(set) = change.filter(|_| how != libc::SIG_BLOCK) {
        let unblocked = if how == libc::SIG_UNBLOCK { set } else { !set };
        let told = unblocked & signal_files::unread();
        signal_files::refuse(told, "no longer blocks a signal that a descriptor tells of");
    }
    let (before, due) = match change {
        Some(_) => at_once(Tag::ReadModifyWrite, update),
        // Nobody else changes it.
        None => sched::with_objects(|objects| update(objects, me())),
    };
    if !old.is_null() {
        put(old, before);
    }
    if due {
        handlers::deliver_pending();
    }
    if sched::running() {
        interrupts::note_left();
    }
    0
}

/// Makes this the set of signals that the calling thread blocks; the set before, and which are pending now that are not in it.
fn swap_mask(blocked: SignalSet) -> (SignalSet, SignalSet) {
    at_once(Tag::ReadModifyWrite, |objects, thread| {
        let before = core::mem::replace(&mut objects.threads.get_mut(thread).blocked_signals, blocked);
        (before, objects.pending_for(thread) & !blocked)
    })
}

/// Makes a call that waits, with this set of blocked signals if one is given, as `ppoll` does. `None`: as the call's, or a
/// handler has run instead.
pub fn with_mask<R>(set: *const sigset_t, call: impl FnOnce() -> Option<R>) -> Option<R> {
    if set.is_null() || !interrupts::may_be() {
        return call();
    }
    let (before, due) = swap_mask(get(set) & !UNBLOCKABLE);
    let is_interrupted = if due != 0 {
        handlers::deliver_pending();
        true
    } else {
        interrupts::interrupt_call().is_some()
    };
    let result = if is_interrupted {
        interrupts::note_interrupted_call();
        None
    } else {
        call()
    };
    swap_mask(before);
    result
}

/// The accesses of a call that took a signal: it comes after what the sender did, and nobody else takes it.
fn of_taken<T>(taken: &Option<T>) -> Vec<Access> {
    let one = |_| [handover(Tag::Read, order::ACQUIRE, me()), interrupts::process_cell(Tag::ReadModifyWrite)];
    taken.iter().flat_map(one).take(if interrupts::may_be() { 2 } else { 1 }).collect()
}

/// Waits for a signal of the set, or looks whether there is one. A timer has expired by the end of the wait, if it `expires`.
fn take(set: SignalSet, blocker: Blocker, expires: bool, got: impl FnOnce(Option<Taken>) -> c_int) -> Outcome {
    signal_files::refuse(set, "waits for a signal that a descriptor tells of");
    let call = Call::here();
    let take = |objects: &mut SyncObjects, thread| {
        let expire = |objects: &mut SyncObjects| objects.timers.expire(if expires { set } else { 0 });
        objects.take_signal(thread, set).map(Taken::sent).or_else(|| expire(objects).map(Taken::expired))
    };
    match event(Tag::ReadModifyWrite, blocker, take, of_taken) {
        Some(taken) => got(taken.inspect(Taken::note)).into(),
        None => cancel::point(&call),
    }
}

/// A signal that a thread got.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// Which one.
    pub signal: c_int,
    /// The timer that sent it.
    timer: Option<Expired>,
}

impl Taken {
    /// One that somebody sent.
    pub fn sent(signal: c_int) -> Self {
        Self { signal, timer: None }
    }

    /// That of a timer.
    pub fn expired(timer: Expired) -> Self {
        Self { signal: timer.signal, timer: Some(timer) }
    }

    /// The running thread has got it: its clock shows that a timer was due.
    pub fn note(&self) {
        let Some(timer) = self.timer else { return };
        clock::reach_elapsed(timer.due);
        if timer.was_released {
            unmodelled(REPEATED_OFTEN);
        }
    }

    /// What is known about it.
    pub fn information(&self) -> siginfo_t {
        /// The start of the structure for timers.
        #[repr(C)]
        #[derive(Clone, Copy)]
        struct OfTimer {
            signal: c_int,
            error: c_int,
            code: c_int,
            pad: c_int,
            timer: c_int,
            overrun: c_int,
            value: usize,
        }
        // SAFETY: all bytes zero is a value of this structure of integers.
        let mut said: siginfo_t = unsafe { core::mem::zeroed() };
        said.si_signo = self.signal;
        said.si_code = libc::SI_TKILL;
        if let Some(Expired { signal, value, timer, .. }) = self.timer {
            if timer < INTERVAL_TIMERS {
                said.si_code = SI_KERNEL;
                return said;
            }
            let code = libc::SI_TIMER;
            let known = OfTimer { signal, error: 0, code, pad: 0, timer: timer as c_int, overrun: 0, value };
            memory::write((&raw mut said).cast(), known);
        }
        said
    }
}

/// What `si_code` is for signals that the kernel sends.
const SI_KERNEL: c_int = 0x80;

/// Says which signal came; its number.
fn tell(info: *mut siginfo_t, taken: Taken) -> c_int {
    if !info.is_null() {
        memory::write(info, taken.information());
    }
    taken.signal
}

/// Sends a thread a signal, which is kept if the thread blocks it, or is another one that will handle it; whether it is kept.
pub fn keep_if_blocked(target: Thread, signal: c_int) -> bool {
    signal_files::refuse(only(signal), "sends a thread a signal that a descriptor tells of");
    let interrupts = interrupts::is_on() && target != me() && !handlers::acts_without_handler(signal);
    let handed = |sent: &bool| {
        let to = |access: Access| Vec::from([access, interrupts::cell(Tag::ReadModifyWrite, target)]);
        if *sent { to(handover(Tag::ReadModifyWrite, order::RELEASE, target)) } else { Vec::new() }
    };
    let send = |objects: &mut SyncObjects, _| {
        let is_blocked = objects.send(target, signal);
        if interrupts {
            objects.send_to_handler(target, signal);
        }
        is_blocked || interrupts
    };
    event(Tag::ReadModifyWrite, Blocker::None, send, handed) == Some(true)
}

/// Keeps a signal until some thread takes it.
pub fn keep_for_all(signal: c_int) {
    let all_block = sched::with_objects(|objects| objects.threads.is_blocked_by_all(signal));
    if !all_block {
        signal_files::refuse(only(signal), "sends a signal that a descriptor tells of and a thread does not block");
    }
    // Whoever takes it comes after what its sender did.
    let count = sched::with_objects(|objects| objects.threads.count());
    let accesses: Vec<Access> = (0..count).map(|to| handover(Tag::ReadModifyWrite, order::RELEASE, to)).collect();
    let part = |offset| Access {
        tag: Tag::ReadModifyWrite,
        order: order::RELAXED,
        at: wire::PENDING_SIGNALS + offset,
        len: 4,
    };
    operate(&[part(0), part(4)], Blocker::None, |add| {
        if !all_block || !signal_files::tell(signal, &mut *add) {
            sched::with_objects(|objects| objects.pending_signals |= only(signal));
        }
        if interrupts::may_be() {
            add(interrupts::process_cell(Tag::ReadModifyWrite));
        }
        accesses.into_iter().for_each(add);
    });
}

cancellable! {
    /// Waits for a handler.
    fn pause() {
        take(0, Blocker::Signal { set: 0 }, true, |_| -1)
    }
    /// Waits for a handler of a signal that is not in the set.
    fn sigsuspend(set: *const sigset_t) {
        let (before, due) = swap_mask(get(set) & !UNBLOCKABLE);
        let outcome = if due != 0 {
            handlers::deliver_pending();
            cancel::interrupted()
        } else if interrupts::interrupt_call().is_some() {
            cancel::interrupted()
        } else {
            take(0, Blocker::Signal { set: 0 }, true, |_| -1)
        };
        swap_mask(before);
        set_errno(libc::EINTR);
        outcome
    }
    /// Waits for a signal; handlers do not end the wait.
    fn sigwait(set: *const sigset_t, signal: *mut c_int) {
        let set = get(set);
        loop {
            let outcome = take(set, Blocker::Signal { set }, true, |taken| {
                if let Some(taken) = taken {
                    memory::write(signal, taken.signal);
                }
                0
            });
            if outcome.value() != Some(-1) {
                return outcome;
            }
        }
    }
    /// Waits for a signal.
    fn sigwaitinfo(set: *const sigset_t, info: *mut siginfo_t) {
        let set = get(set);
        take(set, Blocker::Signal { set }, true, |taken| taken.map_or(-1, |taken| tell(info, taken)))
    }
    /// Waits for a signal or gives up.
    fn sigtimedwait(set: *const sigset_t, info: *mut siginfo_t, limit: *const timespec) {
        let set = get(set);
        if limit.is_null() {
            return take(set, Blocker::Signal { set }, true, |taken| taken.map_or(-1, |taken| tell(info, taken)));
        }
        if !is_time(limit) {
            set_errno(libc::EINVAL);
            return (-1).into();
        }
        if interrupts::interrupt_call().is_some() {
            return cancel::interrupted();
        }
        // A timer may expire before the limit ends the wait.
        let is_armed = sched::with_objects(|objects| objects.timers.signals()) & set != 0;
        let expires = is_armed && choice::choose(0, 1) == 1;
        take(set, Blocker::None, expires, |taken| match taken {
            Some(taken) => tell(info, taken),
            None => {
                clock::advance(length(limit));
                set_errno(libc::EAGAIN);
                -1
            }
        })
    }
}

export! {
    /// Changes which signals the calling thread blocks.
    fn pthread_sigmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int {
        mask(how, set, old)
    }
    /// Changes which signals the calling thread blocks.
    fn sigprocmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int {
        match mask(how, set, old) {
            0 => 0,
            error => {
                set_errno(error);
                -1
            }
        }
    }
    /// The signals that are pending for the calling thread.
    fn sigpending(set: *mut sigset_t) -> c_int {
        let pending = at_once(Tag::Read, |objects, thread| objects.pending_for(thread)) | signal_files::unread();
        put(set, pending);
        0
    }
    /// Sends a signal to a thread.
    fn pthread_kill(handle: pthread_t, signal: c_int) -> c_int {
        let target = match find(handle, "sends a signal to") {
            Ok(target) => target,
            Err(error) => return error,
        };
        if signal == 0 {
            let look = Call::here().step(Tag::TryJoin, 0).argument(target);
            let finished = look.run(Blocker::None, |objects, _, _| objects.threads.get(target).finished);
            return if finished { libc::ESRCH } else { 0 };
        }
        if only(signal) == 0 {
            return libc::EINVAL;
        }
        if keep_if_blocked(target, signal) {
            return 0;
        }
        if target == me() || handlers::acts_without_handler(signal) {
            handlers::deliver(signal);
            return 0;
        }
        unmodelled("sends another thread a signal that it handles");
        libc::ENOSYS
    }
    /// Sends a signal to a thread; the value that goes with it is not kept.
    fn pthread_sigqueue(handle: pthread_t, signal: c_int, _value: libc::sigval) -> c_int {
        if signal != 0 {
            unmodelled("sends a value with a signal");
        }
        pthread_kill(handle, signal)
    }
}
