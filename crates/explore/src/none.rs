//! No reduction: every interleaving of visible operations.

use model::Step;

use crate::backtracking::Backtracks;
use crate::stack::Stack;

/// Runs every runnable thread in every state.
pub(crate) struct Exhaustive;

impl Backtracks for Exhaustive {
    fn extend(&mut self, stack: &mut Stack, from: Step, _until: Step) {
        for frame in &mut stack.frames[from.0 as usize..] {
            frame.backtrack.clone_from(&frame.runnable);
        }
    }
}
