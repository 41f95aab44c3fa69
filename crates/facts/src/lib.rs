//! What holds of a program in every run, whatever its input and schedule.
//!
//! [`values`] is what values may point to, [`invocations`] who calls, starts and runs whom and what can happen at most
//! once, [`touches`] which memory statements touch and which sites may therefore meet, [`objects`] which
//! synchronisation objects are known by name. Nothing here decides about races.

pub mod accesses;
pub mod address;
mod facts;
pub mod flow_graph;
pub mod formats;
pub mod invocations;
pub mod objects;
pub mod order;
pub mod partition;
pub mod points_to;
pub mod spot;
pub mod touches;
pub mod values;

pub use facts::{Facts, FromArgument, Options};
