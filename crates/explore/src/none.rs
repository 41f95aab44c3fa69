//! No reduction: every interleaving of visible operations.

use model::Step;

use crate::reduction::Reduction;
use crate::stack::Stack;

/// Runs every runnable thread in every state.
pub(crate) struct Exhaustive;

impl Reduction for Exhaustive {
    fn extend(&mut self, stack: &mut Stack, from: Step) {
        for frame in &mut stack.frames[from.0 as usize..] {
            frame.backtrack.clone_from(&frame.runnable);
        }
    }
}
