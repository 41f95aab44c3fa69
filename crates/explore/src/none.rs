//! No reduction: every interleaving of visible operations.

use model::{Step, Trace};

use crate::backtracking::Backtracks;
use crate::stack::{BacktrackPoint, Stack};

/// Runs every runnable thread in every state.
pub(crate) struct Exhaustive;

impl Backtracks for Exhaustive {
    fn extend(&mut self, stack: &mut Stack, from: Step, _until: Step) {
        for frame in &mut stack.frames[from.0 as usize..] {
            frame.backtrack.clone_from(&frame.runnable);
        }
    }

    fn expected(&self, trace: &Trace, from: Step, skip: usize) -> Option<BacktrackPoint> {
        let later = trace.events.iter_enumerated().rev().take_while(|(step, _)| *step > from);
        let others = later.flat_map(|(step, event)| {
            let runnable = trace.runnable_at(step).iter().filter(|thread| *thread != event.id.thread);
            runnable.map(move |thread| BacktrackPoint { step, thread, choices: Vec::new() })
        });
        others.take(skip + 1).last()
    }
}
