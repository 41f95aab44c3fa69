//! Runs with the clients of a recording: the program under control, and at the other ends of its connections peers that say
//! what the clients said when it was recorded.
//!
//! These runs do not follow the recorded order, which depends on when bytes arrived. Happens-before needs no order to be
//! followed: whatever it finds in a run is a race, and the run's schedule shows it again, without the clients. The first run
//! is the one of the fixed policy, the others have priorities that drop (decision 51).

use ::explore::{Options, Outcome, Sampling, Strategy};
use exec::Target;
use model::Budget;

use crate::Error;

/// The part of the remaining time in which runs are made. The rest is for new processes that confirm what they show, and
/// for the report.
const RUNS_SHARE: f64 = 0.3;

/// Events that have to come in a certain order for a race to show.
const DEPTH: u32 = 3;

/// Most runs: those of another seed tell little that is new.
const RUNS: u64 = 64;

/// Most events of a run. What clients say first is what all of them say; a server that waits in a loop for more never ends.
pub(crate) const MOST_STEPS: u64 = 1 << 18;

/// Runs the program with its peers, while the budget lasts. What each search shows is handed over as soon as it is
/// confirmed; says how many runs there were.
pub(crate) fn run(target: &mut Target, budget: &Budget, mut shown: impl FnMut(Outcome)) -> Result<u64, Error> {
    let mut runs = 0;
    let first = Options { max_executions: Some(1), budget: budget.share(RUNS_SHARE), ..Options::default() };
    let outcome = ::explore::search(target, &first, &mut ())?;
    runs += outcome.statistics.executions;
    shown(outcome);
    if !budget.is_spent() {
        let sampling = Sampling { strategy: Strategy::Priorities(DEPTH), runs: RUNS, seed: 0 };
        let options = Options { budget: budget.share(RUNS_SHARE), ..Options::default() };
        let outcome = ::explore::sample(target, sampling, &options, &mut ())?;
        runs += outcome.statistics.executions;
        shown(outcome);
    }
    Ok(runs)
}
