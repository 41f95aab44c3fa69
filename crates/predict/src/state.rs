//! How far a reordering of a window has come.

use model::{IndexVec, ThreadId};

use crate::tracker::{ObjectId, Slot};
use crate::window::{Move, Place, Source, Window};

/// The state after some events of a window, in some order.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// Per thread: how many of its events are done.
    pub(crate) done: IndexVec<ThreadId, u32>,
    slots: IndexVec<ObjectId, Slot>,
    /// Per atom: its last write.
    last: Vec<Source>,
}

impl State {
    /// At the window's start.
    pub(crate) fn new(window: &Window) -> Self {
        Self {
            done: IndexVec::filled(window.moves.len(), 0),
            slots: window.objects.iter().map(|used| used.slot.clone()).collect(),
            last: vec![0; window.atoms.len()],
        }
    }

    /// The last write of an atom.
    pub(crate) fn last(&self, atom: u32) -> Source {
        self.last[atom as usize]
    }

    /// Whether the event is done.
    pub(crate) fn has(&self, (thread, index): Place) -> bool {
        self.done[thread] > index
    }

    /// Whether all the move reads is what it read in the trace.
    pub(crate) fn reads_the_same(&self, next: &Move) -> bool {
        next.reads.iter().all(|(atom, source)| self.last[*atom as usize] == *source)
    }

    /// Whether the thread's next move is possible with the result it had.
    pub(crate) fn allows(&self, thread: ThreadId, next: &Move) -> bool {
        next.requires.iter().all(|(other, n)| self.done[*other] >= *n)
            && next.forbids.is_none_or(|(other, n)| self.done[other] <= n)
            && self.reads_the_same(next)
            && next.acts.iter().all(|act| self.slots[act.object].allows(thread, act))
    }

    /// Does the thread's next move.
    pub(crate) fn perform(&mut self, thread: ThreadId, next: &Move) {
        self.done[thread] += 1;
        for atom in &next.writes {
            self.last[*atom as usize] = next.index + 1;
        }
        for act in &next.acts {
            self.slots[act.object].perform(thread, act.deed);
        }
    }

    /// What distinguishes this state from others, memory apart.
    pub(crate) fn key(&self) -> Vec<u32> {
        let mut key: Vec<u32> = self.done.as_slice().to_vec();
        for slot in &self.slots {
            slot.object().write_key(&mut key);
        }
        key
    }
}
