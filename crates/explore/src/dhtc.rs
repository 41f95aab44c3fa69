//! Thread states and sleep sets: paper 003 (H. Liang, Y. Ai, "Research for concurrent program data race checking
//! algorithm in control system").
//!
//! [`dpor-sleep`](crate::dpor) that sets a backtracking point only if a requested finding can still occur from that
//! state on. The paper's thread states excuse a variable while one thread owns it. Here a thread owns what it uses
//! before it creates another thread, and after it has joined it, because that holds in every schedule; the
//! [`Outlook`](crate::Outlook) knows it.
//!
//! *Deviations* beyond those of [`pdp`](crate::pdp): the paper's Figure 5 adds a lock by intersection, and its Figures
//! 8 and 9 answer the opposite of what the text says; this follows the text. Where a subspace is pruned, sleep sets
//! need more than `pdp` does: trying only the thread that may interfere with the event `d` is not enough, since a
//! thread that runs before it may be what matters. So this tries an event that was executed after `d`, before the
//! closed state, and that `d` does not lead to; if there is none, it tries all threads that may be involved with the
//! interfering one.
//!
//! *Complete* for the requested findings. Let `u` be a run that leads to a finding from a state where no sleeping
//! thread can come first in it, and suppose no thread tried there can come first either. Of these threads' events, take
//! the one, `d`, that interferes with `u` last, at the event `b`. The part of `u` before `b` can follow `d`, and no
//! thread asleep there can come first in it. If it runs entirely in open states, the reversal of `d` and `b` is found.
//! If the open states end after some of it, an event that `d` does not lead to was executed there and is tried: it
//! belongs to `u` and either can come first in it or interferes only after `b`. If they end at once, everything that
//! can take part in what comes before `b` is tried, and one of these threads is first in it.

use model::{Step, Trace};

use crate::backtracking::Backtracks;
use crate::dpor::Dpor;
use crate::pruner::Pruner;
use crate::sleep::ByContent;
use crate::stack::{Frame, Stack};

/// The state of the reduction.
pub(crate) struct Dhtc {
    dpor: Dpor,
}

impl Dhtc {
    pub(crate) fn new(pruner: Pruner) -> Self {
        Self { dpor: Dpor::with_pruner(true, pruner) }
    }

    /// Tries, in the state before an event, the threads that may have to run before that event.
    fn try_interfering(&self, trace: &Trace, frames: &mut [Frame], closed: Step) {
        let Dpor { causality, pruner, .. } = &self.dpor;
        let remaining = pruner.remaining(trace, closed);
        for (step, threats) in pruner.threatened(trace, causality, &remaining, closed) {
            let Frame { runnable, backtrack, sleep, .. } = &mut frames[step.0 as usize];
            if let Some(other) = causality.first_unrelated(trace.events[step].id, step, closed) {
                backtrack.insert(trace.events[other].id.thread);
                continue;
            }
            let involved = pruner.involved(&threats, &remaining);
            for thread in involved.into_iter().filter(|t| runnable.contains(*t) && !sleep.contains(&ByContent, *t)) {
                backtrack.insert(thread);
            }
        }
    }
}

impl Backtracks for Dhtc {
    fn extend(&mut self, stack: &mut Stack, from: Step, until: Step) {
        self.dpor.extend(stack, from, until);
    }

    fn finish(&mut self, stack: &mut Stack, until: Step) {
        self.dpor.finish(stack, until);
        if let Some(closed) = self.dpor.pruner.close(stack, until) {
            let Stack { trace, frames, .. } = stack;
            self.try_interfering(trace, frames, closed);
        }
    }

    fn restore(&mut self, stack: &Stack) {
        self.dpor.restore(stack);
    }

    fn retract(&mut self, stack: &Stack, to: Step) {
        self.dpor.retract(stack, to);
    }

    fn pruner(&mut self) -> Option<&mut Pruner> {
        Some(&mut self.dpor.pruner)
    }
}
