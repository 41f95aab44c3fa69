//! Host side: launches the instrumented program, drives its runs, reads and writes their files.

pub mod archive;
pub mod coarse;
pub mod config;
pub mod decode;
pub mod error;
pub mod format;
pub mod gdb;
pub mod lines;
pub mod pseudo;
mod shared;
pub mod symbols;
pub mod target;

pub use archive::{link_args, link_libraries, runtime_archive};
pub use config::{Config, Isolation};
pub use error::Error;
pub use gdb::gdb_command;
pub use lines::Line;
pub use pseudo::{PseudoCell, pseudo_cell};
pub use symbols::Symbols;
pub use target::{Output, Target};
