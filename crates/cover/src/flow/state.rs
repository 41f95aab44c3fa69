//! Where one thread is and what it holds.

use std::collections::{BTreeMap, BTreeSet};

use program::{BlockId, FunctionId, LocalId};

use super::decide::Abstract;
use super::graph::Arcs;
use crate::flags::FlagValue;
use facts::invocations::{How, ProgramPoint};
use facts::objects::Key;

pub(super) type ContextId = usize;

/// A chain of calls.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Context {
    pub(super) function: FunctionId,
    pub(super) job: FunctionId,
    /// The statement that created the thread, if a join waits for its end.
    pub(super) origin: Option<ProgramPoint>,
    pub(super) depth: u32,
    /// The statement that called, and the context it is in; `None` for a thread function.
    pub(super) caller: Option<(ContextId, BlockId, usize)>,
    pub(super) how: How,
}

/// A lock held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Held {
    /// How often, up to [`MOST_HELD`].
    pub(super) depth: u8,
    /// Tokens taken.
    pub(super) tokens: u32,
}

/// A depth that stands for itself and all above.
pub(super) const MOST_HELD: u8 = 3;
/// Calls are followed to this depth.
pub(super) const MOST_CALLS: u32 = 40;

/// Where a thread is inside a statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Phase {
    /// Before it.
    Before,
    /// In a wait on a condition variable, with the lock (if it was held) to be taken again.
    Woken(Option<(Key, Held)>),
    /// At a barrier.
    Arrived(Key),
    /// The once-routine has returned.
    Returned,
    /// A library function, between its callbacks.
    Callbacks,
    /// A library function after its last callback.
    Last,
    /// In a call that is taken as any order of its effects.
    Anything,
    /// In such a call, before this access.
    AnythingAt(ProgramPoint),
}

/// A thread's state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct ThreadState {
    pub(super) context: ContextId,
    pub(super) block: BlockId,
    pub(super) index: usize,
    pub(super) phase: Phase,
    pub(super) held: BTreeMap<Key, Held>,
    pub(super) results: BTreeMap<(ContextId, LocalId), Abstract>,
    /// Values of flags that were found by relaxed reads, and acquired at the next fence.
    pub(super) found: BTreeSet<(Key, FlagValue)>,
    pub(super) tracked: bool,
}

/// A step: what it does, where the thread is then (`None`: ended), and the function a new thread starts in.
pub(super) struct Move {
    pub(super) arcs: Arcs,
    pub(super) to: Option<ThreadState>,
    pub(super) starts: Option<ThreadState>,
}

pub(super) fn step(arcs: Arcs, to: ThreadState) -> Move {
    Move { arcs, to: Some(to), starts: None }
}

impl ThreadState {
    pub(super) fn next(&self) -> Self {
        Self { index: self.index + 1, phase: Phase::Before, ..self.clone() }
    }
    pub(super) fn at(&self, phase: Phase) -> Self {
        Self { phase, ..self.clone() }
    }
    pub(super) fn after_call(&self, how: How) -> Self {
        if how == How::Callback { self.at(Phase::Callbacks) } else { self.next() }
    }
}
