//! Threads of the machine: their frames, their memory cursors, and what they are about to do.

use std::collections::{BTreeMap, BTreeSet};

use model::{SiteId, ThreadPath};
use program::{BlockId, FunctionId, LocalId};

use super::action::Action;
use super::memory::Slot;
use super::round::Round;

/// An activation of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Frame {
    pub(super) function: FunctionId,
    pub(super) block: BlockId,
    /// The block control came from, for phis.
    pub(super) from: Option<BlockId>,
    /// The next statement of the block; one past the last means the terminator.
    pub(super) index: usize,
    /// Values by local; zero before the assignment.
    pub(super) locals: Vec<i64>,
    /// What happens with the result.
    pub(super) after: After,
}

/// What a function's return does.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum After {
    /// Ends the thread; of the initial thread, the process.
    Thread,
    /// Goes on in the caller, with the result in this local of it.
    Call(Option<LocalId>),
    /// Completes the once-control, then goes on in the caller.
    Once { dst: Option<LocalId>, control: u64, site: Option<SiteId> },
}

/// How far a thread is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Status {
    /// Has something left to do.
    Active,
    /// Its `Exit` was executed.
    Exited,
    /// It ended the process; nothing more happens in it.
    Parked,
    /// It computes without end between two visible operations.
    Spinning,
}

/// What becomes of a thread after its end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Joining {
    Joinable,
    Detached,
    Joined,
}

/// The operation announced as the thread's next event, and where it is in the code.
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
    /// The condition variables from which it woke without a cause and has not been signalled since.
    pub(super) spurious: BTreeSet<u64>,
    /// Number of events executed.
    pub(super) position: u32,
    /// Number of threads created.
    pub(super) children: u32,
    /// Asked to cancel itself.
    pub(super) cancelled: bool,
    /// Whether a section is under way.
    pub(super) in_section: bool,
    /// What the current round of a loop has done.
    pub(super) round: Option<Round>,
    /// The next free byte of stack and heap.
    pub(super) stack: u64,
    pub(super) heap: u64,
    /// Blocks this thread freed, by size, for its own use.
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
            round: None,
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

    /// Takes `size` bytes of heap, first from what this thread freed; `None` when the slot is full.
    pub(super) fn allocate(&mut self, size: u64) -> Option<u64> {
        if let Some(start) = self.free_blocks.get_mut(&size).and_then(Vec::pop) {
            self.free_blocks.retain(|_, blocks| !blocks.is_empty());
            return Some(start);
        }
        Self::advance(&mut self.heap, self.slot.end(), size)
    }

    /// Takes `size` bytes of stack; `None` when it is full. Addresses are not used again.
    pub(super) fn allocate_local(&mut self, size: u64) -> Option<u64> {
        Self::advance(&mut self.stack, self.slot.heap(), size)
    }

    /// Objects are 16 bytes apart at least, so that running over one's end is noticed.
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
