//! Loops that end when the budget is spent.

use model::{Budget, Spent};

/// Asks a budget once in so many rounds of a loop, because asking looks at the clock.
pub struct Rounds<'b> {
    budget: &'b Budget,
    every: u32,
    since: u32,
}

impl<'b> Rounds<'b> {
    /// Asks in the first round, and then once in `every` rounds.
    pub fn new(budget: &'b Budget, every: u32) -> Self {
        Self { budget, every, since: every }
    }
    /// Begins a round; an error if the budget is spent.
    pub fn begin(&mut self) -> Result<(), Spent> {
        self.since += 1;
        if self.since < self.every {
            return Ok(());
        }
        self.since = 0;
        self.budget.spent().map_or(Ok(()), Err)
    }
}
