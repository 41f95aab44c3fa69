//! Safe handles to LLVM's modules, values, types, blocks and metadata: the only `unsafe` code of this crate.
//!
//! inkwell sorts values by type and panics on those it has no type for (metadata and token operands, for example), which
//! a user's module may well contain. These handles say nothing about a value's type; each question is answered for any
//! value.
//!
//! Why the calls are sound:
//!
//! - *Lifetime.* A handle borrows the module it comes from (`'m`), so it outlives neither the module nor its context.
//!   Every handle is made from a pointer that LLVM returned for that module, and no handle is null.
//! - *Kind.* LLVM's C interface casts without looking. A wrapper asks for the kind of a value, type or node before it
//!   calls a function that casts, and answers "none" for another kind, or panics with "raceproof bug" where only our own
//!   code can be wrong.
//! - *Operands.* Instructions are built from operands whose types fit. What fits and is still wrong (a missing
//!   terminator, a use before its definition) does no harm to memory: LLVM's verifier finds it before the module is used.
//! - *One module.* All handles that meet in one call belong to one module. A second module, of OpenMP's library, only has
//!   the linkage of its functions set before it is linked in.
//! - *Erasing.* LLVM frees what is erased. [`Value::erase`] asks that nothing uses the value any more; that nobody keeps
//!   a handle of it is up to the caller, as with inkwell's handles. Passes erase values too: handles are made after them.
//!
//! "A live value" in a comment at a call refers to the first point.

mod attribute;
mod block;
mod builder;
mod constant;
mod global;
mod instruction;
mod metadata;
mod module;
mod ty;
mod value;

pub(crate) use attribute::AttributeOf;
pub(crate) use block::Block;
pub(crate) use builder::Builder;
pub(crate) use metadata::{MetadataKind, Node};
pub(crate) use module::Module;
pub(crate) use ty::{Layout, Ty};
pub(crate) use value::Value;

/// Panics unless our own code did what a wrapper asks for.
#[track_caller]
fn require(holds: bool, what: &str) {
    assert!(holds, "raceproof bug: {what}");
}

/// The bytes that LLVM returned as a start and a length, as text.
///
/// # Safety
/// `start` is null or points to `len` bytes that stay as they are during the call.
unsafe fn text(start: *const std::ffi::c_char, len: usize) -> String {
    if start.is_null() || len == 0 {
        return String::new();
    }
    // SAFETY: not null, and the caller vouches for the bytes.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len) };
    String::from_utf8_lossy(bytes).into_owned()
}
