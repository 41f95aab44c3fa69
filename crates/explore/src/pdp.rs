//! Property-driven pruning: paper 000 (C. Wang, Y. Yang, A. Gupta, G. Gopalakrishnan, "Dynamic model checking with
//! property driven pruning to detect race conditions").
//!
//! [`dpor`](crate::dpor), with accesses visible, that asks before it sets a backtrack point whether anything that is
//! looked for can happen from that state on.
//!
//! *Deviations.* The paper asks what the trace shows of each thread, and of the other side of each branch; here the
//! answer is a summary of the code ([`Outlook`](crate::Outlook)), since what a statement touches may depend on shared
//! data, and a thread may go round a loop again, or be created later. The paper then looks for an earlier transition to
//! backtrack to, among those that the trace shows. But what was left out may hold the only transition that has to be
//! tried before an earlier one: so every thread whose future may interfere with an event executed in a state that matters
//! is tried there. See `docs/decisions/0009`.
//!
//! *Complete* for what is looked for: let `u` be a run from a state that leads to a finding, and suppose none of the
//! threads tried there can come first in it. Take the first event `b` of `u` that interferes with the event `d` of such a
//! thread. What comes before is independent of `d` and can follow it. If it does so in states that matter, `dpor` meets
//! `b` there; if not, `b` is in the future of its thread where they cease to. Either way `b`'s thread is tried, or all are
//! if it cannot run.

use model::{Step, Trace};

use crate::backtracking::Backtracks;
use crate::dpor::Dpor;
use crate::foresight::Foresight;
use crate::stack::{Frame, Stack};

/// The reduction's memory.
pub(crate) struct Pdp {
    dpor: Dpor,
}

impl Pdp {
    pub(crate) fn new(foresight: Foresight) -> Self {
        Self { dpor: Dpor::with_foresight(false, foresight) }
    }

    /// Tries the threads that may interfere with an event, in the state before it.
    fn threaten(&self, trace: &Trace, frames: &mut [Frame], closed: Step) {
        let Dpor { causality, foresight, .. } = &self.dpor;
        let remaining = foresight.remaining(trace, closed);
        for (step, threats) in foresight.threatened(trace, causality, &remaining, closed) {
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
        if let Some(closed) = self.dpor.foresight.close(stack, until) {
            let Stack { trace, frames, .. } = stack;
            self.threaten(trace, frames, closed);
        }
    }

    fn restore(&mut self, stack: &Stack) {
        self.dpor.restore(stack);
    }

    fn retract(&mut self, stack: &Stack, to: Step) {
        self.dpor.retract(stack, to);
    }

    fn foresight(&mut self) -> Option<&mut Foresight> {
        Some(&mut self.dpor.foresight)
    }
}
