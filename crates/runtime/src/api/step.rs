//! Events as the thread API makes them.

use wire::{Record, Tag};

use crate::libc_models::children::forked;
use crate::memory;
use crate::sched::{self, Thread};
use crate::sync::{Blocker, SyncObjects};

/// One call from the program: its place in the code is that of all events it makes, also of those after
/// other threads have run.
#[derive(Clone, Copy)]
pub struct Call {
    site: u32,
}

impl Call {
    /// The call being made now.
    pub fn here() -> Self {
        Self { site: if sched::running() { sched::site() } else { wire::NO_SITE } }
    }
    /// An event of this call, on the object at `address`.
    pub fn step(&self, tag: Tag, address: u64) -> Step {
        Step { tag, flags: 0, address, argument: 0, extra: None, site: self.site }
    }
}

/// An event to be made. While it is announced its results are as if it succeeded.
#[derive(Clone, Copy)]
pub struct Step {
    /// What is done.
    pub tag: Tag,
    /// Results and modes.
    pub flags: u8,
    /// To what.
    pub address: u64,
    /// A thread.
    pub argument: u32,
    /// A second address.
    pub extra: Option<u64>,
    site: u32,
}

impl Step {
    /// With these flags.
    pub fn flags(self, flags: u8) -> Self {
        Self { flags, ..self }
    }
    /// With this argument.
    pub fn argument(self, argument: u32) -> Self {
        Self { argument, ..self }
    }
    /// With this second address.
    pub fn extra(self, extra: u64) -> Self {
        Self { extra: Some(extra), ..self }
    }

    fn record(&self) -> Record {
        Record::new(self.tag, self.flags, self.address, self.site, self.argument)
    }

    /// Executes the event when it is this thread's turn and nothing blocks it. `change` changes the model and may
    /// set the results of the event. It runs inside a borrow of the model (see [`sched::with_objects`]).
    ///
    /// Before the program runs (constructors of shared libraries) there is one thread and no event.
    pub fn run<R>(mut self, blocker: Blocker, change: impl FnOnce(&mut SyncObjects, Thread, &mut Self) -> R) -> R {
        if !sched::running() {
            forked::note_synchronisation();
            if forked::is_child() && sched::with_objects(|objects| objects.blocked(me(), &blocker)) {
                forked::wait_for_ever();
            }
            return sched::with_objects(|objects| change(objects, me(), &mut self));
        }
        sched::arrive(self.record(), self.extra, blocker);
        let result = sched::with_objects(|objects| change(objects, sched::current(), &mut self));
        sched::commit(self.record(), self.extra);
        result
    }

    /// As [`run`](Self::run) for a call that a signal may interrupt: `None` then.
    pub fn run_unless_interrupted<R>(
        mut self,
        blocker: Blocker,
        change: impl FnOnce(&mut SyncObjects, Thread, &mut Self) -> R,
    ) -> Option<R> {
        if !sched::running() || self.extra.is_some() {
            return Some(self.run(blocker, change));
        }
        if !sched::arrive_unless_interrupted(&[self.record()], blocker) {
            return None;
        }
        let result = sched::with_objects(|objects| change(objects, sched::current(), &mut self));
        sched::commit(self.record(), None);
        Some(result)
    }

    /// As [`run`](Self::run) for an event that nothing blocks, but if `change` fails nothing has happened.
    pub fn try_run<R, E>(mut self, change: impl FnOnce(&mut Self) -> Result<R, E>) -> Result<R, E> {
        sched::arrive(self.record(), self.extra, Blocker::None);
        let result = change(&mut self)?;
        sched::commit(self.record(), self.extra);
        Ok(result)
    }
}

/// The calling thread.
pub fn me() -> Thread {
    forked::running_thread().unwrap_or(0)
}

/// Records a wrong use of the object at `address`.
pub fn misuse(address: u64, sentence: &str) {
    if sched::running() {
        sched::misuse(address, sentence);
    }
}

/// Records that the program does something the model does not cover.
pub fn unmodelled(sentence: &str) {
    if sched::running() {
        sched::unmodelled(sentence);
    }
}

pub use crate::sys::set_errno;

/// What a call does when it would have to wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// Waits.
    Block,
    /// Gives up at once.
    Try,
    /// May give up at any time while it would have to wait.
    Timed,
}

impl Wait {
    /// The error number of giving up.
    pub fn gave_up(self) -> i32 {
        if self == Self::Timed { libc::ETIMEDOUT } else { libc::EBUSY }
    }
}

/// Hands the result of a call with a time limit through: if it gave up, the thread's clock has reached the limit.
pub fn until(limit: *const libc::timespec, result: i32) -> i32 {
    if result == libc::ETIMEDOUT {
        // SAFETY: the program gave the limit to a function that reads it, and this one has read it.
        unsafe { crate::libc_models::clock::reach(limit) };
    }
    result
}

/// Whether a time given by the program is a time. A null pointer is left to the C library's own behaviour: a crash.
pub fn is_time(time: *const libc::timespec) -> bool {
    (0..1_000_000_000).contains(&memory::read(time).tv_nsec)
}
