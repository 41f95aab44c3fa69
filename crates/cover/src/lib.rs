//! Proofs that a pair cannot race, for any number of threads.
//!
//! A program becomes a Petri net: a token per thread at its place in the code, places for locks and other objects that
//! threads wait for. Two accesses can only race if some reachable marking has a thread before each of them, which
//! `petri` decides (Abdulla, Haziza and Kindahl, *Model Checking Race-Freeness*). [`verify`](fn@verify) answers for
//! pairs of a lowered program, [`sml`] is the paper's small language as an input of its own, and
//! [`dot`] draws nets.
//!
//! The net has more behaviour than the program, never less: data is abstracted, branches go either way, locks that are
//! not known protect nothing. A pair that cannot be covered is absent; one that can is a candidate, never a race.

mod deciding;
pub mod dot;
mod flags;
mod flow;
mod job_net;
mod joins;
mod loops;
mod settling;
mod synchronisation;

pub mod sml;
pub mod verify;

pub use petri::backward::Pruning;
pub use verify::{Candidate, Counters, Options, Proof, Result, Step, counted, net, verify};
