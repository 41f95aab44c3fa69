//! From C and C++ sources to a [`program::Program`] and an instrumented executable.
//!
//! The only crate that knows LLVM: it drives clang, reads and links bitcode, numbers functions and sites,
//! lowers the module to a `Program`, inserts the calls described in `docs/runtime-abi.md`, and builds the
//! executable. It knows neither engines nor verdicts.

pub mod debug;
mod error;
pub mod escape;
pub mod functions;
pub mod intrinsics;
pub mod module;
pub mod sites;
pub mod value;

pub use error::Error;

/// The one LLVM major version in use.
pub const LLVM_VERSION: u32 = 19;
