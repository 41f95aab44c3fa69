//! Runs in a person's words: where sites are, what objects are called, what events do, how a run went.
//!
//! Nothing here decides anything. The types of the result document are made here from traces and the program's text.

mod access;
pub(crate) mod crash;
mod moment;
mod object_names;
pub(crate) mod position;
pub(crate) mod sightings;
pub(crate) mod stacks;
pub(crate) mod story;
pub(crate) mod values;
mod words;

pub(crate) use access::{Describer, SeenAccess, step_of};
pub(crate) use moment::Moment;
pub(crate) use object_names::ObjectNames;
pub(crate) use position::Position;
pub(crate) use sightings::Sightings;
pub(crate) use words::Words;
