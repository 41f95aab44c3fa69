//! What holds of a program in every run, whatever its input and schedule.
//!
//! [`values`] is what values may point to, [`invocations`] who calls, starts and runs whom and what can happen at most
//! once, [`touches`] which memory statements touch and which sites may therefore meet, [`objects`] which
//! synchronisation objects are known by name. Nothing here decides about races.

pub mod invocations;
pub mod objects;
pub mod touches;
pub mod values;
