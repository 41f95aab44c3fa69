//! What holds of a program in every run, whatever its input and schedule.
//!
//! [`Facts`] computes each part once, when it is first asked for: [`points_to`], the one solution of what values and
//! memory point to, [`values`] as a view of it object by object, [`invocations`] who calls, starts and runs whom and
//! what can happen at most once, [`order`] the threads and what may happen in parallel, [`touches`] which memory
//! statements touch, [`meetings`] which sites may therefore meet, [`objects`] which synchronisation objects are known
//! by name.
//! Nothing here decides about races.

pub mod accesses;
pub mod address;
mod exposed;
mod facts;
pub mod flow_graph;
pub mod formats;
pub mod invocations;
pub mod meetings;
pub mod objects;
pub mod order;
mod part;
pub mod partition;
pub mod points_to;
mod rounds;
pub mod shortcuts;
mod solved;
pub mod spot;
pub mod teams;
pub mod touches;
pub mod values;

pub use facts::{Facts, Options};
pub use rounds::Rounds;
pub use solved::{FromArgument, Solved};
