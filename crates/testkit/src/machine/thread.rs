//! Threads of the machine: their frames, memory cursors and next operations.

use std::collections::{BTreeMap, BTreeSet};

use model::{SiteId, ThreadPath};
use program::{BlockId, FunctionId, LocalId};

use super::action::Action;
use super::iteration::Iteration;
use super::memory::Slot;

/// An activation of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Frame {
    pub(super) function: FunctionId,
    pub(super) block: BlockId,
    /// The block from which control came, for phis.
    pub(super) from: Option<BlockId>,
    /// The next statement of the block; one past the last means the terminator.
    pub(super) index: usize,
    /// Values by local; zero before the assignment.
    pub(super) locals: Vec<i64>,
    /// What to do with the result.
    pub(super) after: After,
}

/// What a function's return does.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum After {
    /// Ends the thread; for the initial thread, the process.
    Thread,
    /// Continues in the caller, with the result in this local of it.
    Call(Option<LocalId>),
    /// Completes the once-control, then continues in the caller.
    Once { dst: Option<LocalId>, control: u64, site: Option<SiteId> },
}

/// The progress of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Status {
    /// It can still execute operations.
    Active,
    /// Its `Exit` was executed.
    Exited,
    /// It ended the process and does nothing more.
    Parked,
    /// It loops for ever between two visible operations.
    Spinning,
}

/// Whether a thread was joined or detached.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Joining {
    Joinable,
    Detached,
    Joined,
}

/// The thread's next operation and its site.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Next {
    pub(super) action: Action,
    pub(super) site: Option<SiteId>,
}

/// One thread.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Thread {
    pub(super) path: ThreadPath,
    pub(super) slot: Slot,
    pub(super) status: Status,
    pub(super) joining: Joining,
    /// Innermost last.
    pub(super) frames: Vec<Frame>,
    /// `Some` while active.
    pub(super) next: Option<Next>,
    /// The site of the last statement with one.
    pub(super) site: Option<SiteId>,
    /// The condition variables from which it woke up spuriously without having been signalled since.
    pub(super) spurious: BTreeSet<u64>,
    /// Number of events executed.
    pub(super) position: u32,
    /// Number of threads created.
    pub(super) children: u32,
    /// Whether its cancellation was requested.
    pub(super) cancelled: bool,
    /// Whether it is in a section.
    pub(super) in_section: bool,
    /// What the current iteration of a loop has done.
    pub(super) iteration: Option<Iteration>,
    /// The next free byte of stack and heap.
    pub(super) stack: u64,
    pub(super) heap: u64,
    /// Blocks this thread freed, by size, which it reuses.
    pub(super) free_blocks: BTreeMap<u64, Vec<u64>>,
}

impl Thread {
    /// A thread about to execute its `Start`.
    pub(super) fn new(path: ThreadPath, slot: Slot, frame: Frame) -> Self {
        Self {
            path,
            slot,
            status: Status::Active,
            joining: Joining::Joinable,
            frames: vec![frame],
            next: Some(Next { action: Action::Start, site: None }),
            site: None,
            spurious: BTreeSet::new(),
            position: 0,
            children: 0,
            cancelled: false,
            in_section: false,
            iteration: None,
            stack: slot.stack(),
            heap: slot.heap(),
            free_blocks: BTreeMap::new(),
        }
    }

    /// Assigns a local of the innermost frame.
    pub(super) fn set(&mut self, dst: Option<LocalId>, value: i64) {
        if let (Some(dst), Some(frame)) = (dst, self.frames.last_mut()) {
            frame.locals[dst.0 as usize] = value;
        }
    }

    /// Allocates `size` bytes of heap, first from the blocks this thread freed; `None` if the slot is full.
    pub(super) fn allocate(&mut self, size: u64) -> Option<u64> {
        if let Some(start) = self.free_blocks.get_mut(&size).and_then(Vec::pop) {
            self.free_blocks.retain(|_, blocks| !blocks.is_empty());
            return Some(start);
        }
        Self::advance(&mut self.heap, self.slot.end(), size)
    }

    /// Allocates `size` bytes of stack; `None` if it is full. Addresses are not reused.
    pub(super) fn allocate_local(&mut self, size: u64) -> Option<u64> {
        Self::advance(&mut self.stack, self.slot.heap(), size)
    }

    /// Objects are at least 16 bytes apart, so that overruns are detected.
    fn advance(cursor: &mut u64, end: u64, size: u64) -> Option<u64> {
        let start = *cursor;
        let next = start.checked_add(size)?.checked_add(31)? & !15;
        (next <= end).then(|| {
            *cursor = next;
            start
        })
    }
}

/// A frame at the start of a function.
pub(super) fn entry(function: FunctionId, locals: usize, args: &[i64], after: After) -> Frame {
    let mut values = vec![0; locals];
    for (slot, arg) in values.iter_mut().zip(args) {
        *slot = *arg;
    }
    Frame { function, block: BlockId(0), from: None, index: 0, locals: values, after }
}
