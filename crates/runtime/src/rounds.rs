//! Loops that wait: a round that did nothing but read waits for a change instead of being repeated (see
//! `model::Op::Await`).
//!
//! Instrumentation tells where a round of a loop begins that has no effect on memory by itself. A round is *idle* when it
//! read something, had no effect, holds no lock it took, and what lives on to the next round is as it was. An idle round
//! can be left out of a run: what follows is a run too, with the same failures, and the reads that are left out race with
//! nothing that those of the next round do not race with. So after one the thread waits until, after some event, one of
//! the values it read was another one.
//!
//! While a thread is in a round, every event of every thread calls [`before_event`], which looks at what the event before it
//! wrote.

use alloc::vec::Vec;

use wire::record::flag;
use wire::{Record, Tag};

use crate::hooks::{self, HOT};
use crate::run::RUN;
use crate::sched::{self, Thread};
use crate::sync::{Blocker, Mode};
use crate::threads::Entry;
use crate::{memory, serial};

/// Values that live on from round to round.
pub const CARRIED: usize = 4;

/// Most that a round may read and be waited for.
const MOST_READ: usize = 8;

/// Something read, whose change ends the waiting.
enum Watched {
    /// Bytes, and what they were.
    Bytes { start: u64, bytes: Vec<u8> },
    /// A lock that could not be acquired.
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

impl Round {
    /// The cells whose change ends the waiting, in ascending order without repetition.
    fn cells(&self) -> Vec<(u64, u32)> {
        let mut cells: Vec<(u64, u32)> = Vec::new();
        for watched in &self.read {
            let cell = match watched {
                Watched::Bytes { start, bytes } => (*start, bytes.len() as u32),
                Watched::Lock { lock, .. } => (*lock, 1),
            };
            if !cells.contains(&cell) {
                cells.push(cell);
            }
        }
        cells.sort_unstable();
        cells
    }
}

/// Lends the running thread's round, if it is in one.
fn with_current<R>(use_it: impl FnOnce(&mut Round) -> R) -> Option<R> {
    RUN.threads.with(|threads| threads[RUN.current.get() as usize].round.as_mut().map(use_it))
}

/// Whether some thread is in a round.
#[inline]
pub fn any() -> bool {
    RUN.rounds.get() > 0
}

fn set(round: Option<Round>) {
    let begins = round.is_some();
    let old = RUN.threads.with(|threads| core::mem::replace(&mut threads[RUN.current.get() as usize].round, round));
    RUN.rounds.set(RUN.rounds.get() + u32::from(begins) - u32::from(old.is_some()));
}

/// The running thread did something that others can notice: its round is none to wait after.
pub fn effect() {
    if any() && sched::running() {
        set(None);
    }
}

/// Before the running thread's next event: looks at what its last one wrote, and at what has changed for others.
pub fn before_event() {
    let wrote = |round: &mut Round| core::mem::take(&mut round.updated) && round.read.last().is_some_and(differs);
    if with_current(wrote) == Some(true) {
        set(None);
    }
    notice_changes();
}

/// Whether what was read is not as it was.
fn differs(watched: &Watched) -> bool {
    match watched {
        Watched::Bytes { start, bytes } => !memory::equals(*start, bytes),
        Watched::Lock { lock, mode } => RUN.objects.with(|objects| objects.available(*lock, *mode)),
    }
}

/// Notices what has changed for threads in rounds.
pub fn notice_changes() {
    if !any() {
        return;
    }
    let news = RUN.threads.with(|threads| {
        let mut news = false;
        for round in threads.iter_mut().filter_map(|thread| thread.round.as_mut()) {
            if !round.changed && round.read.iter().any(differs) {
                round.changed = true;
                news = true;
            }
        }
        news
    });
    if news {
        sched::reconsider();
    }
}

/// Whether something changed that the thread read in its round.
pub fn is_changed(thread: Thread) -> bool {
    let in_round = |entry: &Entry| entry.round.as_ref().map(|round| round.changed);
    RUN.threads.with(|threads| threads.get(thread as usize).and_then(in_round)).unwrap_or(true)
}

/// The running thread is about to make this access.
pub fn access(record: &Record) {
    if !any() {
        return;
    }
    let len = record.argument() as usize;
    let goes_on = with_current(|round| match record.tag() {
        Some(tag @ (Tag::Read | Tag::ReadModifyWrite)) if len <= 16 && round.read.len() < MOST_READ => {
            let bytes = memory::bytes(record.address(), len);
            round.read.push(Watched::Bytes { start: record.address(), bytes });
            round.updated = tag == Tag::ReadModifyWrite;
            true
        }
        tag => tag == Some(Tag::Fence),
    });
    if goes_on == Some(false) {
        set(None);
    }
}

/// The running thread has executed this event of the thread API.
pub fn executed(op: &Record) {
    let mode = if op.flags() & flag::SHARED != 0 { Mode::Shared } else { Mode::Exclusive };
    let success = op.flags() & flag::SUCCESS != 0;
    let goes_on = with_current(|round| {
        match op.tag() {
            Some(Tag::Acquire) => round.held.push(op.address()),
            Some(Tag::TryAcquire) if success => round.held.push(op.address()),
            Some(Tag::TryAcquire) if round.read.len() < MOST_READ => {
                round.read.push(Watched::Lock { lock: op.address(), mode });
            }
            Some(Tag::Release) => match round.held.iter().rposition(|held| *held == op.address()) {
                Some(at) => drop(round.held.swap_remove(at)),
                None => return false,
            },
            Some(Tag::Yield | Tag::Await) => {}
            _ => return false,
        }
        true
    });
    if goes_on == Some(false) {
        set(None);
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
    if serial::is_quiet() && !serial::is_repeated(again != 0, of, carried) {
        return effect();
    }
    before_event();
    let awaited = with_current(|round| {
        let idle =
            again != 0 && round.of == of && round.carried == carried && round.held.is_empty() && !round.read.is_empty();
        idle.then(|| round.cells())
    });
    if let Some(cells) = awaited.flatten() {
        let more = |first: bool| if first { 0 } else { flag::MORE };
        let records: Vec<Record> = cells
            .iter()
            .enumerate()
            .map(|(at, (start, len))| Record::new(Tag::Await, more(at == 0), *start, site, *len))
            .collect();
        hooks::set_site(site);
        sched::arrive_with(&records, Blocker::Change);
        sched::commit_with(&records);
    }
    set(Some(Round { of, carried, read: Vec::new(), updated: false, held: Vec::new(), changed: false }));
    HOT.watch_next();
}
