//! Pointers that threads hand each other through the library or the kernel: written to a pipe and read from it, given to
//! `epoll_ctl` and got from `epoll_wait`.
//!
//! What goes in is kept in an object of its own. How it is cut on its way is not known, so it may come out anywhere in
//! the object that is filled. That would make one of all the object's fields, so nothing comes out before a pointer
//! went in: text that is read into a buffer tells nothing about what is beside it.

use program::library::Passage;

use super::solver::{Node, Solver, Source, Task};
use crate::spot::{ObjectId, Shift};

/// Where bytes come out, as long as no pointer can.
#[derive(Default)]
pub(super) struct Passages {
    closed: Vec<(Source, ObjectId)>,
}

impl Passages {
    /// Bytes at a place go into or come out of the library's memory; `len` of them where that is known.
    pub(super) fn add(
        &mut self,
        solver: &mut Solver,
        passage: &Passage,
        at: Source,
        len: Option<u32>,
        memory: ObjectId,
    ) {
        let (mut at, len) = (at, len.filter(|_| passage.behind == 0));
        for _ in 0..passage.behind {
            let behind = solver.node();
            solver.task(at, Task::Load { shift: Shift::ANYWHERE, size: None, lvalue: None, to: behind });
            at = Source::Node(behind, Shift::default());
        }
        if passage.out {
            self.closed.push((at, memory));
        } else {
            solver.task(at, Task::CopyOut { shift: Shift::default(), len, to: memory });
        }
    }

    /// Lets pointers come out where some have gone in since. Whether there are such places.
    pub(super) fn open(&mut self, solver: &mut Solver) -> bool {
        let is_known = |node: Node| solver.of(node).iter().any(|spot| !solver.is_unknown(*spot));
        let holds = |memory: ObjectId| solver.cells(memory).any(|(_, _, node)| is_known(node));
        let (due, closed): (Vec<_>, Vec<_>) = self.closed.drain(..).partition(|(_, memory)| holds(*memory));
        self.closed = closed;
        for (to, from) in &due {
            solver.task(*to, Task::CopyIn { shift: Shift::ANYWHERE, from: *from });
        }
        !due.is_empty()
    }
}
