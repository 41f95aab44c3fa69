//! Events of modelled calls: the accesses that one makes, and how it waits for its turn.

use alloc::vec::Vec;
use core::ffi::c_void;

use wire::layout::environment;
use wire::record::{flag, order};
use wire::{Record, Tag};

use super::children::{forked, table};
use super::result;
use crate::api::cancel::{self, Outcome};
use crate::api::step::Call;
use crate::hooks::HOT;
use crate::sync::{Blocker, fd};
use crate::{interrupts, rounds, sched};

/// One access of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Read, write or read-modify-write.
    pub tag: Tag,
    /// Plain or atomic.
    pub order: u8,
    /// First byte.
    pub at: u64,
    /// Number of bytes.
    pub len: u64,
}

impl Access {
    /// A plain access to the program's memory.
    pub fn plain(tag: Tag, at: *const c_void, len: usize) -> Self {
        Self { tag, order: order::PLAIN, at: at as u64, len: len as u64 }
    }
    fn record(&self, site: u32) -> Record {
        Record::new(self.tag, self.order, self.at, site, u32::try_from(self.len).unwrap_or(u32::MAX))
    }
    /// As an access of an event after its first.
    fn further(self, site: u32) -> Record {
        Self { order: self.order | flag::MORE, ..self }.record(site)
    }
    /// Adds it to the event of the call whose model runs.
    pub(super) fn extend(self) {
        #[cfg(not(test))]
        crate::hooks::extend(self.tag, self.order, self.at, u32::try_from(self.len).unwrap_or(u32::MAX));
    }
    /// Adds it to the event being made.
    pub(super) fn add(self) {
        #[cfg(not(test))]
        crate::hooks::add(self.tag, self.order, self.at, self.len);
    }
}

/// The memory order of an access that hands something over through the kernel, unless the environment is one where that
/// orders nothing.
pub fn handed_over(order: u8) -> u8 {
    if sched::may(environment::UNORDERED) { order::RELAXED } else { order }
}

/// The records of one event that makes these accesses.
fn records(accesses: &[Access], site: u32) -> Vec<Record> {
    let made = accesses.iter().filter(|access| access.len > 0).enumerate();
    made.map(|(i, access)| if i == 0 { access.record(site) } else { access.further(site) }).collect()
}

/// Adds accesses to the event that a waiting thread has announced.
pub(super) fn announce(thread: sched::Thread, also: &[Access]) {
    sched::announce_also(thread, |site| also.iter().map(|access| access.further(site)).collect());
}

/// Makes one event: announces the accesses that are `known` before it happens, waits for its turn and until `blocker`
/// does not block, reports those accesses, acts, and reports the further accesses that `act` hands to its argument.
/// Without known accesses there is no event. `None`: the wait ended because the thread is to be cancelled or because of a
/// signal, and nothing was done.
pub fn operate<R>(known: &[Access], blocker: Blocker, act: impl FnOnce(&mut dyn FnMut(Access)) -> R) -> Option<R> {
    if forked::is_child() && sched::with_objects(|objects| objects.blocked(sched::current(), &blocker)) {
        forked::wait_for_ever();
    }
    if !sched::running() || known.iter().all(|access| access.len == 0) {
        return Some(act(&mut |_| {}));
    }
    let site = sched::site();
    if !sched::arrive_unless_interrupted(&records(known, site), blocker) {
        interrupts::note_interrupted_call();
        return None;
    }
    crate::hooks::set_site(site);
    let is_cancelled = match blocker {
        Blocker::Fd { fd, events } => {
            !fd::ready(fd, events) && !sched::with_objects(|objects| objects.limits.is_released(sched::current()))
        }
        Blocker::Child { pid } => !table::is_ready(pid),
        Blocker::Signal { set } => sched::with_objects(|objects| objects.may_take(sched::current())) & set == 0,
        _ => false,
    };
    if is_cancelled {
        return None;
    }
    crate::hooks::close_call();
    known.iter().for_each(|access| access.add());
    let result = act(&mut |access| access.add());
    crate::hooks::close_call();
    sched::reconsider();
    Some(result)
}

/// As [`operate`] for an event that does not wait, and whose accesses may come from several sites.
pub fn operate_as_section<R>(known: &[Access], act: impl FnOnce(&mut dyn FnMut(Access)) -> R) -> R {
    if !sched::running() {
        return act(&mut |_| {});
    }
    let site = sched::site();
    let first = Record::new(Tag::Section, 0, 0, site, 0);
    sched::arrive_with(&[first], Blocker::None);
    crate::hooks::set_site(site);
    crate::hooks::close_call();
    rounds::effect();
    crate::hooks::append(first);
    HOT.advance();
    crate::hooks::reopen_event();
    known.iter().for_each(|access| access.add());
    let result = act(&mut |access| access.add());
    crate::hooks::close_call();
    sched::look_again();
    sched::reconsider();
    result
}

/// What a call that is a cancellation point gives: its result, or for `None` the thread's cancellation.
pub(super) fn finish(call: &Call, done: Option<isize>) -> Outcome {
    match done {
        Some(done) => Outcome::word(result(done)),
        None => cancel::point(call),
    }
}
