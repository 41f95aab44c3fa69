//! Thread states and sleep sets: paper 003 (H. Liang, Y. Ai, "Research for concurrent program data race checking
//! algorithm in control system").
//!
//! [`dpor-sleep`](crate::dpor) that asks before it sets a backtrack point whether anything that is looked for can happen
//! from that state on. The paper's thread states excuse a variable while one thread owns it: here a thread owns what it
//! uses before it creates another, and what it uses once it has joined it, for that is so in every schedule; the
//! [`Outlook`](crate::Outlook) knows it.
//!
//! *Deviations* beyond those of [`pdp`](crate::pdp): the paper's Figure 5 adds a lock by intersection and Figures 8 and 9
//! answer the opposite of what the text says; the text is followed. Sleep sets need more than `pdp` does where a
//! subspace is left out: it is not enough to try the thread that may interfere with the event `d`, since whoever comes
//! before it may be what matters. So an event is tried that was executed after `d`, before the closed state, and does not
//! follow from it; if there is none, all threads that may have to do with the one that interferes.
//!
//! *Complete* for what is looked for: let `u` be a run that leads to a finding from a state where nobody asleep can come
//! first in it, and suppose nobody who was tried can. Of these take the one, `d`, that interferes with `u` last, at the
//! event `b`. What of `u` comes before `b` can follow `d`, and nobody asleep there can come first in it. If it does so in
//! states that matter, the reversal of `d` and `b` is met. If these end after some of it, an event that does not follow
//! from `d` was executed there, which is tried: it is of `u`, and can come first in it, or interferes only after `b`. If
//! they end at once, all that can take part in what comes before `b` is tried, and one of them is first in it.

use model::{Step, Trace};

use crate::backtracking::Backtracks;
use crate::dpor::Dpor;
use crate::foresight::Foresight;
use crate::sleep::ByContent;
use crate::stack::{Frame, Stack};

/// The reduction's memory.
pub(crate) struct Dhtc {
    dpor: Dpor,
}

impl Dhtc {
    pub(crate) fn new(foresight: Foresight) -> Self {
        Self { dpor: Dpor::with_foresight(true, foresight) }
    }

    /// Tries what may have to come before an event, in the state before it.
    fn threaten(&self, trace: &Trace, frames: &mut [Frame], closed: Step) {
        let Dpor { causality, foresight, .. } = &self.dpor;
        let remaining = foresight.remaining(trace, closed);
        for (step, threats) in foresight.threatened(trace, causality, &remaining, closed) {
            let Frame { runnable, backtrack, sleep, .. } = &mut frames[step.0 as usize];
            if let Some(other) = causality.first_beside(trace.events[step].id, step, closed) {
                backtrack.insert(trace.events[other].id.thread);
                continue;
            }
            let involved = foresight.involved(&threats, &remaining);
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
