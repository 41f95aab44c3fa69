//! The state of a window's replay after some of its events.

use model::{IndexVec, ThreadId};

use crate::tracker::{ObjectId, Slot};
use crate::window::{EventIndex, Source, Window, WindowEvent};

/// The state after some events of a window, in some order.
#[derive(Clone, Debug)]
pub(crate) struct ReplayState {
    /// For each thread, the number of its events done.
    pub(crate) done: IndexVec<ThreadId, u32>,
    slots: IndexVec<ObjectId, Slot>,
    /// For each atom, its last write.
    last: Vec<Source>,
}

impl ReplayState {
    /// The state at the start of the window.
    pub(crate) fn new(window: &Window) -> Self {
        Self {
            done: IndexVec::filled(window.events.len(), 0),
            slots: window.objects.iter().map(|used| used.slot.clone()).collect(),
            last: vec![0; window.atoms.len()],
        }
    }

    /// The last write of an atom.
    pub(crate) fn last(&self, atom: u32) -> Source {
        self.last[atom as usize]
    }

    /// Whether the event is done.
    pub(crate) fn has(&self, (thread, index): EventIndex) -> bool {
        self.done[thread] > index
    }

    /// Whether everything the event reads has its observed value.
    pub(crate) fn reads_the_same(&self, next: &WindowEvent) -> bool {
        next.reads.iter().all(|(atom, source)| self.last[*atom as usize] == *source)
    }

    /// Whether the thread's next event is enabled with its observed result.
    pub(crate) fn allows(&self, thread: ThreadId, next: &WindowEvent) -> bool {
        next.requires.iter().all(|(other, n)| self.done[*other] >= *n)
            && next.forbids.is_none_or(|(other, n)| self.done[other] <= n)
            && self.reads_the_same(next)
            && next.actions.iter().all(|action| self.slots[action.object].allows(thread, action))
    }

    /// Performs the thread's next event.
    pub(crate) fn perform(&mut self, thread: ThreadId, next: &WindowEvent) {
        self.done[thread] += 1;
        for atom in &next.writes {
            self.last[*atom as usize] = next.index + 1;
        }
        for action in &next.actions {
            self.slots[action.object].perform(thread, action.op);
        }
    }

    /// What distinguishes this state from others, except memory.
    pub(crate) fn key(&self) -> Vec<u32> {
        let mut key: Vec<u32> = self.done.as_slice().to_vec();
        for slot in &self.slots {
            slot.object().write_key(&mut key);
        }
        key
    }
}
