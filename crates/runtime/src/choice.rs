//! Values that the program leaves open: the schedule decides them (see `model::Choice`).

use alloc::vec::Vec;

use wire::record::flag;
use wire::{Record, Tag};

use crate::hooks::{self, HOT};
use crate::run::RUN;
use crate::sched::Thread;
use crate::{link, rounds, sched, section};

/// A choice made before the checkpoint, which all runs of this process have in common. Its thread is the initial one.
pub struct Past {
    position: u32,
    index: u32,
    lo: i64,
    hi: i64,
    value: i64,
}

/// The value that the current request decides, else the usual one.
fn decided(thread: Thread, position: u32, index: u32, lo: i64, hi: i64) -> i64 {
    let decided = link::decided(thread, position, index).filter(|value| (lo..=hi).contains(value));
    decided.unwrap_or(0.max(lo).min(hi))
}

/// Whether the current request decides what was chosen before the checkpoint as it was chosen.
pub fn fits(past: &[Past]) -> bool {
    past.iter().all(|p| decided(0, p.position, p.index, p.lo, p.hi) == p.value)
}

/// Chooses a value from `lo` to `hi`: an event of its own, or a part of the current section.
pub fn choose(lo: i64, hi: i64) -> i64 {
    let value = choose_quietly(lo, hi);
    rounds::effect();
    value
}

/// The same for a choice that says nothing to the program by itself, so that a loop may wait although it makes one.
pub fn choose_quietly(lo: i64, hi: i64) -> i64 {
    if !sched::running() {
        return 0.max(lo).min(hi);
    }
    let in_section = section::choice();
    let (index, flags) = match in_section {
        Some(index) => (index, flag::MORE),
        None => (0, 0),
    };
    let first = Record::new(Tag::Choose, flags, 0, sched::site(), 0);
    let range = Record { w0: lo as u64, w1: hi as u64 };
    if in_section.is_none() {
        if HOT.at_limit() {
            let pending = Record { w0: 0.max(lo).min(hi) as u64, w1: 0 };
            sched::take_quiet_turn(&[first, range, pending]);
        }
        hooks::close_call();
    }
    let position = HOT.position.get() - u32::from(in_section.is_some());
    let value = decided(sched::current(), position, index, lo, hi);
    hooks::append_all(&[first, range, Record { w0: value as u64, w1: 0 }]);
    if in_section.is_none() {
        HOT.advance();
    }
    if !RUN.checkpointed.get() {
        RUN.choices.with(|choices| choices.push(Past { position, index, lo, hi, value }));
    }
    value
}

/// The choices made before the checkpoint.
pub type PastChoices = Vec<Past>;
