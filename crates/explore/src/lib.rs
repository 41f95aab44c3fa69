//! The search over all schedules of a program for one input.
//!
//! [`search`] asks an [`Executor`](model::Executor) for executions, one after the other, until every schedule is
//! equivalent to one that was executed; which are equivalent is the [reduction](ReductionName)'s business. It works on
//! whole traces and knows neither processes nor how a program is run.
//!
//! | file | concept |
//! |---|---|
//! | `search` | the loop |
//! | `reduction` | which schedules may be left out |
//! | `backtracking`, `stack` | searches that keep threads to be run for each state of the current execution |
//! | `none`, `dpor` | which threads these are |
//! | `optimal`, `wakeup`, `events`, `reversal`, `holding`, `names` | one execution for each class of equivalent schedules |
//! | `outlook`, `foresight` | what can still happen from a state on, and what may be left out for it |
//! | `pdp`, `dhtc`, `best` | `dpor`, `dpor-sleep` and `optimal` that ask |
//! | `sleep` | threads that need not be run from a state |
//! | `choices` | which values are tried where the program leaves one open |
//! | `causality` | what leads to what in a trace |
//! | `preemptions` | schedules with few preemptions first |
//! | `sampling` | some schedules, chosen at random |
//! | `parts`, `helper`, `digest`, `crew` | parts explored by themselves, who does it, what it shows, and all helpers together |
//! | `checkpoint` | a search as data, to go on with later |
//! | `beginning` | what a run shares with the one before it |
//! | `findings`, `hidden` | what executions have shown, and the failures that others hide |
//! | `witness` | a schedule that brings two racing accesses side by side |
//! | `shortest` | the same events with the fewest switches |
//! | `hint` | leading the program along a way that somebody else has found |
//! | `options`, `observer`, `outcome`, `error` | the words of the interface |

mod backtracking;
mod beginning;
mod best;
mod causality;
mod checkpoint;
mod choices;
mod crew;
mod dhtc;
mod digest;
mod dpor;
mod error;
mod events;
mod findings;
mod foresight;
mod helper;
mod hidden;
mod hint;
mod holding;
mod names;
mod none;
mod observer;
mod optimal;
mod options;
mod outcome;
mod outlook;
mod parts;
mod pdp;
mod preemptions;
mod reduction;
mod reversal;
mod sampling;
mod search;
mod shortest;
mod sleep;
mod stack;
mod wakeup;
mod witness;

pub use checkpoint::Checkpoint;
pub use choices::ChoiceValues;
pub use error::Error;
pub use findings::looping;
pub use hint::{Hint, HintStep, Led};
pub use observer::{EXAMPLES, Observer, Progress};
pub use options::{Options, ReductionName, UnknownReduction};
pub use outcome::{Coverage, Failure, FailureKind, FoundRace, Involved, Outcome, Statistics, StopReason};
pub use outlook::{Check, FutureId, Next, Origin, Outlook, Settled, Standing, Threats, UnknownCheck};
pub use sampling::{Sampling, Strategy, UnknownStrategy, sample};
pub use search::{search, search_with};
pub use shortest::last_preemption;
pub use witness::Witness;
