//! From what the library in the program wrote to a [`model::Trace`]: the records of a run under the controlled scheduler
//! ([`records`]), and the words of real threads ([`merge`]).
//!
//! The bytes come from the process of the program under test, which may have written over them. Every field is checked,
//! and what makes no sense is an error.

mod handover;
pub mod merge;
mod operation;
mod pseudo;
pub mod records;

pub use handover::forget_handover;
pub use merge::Detail;
pub use pseudo::{PseudoCell, pseudo_cell};
pub use records::Garbled;
