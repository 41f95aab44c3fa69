//! `raceproof cc`: a compiler that produces what clang produces, with the bitcode of each source embedded.
//!
//! An object compiled here is the native object with one more section: the [entry](Embedded) of its source, which is
//! its bitcode without optimisation. The section is not loaded, and linkers concatenate sections of one name. So
//! archives, partial links, shared libraries and executables contain the entries of exactly the objects they were made
//! of, however the build system moves the files. A link adds an entry of its own: what else it was linked with.
//!
//! | file | concept |
//! |---|---|
//! | `command` | a compiler's command line, classified |
//! | `response` | response files |
//! | `flags` | the flags for compiling to bitcode |
//! | `embedded` | embedded entries, as bytes |
//! | `container` | files with embedded bitcode |
//! | `wrapper` | the compiler |
//! | `capture` | what a build made |
//! | `shims` | programs that stand for compilers |
//! | `input` | what kinds of files make up a program |
//! | `directives` | directives of OpenMP that clang makes no code of |
//! | `database` | compilation databases |
//! | `executables` | which objects make up which executable |
//! | `libtool` | scripts that stand for executables |

pub mod capture;
mod command;
mod container;
mod database;
mod directives;
mod embedded;
mod error;
mod executables;
mod flags;
mod input;
mod leniency;
mod libtool;
mod response;
pub mod shims;
mod wrapper;

pub use command::Language;
pub use container::{EmbeddedContents, embedded_contents, is_container};
pub use database::{Candidate, DATABASE, Entry, Selection, select};
pub use directives::{Dropped, asks_for_openmp, without_code};
pub use embedded::{Embedded, Link, Unit};
pub use error::{Error, FileAction};
pub use flags::{BITCODE_FLAGS, X86_64_BITCODE_FLAGS, asks_for_other_processor, bitcode_flags, note_on_types};
pub use input::InputKind;
pub use leniency::{LENIENT_FLAGS, Leniency, OTHER_MAIN};
pub use libtool::{Wrapped, wrapped};
pub use wrapper::{LLVM_VERSION, Outcome, Tools, find_clang, wrap};
