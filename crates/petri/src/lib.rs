//! Petri nets with transfer and reset arcs, and the coverability problem.
//!
//! Coverability: can a marking be reached that is at least as large, place by place, as one of the targets? For
//! these nets it is decidable by backward search over minimal elements of upward-closed sets (Abdulla, Haziza and
//! Kindahl use it for race-freeness). [`backward::solve`] answers with a firing sequence or with a certificate,
//! which [`certificate::check`] validates without using the solver.
//!
//! This crate knows nothing of programs, threads or races.

pub mod antichain;
pub mod backward;
pub mod certificate;
mod estimate;
pub mod format;
pub mod forward;
pub mod invariant;
pub mod lola;
pub mod marking;
pub mod net;
mod parts;
pub mod pnml;
pub mod spec;
pub mod target;
pub mod witness;

pub use marking::Marking;
pub use net::{Initial, Net, PlaceId, Transition, TransitionId};
