//! The search over all schedules of a program for one input.
//!
//! [`search`] asks an [`Executor`](model::Executor) for one execution after another until every schedule is equivalent
//! to an executed one. The [reduction](ReductionName) decides which schedules are equivalent. The search works on whole
//! traces and knows neither processes nor how a program is run.
//!
//! | file | concept |
//! |---|---|
//! | `search` | the loop |
//! | `reduction` | which schedules may be omitted |
//! | `backtracking`, `stack` | searches that keep, for each state of the current execution, the threads still to run |
//! | `none`, `dpor` | which threads these are |
//! | `optimal`, `planning`, `wakeup`, `events`, `reversal`, `lock_history`, `thread_numbers` | one execution for each class of equivalent schedules |
//! | `outlook`, `pruner` | what can still happen from a state on, and what may therefore be pruned |
//! | `pdp`, `dhtc`, `best` | `dpor`, `dpor-sleep` and `optimal` with pruning |
//! | `sleep` | sleep sets: threads that need not run from a state |
//! | `choices` | which values are tried where the program leaves one open |
//! | `fusion`, `meetings` | critical sections as one event each, arrivals at barriers in any order |
//! | `causality` | which events lead to which in a trace |
//! | `preemptions` | schedules with few preemptions first |
//! | `sampling` | some schedules, chosen at random |
//! | `subtree`, `helper`, `digest`, `helpers` | subtrees explored separately, one helper, what its runs show, and all helpers together |
//! | `checkpoint` | a search as data, to resume later |
//! | `last_run` | how many events a run shares with the one before it |
//! | `findings`, `masked_failures` | what executions have shown, and failures masked by others |
//! | `witness` | a schedule that brings two racing accesses side by side |
//! | `shortest` | the same events with the fewest thread switches |
//! | `hint` | steering the program along a path found by another analysis |
//! | `options`, `observer`, `outcome`, `error` | the interface |

mod assurance;
mod backtracking;
mod best;
mod causality;
mod checkpoint;
mod choices;
mod deadline;
mod dhtc;
mod digest;
mod dpor;
mod error;
mod events;
mod findings;
mod fusion;
mod helper;
mod helpers;
mod hint;
mod last_run;
mod lock_history;
mod masked_failures;
mod meetings;
mod none;
mod observer;
mod optimal;
mod options;
mod outcome;
mod outlook;
mod pdp;
mod planning;
mod preemptions;
mod pruner;
mod reduction;
mod repetition;
mod reversal;
mod sampling;
mod search;
mod shortest;
mod sleep;
mod stack;
mod subtree;
mod thread_numbers;
mod thrift;
mod wakeup;
mod witness;

pub use assurance::Assurance;
pub use checkpoint::Checkpoint;
pub use choices::ChoiceValues;
pub use error::Error;
pub use findings::looping;
pub use hint::{Hint, HintStep, Led};
pub use observer::{EXAMPLES, Observer, Progress};
pub use options::{Options, ReductionName, UnknownReduction};
pub use outcome::{Coverage, Failure, FailureKind, FoundRace, Involved, Outcome, Statistics, StopReason};
pub use outlook::{Check, FutureId, Later, Next, Origin, Outlook, Settled, Standing, Threats, UnknownCheck};
pub use repetition::Unrepeatable;
pub use sampling::{Sampling, Strategy, UnknownStrategy, sample};
pub use search::{search, search_with};
pub use shortest::last_preemption;
pub use thrift::Thrift;
pub use witness::Witness;
