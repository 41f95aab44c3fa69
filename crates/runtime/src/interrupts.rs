//! Handlers that interrupt a thread: a signal that another thread sent is pending until its target *looks* for signals and
//! handles it (decision 58).
//!
//! A thread looks before each of its events that is not a plain access, before the first plain access after one, before each
//! volatile access of a `sig_atomic_t`, while it sleeps, and when a handler returns. A look is an event that reads what was
//! sent to the thread, so it depends on those who send and on nothing else. Whether a signal that is pending is handled at
//! once or at a later look is a choice of the schedule, a few times in a row. A thread that is blocked while a signal is
//! pending handles it: that event also reads what the thread waits for.
//!
//! Threads look only in programs whose text may send signals to threads that handle them (`__rp_interrupts`).
//!
//! What the thread touches while a signal is pending that it could handle, and what the handler then touches, are accesses of
//! one thread and no data race. Where they conflict and are neither atomic nor volatile ones of a `sig_atomic_t`, the program
//! has no defined meaning: that is reported here.

use alloc::vec::Vec;
use core::cell::Cell;

use wire::record::order;
use wire::{Record, Tag};

use crate::api::handlers;
use crate::api::signal::Taken;
use crate::cell::{Global, OneThread};
use crate::libc_models::event::{Access, handed_over, operate};
use crate::libc_models::{clock, poll};
use crate::sched::{self, Thread};
use crate::sync::Blocker;
use crate::sync::signal::SignalSet;
use crate::text::text;
use crate::{choice, hooks, rounds, serial};

/// How often in a row a thread puts off the signals that are pending.
const MOST_DEFERRED: u32 = 4;

/// Most accesses that are remembered while a signal is pending.
const MOST_TOUCHED: usize = 4096;

/// What the instrumented program defines.
#[cfg(not(test))]
mod program {
    unsafe extern "C" {
        pub(super) static __rp_interrupts: u32;
        pub(super) static __rp_volatile: u32;
        pub(super) static __rp_volatiles: u64;
    }
}

/// What a thread did last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Last {
    Look,
    PlainAccess,
    Other,
}

/// An access that a handler may conflict with.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Touched {
    start: u64,
    len: u64,
    writes: bool,
    /// Atomic, or volatile of a `sig_atomic_t`.
    is_allowed: bool,
    /// The locks that the thread holds meanwhile. A handler that takes one of them cannot get on there.
    locks: Vec<u64>,
    site: u32,
}

impl Touched {
    fn conflicts(&self, other: &Self) -> bool {
        self.start < other.start.saturating_add(other.len)
            && other.start < self.start.saturating_add(self.len)
            && (self.writes || other.writes)
            && !(self.is_allowed && other.is_allowed)
            && !self.locks.iter().any(|lock| other.locks.contains(lock))
    }
}

/// A handler that interrupted a thread.
struct Interruption {
    /// Where on the thread's stack it runs: below this.
    frame: usize,
    /// What the thread touched while the signal was pending.
    touched: Vec<Touched>,
}

/// What is kept of a thread.
struct State {
    last: Last,
    /// The events of a look are being made.
    is_looking: bool,
    /// The position of the event it is about to make, after it looked.
    arrived: Option<u32>,
    /// How often in a row it put off what is pending.
    deferred: u32,
    /// A call was interrupted and returns an error.
    is_call_interrupted: bool,
    touched: Vec<Touched>,
    interruptions: Vec<Interruption>,
    /// The locks it holds, where that matters.
    locks: Vec<u64>,
}

impl State {
    const NEW: Self = Self {
        last: Last::Other,
        is_looking: false,
        arrived: None,
        deferred: 0,
        is_call_interrupted: false,
        touched: Vec::new(),
        interruptions: Vec::new(),
        locks: Vec::new(),
    };
}

static STATES: Global<Vec<State>> = Global::new(Vec::new());
/// The places that were reported: the handler's, the thread's.
static REPORTED: Global<Vec<(u32, u32)>> = Global::new(Vec::new());
/// Whether the running thread has a signal pending that it could handle.
static IS_DUE: OneThread<Cell<bool>> = OneThread::new(Cell::new(false));
/// Whether it had one when all other threads were gone.
static IS_LEFT: OneThread<Cell<bool>> = OneThread::new(Cell::new(false));

fn with<R>(use_it: impl FnOnce(&mut State) -> R) -> R {
    let thread = sched::current() as usize;
    STATES.with(|states| {
        while states.len() <= thread {
            states.push(State::NEW);
        }
        use_it(&mut states[thread])
    })
}

/// Whether every event is looked at: threads of this program may interrupt each other, and there are several, or a signal is
/// left of one that has ended.
#[inline]
pub fn is_watching() -> bool {
    may_be() && (!serial::is_alone() || IS_LEFT.get())
}

/// The same while a thread runs.
#[inline]
pub fn is_on() -> bool {
    is_watching() && sched::running()
}

/// The running thread is alone now, or has handled a signal: there may be none left.
pub fn note_left() {
    IS_LEFT.set(may_be() && due(sched::current()) != 0);
    sched::look_again();
}

/// Whether threads of this program may interrupt each other.
pub fn may_be() -> bool {
    // SAFETY: a constant of the program.
    unsafe { program::__rp_interrupts != 0 }
}

/// Whether the running thread makes the events of a look, which are none of the program's.
pub fn is_looking() -> bool {
    is_on() && with(|state| state.is_looking)
}

fn is_volatile(site: u32) -> bool {
    // SAFETY: the program defines both: a sorted array, and its length.
    let sites =
        unsafe { core::slice::from_raw_parts(&raw const program::__rp_volatile, program::__rp_volatiles as usize) };
    sites.binary_search(&site).is_ok()
}

/// The signals that a thread could handle now.
fn due(thread: Thread) -> SignalSet {
    sched::with_objects(|objects| objects.interrupts_of(thread))
}

/// Those of them that are pending.
fn pending(thread: Thread) -> SignalSet {
    sched::with_objects(|objects| objects.pending_interrupts_of(thread))
}

/// Whether the time of a timer has come whose signal the thread could handle.
fn is_overdue(thread: Thread) -> bool {
    let now = clock::elapsed();
    sched::with_objects(|objects| objects.timers.overdue(thread, now) & objects.interrupts_of(thread)) != 0
}

/// The cell of what was sent to a thread.
pub fn cell(tag: Tag, thread: Thread) -> Access {
    Access { tag, order: order::RELAXED, at: wire::PENDING_SIGNALS + 8 * (1 + u64::from(thread)) + 4, len: 4 }
}

/// The cell of what was sent to the process.
pub fn process_cell(tag: Tag) -> Access {
    Access { tag, order: order::RELAXED, at: wire::PROCESS_SIGNALS, len: 8 }
}

/// Before the running thread's next event, as far as that is known: it may look for signals first.
pub fn before(event: &[Record]) {
    if !is_on() {
        return;
    }
    let position = || hooks::HOT.position.get();
    let is_quiet = matches!(event, [record] if is_plain(record) && !is_volatile(record.site()));
    let looks = with(|state| {
        let looks = if is_quiet { state.last == Last::Other } else { state.last != Last::Look };
        looks && !state.is_looking && state.arrived != Some(position())
    });
    if looks {
        look(false);
    }
    with(|state| {
        if !state.is_looking {
            state.last = if is_quiet { Last::PlainAccess } else { Last::Other };
            state.arrived = Some(position());
        }
    });
    IS_DUE.set(due(sched::current()) != 0);
    if IS_DUE.get() || with(|state| !state.interruptions.is_empty()) {
        let locks = sched::with_objects(|objects| objects.locks_of(sched::current()));
        with(|state| state.locks = locks);
    }
    event.iter().for_each(note);
}

fn is_plain(record: &Record) -> bool {
    matches!(record.tag(), Some(Tag::Read | Tag::Write)) && record.flags() & order::MASK == order::PLAIN
}

/// Looks for signals in a call that they interrupt, such as a sleep. If a handler has run, says whether it lets calls go on
/// that allow it.
pub fn interrupt_call() -> Option<bool> {
    if is_on() { look(false) } else { None }
}

/// Handles what is pending: a handler has returned, or signals are no longer blocked.
pub fn handle_all() {
    if is_on() {
        look(true);
    }
}

/// Looks for signals. If a handler has run, says whether it lets calls go on that allow it.
fn look(must_handle: bool) -> Option<bool> {
    let (thread, site) = (sched::current(), sched::site());
    let seen = [cell(Tag::Read, thread), process_cell(Tag::Read)];
    let is_outer = with(|state| !core::mem::replace(&mut state.is_looking, true));
    debug_assert!(is_outer, "a look inside a look");
    let found = operate(&seen, Blocker::None, |_| (pending(thread) != 0, due(thread) != 0));
    let (is_pending, is_due) = found.unwrap_or((false, false));
    let may_defer = !must_handle && with(|state| state.deferred) < MOST_DEFERRED;
    let defers = if is_pending {
        may_defer && choice::choose_quietly(0, 1) == 1
    } else {
        // Whether a timer has expired: it has if the thread that armed it has slept so long.
        is_due && !is_overdue(thread) && (must_handle || choice::choose_quietly(0, 1) == 0)
    };
    with(|state| {
        (state.is_looking, state.last) = (false, Last::Look);
        state.deferred = if is_pending && defers { state.deferred + 1 } else { 0 };
    });
    hooks::set_site(site);
    (is_due && !defers).then(|| handle(&[]))
}

/// Takes a pending signal and runs its handler; `also` are further accesses of the event that takes it. Says whether an
/// interrupted call is to go on.
fn handle(also: &[Access]) -> bool {
    let (thread, site) = (sched::current(), sched::site());
    let sender = Access {
        tag: Tag::Read,
        order: handed_over(order::ACQUIRE),
        at: wire::PENDING_SIGNALS + 8 * (1 + u64::from(thread)),
        len: 4,
    };
    let mut accesses = Vec::from([cell(Tag::ReadModifyWrite, thread), process_cell(Tag::ReadModifyWrite)]);
    // A timer orders nothing.
    accesses.extend((pending(thread) != 0).then_some(sender));
    accesses.extend_from_slice(also);
    with(|state| state.is_looking = true);
    let taken = operate(&accesses, Blocker::None, |_| {
        sched::with_objects(|objects| {
            let due = objects.interrupts_of(thread);
            objects.take_signal(thread, due).map(Taken::sent).or_else(|| objects.timers.expire(due).map(Taken::expired))
        })
    });
    let taken = taken.flatten().inspect(Taken::note);
    let frame = 0u8;
    with(|state| {
        (state.is_looking, state.last) = (false, Last::Look);
        let touched = core::mem::take(&mut state.touched);
        state.interruptions.push(Interruption { frame: &raw const frame as usize, touched });
    });
    rounds::effect();
    // A handler may wait at descriptors itself.
    let waits = poll::set_aside(thread);
    let goes_on = taken.is_none_or(handlers::interrupt);
    poll::put_back(thread, waits);
    with(|state| state.interruptions.pop());
    note_left();
    hooks::set_site(site);
    goes_on
}

/// A thread was resumed. If it is still blocked, it was because of a signal: its handler runs. Says whether the call is to go
/// on, `None` if the thread was not interrupted. `pending` is what it was about to do.
pub fn after_wait(pending: &[Record], blocker: &Blocker) -> Option<bool> {
    let is_interrupted = is_on()
        && sched::with_objects(|objects| {
            objects.waits_for(sched::current(), blocker) && objects.interrupts_of(sched::current()) != 0
        });
    if !is_interrupted {
        return None;
    }
    if let Blocker::Join { thread } = *blocker {
        // That it has not ended yet is what this event says; a memory access cannot.
        let failed = Record::new(Tag::TryJoin, 0, 0, sched::site(), thread);
        sched::commit(failed, None);
    }
    // What ends the wait would have come first if it had been there.
    let looked_at = |record: &Record| match record.tag() {
        Some(Tag::Read | Tag::Write | Tag::ReadModifyWrite | Tag::Await) => {
            let len = u64::from(record.argument());
            Some(Access { tag: Tag::Read, order: order::RELAXED, at: record.address(), len })
        }
        Some(Tag::Join) | None => None,
        Some(_) => Some(Access { tag: Tag::Read, order: order::RELAXED, at: record.address(), len: 1 }),
    };
    let also: Vec<Access> = pending.iter().filter_map(looked_at).filter(|access| access.at != 0).collect();
    let goes_on = handle(&also);
    with(|state| (state.last, state.arrived) = (Last::Look, None));
    Some(goes_on)
}

/// The running thread's call ends because of a signal.
pub fn note_interrupted_call() {
    with(|state| state.is_call_interrupted = true);
}

/// Whether the running thread's call ended because of a signal; asked once.
pub fn take_interrupted_call() -> bool {
    may_be() && with(|state| core::mem::take(&mut state.is_call_interrupted))
}

/// The running thread makes this access: remembered while a signal is pending, compared in a handler.
pub fn note(record: &Record) {
    let writes = match record.tag() {
        Some(Tag::Read) => false,
        Some(Tag::Write | Tag::ReadModifyWrite | Tag::Free) => true,
        _ => return,
    };
    if !is_on() {
        return;
    }
    let here = 0u8;
    let (start, len, site) = (record.address(), u64::from(record.argument()), record.site());
    let is_allowed = record.flags() & order::MASK != order::PLAIN || is_volatile(site);
    let conflict = with(|state| {
        if state.is_looking {
            return None;
        }
        let touched = Touched { start, len, writes, is_allowed, locks: state.locks.clone(), site };
        // Those that were left by a jump.
        state.interruptions.retain(|interruption| interruption.frame > &raw const here as usize);
        if IS_DUE.get() && state.touched.len() < MOST_TOUCHED && !state.touched.contains(&touched) {
            state.touched.push(touched.clone());
        }
        let mut interrupted = state.interruptions.iter().flat_map(|interruption| &interruption.touched);
        interrupted.find(|before| before.conflicts(&touched)).map(|before| before.site)
    });
    let Some(interrupted) = conflict else { return };
    let is_new = REPORTED.with(|reported| {
        let is_new = !reported.contains(&(site, interrupted));
        if is_new {
            reported.push((site, interrupted));
        }
        is_new
    });
    if is_new {
        let what = if start == wire::UNSAFE_CALLS { wire::UNSAFE_CALL } else { wire::INTERRUPTED };
        sched::misuse(start, text!("{what}{interrupted}").as_str());
    }
}

/// The running thread is about to make a call that must not come in the middle of another one (decision 99). It looks for
/// signals on both sides of the call.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_unsafe_call(site: u32) {
    if !is_on() {
        return;
    }
    hooks::set_site(site);
    before(&[]);
    note(&Record::new(Tag::Write, 0, wire::UNSAFE_CALLS, site, 1));
    with(|state| (state.last, state.arrived) = (Last::Other, None));
}

/// A program without handlers.
#[cfg(test)]
#[allow(non_upper_case_globals, reason = "the names of the interface")]
mod program {
    pub(super) static mut __rp_interrupts: u32 = 0;
    pub(super) static __rp_volatile: u32 = 0;
    pub(super) static __rp_volatiles: u64 = 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_standards_allow_may_conflict() {
        let touched =
            |start, writes, is_allowed| Touched { start, len: 4, writes, is_allowed, locks: Vec::new(), site: 0 };
        assert!(touched(0, true, false).conflicts(&touched(3, false, true)));
        assert!(touched(0, false, true).conflicts(&touched(3, true, false)));
        assert!(!touched(0, true, true).conflicts(&touched(0, true, true)));
        assert!(!touched(0, false, false).conflicts(&touched(0, false, false)));
        assert!(!touched(0, true, false).conflicts(&touched(4, true, false)));
        let locked = |locks: &[u64]| Touched { locks: locks.to_vec(), ..touched(0, true, false) };
        assert!(locked(&[1]).conflicts(&locked(&[2])) && locked(&[1]).conflicts(&locked(&[])));
        assert!(!locked(&[1, 2]).conflicts(&locked(&[2])));
    }
}
