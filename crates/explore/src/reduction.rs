//! Reductions: which schedules may be left out.
//!
//! A reduction only decides what each state's backtrack set becomes; the search is the same for all. To add one,
//! write a file with a type that implements [`Reduction`], and give it a [`ReductionName`] and a line in [`by_name`].

use model::Step;

use crate::dpor::Dpor;
use crate::none::Exhaustive;
use crate::options::ReductionName;
use crate::stack::Stack;

/// Which schedules may be left out.
pub(crate) trait Reduction {
    /// Called after each execution. The stack's events and frames from `from` on are new (the frame `from` itself is
    /// known when it is not the first: another thread was run there). Adds threads to backtrack sets, anywhere in the
    /// stack.
    fn extend(&mut self, stack: &mut Stack, from: Step);

    /// Called before the stack's events from `to` on are given up for another execution's.
    fn retract(&mut self, stack: &Stack, to: Step) {
        let _ = (stack, to);
    }
}

/// The reduction with this name.
pub(crate) fn by_name(name: ReductionName) -> Box<dyn Reduction> {
    match name {
        ReductionName::None => Box::new(Exhaustive),
        ReductionName::Dpor => Box::<Dpor>::default(),
    }
}
