//! Drives the program under test: starts its process, asks it for runs by schedules, ends those that take too long.
//!
//! [`Target`] is the program under control. Its runs are made by a [`Backend`]: [`Local`] makes them on this machine.

#![warn(clippy::undocumented_unsafe_blocks)]

mod ahead;
mod backend;
mod children;
mod config;
mod error;
mod gdb;
mod local;
mod opened;
mod process;
mod processor;
mod shared;
mod streams;
mod target;

pub use backend::{Backend, RunMode, RunSummary};
pub use children::Children;
pub use config::{Config, Isolation};
pub use error::Error;
pub use gdb::gdb_command;
pub use local::Local;
pub use opened::Opened;
pub use process::Executable;
pub use processor::Processor;
pub use streams::Output;
pub use target::Target;
