//! Host side: launches the instrumented program, drives its runs, reads and writes their files.

pub mod archive;
pub mod coarse;
pub mod config;
pub mod decode;
pub mod error;
pub mod format;
pub mod gdb;
pub mod lines;
mod local;
mod merge;
mod operation;
mod place;
mod process;
mod processor;
pub mod pseudo;
pub mod recording;
pub mod remote;
mod shared;
pub mod symbols;
pub mod target;

pub use archive::{link_args, link_libraries, recorder_archive, runtime_archive};
pub use config::{Config, Isolation};
pub use error::Error;
pub use gdb::gdb_command;
pub use lines::{Frame, Line};
pub use merge::Detail;
pub use process::Output;
pub use processor::Processor;
pub use pseudo::{PseudoCell, pseudo_cell};
pub use recording::{RecordConfig, record};
pub use symbols::Symbols;
pub use target::Target;
