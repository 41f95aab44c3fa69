//! Loops that wait: a round that did nothing but read waits for a change instead of being repeated (see
//! `model::Op::Await`).
//!
//! Instrumentation tells where a round of a loop begins that has no effect on memory by itself. A round is *idle* when it
//! read something, had no effect, holds no lock it took, and what lives on to the next round is as it was. An idle round
//! can be left out of a run: what follows is a run too, with the same failures, and the reads that are left out race with
//! nothing that those of the next round do not race with. So after one the thread waits until, after some event, one of
//! the values it read was another one.
//!
//! While a thread is in a round, every event of every thread comes to [`before_event`]: what the event before it wrote is
//! looked at there.

use alloc::vec::Vec;

use wire::record::flag;
use wire::{Record, Tag};

use crate::hooks::{self, HOT};
use crate::run::RUN;
use crate::sched::{self, Thread};
use crate::sync::{Blocker, Mode};

/// Values that live on from round to round.
pub const CARRIED: usize = 4;

/// Most that a round may read and be waited for.
const MOST_READ: usize = 8;

/// Something read, whose change ends the waiting.
enum Watched {
    /// Bytes, and what they were.
    Bytes { start: u64, bytes: Vec<u8> },
    /// A lock that could not be had.
    Lock { lock: u64, mode: Mode },
}

/// What the current round of a thread has done.
pub struct Round {
    /// The loop: its site and its activation.
    of: (u32, usize),
    carried: [u64; CARRIED],
    read: Vec<Watched>,
    /// The last thing read may have been written by the thread itself since.
    updated: bool,
    held: Vec<u64>,
    changed: bool,
}

fn current() -> &'static mut Option<Round> {
    // Safety: no borrow outlives the functions below.
    let run = unsafe { &mut *RUN.get() };
    &mut run.threads[run.current as usize].round
}

/// Whether some thread is in a round.
#[inline]
pub fn any() -> bool {
    // Safety: no borrow outlives the expression.
    unsafe { (*RUN.get()).rounds > 0 }
}

fn set(round: Option<Round>) {
    // Safety: as above.
    let run = unsafe { &mut *RUN.get() };
    let place = &mut run.threads[run.current as usize].round;
    run.rounds = run.rounds + u32::from(round.is_some()) - u32::from(place.is_some());
    *place = round;
}

/// The running thread did something that others can notice: its round is none to wait after.
pub fn effect() {
    if sched::running() && current().is_some() {
        set(None);
    }
}

/// Before the running thread's next event: what came of its last one, and what has changed for others.
pub fn before_event() {
    if let Some(round) = current()
        && core::mem::take(&mut round.updated)
        && round.read.last().is_some_and(differs)
    {
        set(None);
    }
    notice_changes();
}

/// Whether what was read is not as it was.
fn differs(watched: &Watched) -> bool {
    match watched {
        // Safety: the program read there.
        Watched::Bytes { start, bytes } => unsafe {
            core::slice::from_raw_parts(*start as *const u8, bytes.len()) != bytes.as_slice()
        },
        Watched::Lock { lock, mode } => sched::state().available(*lock, *mode),
    }
}

/// Notices what has changed for threads in rounds.
pub fn notice_changes() {
    if !any() {
        return;
    }
    let mut news = false;
    // Safety: as above.
    let run = unsafe { &mut *RUN.get() };
    for thread in &mut run.threads {
        if let Some(round) = &mut thread.round
            && !round.changed
            && round.read.iter().any(differs)
        {
            round.changed = true;
            news = true;
        }
    }
    if news {
        sched::reconsider();
    }
}

/// Whether something changed that the thread read in its round.
pub fn is_changed(thread: Thread) -> bool {
    // Safety: as above.
    let run = unsafe { &*RUN.get() };
    run.threads.get(thread as usize).is_none_or(|entry| entry.round.as_ref().is_none_or(|round| round.changed))
}

/// The running thread is about to make this access.
pub fn access(record: &Record) {
    let Some(round) = current() else { return };
    let len = record.argument() as usize;
    match record.tag() {
        Some(tag @ (Tag::Read | Tag::ReadModifyWrite)) if len <= 16 && round.read.len() < MOST_READ => {
            // Safety: the program is about to read there.
            let bytes = unsafe { core::slice::from_raw_parts(record.address() as *const u8, len) };
            round.read.push(Watched::Bytes { start: record.address(), bytes: bytes.into() });
            round.updated = tag == Tag::ReadModifyWrite;
        }
        Some(Tag::Fence) => {}
        _ => set(None),
    }
}

/// The running thread has executed this event of the thread API.
pub fn executed(op: &Record) {
    let Some(round) = current() else { return };
    let mode = if op.flags() & flag::SHARED != 0 { Mode::Shared } else { Mode::Exclusive };
    let success = op.flags() & flag::SUCCESS != 0;
    match op.tag() {
        Some(Tag::Acquire) => round.held.push(op.address()),
        Some(Tag::TryAcquire) if success => round.held.push(op.address()),
        Some(Tag::TryAcquire) if round.read.len() < MOST_READ => {
            round.read.push(Watched::Lock { lock: op.address(), mode });
        }
        Some(Tag::Release) => match round.held.iter().rposition(|held| *held == op.address()) {
            Some(at) => drop(round.held.swap_remove(at)),
            None => set(None),
        },
        Some(Tag::Yield | Tag::Await) => {}
        _ => set(None),
    }
}

/// A round of a loop begins; `again`: not the first one.
#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn __rp_round(site: u32, again: u32, a: u64, b: u64, c: u64, d: u64) {
    if !sched::running() || crate::section::is_open() {
        return;
    }
    let activation = 0u8;
    let of = (site, &raw const activation as usize);
    let carried = [a, b, c, d];
    before_event();
    let idle = |round: &&mut Round| {
        again != 0 && round.of == of && round.carried == carried && round.held.is_empty() && !round.read.is_empty()
    };
    if let Some(round) = current().as_mut().filter(idle) {
        let mut cells: Vec<(u64, u32)> = Vec::new();
        for watched in &round.read {
            let cell = match watched {
                Watched::Bytes { start, bytes } => (*start, bytes.len() as u32),
                Watched::Lock { lock, .. } => (*lock, 1),
            };
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
        cells.sort_unstable();
        let more = |first: bool| if first { 0 } else { flag::MORE };
        let records: Vec<Record> = cells
            .iter()
            .enumerate()
            .map(|(at, (start, len))| Record::new(Tag::Await, more(at == 0), *start, site, *len))
            .collect();
        // Safety: no borrow is held over the switch.
        unsafe { *hooks::SITE.get() = site };
        sched::arrive_with(&records, Blocker::Change);
        sched::commit_with(&records);
    }
    set(Some(Round { of, carried, read: Vec::new(), updated: false, held: Vec::new(), changed: false }));
    // Safety: no borrow outlives the statement.
    unsafe { (*HOT.get()).limit = (*HOT.get()).position };
}
