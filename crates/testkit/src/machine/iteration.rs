//! Loops that wait: an iteration that only read memory is repeated once something it read has changed.

use std::sync::Arc;

use model::{Cell, LockMode, Op, ThreadId};

use super::Machine;
use super::action::{Action, cell};
use super::thread::Thread;

/// How to execute loops that wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waiting {
    /// An iteration that would repeat the previous one blocks until a change.
    Block,
    /// Executes at most this many iterations; then the thread stays where it is.
    Poll(u32),
}

/// What the current iteration of a loop has done.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Iteration {
    /// The cells read, with their content at that time.
    read: Vec<(Cell, Vec<u8>)>,
    /// Locks that could not be acquired.
    refused: Vec<(u64, LockMode)>,
    /// Whether something it read has changed since.
    pub(super) changed: bool,
    /// Whether it did something that another thread could observe.
    effect: bool,
    /// Locks acquired and not released.
    held: Vec<u64>,
    /// Number of earlier iterations, if they are counted.
    count: u32,
}

/// When an iteration may start.
pub(super) enum IterationStart {
    /// At once.
    AtOnce,
    /// After a change of these cells, which the previous iteration read without doing anything else.
    After(Vec<Cell>),
    /// Never: the limit is reached.
    Never,
}

impl Thread {
    /// Starts an iteration.
    pub(super) fn next_iteration(&mut self, again: bool, waiting: Waiting) -> IterationStart {
        let before = self.iteration.take().filter(|_| again).unwrap_or_default();
        if let Waiting::Poll(most) = waiting {
            let count = before.count + u32::from(again);
            self.iteration = Some(Iteration { count, ..Iteration::default() });
            return if count >= most { IterationStart::Never } else { IterationStart::AtOnce };
        }
        if before.effect || !before.held.is_empty() || before.read.is_empty() && before.refused.is_empty() {
            self.iteration = Some(Iteration::default());
            return IterationStart::AtOnce;
        }
        let locks = before.refused.iter().map(|(lock, _)| cell(*lock, 1));
        let mut cells: Vec<Cell> = before.read.iter().map(|(cell, _)| *cell).chain(locks).collect();
        cells.sort_unstable();
        cells.dedup();
        self.iteration = Some(before);
        IterationStart::After(cells)
    }
}

impl Machine {
    /// Records what a thread is about to do in its iteration.
    pub(super) fn record_action(&mut self, id: ThreadId, action: &Action) {
        let read = match *action {
            Action::Load { address, size, .. } | Action::Rmw { address, size, .. } => Some(cell(address, size.into())),
            Action::CompareExchange(ref cas) => Some(cell(cas.address, cas.size.into())),
            _ => None,
        };
        let content = read.and_then(|cell| self.memory.bytes(cell.start.0, cell.len.into()).ok().map(<[u8]>::to_vec));
        let Some(iteration) = Arc::make_mut(&mut self.threads[id]).iteration.as_mut() else { return };
        match *action {
            Action::Lock { lock, .. } => iteration.held.push(lock),
            Action::Unlock { lock, .. } => match iteration.held.iter().rposition(|held| *held == lock) {
                Some(at) => drop(iteration.held.remove(at)),
                None => iteration.effect = true,
            },
            Action::Await { .. } | Action::Fence(_) | Action::Yield { .. } => {}
            _ => match read.zip(content) {
                Some(read) => iteration.read.push(read),
                None => iteration.effect = true,
            },
        }
    }

    /// Records the result: a failed try-operation, a changed number.
    pub(super) fn record_result(&mut self, id: ThreadId, op: &Op) {
        let memory = &self.memory;
        let Some(iteration) = Arc::make_mut(&mut self.threads[id]).iteration.as_mut() else { return };
        if let Op::TryAcquire { lock, mode, success: false } = *op {
            iteration.held.pop();
            iteration.refused.push((lock.0, mode));
        }
        let writes = op.accesses().iter().any(|a| a.kind.writes());
        let last = iteration.read.last().filter(|_| writes);
        let wrote = last.is_some_and(|(c, old)| memory.bytes(c.start.0, c.len.into()).ok() != Some(old.as_slice()));
        iteration.effect |= wrote;
    }

    /// After an event, updates what has changed for threads in loops that wait.
    pub(super) fn update_changes(&mut self) {
        for (id, thread) in (0..).map(ThreadId).zip(self.threads.iter_mut()) {
            let Some(iteration) = &thread.iteration else { continue };
            let differs =
                |(c, old): &(Cell, Vec<u8>)| self.memory.bytes(c.start.0, c.len.into()).ok() != Some(old.as_slice());
            let can_take = |(lock, mode): &(u64, LockMode)| self.objects.can_take(*lock, id, *mode);
            if !iteration.changed
                && (iteration.read.iter().any(differs) || iteration.refused.iter().any(can_take))
                && let Some(iteration) = Arc::make_mut(thread).iteration.as_mut()
            {
                iteration.changed = true;
            }
        }
    }
}
