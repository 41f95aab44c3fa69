//! Host side: launches the instrumented program, drives its runs, reads and writes their files.

pub mod format;
