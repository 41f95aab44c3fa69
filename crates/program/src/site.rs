//! Sites: where in the source something visible happens.

use model::index::index_type;
use serde::{Deserialize, Serialize};

use crate::ir::FunctionId;
use crate::types::TypeId;

index_type! {
    /// A source file.
    pub struct FileId("file");
}

/// A place in a source file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Location {
    /// The file, spelled as the user spelled it.
    pub file: FileId,
    /// From 1; 0 when the compiler gave none.
    pub line: u32,
    /// From 1; 0 when the compiler gave none.
    pub column: u32,
}

/// One level of an inlining chain.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Frame {
    /// The function the code was inlined into, as the source names it.
    pub function: String,
    /// Where the call was.
    pub location: Option<Location>,
}

/// A point in the code that does something visible.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Site {
    /// The function of the program whose body holds it.
    pub function: FunctionId,
    /// The function as the source names it (the inlined one, demangled), for people.
    pub source_function: String,
    /// Where in the source.
    pub location: Option<Location>,
    /// Innermost call first; empty when nothing was inlined.
    pub inlined_at: Vec<Frame>,
    /// What it touches, as a person would write it: `counter`, `queue.head`, `arr[i]`,
    /// `(struct node).next`. `None` when nothing better than the run's object name is known.
    pub expression: Option<String>,
    /// The type of the object that comes into being here, for a local or where it shows what a heap block is for.
    /// A block may hold several, one after the other.
    pub allocates: Option<TypeId>,
}
