//! Child processes. A child is real: the program that it executes runs natively, once for all runs of a search.
//!
//! | file | what |
//! |---|---|
//! | [`request`] | what is executed: program, arguments, environment, folder, descriptors |
//! | [`forked`] | the copy of the process between `fork` and `exec` |
//! | [`files`] | which descriptors a child gets, and what becomes of what went through them |
//! | [`execution`] | running a program to its end, with everything that it starts |
//! | [`results`] | what children did, kept for later runs |
//! | [`table`] | the children of the run, and their end |
//! | [`fork`] | `fork`, `vfork`, `exec` and its relatives |
//! | [`wait`] | `wait` and its relatives |
//! | [`spawn`] | `posix_spawn`, `system` |
//! | [`streams`] | `popen`, `pclose` |
//!
//! A child does everything that it does in one event: when it is started, or when the last descriptor is closed through
//! which its standard input could still come. What it wrote to pipes of the program is in them then. What else it does
//! outside, to files for example, is not followed (assumption A17).

pub mod execution;
pub mod files;
pub mod fork;
pub mod forked;
pub mod request;
pub mod results;
pub mod spawn;
pub mod streams;
pub mod table;
pub mod wait;

use wire::Tag;
use wire::record::order;

use super::event::Access;

/// The read of the environment that a program inherits.
fn environment() -> Access {
    let at = wire::LIBRARY_STATE + 8 * u64::from(wire::ENVIRONMENT);
    Access { tag: Tag::Read, order: order::PLAIN, at, len: 8 }
}

/// An access to the cell that stands for the children of the process.
pub fn cell(tag: Tag) -> Access {
    let at = wire::LIBRARY_STATE + 8 * u64::from(wire::CHILDREN);
    Access { tag, order: order::RELAXED, at, len: 8 }
}
