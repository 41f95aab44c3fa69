//! The memory limit of a command: all processes together.

use std::time::Duration;

use launch::memory::used_by;
use model::Budget;

/// Time between two measurements.
const INTERVAL: Duration = Duration::from_millis(100);

/// Measures from now on, and says when the budget's memory is used up. Ends with the process.
pub(crate) fn watch(budget: &Budget) {
    let Some(limit) = budget.memory() else { return };
    let budget = budget.clone();
    std::thread::spawn(move || {
        while used_by(std::process::id()) <= limit {
            std::thread::sleep(INTERVAL);
        }
        budget.exhaust_memory();
    });
}
