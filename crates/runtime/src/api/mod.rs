//! The thread API and the process's end, as the program calls them.

pub mod process;
pub mod thread;
