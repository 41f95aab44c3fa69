//! What threads may still do, from any point of the program on: the [`Outlook`](explore::Outlook) of a search.
//!
//! A [`Summary`] is made once per program. It answers in sets of sites: all that may follow a site (`flow`), which of
//! these may race (`pairs`) given the locks surely held there (`locks`), which may wait for ever (`waits`, `loops`),
//! which interfere (`interference`), where threads may crash, fail an assertion (`failures`, `good`) or misuse the
//! thread API (`misuse`), and whether that depends on shared data (`steady`, by `memory`, `branches` and what may be
//! executed at the same time, `parallel`; and for loops that are handed out to threads, `iterations`).
//!
//! *Never wrong*: what is not in a future does not happen in any run that passes the point; a pair that is left out, or
//! a wait that is said to end, is so in every run. Where something in the program is not modelled, nothing is closed.
//! *May be missed*: much. A lock that is found through memory protects nothing unless its pointer can only point to
//! that one lock, and a branch is taken both ways.

mod branches;
mod closed;
mod failures;
mod flow;
mod good;
mod interference;
mod iterations;
mod locks;
mod loops;
mod memory;
mod misuse;
mod pairs;
mod parallel;
mod steady;
mod summary;
mod waits;

pub use summary::Summary;
