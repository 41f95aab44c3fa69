//! Serial stretches: while a thread is alone nothing it does can race, and after a while it is not recorded (decision 49).
//!
//! A stretch begins with the run, and where a join leaves one thread and all others have been joined. It ends before the
//! next creation. Everything before it happens before everything in it, and that before everything after it. Its first
//! events are recorded as ever; then it is *quiet*: a site records its first access and no other one. So what was reached
//! is known, and a loop of any length makes no events.
//!
//! Instrumented code calls the hook of a plain access only while the byte of its site in `__rp_quiet` is 0. While a stretch
//! is quiet, the hooks' limit is kept at the position, so every event that is still made is looked at, and its site's byte is
//! set here.

use alloc::vec::Vec;
use core::cell::Cell;

use wire::layout::environment;
use wire::record::{flag, order};
use wire::{Record, Tag};

use crate::cell::{Checked, OneThread};
use crate::hooks::{self, HOT};
use crate::rounds::CARRIED;
use crate::{heap, sched};

/// How often a stretch is recorded again because a loop repeats itself.
const MOST_REPETITIONS: u32 = 16;

/// Allocations are sorted out when there are this many, and then when there are twice as many as were left.
const FEW_ALLOCATIONS: usize = 4096;

/// What the instrumented program defines.
#[cfg(not(test))]
mod program {
    unsafe extern "C" {
        pub(super) static mut __rp_quiet: u8;
        pub(super) static __rp_sites: u64;
        pub(super) static __rp_serial_events: u64;
    }
}

/// A round of a loop: the loop and its activation, and what lives on from the round before.
type Round = ((u32, usize), [u64; CARRIED]);

struct Stretch {
    /// The position from which it is quiet; `NEVER` where other threads are.
    quiet_from: Cell<u32>,
    is_alone: Cell<bool>,
    /// Whether some site's byte is set.
    is_marked: Cell<bool>,
    /// The last round of a loop that may wait.
    round: Cell<Option<Round>>,
    repetitions: Cell<u32>,
    /// What was allocated since it is quiet, as far as it may still be there.
    allocations: Checked<Vec<Record>>,
    /// How many of those are sorted out.
    many: Cell<usize>,
}

const NEVER: u32 = u32::MAX;

static STRETCH: OneThread<Stretch> = OneThread::new(Stretch {
    quiet_from: Cell::new(NEVER),
    is_alone: Cell::new(false),
    is_marked: Cell::new(false),
    round: Cell::new(None),
    repetitions: Cell::new(0),
    allocations: Checked::new(Vec::new()),
    many: Cell::new(FEW_ALLOCATIONS),
});

/// The position from which the running thread's stretch is quiet.
#[inline]
pub fn quiet_from() -> u32 {
    STRETCH.quiet_from.get()
}

/// Whether the running thread is the only one.
#[inline]
pub fn is_alone() -> bool {
    STRETCH.is_alone.get()
}

/// Whether the running thread is in a quiet stretch.
#[inline]
pub fn is_quiet() -> bool {
    HOT.position.get() >= quiet_from()
}

/// The running thread is alone from here on.
pub fn begin() {
    // Every write counts where memory that was never written is looked for.
    let never = sched::may(environment::UNINITIALISED);
    STRETCH.is_alone.set(true);
    STRETCH.quiet_from.set(if never { NEVER } else { quiet_after_some() });
    STRETCH.repetitions.set(0);
    sched::look_again();
}

/// The position up to which a stretch that is loud here is recorded.
fn quiet_after_some() -> u32 {
    // SAFETY: the instrumented program defines it as a constant.
    let recorded = unsafe { program::__rp_serial_events };
    HOT.position.get().saturating_add(u32::try_from(recorded).unwrap_or(NEVER))
}

/// The running thread is about to create another one.
pub fn end() {
    STRETCH.quiet_from.set(NEVER);
    STRETCH.is_alone.set(false);
    forget_sites();
    // It has its turn, so it stops later.
    hooks::follow_limit();
    let live = STRETCH.allocations.with(|allocations| {
        sort_out(allocations);
        core::mem::take(allocations)
    });
    live.into_iter().for_each(hooks::append);
}

/// The bytes of all sites.
fn sites() -> &'static mut [u8] {
    // SAFETY: the instrumented program defines the array and its length; its code only reads it, between hooks, and the
    // borrow ends in this file before another begins.
    unsafe { core::slice::from_raw_parts_mut(&raw mut program::__rp_quiet, program::__rp_sites as usize) }
}

fn forget_sites() {
    if STRETCH.is_marked.take() {
        sites().fill(0);
    }
}

/// Whether what the running thread does at this site goes unrecorded. If not, the next time it does.
pub fn skips(site: u32) -> bool {
    is_quiet() && mark(site)
}

/// Sets a site's byte and says whether it was set.
fn mark(site: u32) -> bool {
    STRETCH.is_marked.set(true);
    sites().get_mut(site as usize).is_some_and(|byte| core::mem::replace(byte, 1) != 0)
}

/// The running thread makes this event.
pub fn made(event: &[Record]) {
    if let [record] = event
        && is_quiet()
        && matches!(record.tag(), Some(Tag::Read | Tag::Write))
        && record.flags() & order::MASK == order::PLAIN
    {
        mark(record.site());
    }
}

/// A round of a loop begins in a quiet stretch. Says whether it has to be looked at: one that begins as the one before it
/// did may go on for ever. From there on events are recorded again for a while.
pub fn is_repeated(again: bool, of: (u32, usize), carried: [u64; CARRIED]) -> bool {
    let before = STRETCH.round.replace(Some((of, carried)));
    let is_repeated = again && before == Some((of, carried)) && STRETCH.repetitions.get() < MOST_REPETITIONS;
    if is_repeated {
        STRETCH.repetitions.set(STRETCH.repetitions.get() + 1);
        STRETCH.quiet_from.set(quiet_after_some());
        forget_sites();
    }
    is_repeated
}

/// An allocation in a quiet stretch: recorded at its end, if it is there then.
pub fn allocated(record: Record) {
    STRETCH.allocations.with(|allocations| {
        allocations.push(record);
        if allocations.len() >= STRETCH.many.get() {
            sort_out(allocations);
            STRETCH.many.set((2 * allocations.len()).max(FEW_ALLOCATIONS));
        }
    });
}

/// Keeps the last allocation at each place, if it is still there.
fn sort_out(allocations: &mut Vec<Record>) {
    let mut order: Vec<usize> = (0..allocations.len()).collect();
    order.sort_unstable_by_key(|at| (allocations[*at].address(), *at));
    let mut kept: Vec<usize> = order
        .chunk_by(|a, b| allocations[*a].address() == allocations[*b].address())
        .filter_map(|same| same.last().copied().filter(|at| is_there(&allocations[*at])))
        .collect();
    kept.sort_unstable();
    *allocations = kept.into_iter().map(|at| allocations[at]).collect();
}

/// Whether an object of the running thread lives: a heap block until it is freed, a local until its function returns.
fn is_there(allocation: &Record) -> bool {
    let here = 0u8;
    if allocation.flags() & flag::STACK != 0 {
        allocation.address() > &raw const here as u64
    } else {
        !heap::is_freed(allocation.address() as usize)
    }
}

/// Without a program there are no sites.
#[cfg(test)]
#[allow(non_upper_case_globals, reason = "the names of the interface")]
mod program {
    pub(super) static mut __rp_quiet: u8 = 0;
    pub(super) static __rp_sites: u64 = 0;
    pub(super) static mut __rp_serial_events: u64 = 0;
}
