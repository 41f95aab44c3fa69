//! Property-driven pruning: paper 000 (C. Wang, Y. Yang, A. Gupta, G. Gopalakrishnan, "Dynamic model checking with
//! property driven pruning to detect race conditions").
//!
//! [`dpor`](crate::dpor), with accesses visible, that sets a backtracking point only if a requested finding can still
//! occur from that state on.
//!
//! *Deviations.* The paper asks what the trace shows of each thread and of the other side of each branch. Here the
//! answer is a summary of the code ([`Outlook`](crate::Outlook)), since a statement's footprint may depend on shared
//! data, and a thread may repeat a loop or be created later. The paper then looks for an earlier transition to
//! backtrack to, among those that the trace shows. But the pruned part may hold the only transition that has to be
//! tried before an earlier one. So every thread whose future may interfere with an event executed in an open state is
//! tried there. See `docs/decisions/0009`.
//!
//! *Complete* for the requested findings. Let `u` be a run from a state that leads to a finding, and suppose none of
//! the threads tried there can come first in it. Take the first event `b` of `u` that interferes with the event `d` of
//! such a thread. What comes before `b` is independent of `d` and can follow it. If it runs entirely in open states,
//! `dpor` finds `b` there; if not, `b` is in its thread's future where the open states end. Either way `b`'s thread is
//! tried, or all threads are if it cannot run.

use model::{Step, Trace};

use crate::backtracking::Backtracks;
use crate::dpor::Dpor;
use crate::pruner::Pruner;
use crate::stack::{Frame, Stack};

/// The state of the reduction.
pub(crate) struct Pdp {
    dpor: Dpor,
}

impl Pdp {
    pub(crate) fn new(pruner: Pruner) -> Self {
        Self { dpor: Dpor::with_pruner(false, pruner) }
    }

    /// Tries, in the state before an event, the threads that may interfere with it.
    fn try_interfering(&self, trace: &Trace, frames: &mut [Frame], closed: Step) {
        let Dpor { causality, pruner, .. } = &self.dpor;
        let remaining = pruner.remaining(trace, closed);
        for (step, threats) in pruner.threatened(trace, causality, &remaining, closed) {
            for other in threats {
                let Frame { runnable, backtrack, .. } = &mut frames[step.0 as usize];
                if runnable.contains(other.thread) {
                    backtrack.insert(other.thread);
                } else {
                    backtrack.clone_from(runnable);
                }
            }
        }
    }
}

impl Backtracks for Pdp {
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
