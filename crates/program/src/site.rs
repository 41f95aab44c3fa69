//! Sites: points in the source with a visible effect.

use model::IndexVec;
use model::index::index_type;
use serde::{Deserialize, Serialize};

use crate::ir::FunctionId;
use crate::members::Lvalue;
use crate::types::TypeId;

index_type! {
    /// A source file.
    pub struct FileId("file");
}

/// A position in a source file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Location {
    /// The file, spelled as in the command line.
    pub file: FileId,
    /// From 1; 0 if the compiler gave none.
    pub line: u32,
    /// From 1; 0 if the compiler gave none.
    pub column: u32,
}

/// One level of an inlining chain.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Frame {
    /// The function the code was inlined into, as in the source.
    pub function: String,
    /// Where the call was.
    pub location: Option<Location>,
}

/// A point in the code with a visible effect.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Site {
    /// The function of the program whose body holds it.
    pub function: FunctionId,
    /// The function as in the source (the inlined one, demangled), for reports.
    pub source_function: String,
    /// Where in the source.
    pub location: Option<Location>,
    /// Innermost call first; empty when nothing was inlined.
    pub inlined_at: Vec<Frame>,
    /// What it touches, as in the source: `counter`, `queue.head`, `arr[i]`, `(struct node).next`. `None` if nothing
    /// better than the run's object name is known.
    pub expression: Option<String>,
    /// The type of the object allocated here, for a local, or for a heap block if the code shows it. A block may hold
    /// several, one after the other.
    pub allocates: Option<TypeId>,
    /// As what it touches memory, if the code shows it; as what it writes it, for copies.
    pub lvalue: Option<Lvalue>,
    /// As what it reads memory, for copies.
    pub source: Option<Lvalue>,
}

/// Where a site is in the user's own code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OwnPlace<'a> {
    /// The function, as in the source.
    pub function: &'a str,
    /// Where in it.
    pub location: Option<Location>,
    /// The function of a system header that is called there and holds the site.
    pub called: Option<&'a str>,
}

impl Site {
    /// Where it is in the user's own code: for code of system headers that was inlined, where that is called.
    pub fn own_place(&self, files: &IndexVec<FileId, String>) -> OwnPlace<'_> {
        let is_foreign = |location: Option<Location>| {
            location.and_then(|location| files.get(location.file)).is_some_and(|file| model::is_foreign(file))
        };
        let innermost = OwnPlace { function: &self.source_function, location: self.location, called: None };
        let mut called = &self.source_function;
        if !is_foreign(self.location) {
            return innermost;
        }
        for Frame { function, location } in &self.inlined_at {
            if !is_foreign(*location) {
                return OwnPlace { function, location: *location, called: Some(called) };
            }
            called = function;
        }
        innermost
    }
}
