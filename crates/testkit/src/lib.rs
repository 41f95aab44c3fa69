//! Tools for tests: an interpreter of text programs, a brute-force oracle and a program generator.
//!
//! Nothing here is shipped. The interpreter implements [`model::Executor`] with the same rules as the real runtime, so
//! that searches can be tested without compiling anything; the oracle finds every race of a small program by trying
//! everything.

pub mod annotations;
pub mod corpus;
pub mod effort;
pub mod generator;
mod happens_before;
pub mod interpreter;
pub mod machine;
pub mod oracle;
pub mod race_freeness;
pub mod ring;
pub mod scale;
pub mod shrink;
mod skip;
pub mod sources;
pub mod traces;
pub mod ui;
mod unordered;
pub mod worksharing;

pub use effort::{numbers, programs};
pub use interpreter::{Interpreter, Options};
pub use machine::Machine;
pub use oracle::{Limits, Truth};
pub use skip::skip;
pub use unordered::unordered;
