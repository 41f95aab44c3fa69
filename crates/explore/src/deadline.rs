//! The search's [budget](model::Budget), asked in loops over one execution: an execution of a million events takes longer to
//! plan from than many a search.

use model::Budget;

/// How many steps go by between two looks at the clock.
const INTERVAL: u32 = 64;

/// Tells whether the budget is spent. Once it is, it stays so: what was given up is not taken up again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deadline {
    budget: Budget,
    steps: u32,
    passed: bool,
}

impl Deadline {
    pub(crate) fn new(budget: Budget) -> Self {
        Self { budget, steps: 0, passed: false }
    }

    /// A step of a loop: whether to give the loop up.
    pub(crate) fn passes(&mut self) -> bool {
        self.steps += 1;
        if self.steps.is_multiple_of(INTERVAL) {
            self.passed |= self.budget.is_spent();
        }
        self.passed
    }

    /// Whether a loop was given up.
    pub(crate) fn has_passed(&self) -> bool {
        self.passed
    }
}
