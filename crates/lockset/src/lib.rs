//! The static engine: for every pair of accesses that may meet, whether it surely cannot race, for all inputs and any
//! number of threads.
//!
//! Paper: Kahlon, Yang, Sankaranarayanan and Gupta, *Fast and Accurate Static Data-Race Detection for Concurrent
//! Programs*. Shared variables come from `facts` (Algorithm 1 there is reachability from globals, arguments of threads
//! and code without a body, object by object and field by field); the module `effects` is Algorithm 2 for all locks
//! at once; [`verdict`] holds the reasons for absence and the ranking of what is left. On top of the paper: thread
//! identity and the order of creation and join, locks by their distance from the accessed byte, once-controls,
//! semaphores used as locks and as signals, slots of an array that belong to one thread each.
//!
//! Can be missed: nothing that the assumptions of the documentation cover. Can be wrongly claimed: a warning may be
//! impossible; it is never a race by itself.

mod bottom_up;
mod breakdown;
mod bundles;
mod declared;
mod effects;
pub mod emit;
mod entries;
mod events;
mod fresh;
mod interner;
mod listing;
pub mod lock;
mod lvalues;
mod meetings;
mod names;
mod obstacles;
mod publication;
mod rank;
mod reasons;
mod recursive;
mod released;
mod semaphores;
mod signals;
pub mod specification;
mod stripe;
pub mod verdict;
mod whens;

pub use breakdown::Hold;
pub use listing::ClassPairs;
pub use obstacles::Obstacle;
pub use specification::Specification;
pub use verdict::{Analysis, Answer, Finding, Reason, Side, analyse};
