//! The search over all schedules of a program for one input.
//!
//! ```text
//! pub fn search<E: model::Executor>(
//!     executor: &mut E, options: &Options, observer: &mut dyn Observer,
//! ) -> Result<Outcome, Error<E::Error>>
//! ```

mod error;
mod observer;
mod options;
mod outcome;
mod witness;

pub use error::Error;
pub use observer::{Observer, Progress};
pub use options::{Options, ReductionName, UnknownReduction};
pub use outcome::{Coverage, Failure, FailureKind, FoundRace, Involved, Outcome, Statistics, StopReason};
pub use witness::Witness;
