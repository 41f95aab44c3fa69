//! Lvalues: as what an access touches memory.
//!
//! An access like `p->count` says more than the pointer does: whatever `p` points to, the bytes are the member `count` of a
//! struct of `p`'s type. Two accesses as different members touch different bytes, and so do one as a pointer and one as a
//! number, as long as memory is not used as two types at once (assumption A24). What is known to break that is allowed for:
//! unions, whose members and structs are no lvalues here, and structs that begin alike, as where one is made to extend
//! another.

use model::index::{IndexVec, index_type};
use serde::{Deserialize, Serialize};

use crate::whole::Extent;

index_type! {
    /// A struct whose members are accessed.
    pub struct RecordId("record");
}

/// What a part of a struct that is not divided further holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Content {
    /// A pointer.
    Pointer,
    /// A floating-point number.
    Float,
    /// A whole number.
    Integer,
    /// Several of these, in turn.
    Union,
    /// Characters of a text.
    Text,
    /// What the C library keeps in a stream (`FILE`).
    Stream,
    /// Bytes of anything but a stream.
    Bytes,
}

/// The struct behind `FILE`. Its members are accessed by inline functions of headers.
pub(crate) const STREAM: &str = "_IO_FILE";

/// A part of a struct that is not divided further.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Slot {
    /// First byte.
    pub start: u32,
    /// In bytes.
    pub size: u32,
    /// What it holds.
    pub content: Content,
}

/// A struct or class, divided as far as possible. An array is as many slots as it has elements, but for long ones.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Its name, without scopes and without what makes copies of one type different names.
    pub name: String,
    /// In order of the first byte.
    pub slots: Vec<Slot>,
}

/// Bytes of a struct.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Member {
    /// The innermost struct that has them.
    pub record: RecordId,
    /// First byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

/// Structs that are copied, filled or freed through a pointer to them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Whole {
    /// The struct that the pointer is to.
    pub record: RecordId,
    /// So many bytes from its start; `None` for whatever the block has.
    pub len: Option<u32>,
}

/// As what memory is touched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Lvalue {
    /// As a member of a struct.
    Member(Member),
    /// As something of more than a byte that is no union's, wherever it is.
    Scalar(Content),
    /// As a struct with all that is in it.
    Whole(Whole),
}

/// Whether two accesses as these may touch the same byte.
pub fn may_be_same(records: &IndexVec<RecordId, Record>, one: Lvalue, other: Lvalue) -> bool {
    match (one, other) {
        (Lvalue::Whole(whole), other) | (other, Lvalue::Whole(whole)) => Extent::of(records, whole).may_be(other),
        (Lvalue::Member(one), Lvalue::Member(other)) => may_be_same_member(records, one, other),
        // Programs look at several characters at once.
        (Lvalue::Scalar(Content::Text), Lvalue::Scalar(Content::Integer))
        | (Lvalue::Scalar(Content::Integer), Lvalue::Scalar(Content::Text)) => true,
        (Lvalue::Scalar(Content::Bytes), Lvalue::Scalar(other))
        | (Lvalue::Scalar(other), Lvalue::Scalar(Content::Bytes)) => other != Content::Stream,
        (Lvalue::Scalar(one), Lvalue::Scalar(other)) => one == other,
        (Lvalue::Member(member), Lvalue::Scalar(Content::Stream))
        | (Lvalue::Scalar(Content::Stream), Lvalue::Member(member)) => records[member.record].name == STREAM,
        (Lvalue::Member(_), Lvalue::Scalar(Content::Bytes)) | (Lvalue::Scalar(Content::Bytes), Lvalue::Member(_)) => {
            true
        }
        (Lvalue::Member(member), Lvalue::Scalar(content)) | (Lvalue::Scalar(content), Lvalue::Member(member)) => {
            let touched = |slot: &&Slot| slot.start < member.end && member.start < slot.start + slot.size;
            let mut slots = records[member.record].slots.iter().filter(touched).peekable();
            slots.peek().is_none() || slots.any(|slot| slot.content == content || slot.is_anything())
        }
    }
}

impl Slot {
    /// Whether it may be accessed as whatever one likes.
    pub(crate) fn is_anything(&self) -> bool {
        self.content == Content::Union || self.size == 1
    }
}

pub(crate) fn may_be_same_member(records: &IndexVec<RecordId, Record>, one: Member, other: Member) -> bool {
    let overlap = one.start < other.end && other.start < one.end;
    if one.record == other.record {
        return overlap;
    }
    let (a, b) = (&records[one.record], &records[other.record]);
    // Two types of one name: perhaps one type, of which one source file knows more than the other.
    a.name == b.name || overlap && begin_alike(&a.slots, &b.slots, one.end.max(other.end))
}

/// Whether two structs are divided in the same way up to a byte.
fn begin_alike(one: &[Slot], other: &[Slot], end: u32) -> bool {
    let before = |slots: &[Slot]| slots.iter().take_while(|slot| slot.start < end).count();
    one[..before(one)] == other[..before(other)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &str, slots: &[(u32, u32, Content)]) -> Record {
        let slots = slots.iter().map(|&(start, size, content)| Slot { start, size, content }).collect();
        Record { name: name.to_owned(), slots }
    }

    #[test]
    fn members_of_different_structs_are_apart_unless_these_begin_alike() {
        use Content::{Bytes, Integer, Pointer, Stream, Text};
        let records: IndexVec<RecordId, Record> = [
            record("node", &[(0, 8, Pointer), (8, 4, Integer)]),
            record("entry", &[(0, 8, Pointer), (8, 4, Integer), (12, 4, Integer)]),
            record("pair", &[(0, 4, Integer), (4, 4, Integer), (8, 4, Integer)]),
            record("node", &[(0, 4, Integer)]),
            record("name", &[(0, 1, Integer), (1, 1, Integer), (4, 4, Integer)]),
            record("_IO_FILE", &[(0, 4, Integer)]),
        ]
        .into_iter()
        .collect();
        let member = |record, start, end| Lvalue::Member(Member { record: RecordId(record), start, end });
        let scalar = Lvalue::Scalar;
        let same = |one, other| may_be_same(&records, one, other);
        assert!(same(member(0, 8, 12), member(0, 8, 12)));
        assert!(!same(member(0, 0, 8), member(0, 8, 12)));
        assert!(same(member(0, 8, 12), member(1, 8, 12)), "both begin with a pointer and a number");
        assert!(!same(member(0, 8, 12), member(1, 12, 16)));
        assert!(!same(member(0, 8, 12), member(2, 8, 12)), "one begins with a pointer, the other with numbers");
        assert!(same(member(0, 8, 12), member(3, 0, 4)), "the same name");
        assert!(same(member(0, 0, 8), scalar(Pointer)) && !same(member(0, 0, 8), scalar(Integer)));
        assert!(!same(scalar(Integer), scalar(Pointer)));
        assert!(same(member(4, 0, 1), scalar(Text)) && !same(member(4, 4, 8), scalar(Text)));
        assert!(!same(member(0, 0, 8), scalar(Stream)) && same(member(5, 0, 4), scalar(Stream)));
        assert!(same(scalar(Stream), scalar(Stream)) && !same(scalar(Bytes), scalar(Stream)));
        assert!(same(member(0, 0, 8), scalar(Bytes)) && same(scalar(Text), scalar(Bytes)));
    }
}
