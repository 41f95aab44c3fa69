//! What threads may still do, from any point of the program on: the [`Outlook`](explore::Outlook) of a search.
//!
//! A [`Summary`] is made once per program. It answers in sets of sites: all that may follow a site
//! (`flow`), which of these may race (`pairs`) given the locks surely held there (`locks`), which may wait
//! for ever (`waits`, `loops`), which interfere (`interference`).
//!
//! *Never wrong*: what is not in a future does not happen in any run that passes the point; a pair that is left out, or
//! a wait that is said to end, is so in every run. Where something in the program is not modelled, nothing is closed.
//! *May be missed*: much. Loads are not followed, so a lock that is found through memory protects nothing, and a branch
//! is taken both ways.

mod closed;
mod flow;
mod interference;
mod locks;
mod loops;
mod pairs;
mod summary;
mod waits;

pub use summary::Summary;
