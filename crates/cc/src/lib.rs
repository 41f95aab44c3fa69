//! `raceproof cc`: a compiler that makes what clang makes, and keeps each source's bitcode inside it.
//!
//! An object compiled here is the native object, with one section more: the [keepsake](Keepsake) of its source, which is
//! its bitcode without optimisation. The section is not loaded, and linkers put the sections of one name one after the
//! other, so archives, partial links, shared libraries and executables carry the keepsakes of exactly the objects they
//! were made of, whatever build system moved the files around meanwhile. A link adds a keepsake of its own: with what
//! else it was linked.
//!
//! | file | concept |
//! |---|---|
//! | `command` | a compiler's command line, sorted |
//! | `response` | response files |
//! | `flags` | which flags the bitcode is compiled with |
//! | `keepsake` | what is kept, as bytes |
//! | `carrier` | files that carry keepsakes |
//! | `wrapper` | the compiler |
//! | `input` | what kinds of files make up a program |
//! | `database` | folders with a `compile_commands.json` |

mod carrier;
mod command;
mod database;
mod error;
mod flags;
mod input;
mod keepsake;
mod response;
mod wrapper;

pub use carrier::{Carried, carried, is_carrier};
pub use command::Language;
pub use database::{DATABASE, Entry, database};
pub use error::Error;
pub use flags::{BITCODE_FLAGS, X86_64_BITCODE_FLAGS, bitcode_flags};
pub use input::InputKind;
pub use keepsake::{Keepsake, Link, Unit};
pub use wrapper::{LLVM_VERSION, Tools, find_clang, wrap};
