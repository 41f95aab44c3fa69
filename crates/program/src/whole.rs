//! Structs touched as a whole: copied, filled or freed through a pointer to the struct.
//!
//! Such an access is to all that the struct is made of. A struct inside of another one is found by its division: whatever
//! is divided like a part of the other may be that part. A block that is freed as a struct is that struct, or one that
//! begins with it, and nothing behind its end but more of them (assumption A24).

use model::index::IndexVec;

use crate::members::{Content, Lvalue, Member, Record, RecordId, STREAM, Whole, may_be_same_member};

/// As many parts of a struct are known at most.
pub const MOST_SLOTS: usize = 256;

/// What an access to whole structs may be to.
pub struct Extent<'r> {
    records: &'r IndexVec<RecordId, Record>,
    whole: Whole,
    /// The structs that it may be to.
    blocks: Vec<RecordId>,
}

impl<'r> Extent<'r> {
    /// That of an access.
    pub fn of(records: &'r IndexVec<RecordId, Record>, whole: Whole) -> Self {
        let own = &records[whole.record];
        let is_block = |other: &Record| {
            other.name == own.name || whole.len.is_none() && (other.slots.starts_with(&own.slots) || is_open(own))
        };
        let blocks = records.iter_enumerated().filter(|(_, other)| is_block(other)).map(|(id, _)| id).collect();
        Self { records, whole, blocks }
    }

    /// Whether an access as something else may touch the same byte.
    pub fn may_be(&self, other: Lvalue) -> bool {
        match other {
            Lvalue::Member(member) => self.has_member(member),
            Lvalue::Scalar(content) => self.has(content),
            Lvalue::Whole(whole) => {
                let theirs = Self::of(self.records, whole).blocks;
                let related = |one: &RecordId, other: &RecordId| {
                    let (one, other) = (&self.records[*one], &self.records[*other]);
                    one.name == other.name || contains(one, other) || contains(other, one)
                };
                self.blocks.iter().any(|one| theirs.iter().any(|other| related(one, other)))
            }
        }
    }

    fn has_member(&self, member: Member) -> bool {
        let end = self.whole.len.unwrap_or(member.end);
        let touched = Member { record: self.whole.record, start: 0, end };
        let there = &self.records[member.record];
        let inside =
            |block: &RecordId| self.records[*block].name == there.name || contains(&self.records[*block], there);
        may_be_same_member(self.records, touched, member)
            || self.blocks.iter().any(inside)
            || contains(there, &self.records[self.whole.record])
    }

    fn has(&self, content: Content) -> bool {
        let is = |record: &Record| match content {
            Content::Stream => record.name == STREAM,
            Content::Bytes => true,
            _ => is_open(record) || record.slots.iter().any(|slot| slot.content == content || slot.is_anything()),
        };
        self.blocks.iter().any(|block| is(&self.records[*block]))
    }
}

/// Whether more may be in a struct than is known.
fn is_open(record: &Record) -> bool {
    record.slots.is_empty() || record.slots.len() >= MOST_SLOTS
}

/// Whether a struct may be part of another.
fn contains(outer: &Record, inner: &Record) -> bool {
    let Some(first) = inner.slots.first() else { return true };
    if is_open(outer) || is_open(inner) || outer.slots.iter().any(|slot| slot.content == Content::Union) {
        return true;
    }
    outer.slots.windows(inner.slots.len()).any(|part| {
        let by = part[0].start.wrapping_sub(first.start);
        let alike = |(there, here): (&crate::members::Slot, &crate::members::Slot)| {
            there.start.wrapping_sub(by) == here.start && (there.size, there.content) == (here.size, here.content)
        };
        part.iter().zip(&inner.slots).all(alike)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::members::Slot;

    fn record(name: &str, slots: &[(u32, u32, Content)]) -> Record {
        let slots = slots.iter().map(|&(start, size, content)| Slot { start, size, content }).collect();
        Record { name: name.to_owned(), slots }
    }

    #[test]
    fn a_struct_is_touched_with_what_is_in_it() {
        use Content::{Float, Integer, Pointer, Stream};
        let records: IndexVec<RecordId, Record> = [
            record("outer", &[(0, 8, Pointer), (8, 8, Pointer), (16, 4, Integer)]),
            record("inner", &[(0, 8, Pointer), (8, 4, Integer)]),
            record("longer", &[(0, 8, Pointer), (8, 8, Pointer), (16, 4, Integer), (24, 8, Float)]),
            record("other", &[(0, 4, Integer), (4, 4, Integer)]),
            record("tail", &[(0, 4, Integer), (8, 8, Float)]),
        ]
        .into_iter()
        .collect();
        let whole = |record, len| Extent::of(&records, Whole { record: RecordId(record), len });
        let member = |record, start, end| Lvalue::Member(Member { record: RecordId(record), start, end });
        let freed = whole(0, None);
        assert!(freed.may_be(member(0, 8, 16)) && freed.may_be(member(1, 8, 12)), "itself, and what may be in it");
        assert!(
            freed.may_be(member(2, 24, 32)) && freed.may_be(member(4, 8, 16)),
            "what begins with it, and a part of that"
        );
        assert!(!freed.may_be(member(3, 0, 4)));
        let copied = whole(0, Some(20));
        assert!(copied.may_be(member(1, 0, 8)) && copied.may_be(member(2, 0, 8)) && !copied.may_be(member(4, 8, 16)));
        assert!(copied.may_be(Lvalue::Scalar(Pointer)) && !copied.may_be(Lvalue::Scalar(Float)));
        assert!(freed.may_be(Lvalue::Scalar(Float)) && !freed.may_be(Lvalue::Scalar(Stream)));
        let theirs = |record, len| Lvalue::Whole(Whole { record: RecordId(record), len });
        assert!(
            freed.may_be(theirs(2, None)) && !copied.may_be(theirs(3, Some(8))) && copied.may_be(theirs(1, Some(4)))
        );
    }
}
