//! Which memory is typed: what is stored there as one lvalue is not found as another ([`program::members`]).
//!
//! Where a pointer may be to very many objects, their memory is one ([`super::collapse`]), and whatever is stored in one of
//! them would be found in all. The accesses still say as what they are made. So the analysis is
//! made twice for a program in which objects collapse: the memory of those objects is typed the second time, on the
//! assumption that it is not used as two types at once (A24). Objects that pointers tell apart are not: there, offsets
//! say what overlaps.

use model::index::IndexVec;
use program::members::{self, Lvalue, Record, RecordId};
use rustc_hash::FxHashSet;

use crate::spot::Origin;

/// Objects with typed memory, and the structs that it is made of.
#[derive(Clone, Default)]
pub(super) struct Types {
    typed: FxHashSet<Origin>,
    records: IndexVec<RecordId, Record>,
}

impl Types {
    /// The memory of these objects is typed, and so is that of collapsed nodes and of functions without a body.
    pub(super) fn new(objects: impl Iterator<Item = Origin>, records: &IndexVec<RecordId, Record>) -> Self {
        let always = [Origin::Collapsed, Origin::Outside];
        Self { typed: objects.chain(always).collect(), records: records.clone() }
    }
    /// Whether any memory is.
    pub(super) fn are_used(&self) -> bool {
        !self.typed.is_empty()
    }
    /// Whether the memory of an object is.
    pub(super) fn is_typed(&self, object: Origin) -> bool {
        self.typed.contains(&object)
    }
    /// Whether two lvalues may be the same bytes.
    pub(super) fn may_be_same(&self, one: Lvalue, other: Lvalue) -> bool {
        members::may_be_same(&self.records, one, other)
    }
}
