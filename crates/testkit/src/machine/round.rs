//! Loops that wait: a round that did nothing but read is repeated only once something it read has changed.

use std::sync::Arc;

use model::{Cell, LockMode, Op, ThreadId};

use super::Machine;
use super::action::{Action, cell};
use super::thread::Thread;

/// How loops that wait are gone about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounds {
    /// A round that would repeat the one before waits for a change.
    Wait,
    /// At most this many rounds are made, one after the other; then the thread stays where it is.
    Count(u32),
}

/// What the current round of a loop has done.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Round {
    /// What was read, and its content then.
    read: Vec<(Cell, Vec<u8>)>,
    /// Locks that could not be had.
    refused: Vec<(u64, LockMode)>,
    /// Whether something read has had another content since.
    pub(super) changed: bool,
    /// Whether something was done that another thread could notice.
    effect: bool,
    /// Locks taken and not given back.
    held: Vec<u64>,
    /// Rounds before, where they are counted.
    count: u32,
}

/// When a round may begin.
pub(super) enum Begin {
    /// At once.
    AtOnce,
    /// After a change of these cells, which the round before read while it did nothing else.
    After(Vec<Cell>),
    /// Never: there were enough.
    Never,
}

impl Thread {
    /// A round begins.
    pub(super) fn next_round(&mut self, again: bool, rounds: Rounds) -> Begin {
        let before = self.round.take().filter(|_| again).unwrap_or_default();
        if let Rounds::Count(most) = rounds {
            let count = before.count + u32::from(again);
            self.round = Some(Round { count, ..Round::default() });
            return if count >= most { Begin::Never } else { Begin::AtOnce };
        }
        if before.effect || !before.held.is_empty() || before.read.is_empty() && before.refused.is_empty() {
            self.round = Some(Round::default());
            return Begin::AtOnce;
        }
        let locks = before.refused.iter().map(|(lock, _)| cell(*lock, 1));
        let mut cells: Vec<Cell> = before.read.iter().map(|(cell, _)| *cell).chain(locks).collect();
        cells.sort_unstable();
        cells.dedup();
        self.round = Some(before);
        Begin::After(cells)
    }
}

impl Machine {
    /// Notes what a thread is about to do in its round.
    pub(super) fn note_in_round(&mut self, id: ThreadId, action: &Action) {
        let read = match *action {
            Action::Load { address, size, .. } | Action::Rmw { address, size, .. } => Some(cell(address, size.into())),
            Action::CompareExchange(ref cas) => Some(cell(cas.address, cas.size.into())),
            _ => None,
        };
        let content = read.and_then(|cell| self.memory.bytes(cell.start.0, cell.len.into()).ok().map(<[u8]>::to_vec));
        let Some(round) = Arc::make_mut(&mut self.threads[id]).round.as_mut() else { return };
        match *action {
            Action::Lock { lock, .. } => round.held.push(lock),
            Action::Unlock { lock, .. } => match round.held.iter().rposition(|held| *held == lock) {
                Some(at) => drop(round.held.remove(at)),
                None => round.effect = true,
            },
            Action::Await { .. } | Action::Fence(_) | Action::Yield { .. } => {}
            _ => match read.zip(content) {
                Some(read) => round.read.push(read),
                None => round.effect = true,
            },
        }
    }

    /// Notes what came of it: a try that failed, a number that was changed.
    pub(super) fn check_round(&mut self, id: ThreadId, op: &Op) {
        let memory = &self.memory;
        let Some(round) = Arc::make_mut(&mut self.threads[id]).round.as_mut() else { return };
        if let Op::TryAcquire { lock, mode, success: false } = *op {
            round.held.pop();
            round.refused.push((lock.0, mode));
        }
        let writes = op.accesses().iter().any(|a| a.kind.writes());
        let last = round.read.last().filter(|_| writes);
        let wrote = last.is_some_and(|(c, old)| memory.bytes(c.start.0, c.len.into()).ok() != Some(old.as_slice()));
        round.effect |= wrote;
    }

    /// Notices, after an event, what has changed for threads in loops that wait.
    pub(super) fn notice_changes(&mut self) {
        for (id, thread) in (0..).map(ThreadId).zip(self.threads.iter_mut()) {
            let Some(round) = &thread.round else { continue };
            let differs =
                |(c, old): &(Cell, Vec<u8>)| self.memory.bytes(c.start.0, c.len.into()).ok() != Some(old.as_slice());
            let can_take = |(lock, mode): &(u64, LockMode)| self.objects.can_take(*lock, id, *mode);
            if !round.changed
                && (round.read.iter().any(differs) || round.refused.iter().any(can_take))
                && let Some(round) = Arc::make_mut(thread).round.as_mut()
            {
                round.changed = true;
            }
        }
    }
}
